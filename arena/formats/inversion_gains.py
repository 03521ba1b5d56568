"""Value of one more match for the order of a ladder: the expected decrease of inverted pairs.

1. Strengths have a joint normal posterior: the fitted strengths as means, and the inverse of the
   curvature of the posterior as covariance C (Laplace's method). Entrants that are not in the pool
   count as known.
2. The difference of two entrants a, b has the variance v and the density f at zero. Two bots are
   ordered wrongly with an expected probability proportional to f * sqrt(v) (for small errors, the
   density of the true difference is constant near zero). So a decrease of v by d saves f * d /
   (2 sqrt(v)) inversions. Without constant factors the weight of the pair is
   W[a, b] = exp(-gap**2 / (2 v)) / v.
3. A match between i and j with the information t decreases the covariance by k u u', where
   u = C (e_i - e_j) and k = t / (1 + t (u_i - u_j)).
4. Its value is the weighted sum of the decreases over all pairs: k u' L u, where L is the Laplacian
   of W. With M = C L C this is k (M[i, i] + M[j, j] - 2 M[i, j]), for all pairs at once.
5. A scheduled match counts as played: C and M are updated by the same rank-one formula. W stays the
   same within a round.

numpy is imported by the first use. Gains that differ by less than `EQUAL_GAIN` count as equal,
because the last digits differ between machines.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from arena.ratings.strength.fit import load_numpy, one_thread

if TYPE_CHECKING:
    from arena.ratings.strength.meeting_arrays import Floats

EQUAL_GAIN: Final = 1e-6
"""Gains within this relative distance of the largest one count as equal."""


def information_of_ranking(entrants: int) -> float:
    """Return the information of a game, relative to games counted as 1 / (entrants - 1) for a pair.

    In the model of Plackett and Luce the places are drawn one after the other. A draw among k equal
    entrants has the Fisher information 1 / k**2 about each pair of them, and a pair is among the
    last k with the probability k (k - 1) / (n (n - 1)). The sum over k from 2 to n is
    (n - H) / (n (n - 1)), with the harmonic number H = 1 + 1/2 + ... + 1/n. A game of two has 1/4.
    """
    harmonic = math.fsum(1 / place for place in range(1, entrants + 1))
    return 4 * (entrants - harmonic) / entrants


class InversionGains:
    """The value of one more match between each two entrants of the pool.

    Args:
        means: estimated strengths in natural units, of the pool and of all their opponents.
        played: numbers of games that count, by entrant and opponent.
        prior: precision of the prior of a strength.
        games: number of games of one more match between two entrants.
        clan: the clan of each entrant; members of one clan have no gain.
        information: the information of a counted game, relative to a game of two entrants.
    """

    def __init__(
        self,
        names: Sequence[str],
        means: Mapping[str, float],
        played: Mapping[str, Mapping[str, float]],
        prior: float,
        games: float,
        clan: Mapping[str, object],
        information: float = 1.0,
    ) -> None:
        load_numpy()
        import numpy as np

        self.place = {name: place for place, name in enumerate(names)}
        size = len(names)
        bend = np.zeros((size, size))
        for name, place in self.place.items():
            bend[place, place] = prior
            for other, counted in played.get(name, {}).items():
                chance = 1 / (1 + math.exp(means[other] - means[name]))
                learned = information * counted * chance * (1 - chance)
                bend[place, place] += learned
                if other in self.place:
                    bend[place, self.place[other]] = -learned
        mean = np.array([means[name] for name in names])
        self._gap = mean[:, None] - mean[None, :]
        chances = 0.5 + 0.5 * np.tanh(self._gap / 2)
        self._learned = information * games * chances * (1 - chances)
        with one_thread():
            self._covariance: Floats = np.asarray(np.linalg.inv(bend))
        numbers: dict[object, int] = {}
        member = np.array([numbers.setdefault(clan[name], len(numbers)) for name in names])
        self._apart = member[:, None] != member[None, :]
        self._propagated: Floats | None = None

    def learn(self, names: Iterable[str]) -> None:
        """Count a scheduled match as played; entrants outside the pool are ignored."""
        seated = [self.place[name] for name in names if name in self.place]
        for at, first in enumerate(seated):
            for second in seated[:at]:
                self._learn(first, second)

    def best(self, turns: Sequence[int]) -> tuple[int, int]:
        """Return the pair with the largest gain; of equal pairs the one that has waited longest.

        Args:
            turns: a number for each place of the pool, the least for the longest waiting entrant.
        """
        import numpy as np

        gains = np.triu(self._gains(slice(None)), 1)
        pairs = np.argwhere(gains >= gains.max() * (1 - EQUAL_GAIN))
        waited = np.sort(np.asarray(turns)[pairs], axis=1)
        first, second = pairs[np.lexsort((waited[:, 1], waited[:, 0]))[0]]
        return int(first), int(second)

    def beside(self, seated: Sequence[int], candidates: Sequence[int]) -> int:
        """Return the candidate with the largest sum of gains; of equal ones the first."""
        gains = self._gains(list(seated)).sum(axis=0)[list(candidates)]
        return int(candidates[int((gains >= gains.max() * (1 - EQUAL_GAIN)).argmax())])

    def _gains(self, rows: slice | list[int]) -> Floats:
        """Return the gains of some entrants against all: (rows, size); 0 within a clan."""
        import numpy as np

        spread, weighted = self._covariance, self._weighted()
        variance, value = np.diag(spread), np.diag(weighted)
        learned = self._learned[rows]
        gaps = variance[rows, None] + variance[None, :] - 2 * spread[rows]
        values = value[rows, None] + value[None, :] - 2 * weighted[rows]
        gains = learned * values / (1 + learned * gaps)
        return np.asarray(np.where(self._apart[rows], gains, 0.0))

    def _weighted(self) -> Floats:
        """Return M = C L C, at first for the covariance after all matches in progress."""
        import numpy as np

        if self._propagated is None:
            spread = self._covariance
            variance = np.diag(spread)
            doubt = variance[:, None] + variance[None, :] - 2 * spread
            np.fill_diagonal(doubt, 1.0)
            weight = np.exp(-(self._gap**2) / (2 * doubt)) / doubt
            np.fill_diagonal(weight, 0.0)
            with one_thread():
                self._propagated = spread @ (np.diag(weight.sum(axis=1)) - weight) @ spread
        return self._propagated

    def _learn(self, first: int, second: int) -> None:
        import numpy as np

        moved = self._covariance[:, first] - self._covariance[:, second]
        learned = float(self._learned[first, second])
        share = learned / (1 + learned * float(moved[first] - moved[second]))
        square = np.outer(moved, moved)
        if self._propagated is not None:
            along = self._propagated[:, first] - self._propagated[:, second]
            cross = np.outer(moved, along)
            self._propagated = (
                self._propagated
                - share * (cross + cross.T)
                + share**2 * float(along[first] - along[second]) * square
            )
        self._covariance = self._covariance - share * square
