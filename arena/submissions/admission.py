"""Rules for submissions, checked at the announcement and again before the build."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from arena.bots import manifest, resolver
from arena.bots.bot import HUMAN
from arena.errors import BadName, NotFound, check_new_bot
from arena.store.bots import versions

if TYPE_CHECKING:
    from sqlalchemy import Engine

_HASH: Final = re.compile(r"[0-9a-f]{64}")


class SubmissionRefused(Exception):
    """A submission is refused. The exception's text is a sentence for the sender.

    Args:
        output: the end of the output of the submission's programs.
    """

    def __init__(self, status: int, sentence: str, output: str = "") -> None:
        super().__init__(sentence)
        self.status = status
        self.output = output


def check(
    engine: Engine,
    owner: str,
    name: str,
    content: str,
    number: str = "",
    *,
    most_active: int = 0,
) -> None:
    """Check that an owner may submit this content as a version of the named bot.

    Args:
        content: the content hash, 64 hexadecimal digits.
        number: the version in the bot's manifest; empty if it is missing.
        most_active: the maximum number of active versions of an owner; 0: unlimited.

    Raises:
        SubmissionRefused: a rule is violated.
    """
    if not manifest.NAME.fullmatch(name):
        raise SubmissionRefused(
            422,
            "a bot's name is 1 to 40 lowercase letters, digits, - and _; rename it in bot.toml.",
        )
    if name == HUMAN:
        raise SubmissionRefused(
            422, f'the name "{HUMAN}" is reserved for people; rename the bot in bot.toml.'
        )
    if number and not manifest.VERSION.fullmatch(number):
        raise SubmissionRefused(422, "a version is up to 40 letters, digits, ., - and _.")
    if not _HASH.fullmatch(content):
        raise SubmissionRefused(422, "content is the hash of what is sent, 64 hexadecimal digits.")
    _check_name(engine, owner, name)
    _check_version(engine, name, content, number)
    _check_active(engine, owner, name, most_active)


def _check_name(engine: Engine, owner: str, name: str) -> None:
    known = versions.owner_of(engine, name)
    if known == owner:
        return
    if known is not None:
        whose = f"belongs to {known}" if known else "is the organiser's"
        raise SubmissionRefused(
            403, f"the bot {name} {whose}; give yours another name in its bot.toml."
        )
    try:
        check_new_bot(name)
    except BadName as error:
        raise SubmissionRefused(422, str(error)) from None
    if name in resolver.samples():
        raise SubmissionRefused(
            403, f"{name} is a house bot's name; give your bot another one in its bot.toml."
        )


def _check_version(engine: Engine, name: str, content: str, number: str) -> None:
    for version in versions.list_versions(engine, name=name, retired=True):
        if version.content_hash == content and number in ("", version.number):
            retired = ", and is retired" if version.retired is not None else ""
            raise SubmissionRefused(409, f"this content is here already, as {version.id}{retired}.")
    if not number:
        return
    try:
        versions.find_version(engine, f"{name}@{number}")
    except NotFound:
        return
    raise SubmissionRefused(
        409,
        f"{name}@{number} is here already with other content, and a version never changes; give "
        "yours another version in its bot.toml, or none.",
    )


def _check_active(engine: Engine, owner: str, name: str, most: int) -> None:
    active = versions.active_of(engine, owner)
    if not most or len(active) < most:
        return
    # Propose the oldest version of the same bot, because the new one replaces it.
    oldest = next((version for version in active if version.name == name), active[0])
    raise SubmissionRefused(
        409,
        f"{owner} has {len(active)} active versions, and the limit is {most}. Retire one first, "
        f"for example {oldest.id}: `pokearena bot retire {oldest.id} --to URL`.",
    )
