"""Results of an examination: a sequence of checks."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class CheckOutcome(StrEnum):
    """Result of a check."""

    PASSED = "passed"
    FAILED = "failed"
    REMARK = "remark"
    """The check did not fail, but the author should read its sentence."""
    SKIPPED = "skipped"
    """The check does not apply to this bot."""
    UNCHECKED = "unchecked"
    """The check could not be made; the sentence is the reason."""


@dataclass(frozen=True, slots=True)
class CheckRecord:
    """The record of a match whose questions can be repeated (docs/reference/record.md)."""

    match: str
    """ID of the match."""
    text: str


@dataclass(frozen=True, slots=True)
class Check:
    """One check of an examination."""

    name: str
    """Name such as "plays" or "one legal action"; unique together with `game`."""
    outcome: CheckOutcome
    sentence: str
    """The result; for a failure the reason, as an instruction to the author."""
    game: str = ""
    """ID of the game; empty if the check concerns the bot as a whole."""
    seconds: float = 0.0
    question: str = ""
    """The failing question, as "MATCH:GAME:DECISION".

    Several questions of one message are "MATCH:GAME:DECISION,GAME:DECISION".
    """
    command: str = ""
    """Command that repeats the check; requires `record` among the records of `pokearena`."""
    record: CheckRecord | None = None
    output: str = ""
    """End of the bot's output at the failure."""

    @property
    def unchecked(self) -> bool:
        """Whether the check could not be made."""
        return self.outcome is CheckOutcome.UNCHECKED

    @property
    def failed(self) -> bool:
        """Whether the check prevents the bot's admission."""
        return self.outcome is CheckOutcome.FAILED

    def to_json(self) -> dict[str, Any]:
        """Return the check as JSON values, with the record's match ID instead of the record."""
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
