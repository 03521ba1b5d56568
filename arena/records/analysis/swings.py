"""Find the largest changes of win expectation in the rated positions of a game. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

LEAST_SWING: Final = 0.1
"""Smallest change of a win expectation that is a swing."""
DOUBT: Final = 3.0
"""Standard errors that a swing must exceed."""
MOST_SWINGS: Final = 5
"""Number of swings that a page shows."""


@dataclass(frozen=True, slots=True)
class Swing:
    """A large change of a seat's win expectation between two rated positions.

    Args:
        since: the decision of the position before the change.
        decision: the first decision after the change.
        before: its win expectation in the position before.
        after: its win expectation in the position after.
    """

    game: int
    since: int
    decision: int
    seat: int
    before: float
    after: float

    @property
    def size(self) -> float:
        """The change without its sign."""
        return abs(self.after - self.before)


def largest_swings(
    positions: Sequence[dict[str, Any]], seats: Collection[int], most: int = MOST_SWINGS
) -> list[Swing]:
    """Return the largest swings in the order of the games; one for each position at most.

    Args:
        positions: rated positions in the stored form of an analysis, in the order of the games.
        seats: the first seat of each side.
    """
    swings = [
        swing
        for before, after in pairwise(positions)
        if before["game"] == after["game"] and (swing := _swing(before, after, seats))
    ]
    swings.sort(key=lambda each: (-each.size, each.game, each.decision))
    return sorted(swings[:most], key=lambda each: (each.game, each.decision))


def _swing(before: dict[str, Any], after: dict[str, Any], seats: Collection[int]) -> Swing | None:
    swings = []
    for seat in seats:
        (old, old_error), (new, new_error) = (
            before["expectations"][seat],
            after["expectations"][seat],
        )
        if abs(new - old) > max(LEAST_SWING, DOUBT * (old_error**2 + new_error**2) ** 0.5):
            swings.append(
                Swing(after["game"], before["decision"], after["decision"], seat, old, new)
            )
    return max(swings, key=lambda each: (each.size, -each.seat), default=None)
