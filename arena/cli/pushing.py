"""A bot on its way into somebody else's arena."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, Final
from urllib.parse import quote, urlencode

from arena.bots import archive, parcel
from arena.bots.bot import Bot
from arena.cli import output
from arena.cli.errors import FAILED, INTERRUPTED, UNREACHABLE, USAGE, CommandError
from arena.cli.reaching import Answer, Elsewhere, Silent, cannot_reach

_PATIENCE_SECONDS: Final = 60.0
_FIRST_SECONDS: Final = 0.5
_LONGEST_SECONDS: Final = 5.0
_IN_MEMORY: Final = 4 * 2**20


@dataclass(frozen=True, slots=True)
class Packed:
    """What would be sent: of which bot and version, its content, how much it is, and packed."""

    name: str
    version: str
    content: str
    contents: parcel.Contents
    file: IO[bytes]
    size: int

    def to_json(self) -> dict[str, Any]:
        """It as plain values."""
        return {
            "bot": self.name,
            "version": self.version or None,
            "content_hash": self.content,
            "files": self.contents.files,
            "bytes_unpacked": self.contents.bytes,
            "bytes": self.size,
        }


@contextmanager
def packed(bot: Bot) -> Iterator[Packed]:
    """The files of a bot as they are sent; CommandError for one that has none, BotError."""
    said = bot.manifest
    if said is None:
        raise CommandError(f"{bot.label} runs elsewhere; there are no files to push.", USAGE)
    content = archive.content_hash(bot)
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as file:
        contents = parcel.pack(bot, file)
        size = file.tell()
        file.seek(0)
        yield Packed(said.name, said.version or "", content, contents, file, size)


def send(arena: Elsewhere, what: Packed) -> Mapping[str, Any]:
    """Sends it, if it is wanted; gives the submission that it is there.

    Raises CommandError, with the sentence of the arena if it refuses.
    """
    said = {"name": what.name, "content": what.content}
    path = "/submissions?" + urlencode(said | ({"version": what.version} if what.version else {}))
    asked = _patient(arena, path)
    if "submission" in asked.told:
        return asked.told
    most = int(asked.told.get("most_bytes") or 0)
    if what.size > most:
        raise CommandError(
            f"{what.name} is {what.size:,} bytes packed, and {arena.url} takes {most:,} at the "
            "most; move what it does not need to play elsewhere.",
            FAILED,
        )
    try:
        answer = arena.ask(path, what.file, what.size)
    except Silent as silent:
        raise cannot_reach(arena.url, str(silent), "") from None
    return _welcome(arena, answer).told


def look(arena: Elsewhere, submission: str) -> Mapping[str, Any]:
    """How a submission stands. Raises CommandError."""
    try:
        answer = arena.ask(f"/submissions/{quote(submission, safe='')}.json")
    except Silent as silent:
        raise cannot_reach(arena.url, str(silent)) from None
    return _welcome(arena, answer).told


def follow(arena: Elsewhere, first: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """How a submission stands, again and again, until it is decided.

    Raises CommandError; Ctrl-C too, which leaves the submission going.
    """
    name, told = str(first["submission"]), first
    pause, heard = _FIRST_SECONDS, time.monotonic()
    again = f"pokearena bot submission {name} --to {arena.url}"
    try:
        while True:
            yield told
            if told["state"] not in ("waiting", "running"):
                return
            time.sleep(pause)
            pause = min(pause * 1.3, _LONGEST_SECONDS)
            before = told
            try:
                told = look(arena, name)
                heard = time.monotonic()
                if told["stage"] != before["stage"]:
                    pause = _FIRST_SECONDS
            except CommandError as error:
                lost = error.status == UNREACHABLE
                if not lost or time.monotonic() - heard > _PATIENCE_SECONDS:
                    raise CommandError(str(error), error.status, again) from None
    except KeyboardInterrupt:
        raise CommandError(
            f"no longer watching; {name} is worked on all the same.", INTERRUPTED, again
        ) from None


def tell(
    arena: Elsewhere, states: Iterator[Mapping[str, Any]], as_json: bool, bot: str = "BOT"
) -> int:
    """Says what becomes of a submission as it comes; gives the exit status.

    bot: what was pushed, as it is typed.
    """
    told: Mapping[str, Any] = {}
    said = 0
    for told in states:
        begun = [step["stage"] for step in told["stages"] if step["state"] != "open"]
        if not as_json:
            for stage in begun[said:]:
                output.hint(stage)
        # It is begun again if it was interrupted.
        said = max(said, len(begun))
    if as_json:
        output.document(dict(told))
    else:
        _conclude(arena, told, bot)
    return 0 if told["state"] == "accepted" else FAILED


def _conclude(arena: Elsewhere, told: Mapping[str, Any], bot: str) -> None:
    if told["state"] == "accepted":
        output.line(str(told["sentence"]))
        output.next_step(f"open {arena.url}/bots/{told['bot']}")
        return
    output.complain(f"refused while {told['stage']}: {told['sentence']}")
    if told.get("output"):
        output.hint("the end of what was written:")
        output.line(str(told["output"]).rstrip())
    output.next_step(f"pokearena test {bot}")


def _patient(arena: Elsewhere, path: str) -> Answer:
    """Asks whether it would be taken; waits a little for an arena that is being started."""
    until = time.monotonic() + _FIRST_SECONDS * 20
    while True:
        try:
            answer = arena.ask(path, b"")
        except Silent as silent:
            raise cannot_reach(arena.url, str(silent)) from None
        if answer.status != 503 or time.monotonic() > until:
            return _welcome(arena, answer)
        time.sleep(_FIRST_SECONDS)


def _welcome(arena: Elsewhere, answer: Answer) -> Answer:
    if answer.status < 300 and answer.told:
        return answer
    if answer.status < 300:
        raise CommandError(f"{arena.url} is no arena: what it answers is no JSON.", UNREACHABLE)
    status = UNREACHABLE if answer.status >= 500 else FAILED
    raise CommandError(f"{arena.url} refuses: {answer.sentence}", status)
