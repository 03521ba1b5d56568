"""Estimate strengths quickly for choosing pairings; `arena.ratings` computes the ladder's ranks.

The model is Bradley-Terry with a normal prior (maximum a posteriori). It is fitted by Newton's
method, one entrant at a time. The mean score of a match counts as several games, see `Meetings`.
The variance of an entrant is computed with all other strengths fixed. It is therefore too small
by the shared uncertainty, but sufficient to compare pairs.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PRIOR = 1 / 1.5**2
"""The precision of the prior: a standard deviation of 1.5, which is about 260 Elo."""
SWEEPS = 50
MAX_CHANGE = 1e-4

Meetings = Mapping[str, Mapping[str, tuple[float, float]]]
"""By entrant and opponent: the sum of scores, and the number of games it counts for.

In a match of n entrants each pair counts for games / (n - 1) games.
"""


@dataclass(slots=True)
class StrengthEstimate:
    """The estimate for an entrant: strength in natural log-odds, and its precision."""

    mean: float = 0.0
    precision: float = PRIOR

    @property
    def variance(self) -> float:
        """The variance of the strength."""
        return 1 / self.precision


def estimate_strengths(names: Iterable[str], table: Meetings) -> dict[str, StrengthEstimate]:
    """Estimate the strengths of these entrants and of all in the table."""
    guesses = {name: StrengthEstimate() for name in (*names, *table)}
    for _ in range(SWEEPS):
        moved = [_improve(guesses, guesses[name], row) for name, row in table.items()]
        if max(moved, default=0.0) < MAX_CHANGE:
            break
    return guesses


def _improve(
    guesses: Mapping[str, StrengthEstimate],
    mine: StrengthEstimate,
    row: Mapping[str, tuple[float, float]],
) -> float:
    """Do one Newton step for one entrant; return the size of the step."""
    slope, precision = -PRIOR * mine.mean, PRIOR
    for other, (score, games) in row.items():
        chance = 1 / (1 + exp(guesses[other].mean - mine.mean))
        slope += score - games * chance
        precision += games * chance * (1 - chance)
    # The step is limited to 1, so that one-sided results do not make it overshoot.
    step = min(max(slope / precision, -1.0), 1.0)
    mine.mean += step
    mine.precision = precision
    return abs(step)


def estimate_many(
    size: int, rows: Mapping[int, tuple[array[int], array[float], array[float]]]
) -> dict[int, StrengthEstimate]:
    """Estimate the strengths of many entrants; the steps are those of `estimate_strengths`.

    The entrants of a level (`_levels`) do their steps at once. The result differs in the last
    digits.

    Args:
        size: number of entrants.
        rows: by number of an entrant: its opponents, its scores against them, and the games. Each
            is also an opponent of its opponents.
    """
    # Imported here, because most ladders have few entrants, and commands must start fast.
    from arena.ratings.strength.fit import load_numpy

    load_numpy()
    import numpy as np

    means, precisions = np.zeros(size), np.full(size, PRIOR)
    levels = [_level(numbers, rows) for numbers in _levels(size, rows)]
    for _ in range(SWEEPS):
        farthest = max((level.improve(means, precisions) for level in levels), default=0.0)
        if farthest < MAX_CHANGE:
            break
    return {
        number: StrengthEstimate(float(means[number]), float(precisions[number])) for number in rows
    }


def _levels(
    size: int, rows: Mapping[int, tuple[array[int], array[float], array[float]]]
) -> list[list[int]]:
    """Divide the entrants into levels, without a match between two entrants of one level.

    An entrant's level is one above the highest level of its opponents with an earlier step. So the
    steps of a level at once give the same result as one after the other. 10,000 entrants that met
    400 opponents each have about a thousand levels.
    """
    import numpy as np

    level = np.full(size, -1)
    levels: list[list[int]] = []
    for number, (opponents, _, _) in rows.items():
        highest = int(level[np.frombuffer(opponents, np.intc)].max(initial=-1)) + 1
        level[number] = highest
        if highest == len(levels):
            levels.append([])
        levels[highest].append(number)
    return levels


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """The entrants of a level; `opponents` and `games` hold their rows one after the other.

    Attributes:
        entrants: their numbers.
        scores: the sum of the scores of each.
        begins: where the row of each begins.
        lengths: the length of each row.
        opponents: numbers of the opponents.
        games: the number of games against each.
    """

    entrants: NDArray[np.intp]
    scores: NDArray[np.float64]
    begins: NDArray[np.intp]
    lengths: NDArray[np.intp]
    opponents: NDArray[np.intc]
    games: NDArray[np.float64]

    def improve(self, means: NDArray[np.float64], precisions: NDArray[np.float64]) -> float:
        """Do one Newton step for each entrant; return the size of the largest step."""
        import numpy as np

        strengths = means[self.entrants]
        chances = means[self.opponents]
        chances -= np.repeat(strengths, self.lengths)
        np.exp(chances, out=chances)
        chances += 1
        np.divide(1, chances, out=chances)
        expected = self.games * chances
        gained = np.add.reduceat(expected, self.begins)
        expected *= chances
        precision = PRIOR + gained - np.add.reduceat(expected, self.begins)
        slope = self.scores - gained - PRIOR * strengths
        step = np.clip(slope / precision, -1.0, 1.0)
        means[self.entrants] = strengths + step
        precisions[self.entrants] = precision
        return float(np.abs(step).max())


def _level(
    entrants: list[int], rows: Mapping[int, tuple[array[int], array[float], array[float]]]
) -> _Level:
    import numpy as np

    lengths = np.array([len(rows[number][0]) for number in entrants])
    return _Level(
        np.array(entrants),
        np.array([sum(rows[number][1]) for number in entrants]),
        np.cumsum(lengths) - lengths,
        lengths,
        np.concatenate([np.frombuffer(rows[number][0], np.intc) for number in entrants]),
        np.concatenate([np.frombuffer(rows[number][2]) for number in entrants]),
    )
