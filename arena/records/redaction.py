"""Redact published fault lines: keep the facts, remove data that belongs to the bot.

Only the owner and the organiser can read a bot's output and its questions. Published sentences omit
the folder names of this machine.
"""

from __future__ import annotations

import json
import re
from typing import Final

from referee.record import Line, dump

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

_PATH: Final = re.compile(r"(?<![\w.:/])/(?:[^\s/'\"<>:,;()]+/)+([^\s/'\"<>:,;()]*)")


def pathless(text: str) -> str:
    """Replace each absolute path in a text by its last component."""
    return _PATH.sub(r"…/\1", text)


def public(fault: Line) -> Line:
    """Return a fault line without the owner's members and without folder names."""
    facts = {name: fault[name] for name in fault if name not in OWN}
    return {**facts, "sentence": pathless(str(fault["sentence"]))}


def published(record: str) -> str:
    """Return a record, or some of its lines, in its published form; it still verifies."""
    return "\n".join(map(_published_line, record.split("\n")))


def _published_line(text: str) -> str:
    # Nearly all lines are not faults; they stay identical to the byte.
    line = json.loads(text) if '"fault"' in text else {}
    return dump(public(line)).rstrip("\n") if line.get("type") == "fault" else text
