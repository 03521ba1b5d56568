"""Errors that several packages raise; the text of each is a sentence for the person who meets
it."""

from collections.abc import Iterable
from difflib import get_close_matches

from referee.sanitizing import name_fault, quote


class BotError(Exception):
    """A bot cannot be used as it was given; the text says what, where and what would be right."""


class InfrastructureError(Exception):
    """Something of the arena's own failed. It is never charged to a bot."""


class BotAbsent(Exception):
    """A remote bot is not there before its table begins. Nobody is to blame: the match waits."""


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean "x"?` for the known word nearest to `word`, or nothing if none is near."""
    near = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f'; did you mean "{near[0]}"?' if near else ""


class StoreError(Exception):
    """Something cannot be stored or found as it was asked."""


class Unreachable(StoreError):
    """The database cannot be opened."""


class Unnamed(StoreError):
    """What names a database names none that the arena could use."""


class BadName(StoreError):
    """A name of an owner, a bot, a version or a tournament cannot be taken."""


def check_name(what: str, name: str) -> None:
    """Refuse a name that could be taken for another one or act on a terminal.

    Args:
        what: what it names, for the message: "an owner", "a tournament".
        name: the name as it was given.

    Raises:
        BadName: it is empty or too long, or has control, bidirectional or invisible characters.
    """
    if fault := name_fault(name):
        raise BadName(f'the name of {what}, "{quote(name, 60)}", {fault}; choose another name.')


class NotFound(StoreError):
    """There is nothing of that name."""


class Conflict(StoreError):
    """What is there already stands against it."""


class LeaseLost(StoreError):
    """The match is no longer held by the attempt that wants to write to it."""


class TooMany(StoreError):
    """There is as much of it as there may be. wait: seconds after which to ask again."""

    def __init__(self, sentence: str, wait: int) -> None:
        super().__init__(sentence)
        self.wait = wait
