"""Differences in strength between each two entrants, with their uncertainty.

A thousand entrants have half a million differences, but a page shows only a few. Therefore each is
computed on request. Only the counts that ranks depend on are computed for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from arena.ratings.scale import DECIMALS, ELO, normal
from arena.ratings.strength.meeting_arrays import Floats

CERTAIN = 0.975
"""The likelihood of superiority from which an entrant counts as certainly stronger."""

_CLEAR: Final = 1.961
"""Beyond this many standard errors the likelihood is above `CERTAIN`, despite rounding."""
_CLOSE: Final = 1.959
"""Within this many standard errors it is not."""


@dataclass(frozen=True, slots=True, eq=False)
class StrengthDifferences:
    """The differences in strength between some entrants, by their places from 0.

    Attributes:
        values: their strengths on the Elo scale, the strongest first.
        covariance: the covariance of their strengths in natural units: (size, size).
    """

    values: Sequence[float]
    covariance: Floats

    def __eq__(self, other: object) -> bool:
        """Return whether all published values are equal."""
        if not isinstance(other, StrengthDifferences) or tuple(self.values) != tuple(other.values):
            return False
        places = range(len(self.values))
        return all(np.array_equal(self._errors(at), other._errors(at)) for at in places)

    __hash__ = None  # type: ignore[assignment]

    def error(self, first: int, second: int) -> float:
        """Return the standard error of the difference between two entrants, in Elo points.

        The covariance reduces it: uncertainty about common opponents affects both entrants.
        """
        mine, its, both = (
            self.covariance[at] for at in ((first, first), (second, second), (first, second))
        )
        return float(_told(mine + its - 2 * both))

    def superiority(self, first: int, second: int) -> float:
        """Return the likelihood, from 0 to 1, that `first` is stronger than `second`.

        It is 0, 0.5 or 1 if the difference is known exactly, as between two anchors.
        """
        return self._likely(self.values[first] - self.values[second], self.error(first, second))

    def superiorities(self, place: int) -> list[float]:
        """Return the likelihoods against everyone, in order of places; 0.5 against itself."""
        errors = zip(self.values, self.errors(place), strict=True)
        return [self._likely(self.values[place] - value, error) for value, error in errors]

    def errors(self, place: int) -> list[float]:
        """Return the standard errors of its differences to everyone, in order of places."""
        return [float(error) for error in self._errors(place)]

    def ranks(self, place: int) -> tuple[int, int]:
        """Return the first and last rank that an entrant may have.

        The first is one more than the number of entrants that are certainly stronger. The last is
        the number of entrants that are not certainly weaker, including itself.
        """
        gaps = self.values[place] - np.asarray(self.values)
        errors = self._errors(place)
        # Computing each likelihood would be exact, but half a million of them take a second. Only
        # differences close to the limit need it.
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
        variances = np.diag(self.covariance)
        return _told(variances[place] + variances - 2 * self.covariance[place])

    @staticmethod
    def _likely(gap: float, error: float) -> float:
        if error:
            return round(normal(gap / error), DECIMALS)
        return 0.5 + 0.5 * ((gap > 0) - (gap < 0))


def _told(variances: Floats) -> Floats:
    """Convert variances in natural units to rounded standard errors in Elo points."""
    return np.asarray(np.round(ELO * np.sqrt(np.maximum(variances, 0.0)), DECIMALS))
