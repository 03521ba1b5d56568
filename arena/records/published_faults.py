"""Redact published fault lines: keep the facts, remove data that belongs to the bot.

Only the owner and the organiser can read a bot's output and its questions. Published sentences omit
the folder names of this machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Final

from referee.record import TAGS, Line, dump

OWN: Final = (
    "question",
    "answer",
    "ended",
    "exit_status",
    "signal",
    "peak_memory",
    "output",
    "output_in",
)
"""Members of a fault line that only the owner can read."""

_WORDS: Final = ('"fault"', '"note"', f'"{TAGS}"')
"""Words in the lines that can contain texts of a bot."""

_PATH: Final = re.compile(r"(?<![\w.:/])/(?:[^\s/'\"<>:,;()]+/)+([^\s/'\"<>:,;()]*)")


def pathless(text: str) -> str:
    """Replace each absolute path in a text by its last component."""
    return _PATH.sub(r"…/\1", text)


def public_fault(fault: Line) -> Line:
    """Return a fault line without the owner's members and without folder names."""
    facts = {name: fault[name] for name in fault if name not in OWN}
    return {**facts, "sentence": pathless(str(fault["sentence"]))}


def without_data_of(record: str, versions: Collection[str]) -> str:
    """Return the record of a game without the notes, tags and output of some versions.

    It still verifies: actions, times, results and the sentences of faults stay.

    Args:
        record: the lines of a game; the first one names the version of each seat.
        versions: the versions as ``name@number``.
    """
    lines = record.split("\n")
    seating = json.loads(lines[0])["seating"]
    seats = {seat for seat, version in enumerate(seating) if version in versions}
    return "\n".join(_forgotten_line(line, seats) for line in lines)


def _forgotten_line(text: str, seats: Collection[int]) -> str:
    line = json.loads(text) if any(word in text for word in _WORDS) else {}
    if line.get("type") == "result" and TAGS in line:
        return _without_tags(line, seats)
    private = {"fault": OWN, "action": ("note",)}.get(line.get("type", ""), ())
    if line.get("seat") not in seats or not any(name in line for name in private):
        return text
    return dump({name: line[name] for name in line if name not in private}).rstrip("\n")


def _without_tags(result: Line, seats: Collection[int]) -> str:
    kept = [[] if seat in seats else tags for seat, tags in enumerate(result[TAGS])]
    if not any(kept):
        del result[TAGS]
        return dump(result).rstrip("\n")
    return dump(result | {TAGS: kept}).rstrip("\n")


def public_record(record: str) -> str:
    """Return a record, or some of its lines, in its published form; it still verifies."""
    return "\n".join(map(_published_line, record.split("\n")))


def _published_line(text: str) -> str:
    # Nearly all lines are not faults; they stay identical to the byte.
    line = json.loads(text) if '"fault"' in text else {}
    return dump(public_fault(line)).rstrip("\n") if line.get("type") == "fault" else text
