"""Expected result of a rubber of Poke between two deals.

The distribution of a deal's points comes from deals that the playout policy plays. The mean and
the variance of the points still to come follow by value iteration over the legs and the points
below the line. The values need not be exact: adjusted results are unbiased with any values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from arena.ratings.scale import normal
from arena.records.analysis.engine import engine_of
from referee.games.poke import Poke
from referee.games.poke.state import LEG, LEG_POINTS, RUBBER
from referee.games.shared.dealing import Seeded, derive

Floats = NDArray[np.float64]
_DEALS: Final = 2_000
_SEED: Final = bytes(32)
_ROUNDS: Final = 80
"""Deals after which the rest of a rubber is ignored."""


@dataclass(frozen=True, slots=True)
class DealPoints:
    """A result of a deal below the line, and the lead above the line that comes with it."""

    below: tuple[int, int]
    """Points below the line of the non-dealer and the dealer."""
    share: float
    """Probability of this result."""
    lead: float
    """Mean lead of the dealer above the line, without a leg."""
    square: float
    """Mean square of the lead."""


class RubberValues:
    """Mean and mean square of the next dealer's lead from the rest of a rubber."""

    def __init__(self, deals: list[DealPoints]) -> None:
        shape = (2, 2, LEG_POINTS, LEG_POINTS)
        self._means, self._squares = np.zeros(shape), np.zeros(shape)
        for _ in range(_ROUNDS):
            self._means, self._squares = self._iterated(deals)

    def _iterated(self, deals: list[DealPoints]) -> tuple[Floats, Floats]:
        """Return the values one deal earlier."""
        means, squares = np.zeros_like(self._means), np.zeros_like(self._squares)
        for mine in (0, 1):
            for theirs in (0, 1):
                for deal in deals:
                    later, square = self._after(mine, theirs, deal)
                    means[mine, theirs] += deal.share * (deal.lead + later)
                    squares[mine, theirs] += deal.share * (
                        deal.square + 2 * deal.lead * later + square
                    )
        return means, squares

    def _after(self, mine: int, theirs: int, deal: DealPoints) -> tuple[Floats, Floats]:
        """Return the dealer's mean lead after a deal, and its mean square, by points below."""
        first = np.arange(LEG_POINTS)[:, None] + deal.below[1] + np.zeros((1, LEG_POINTS), int)
        second = np.arange(LEG_POINTS)[None, :] + deal.below[0] + np.zeros((LEG_POINTS, 1), int)
        wins = (first >= LEG_POINTS) & (first > second)
        loses = (second >= LEG_POINTS) & (second > first)
        # The other seat deals next, so its values are the negative ones of the dealer.
        at = np.minimum(second, LEG_POINTS - 1), np.minimum(first, LEG_POINTS - 1)
        means = -self._means[theirs, mine][at]
        squares = self._squares[theirs, mine][at]
        for closed, sign, legs, others in ((wins, 1, mine, theirs), (loses, -1, theirs, mine)):
            gain = LEG + (RUBBER[others] if legs else 0)
            after = (theirs, 1) if sign > 0 else (1, mine)
            rest = 0.0 if legs else -float(self._means[after][0, 0])
            spread = 0.0 if legs else float(self._squares[after][0, 0])
            means = np.where(closed, sign * gain + rest, means)
            squares = np.where(closed, gain**2 + 2 * sign * gain * rest + spread, squares)
        return means, squares

    def of(self, state: Any) -> tuple[float, float]:
        """Return the probability that seat 0 wins, and its expected final lead.

        Args:
            state: a position of Poke at the beginning of a deal, or at the end.
        """
        ahead = state.above[0] - state.above[1]
        if state.phase == "over":
            return 0.5 + 0.5 * ((ahead > 0) - (ahead < 0)), float(ahead)
        dealer, other = state.dealer, 1 - state.dealer
        below = [min(points, LEG_POINTS - 1) for points in state.below]
        at = state.legs[dealer], state.legs[other], below[dealer], below[other]
        mean = float(self._means[at])
        spread = max(1.0, float(self._squares[at]) - mean**2) ** 0.5
        lead = ahead + (mean if dealer == 0 else -mean)
        return normal(lead / spread), lead


@cache
def rubber_values() -> RubberValues:
    """Play deals by the policy of the engine of Poke; the values are always the same."""
    engine = engine_of(Poke.id)
    poke = Poke()
    results: dict[tuple[int, int], list[int]] = {}
    for number in range(_DEALS):
        state: Any = poke.start(Seeded(derive(_SEED, "rubber", number)))
        while not state.deals:
            state = state.after({seat: engine.move(state, seat) for seat in state.actors})
        deal = state.deals[0]
        dealer, other = deal.dealer, 1 - deal.dealer
        below, above = deal.below, list(deal.above)
        if max(below) >= LEG_POINTS and below[0] != below[1]:
            above[below.index(max(below))] -= LEG
        lead = above[dealer] - above[other]
        results.setdefault((below[other], below[dealer]), []).append(lead)
    return RubberValues(
        [
            DealPoints(
                below,
                len(leads) / _DEALS,
                float(np.mean(leads)),
                float(np.mean(np.square(leads))),
            )
            for below, leads in sorted(results.items())
        ]
    )
