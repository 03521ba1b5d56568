"""The trace of `play --trace`: every message from and to bots as JSON lines."""

from __future__ import annotations

import base64
import errno
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from google.protobuf.message import DecodeError, Message
from pokearena.v1 import bot_pb2

from arena.bots.stdio.json_form import writer
from arena.cli import output
from arena.system import output_file
from arena.system.temporary_folder import temporary_folder
from referee.record import dump

if TYPE_CHECKING:
    from arena.matches.local_match import LocalMatch

_TYPES: Final[Mapping[tuple[str, str], type[Message]]] = {
    ("Start", "sent"): bot_pb2.StartRequest,
    ("Start", "received"): bot_pb2.StartResponse,
    ("Act", "sent"): bot_pb2.ActRequest,
    ("Act", "received"): bot_pb2.ActResponse,
    ("Play", "sent"): bot_pb2.PlayRequest,
    ("Play", "received"): bot_pb2.PlayResponse,
    ("End", "sent"): bot_pb2.EndRequest,
    ("End", "received"): bot_pb2.EndResponse,
}
"""Message types by RPC and direction."""


@contextmanager
def traced(match: LocalMatch, path: Path) -> Iterator[None]:
    """Trace the messages of the match that is played in this context; then write the trace.

    The referee stores the messages as bytes in a temporary file, because formatting them would take
    time on the bots' clocks. After the match they are formatted, written beside `path` and renamed.

    Raises:
        OSError: the trace cannot be written; the error names it.
    """
    output_file.check_writable(path)
    target = path.resolve()
    # Beside the trace, because it may be large; a device or a pipe has no folder of its own.
    folder = target.parent if target.is_file() or not target.exists() else None
    with temporary_folder(folder or Path(tempfile.gettempdir())) as directory:
        match.trace = directory / "messages"
        match.trace.touch(mode=0o600)
        try:
            yield
        finally:
            _write(path, match.trace, _seatings(match))


def _seatings(match: LocalMatch) -> dict[int, list[str]]:
    """Return the bot of each seat, by table."""
    from arena.store.matches.table_plan import plan

    versions = match.spec.versions
    return {table.table: [versions[i] for i in table.seating] for table in plan(match.spec)}


def _write(path: Path, messages: Path, seatings: Mapping[int, Sequence[str]]) -> None:
    """Format the stored messages and write them to `path`.

    Raises:
        OSError: they were not stored completely, or the trace cannot be written.
    """
    try:
        file = messages.open(encoding="utf-8")
    except FileNotFoundError:
        # The referee deletes the file when it cannot write a message.
        raise OSError(errno.EIO, "the messages could not be stored", str(path)) from None
    with (
        file,
        output.long_operation(f"writing the trace to {path}"),
        output_file.complete(path) as part,
        part.open("w", encoding="utf-8") as trace,
    ):
        trace.writelines(map(dump, lines(map(json.loads, file), seatings)))
    output.hint(f"wrote the trace to {path}")


def lines(
    stored: Iterator[dict[str, Any]], seatings: Mapping[int, Sequence[str]]
) -> Iterator[dict[str, Any]]:
    """Yield the lines of the trace from those of the referee (`referee.rpc.trace`).

    `seatings` has the bot of each seat, by table.
    """
    began: float | None = None
    sent_games: dict[tuple[int, int, str], list[int]] = {}
    for line in stored:
        began = line["clock"] if began is None else began
        place = line["table"], line["seat"], line["rpc"]
        message = _parsed(line)
        if isinstance(message, bot_pb2.ActResponse):
            # The answer to Act need not repeat the number of the game.
            games = sent_games.get(place, [])
        else:
            games = _games(message)
        if line["direction"] == "sent":
            sent_games[place] = games
        yield {
            "time": datetime.fromtimestamp(line["time"], UTC).isoformat(timespec="microseconds"),
            "ms": round(1000 * (line["clock"] - began), 3),
            "direction": line["direction"],
            "table": line["table"],
            "seat": line["seat"],
            "bot": seatings[line["table"]][line["seat"]],
            "games": games if message is not None else sent_games.get(place, []),
            "rpc": line["rpc"],
            **_content(line, message),
        }


def _parsed(line: Mapping[str, Any]) -> Message | None:
    """Return the message of a line; None without one, or if the bytes are not valid."""
    if "data" not in line:
        return None
    try:
        return _TYPES[line["rpc"], line["direction"]].FromString(base64.b64decode(line["data"]))
    except DecodeError:
        return None


def _games(message: Message | None) -> list[int]:
    """Return the games of the questions or answers in a message, each once, in order."""
    if isinstance(message, bot_pb2.ActRequest):
        return [message.game]
    if isinstance(message, bot_pb2.PlayRequest):
        return list(dict.fromkeys(question.game for question in message.questions))
    if isinstance(message, bot_pb2.PlayResponse):
        return list(dict.fromkeys(answer.game for answer in message.answers))
    return []


def _content(line: Mapping[str, Any], message: Message | None) -> dict[str, Any]:
    """Return the message as JSON, the bytes of an invalid message, or the error of the call."""
    if message is not None:
        return {"message": writer(message.DESCRIPTOR)(message)}
    if "data" in line:
        return {"invalid": line["data"]}
    return {"error": line["error"]}
