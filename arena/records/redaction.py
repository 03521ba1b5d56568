"""What strangers may read of faults: what happened, and nothing that is the bot's own.

What a bot wrote and what it was asked is its owner's and the organiser's to see. Folders of this
machine are nobody's business.
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
"""The members of a fault line that are the owner's."""

_PATH: Final = re.compile(r"(?<![\w.:/])/(?:[^\s/'\"<>:,;()]+/)+([^\s/'\"<>:,;()]*)")


def pathless(text: str) -> str:
    """A text without the folders of this machine: of a path only its last name is left."""
    return _PATH.sub(r"…/\1", text)


def public(fault: Line) -> Line:
    """A fault line as all may see it."""
    told = {name: fault[name] for name in fault if name not in OWN}
    return {**told, "sentence": pathless(str(fault["sentence"]))}


def published(record: str) -> str:
    """The record of a match, or some lines of it, as all may see it; it verifies as before."""
    return "\n".join(map(_told, record.split("\n")))


def _told(text: str) -> str:
    # Of thousands of lines hardly any is a fault: the others stay as they are, to the byte.
    line = json.loads(text) if '"fault"' in text else {}
    return dump(public(line)).rstrip("\n") if line.get("type") == "fault" else text
