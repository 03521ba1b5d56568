"""The differences in strength between each two entrants, and how sure each of them is.

Of a thousand entrants there are half a million. A page shows a few, so each is told when it is
asked for; only what the ranks hang on is counted for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from arena.ratings.scale import ELO, normal
from arena.ratings.strength.columns import Floats

DECIMALS = 6
"""What is told is rounded to this, far below any doubt and far above the solver's own rounding."""

CERTAIN = 0.975
"""The likelihood of superiority from which one is said to be stronger than another."""

_CLEAR: Final = 1.961
"""Beyond so many standard errors a likelihood is above CERTAIN, whatever its rounding."""
_CLOSE: Final = 1.959
"""Within so many it is not."""


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """What is known of the differences between some entrants, by their places from 0.

    values: their strengths on the Elo scale, the strongest first.
    covariance: of their strengths in natural units: (size, size).
    """

    values: Sequence[float]
    covariance: Floats

    def __eq__(self, other: object) -> bool:
        """Whether all that can be told is the same."""
        if not isinstance(other, Gaps) or tuple(self.values) != tuple(other.values):
            return False
        places = range(len(self.values))
        return all(np.array_equal(self._errors(at), other._errors(at)) for at in places)

    __hash__ = None  # type: ignore[assignment]

    def error(self, one: int, other: int) -> float:
        """The standard error of the difference of two.

        It is less than their own errors suggest, as far as the doubt is about the others.
        """
        own, its, both = (self.covariance[at] for at in ((one, one), (other, other), (one, other)))
        return float(_told(own + its - 2 * both))

    def superiority(self, one: int, other: int) -> float:
        """The likelihood, from 0 to 1, that one is stronger than the other.

        Of two whose gap is known exactly, as of two anchors, it is 0, 0.5 or 1.
        """
        return self._likely(self.values[one] - self.values[other], self.error(one, other))

    def superiorities(self, one: int) -> list[float]:
        """The same against everyone, in the order of places; 0.5 against itself."""
        errors = zip(self.values, self.errors(one), strict=True)
        return [self._likely(self.values[one] - value, error) for value, error in errors]

    def errors(self, one: int) -> list[float]:
        """The standard errors of its differences from everyone, in the order of places."""
        return [float(error) for error in self._errors(one)]

    def ranks(self, place: int) -> tuple[int, int]:
        """The ranks that one may have.

        The first is 1 more than how many are certainly stronger, the last how many are not
        certainly weaker.
        """
        gaps = self.values[place] - np.asarray(self.values)
        errors = self._errors(place)
        # Every likelihood would do, but half a million of them take a second.
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.where(errors > 0, gaps / errors, np.sign(gaps) * np.inf)
        far = np.nan_to_num(far, nan=0.0, posinf=np.inf, neginf=-np.inf)
        stronger = int(np.count_nonzero(far <= -_CLEAR))
        weaker = int(np.count_nonzero(far >= _CLEAR))
        for at in np.flatnonzero((np.abs(far) > _CLOSE) & (np.abs(far) < _CLEAR)):
            likely = self._likely(float(gaps[at]), float(errors[at]))
            stronger += likely < 1 - CERTAIN
            weaker += likely > CERTAIN
        return 1 + stronger, len(gaps) - weaker

    def _errors(self, place: int) -> Floats:
        own = np.diag(self.covariance)
        return _told(own[place] + own - 2 * self.covariance[place])

    @staticmethod
    def _likely(gap: float, error: float) -> float:
        if error:
            return round(normal(gap / error), DECIMALS)
        return 0.5 + 0.5 * ((gap > 0) - (gap < 0))


def _told(variances: Floats) -> Floats:
    """Variances in natural units as the standard errors that are told."""
    return np.asarray(np.round(ELO * np.sqrt(np.maximum(variances, 0.0)), DECIMALS))
