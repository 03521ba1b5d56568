"""What the search has to be told about a game."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import tanh
from typing import Any, Protocol

from referee.games.contract import Action, State


@dataclass(frozen=True, slots=True)
class Position:
    """The decision that is being made: where it stands, for whom."""

    state: State
    seat: int
    sides: tuple[int, ...]
    """The side of each seat."""

    def against(self, worth: Sequence[float], close: float) -> float:
        """How well the own side stands against the others, from -1 to 1, the mean over them.

        Args:
            worth: what each seat has.
            close: a lead that decides most of a game; beyond it more is hardly better.
        """
        mine = self.sides[self.seat]
        others = {side: w for side, w in zip(self.sides, worth, strict=True) if side != mine}
        return sum(tanh((worth[self.seat] - w) / close) for w in others.values()) / len(others)


class Plan(Protocol):
    """How a game is searched. The states are the rules' own."""

    def playouts(self, state: Any) -> int:
        """How many a decision may have: this sets how strong and how slow it is."""

    def candidates(self, state: Any, seat: int) -> list[Action]:
        """What is worth a thought, the most promising first: what the policy would do."""

    def move(self, state: Any, seat: int) -> Action:
        """What a seat does in a playout: rules of thumb, as quick as can be."""

    def over(self, root: Any, state: Any) -> bool:
        """Whether a playout that began at ``root`` has gone far enough; an end always is."""

    def value(self, at: Position, state: Any) -> float:
        """What the end of a playout is worth to the side that decides, from -1 to 1."""
