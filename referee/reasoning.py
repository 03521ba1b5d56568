"""Reasoning and usage of bots: private lines beside the record, which contains their hashes.

The line of a seat holds what its bot sent in one game. It is not a part of the record, so that it
can be private, and can be deleted without a change of the record (docs/reference/record.md).
"""

import hashlib
import json
import math
import os
from collections.abc import Iterable, Iterator
from typing import Any, Final

from pokearena.v1 import bot_pb2

from referee.record import Line, MatchRecord, RecordError
from referee.sanitizing import one_line

TEXT_BYTES: Final = 16 << 10
"""Maximum size of the reasoning of one answer, in bytes of UTF-8; the rest is cut."""
MODEL_CHARACTERS: Final = 100
_MOST_UNITS: Final = 1_000_000_000
"""Maximum number of tokens, tries, milliseconds or US dollars of one answer."""
_SALT_BYTES: Final = 16
_COUNTS: Final = ("tokens_in", "tokens_out", "tries", "ms")


class SeatReasoning:
    """The reasoning and usage of one seat in one game, up to a total size."""

    def __init__(self, most_bytes: int) -> None:
        """Keep at most this number of bytes; with 0 nothing is kept."""
        self._left = most_bytes
        self._decisions: list[str] = []

    def add(self, decision: int, response: bot_pb2.ActResponse) -> None:
        """Keep the reasoning and the usage of an answer, as far as there is space."""
        text, is_cut = _cut(response.reasoning)
        usage = _usage(response.usage) if response.HasField("usage") else {}
        line: Line = {"decision": decision}
        if response.attempt:
            line["attempt"] = response.attempt
        reported: Line = {"usage": usage} if usage else {}
        parts: Line = {"text": text} if text else {}
        if is_cut:
            parts["cut"] = True
        # Without space for both, the usage is kept: totals need it.
        if not self._keep(line, parts | reported):
            self._keep(line, ({"cut": True} if text else {}) | reported)

    def _keep(self, line: Line, parts: Line) -> bool:
        """Keep a line with these parts, if there are any; return False without space."""
        written = _written(line | parts)
        if parts and len(written) >= self._left:
            return False
        if parts:
            self._left -= len(written) + 1
            self._decisions.append(written)
        return True

    def line(self, game: int, seat: int) -> str:
        """Serialize what is kept, without a newline; "" if nothing is.

        A random salt prevents that a deleted text is guessed and compared with its hash.
        """
        if not self._decisions:
            return ""
        head: Line = {"type": "reasoning", "game": game, "seat": seat}
        head["salt"] = os.urandom(_SALT_BYTES).hex()
        return f'{_written(head)[:-1]},"decisions":[{",".join(self._decisions)}]}}'


def _written(line: Line) -> str:
    """Serialize a line in ASCII: safe to print, and its size in bytes is its length."""
    return json.dumps(line, separators=(",", ":"))


def _cut(text: str) -> tuple[str, bool]:
    """Return at most `TEXT_BYTES` of a text, and whether it was longer."""
    if len(text) * 4 <= TEXT_BYTES:
        return text, False
    data = text.encode()
    if len(data) <= TEXT_BYTES:
        return text, False
    return data[:TEXT_BYTES].decode(errors="ignore"), True


def _usage(usage: bot_pb2.Usage) -> Line:
    """Return the possible values of a usage that a bot reports; empty without any."""
    values: Line = {}
    if model := one_line(usage.model[:MODEL_CHARACTERS]).strip():
        values["model"] = model
    counts = {name: getattr(usage, name) for name in _COUNTS}
    values |= {name: count for name, count in counts.items() if 0 < count <= _MOST_UNITS}
    if math.isfinite(usage.cost) and 0 < usage.cost <= _MOST_UNITS:
        values["cost"] = usage.cost
    return {"source": "reported", **values} if values else {}


def digests(lines: Iterable[str]) -> list[str]:
    """Return the SHA-256 of each line, in hexadecimal; "" for an empty one."""
    return [hashlib.sha256(line.encode()).hexdigest() if line else "" for line in lines]


def read_line(line: str) -> Line:
    """Parse the line of a seat.

    Raises:
        RecordError: it is not valid.
    """
    try:
        content = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"a line of the reasoning is not valid JSON: {error}") from None
    if not isinstance(content, dict) or content.get("type") != "reasoning":
        raise RecordError('a line of the reasoning is not an object of the type "reasoning"')
    return content


def problems(record: MatchRecord, lines: Iterable[str]) -> Iterator[str]:
    """Yield the differences between lines and the hashes in a record; deleted lines are allowed."""
    recorded = {(game, seat): digest for game, seat, digest in recorded_digests(record)}
    for line in lines:
        try:
            content = read_line(line)
        except RecordError as error:
            yield str(error)
            continue
        place = _place(content)
        (digest,) = digests([line])
        if recorded.pop(place, None) != digest:
            yield (
                f"game {content.get('game')}: the reasoning of seat {content.get('seat')} is not "
                "the one whose hash is in the record"
            )


def recorded_digests(record: MatchRecord) -> Iterator[tuple[int, int, str]]:
    """Yield game, seat and hash of each line of the reasoning, deleted ones too."""
    for game in record.games:
        values = game.result.get("reasoning")
        for seat, digest in enumerate(values if isinstance(values, list) else ()):
            if digest:
                yield game.number, seat, str(digest)


def _place(content: Line) -> tuple[Any, Any]:
    game, seat = content.get("game"), content.get("seat")
    return (game, seat) if isinstance(game, int) and isinstance(seat, int) else (None, None)
