"""Bound the strength of entrants that won every game, or lost every game.

The likelihood of such an entrant grows without limit, and only the prior keeps its strength finite.
Therefore no interval around the strength is valid, but a one-sided bound is: the strength at which
a run of such results has the probability 1 - `CONFIDENCE`.

1. A match is won by its first entrant with the probability 1 / (1 + sum(e)) of Plackett and Luce,
   where e are the odds of its opponents against it. The probability of the last place is the sum
   over all subsets A of the opponents of (-1)^|A| / (1 + sum of e over A).
2. The probability of a run is the product over its matches. A match counts as several games if the
   matches of all pairs vary less than single games do (Clopper and Pearson 1934 for one opponent).
3. The opponents' strengths are estimates. The probability is averaged over a common shift of them,
   whose variance follows from their covariance and from their influence on the bound.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np

from arena.ratings.strength.meeting_arrays import Floats, Ints, MeetingArrays
from arena.ratings.strength.solver import Covariance

CONFIDENCE: Final = 0.95
"""The confidence of the bounds; one-sided."""

_FARTHEST: Final = 60.0
"""The bound is searched within this distance of the opponents, in natural units."""
_STEPS: Final = 200
_WIDEST_STEP: Final = 3.0
_CONVERGED: Final = 1e-9
_MIN_CHANCE: Final = 1e-12
"""The probability of a last place is a difference of numbers up to 1; below this it is noise."""
_SHIFTS: Final = np.linspace(-3.0, 3.0, 9)
"""Shifts of the opponents for the average, in standard deviations."""


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """The matches of an entrant against the same number of opponents.

    Attributes:
        opponents: numbers of the opponents: (rows, seats - 1).
        weight: games that the matches of a row count as: (rows,).
        masks: subsets of the opponents: (subsets, seats - 1).
        signs: the sign of the probability of each subset: (subsets,).
    """

    opponents: Ints
    weight: Floats
    masks: Floats
    signs: Floats

    def chances(self, candidate: Floats, strength: Floats) -> tuple[Floats, Floats]:
        """Return the log-probability of the results, and its derivative, at its strength."""
        odds = np.exp(strength[self.opponents] - candidate[:, None, None])
        sums = odds @ self.masks.T
        chances = np.maximum((1 / (1 + sums)) @ self.signs, _MIN_CHANCE)
        slopes = (sums / (1 + sums) ** 2) @ self.signs
        return np.log(chances) @ self.weight, (slopes / chances) @ self.weight

    def influence(self, candidate: float, strength: Floats) -> Floats:
        """Return the derivative of the log-probability by each opponent: (rows, seats - 1)."""
        odds = np.exp(strength[self.opponents] - candidate)
        sums = 1 + odds @ self.masks.T
        chances = np.maximum((1 / sums) @ self.signs, _MIN_CHANCE)
        slopes = (self.signs / sums**2) @ self.masks * odds
        return np.asarray(slopes * (self.weight / chances)[:, None])


def extremes(most: Floats, got: Floats) -> tuple[Ints, Ints]:
    """Return the numbers of the entrants that won every game, and of those that lost every game.

    Args:
        most: the largest possible sum of mean scores of each entrant: (size,).
        got: the actual sums: (size,).
    """
    return np.flatnonzero((got == most) & (most > 0)), np.flatnonzero((got == 0) & (most > 0))


def bound(
    table: MeetingArrays,
    place: int,
    won: bool,
    strength: Floats,
    covariance: Covariance,
    scale: float | None,
) -> float:
    """Return the bound on the strength of an entrant, in natural units.

    Args:
        place: the number of the entrant.
        won: whether it won every game; otherwise it lost every game.
        scale: the variance of the scores of matches, relative to that of single games; None if it
            is not known. Then a match counts as one game.
    """
    runs = list(_runs(table, place, won, scale))
    plain = _crossing(runs, won, strength, 0.0)
    influence = np.zeros(table.size)
    for run in runs:
        np.add.at(influence, run.opponents, run.influence(plain, strength))
    influence /= influence.sum()
    variance = covariance.variance_of(influence)
    return _crossing(runs, won, strength, math.sqrt(variance))


def _runs(table: MeetingArrays, place: int, won: bool, scale: float | None) -> Iterator[_Run]:
    for block in table.blocks:
        rows = np.flatnonzero((block.entrants == place).any(axis=1))
        if not len(rows):
            continue
        entrants = block.entrants[rows]
        others = block.seats - 1
        games = min(max(1.0, 1 / scale), block.games) if scale else 1.0
        masks = np.array(list(product((0.0, 1.0), repeat=others)))
        yield _Run(
            entrants[entrants != place].reshape(-1, others),
            np.asarray(block.matches[rows] * games),
            masks[-1:] if won else masks,
            np.ones(1) if won else (-1.0) ** masks.sum(axis=1),
        )


def _crossing(runs: list[_Run], won: bool, strength: Floats, deviation: float) -> float:
    """Return the strength at which the run has the probability 1 - `CONFIDENCE`.

    Newton's method, where bisection replaces steps that leave the bracket.

    Args:
        won: whether its probability increases with the strength; otherwise it decreases.
        deviation: standard deviation of the common shift of the opponents; 0: none.
    """
    shifts = deviation * _SHIFTS if deviation else np.zeros(1)
    density = np.exp(-(_SHIFTS**2) / 2) if deviation else np.ones(1)
    density = density / density.sum()
    level = math.log(1 - CONFIDENCE)
    opponents = [strength[run.opponents] for run in runs]
    low = float(min(map(np.min, opponents))) - _FARTHEST
    high = float(max(map(np.max, opponents))) + _FARTHEST
    candidate = float(np.mean([each.mean() for each in opponents]))
    for _ in range(_STEPS):
        height, slope = _averaged(runs, candidate - shifts, density, strength)
        if (height < level) == won:
            low = candidate
        else:
            high = candidate
        before = candidate
        step = (level - height) / slope if slope else math.inf
        candidate += min(max(step, -_WIDEST_STEP), _WIDEST_STEP)
        if not low < candidate < high:
            candidate = (low + high) / 2
        if abs(candidate - before) < _CONVERGED:
            break
    return candidate


def _averaged(
    runs: list[_Run], candidate: Floats, density: Floats, strength: Floats
) -> tuple[float, float]:
    """Return the logarithm of the mean probability of a run, and its derivative."""
    logs, slopes = np.zeros(len(candidate)), np.zeros(len(candidate))
    for run in runs:
        more, steeper = run.chances(candidate, strength)
        logs, slopes = logs + more, slopes + steeper
    highest = float(logs.max())
    shares = density * np.exp(logs - highest)
    total = float(shares.sum())
    return highest + math.log(total), float(shares @ slopes) / total
