"""Errors that several packages raise; each message is a full sentence for the user."""

import re
from collections.abc import Iterable

from referee.games.shared.coded_errors import CodedError
from referee.sanitizing import name_fault, quote

_NEW_BOT = re.compile(r"[^-_.0-9]")
# Values that spreadsheets and data frames read as missing, numbers or truth values.
_MISREAD = frozenset({"null", "none", "nan", "na", "n-a", "inf", "infinity", "true", "false"})
_OWNER = re.compile(r"[\w.@+-](?:[\w.@+ -]{0,98}[\w.@+-])?")


class BotError(CodedError):
    """A bot cannot be used; the message states the problem, its place and a correction."""


class InfrastructureError(CodedError):
    """A component of the arena failed. This is never charged to a bot.

    The first line of the text is a sentence that public pages may show. Further lines are details
    for the organiser, such as the error of the system.
    """


class BotAbsent(CodedError):
    """A remote bot is offline before its table begins. The match waits; this is not a fault."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean "x"?` for the known word nearest to `word`; empty if none is near."""
    from difflib import get_close_matches  # Slow to import, and rarely needed.

    near = get_close_matches(word, list(known), n=1, cutoff=0.61)
    return f'; did you mean "{near[0]}"?' if near else ""


class StoreError(CodedError):
    """The store refuses a request or does not find the object."""


class Unreachable(StoreError):
    """The database cannot be opened."""


class Unnamed(StoreError):
    """The database URL is not supported by the arena."""


class BadName(StoreError):
    """A name of an owner, a bot, a version or a tournament is not valid."""


def check_name(what: str, name: str) -> None:
    """Check that a name cannot be confused with another one and is safe on a terminal.

    Args:
        what: the named object, for the message: "an owner", "a tournament".
        name: the name to check.

    Raises:
        BadName: it is empty or too long, or has control, bidirectional or invisible characters.
    """
    if fault := name_fault(name):
        raise BadName(f'the name of {what}, "{quote(name, 60)}", {fault}; choose another name.')


def check_owner(name: str) -> None:
    """Check that a name is a valid one for an owner.

    Raises:
        BadName: it is not.
    """
    check_name("an owner", name)
    if not _OWNER.fullmatch(name):
        raise BadName(
            f'"{quote(name, 60)}" is not a valid owner name; use 1 to 100 letters, digits, spaces '
            "inside the name, and . - _ @ +."
        )


def check_new_name(what: str, name: str) -> None:
    """Check that a new name does not look like an option or a relative path.

    Earlier versions accepted such names, so the objects that have them remain usable.

    Raises:
        BadName: it begins with "-" or ".".
    """
    if name[:1] in ("-", "."):
        raise BadName(
            f'the name of {what}, "{quote(name, 60)}", begins with "{name[0]}", as options and '
            "relative paths do; begin it with a letter or a digit."
        )


def check_new_bot(name: str) -> None:
    """Check the name of a bot that does not exist yet.

    Raises:
        BadName: it does not begin with a letter, or spreadsheets and data frames misread it.
    """
    if not _NEW_BOT.match(name):
        raise BadName(
            f'the name of a new bot, "{quote(name, 60)}", must begin with a letter; otherwise '
            "it could be read as an option or a number."
        )
    if name in _MISREAD:
        raise BadName(
            f'the name "{name}" is read as a missing or special value in tables; choose another.'
        )


class InvalidSettings(StoreError):
    """The settings of a game or a tournament are unknown or not valid.

    Attributes:
        key: the place of the setting, such as ("clock", "bank_ms"); empty if it has none.
    """

    def __init__(self, sentence: str, *, code: str = "", key: tuple[str | int, ...] = ()) -> None:
        super().__init__(sentence, code=code)
        self.key = key


class OutOfRange(StoreError):
    """A number is outside its allowed range.

    Attributes:
        name: the name of the number, such as "boards".
    """

    def __init__(self, name: str, expected: str, value: object) -> None:
        super().__init__(f'"{name}" must be {expected}, not {value}.')
        self.name = name


class NotFound(StoreError):
    """An object with this name does not exist."""


class Conflict(StoreError):
    """The request conflicts with existing data."""


class LeaseLost(StoreError):
    """The writing attempt no longer holds the lease of the match."""


class TooMany(StoreError):
    """A limit is reached.

    Attributes:
        wait: seconds after which to retry.
    """

    def __init__(self, sentence: str, wait: int) -> None:
        super().__init__(sentence)
        self.wait = wait
