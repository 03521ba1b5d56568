"""Means of results that are adjusted by control variates.

A control variate is a quantity with a known expectation, here zero, that correlates with a result.
The result minus a multiple of it has the same expectation and less variance. The multiples are
estimated by least squares from the other parts of the sample (cross-fitting), so each is
independent of the control variates that it multiplies and the mean stays unbiased.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from arena.ratings.scale import DECIMALS, Z95
from referee.games.shared.coded_errors import InvalidValue

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

PARTS: Final = 10
FEWEST: Final = 40
"""Smallest sample for which multiples are estimated."""


@dataclass(frozen=True, slots=True)
class AdjustedMean:
    """A mean with and without adjustment; `low` and `high` are the 95 % interval."""

    raw: float
    value: float
    error: float
    """Standard error."""
    low: float
    high: float
    saved: float
    """Variance of the mean without adjustment, as a multiple of the variance with it."""

    def to_json(self) -> dict[str, float]:
        names = ("raw", "value", "error", "low", "high", "saved")
        return {name: round(getattr(self, name), DECIMALS) for name in names}


def adjusted_mean(
    results: Sequence[float], controls: Sequence[Sequence[float]] | Floats
) -> AdjustedMean:
    """Return the adjusted mean of independent results.

    Args:
        controls: the control variates of each result, with expectation zero.

    Raises:
        ValueError: there are fewer than `FEWEST` results.
    """
    import numpy as np

    raw = np.asarray(results, dtype=np.float64)
    if len(raw) < FEWEST:
        raise InvalidValue(
            f"adjustment requires at least {FEWEST} results, not {len(raw)}", code="few-results"
        )
    adjusted = adjusted_results(raw, controls)
    value, error = float(adjusted.mean()), float(adjusted.std(ddof=1) / len(raw) ** 0.5)
    variance = float(adjusted.var(ddof=1))
    saved = float(raw.var(ddof=1)) / variance if variance else 1.0
    return AdjustedMean(
        float(raw.mean()), value, error, value - Z95 * error, value + Z95 * error, saved
    )


def adjusted_results(
    results: Sequence[float] | Floats, controls: Sequence[Sequence[float]] | Floats
) -> Floats:
    """Return each result minus its control variates times the multiples from the other parts."""
    import numpy as np

    raw = np.asarray(results, dtype=np.float64)
    known = np.asarray(controls, dtype=np.float64).reshape(len(raw), -1)
    part = np.arange(len(raw)) % PARTS
    adjusted = raw.copy()
    for number in range(PARTS):
        rest = part != number
        adjusted[~rest] -= known[~rest] @ _multiples(raw[rest], known[rest])
    return adjusted


def _multiples(results: Floats, controls: Floats) -> Floats:
    """Return the multiples of control variates that minimise the variance of the rest."""
    import numpy as np

    centred = controls - controls.mean(axis=0)
    multiples: Any = np.linalg.lstsq(centred, results - results.mean(), rcond=1e-9)[0]
    return np.asarray(multiples)
