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

    def rating(self, points: Sequence[float], decisive_lead: float) -> float:
        """Return the mean rating of the seat's side against each other side, from -1 to 1.

        Args:
            points: the points of each seat.
            decisive_lead: a lead that nearly decides a game. Its rating is tanh(1) = 0.76, and a
                larger lead adds little.
        """
        own_side, own_points = self.sides[self.seat], points[self.seat]
        points_by_side = zip(self.sides, points, strict=True)
        others = {side: other for side, other in points_by_side if side != own_side}
        ratings = [tanh((own_points - other) / decisive_lead) for other in others.values()]
        return sum(ratings) / len(ratings)


class Plan(Protocol):
    """Search plan of a game. The states are those of the referee."""

    analysis_playouts: int
    """Playouts of the analysis of one match: at most 20 s of CPU time."""

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
