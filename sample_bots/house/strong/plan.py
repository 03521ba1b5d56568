"""Interface between the search and a game."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import tanh
from typing import Any, Protocol

from referee.games.contract import Action, State


@dataclass(frozen=True, slots=True)
class Position:
    """The decision to make: its state and its seat."""

    state: State
    seat: int
    sides: tuple[int, ...]
    """The side of each seat."""

    def against(self, worth: Sequence[float], close: float) -> float:
        """Rate the seat's side against the other sides, from -1 to 1: the mean over them.

        Args:
            worth: the points of each seat.
            close: a lead that nearly decides a game; a larger one adds little.
        """
        mine = self.sides[self.seat]
        others = {side: w for side, w in zip(self.sides, worth, strict=True) if side != mine}
        return sum(tanh((worth[self.seat] - w) / close) for w in others.values()) / len(others)


class Plan(Protocol):
    """Search plan of a game. The states are those of the referee."""

    def playouts(self, state: Any) -> int:
        """Return the number of playouts for a decision; more is stronger and slower."""

    def candidates(self, state: Any, seat: int) -> list[Action]:
        """Return the actions to search, the policy's choice first."""

    def move(self, state: Any, seat: int) -> Action:
        """Choose the action of a seat in a playout, by fast rules of thumb: the policy."""

    def over(self, root: Any, state: Any) -> bool:
        """Return whether to end a playout that began at ``root`` before the game is over."""

    def value(self, at: Position, state: Any) -> float:
        """Rate the end of a playout for the deciding side, from -1 to 1."""
