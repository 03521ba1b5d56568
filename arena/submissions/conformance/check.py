"""What an examination says: one check after another."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    """How a check came out."""

    PASSED = "passed"
    FAILED = "failed"
    REMARK = "remark"
    """No failure, but the author may want to know."""
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Record:
    """A match whose questions can be asked again (docs/record.md)."""

    match: str
    """Its id."""
    text: str


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was tried."""

    name: str
    """What was tried: "plays", "one legal action". Together with `game` it is unique."""
    outcome: Outcome
    sentence: str
    """What came of it: of a failure why, in words that its author can act on."""
    game: str = ""
    """The id of the game; empty if it is about the bot as a whole."""
    seconds: float = 0.0
    question: str = ""
    """The question that broke the bot, as "MATCH:GAME:DECISION"; several of one message are
    "MATCH:GAME:DECISION,GAME:DECISION"."""
    command: str = ""
    """What to type to have it again; it needs `record` where `pokearena` looks for records."""
    record: Record | None = None
    output: str = ""
    """What the bot had written when it failed, the end of it."""

    @property
    def failed(self) -> bool:
        """Whether the bot is not fit to enter."""
        return self.outcome is Outcome.FAILED

    def to_json(self) -> dict[str, Any]:
        """The check as plain values; the record by its id."""
        return {
            "name": self.name,
            "game": self.game or None,
            "outcome": str(self.outcome),
            "sentence": self.sentence,
            "seconds": round(self.seconds, 3),
            "question": self.question or None,
            "match": None if self.record is None else self.record.match,
            "command": self.command or None,
            "output": self.output,
        }
