"""The sandbox level of this machine, as `serve` prints it."""

from __future__ import annotations

from dataclasses import dataclass

from arena.bots.sandbox import available_levels
from arena.bots.sandbox.available_levels import Choice
from arena.errors import InfrastructureError


@dataclass(frozen=True, slots=True)
class SandboxReport:
    """The chosen level, or the error because of which nothing is played now."""

    choice: Choice | None
    error: str = ""

    @classmethod
    def read(cls) -> SandboxReport:
        """Choose the level.

        Raises:
            InfrastructureError: the setting is not a level, or this machine does not offer it. In
                other cases the services start, and workers wait until the level is back.
        """
        try:
            return cls(available_levels.chosen_level())
        except InfrastructureError as error:
            if error.code in available_levels.WRONG_SETTING:
                raise
            return cls(None, str(error))

    def text(self) -> str:
        """Return the level with its reason, or the error."""
        return f"unavailable: {self.error}" if self.choice is None else self.choice.sentence()

    def to_json(self) -> dict[str, object]:
        """Return the level, its reason, and the error as JSON values."""
        level = None if self.choice is None else self.choice.level
        return {
            "level": level,
            "reason": None if self.choice is None else self.choice.reason,
            "keeps_tables_apart": level is not None and level.keeps_tables_apart,
            "error": self.error or None,
        }
