"""The strengths of a ladder that is too large to be fitted: the last ones, with the reason.

Large fits require SciPy, the extra `large-ladders`. This module imports numpy only when needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from referee.games.shared.coded_errors import InvalidValue

if TYPE_CHECKING:
    from arena.ratings.strength.meeting_arrays import Floats, Ints

SCIPY_MISSING: Final = "scipy-missing"
"""The code of the reason why strengths are not fitted."""


class TooManyEntrants(InvalidValue):
    """The ladder is too large to be fitted without SciPy.

    Args:
        limit: the largest number of entrants that are fitted without it.
    """

    def __init__(self, limit: int) -> None:
        super().__init__(reason(limit), code=SCIPY_MISSING)


def reason(limit: int) -> str:
    """Return the sentence about a ladder with more entrants than `limit`."""
    return (
        f"the strengths of more than {limit:,} bots require SciPy; install pokearena[large-ladders]"
    )


def has_scipy() -> bool:
    """Return whether SciPy is installed, without importing it."""
    return find_spec("scipy") is not None


@dataclass(frozen=True, slots=True)
class KnownStrengths:
    """The values that replace the fit of a ladder that is too large to be fitted.

    Attributes:
        active: the entrants that still play. If they are few enough, they are fitted to the
            matches among them.
        last: the last strength and standard error of entrants, in Elo points.
    """

    active: frozenset[str] = frozenset()
    last: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class IndependentErrors:
    """A covariance without dependences: (size,) variances."""

    variances: Floats

    @property
    def size(self) -> int:
        return len(self.variances)

    def gap_variances(self, rows: slice) -> Floats:
        import numpy as np

        variances: Floats = self.variances[rows, None] + self.variances
        places = np.arange(self.size)[rows]
        variances[np.arange(len(places)), places] = 0.0
        return variances

    def variance_of(self, shares: Floats) -> float:
        return float(shares**2 @ self.variances)

    def reordered(self, order: Ints) -> IndependentErrors:
        return IndependentErrors(self.variances[order])
