"""Histograms of the bots' decision times, which are small and can be added.

A bin has a width of a factor of 2 ** (1/4) (19 %). A quantile is therefore accurate to about 9 % at
any magnitude, and a match of a thousand decisions has about thirty numbers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

BINS = 4
"""Number of bins for a factor of two."""
FASTEST_MS = 0.01
"""Lower limit of times in milliseconds; a decision over a connection always takes longer."""


class DecisionHistogram:
    """The decision times of one bot; an immutable value."""

    __slots__ = ("_stored",)

    def __init__(self, bins: Mapping[int, int] | None = None) -> None:
        """Create it from the number of decisions by bin.

        Bin b begins at 2 ** (b / 4) milliseconds and ends where the next one begins.
        """
        self._stored = tuple(chain.from_iterable(sorted((bins or {}).items())))

    @classmethod
    def of(cls, milliseconds: Iterable[float]) -> DecisionHistogram:
        """Create it from single decision times in milliseconds."""
        return cls(Counter(_bin(time) for time in milliseconds))

    @classmethod
    def read(cls, stored: Sequence[int]) -> DecisionHistogram:
        """Create it from the result of `stored`."""
        histogram = cls()
        histogram._stored = tuple(stored)
        return histogram

    def stored(self) -> list[int]:
        """Return the stored form: bin, count, bin, count, ... in ascending order of bins."""
        return list(self._stored)

    def add_to(self, bins: dict[int, int]) -> None:
        """Add its decisions to a mutable mapping from bin to number."""
        numbers = iter(self._stored)
        for place in numbers:
            bins[place] = bins.get(place, 0) + next(numbers)

    @property
    def decisions(self) -> int:
        return sum(self._stored[1::2])

    def __add__(self, other: DecisionHistogram) -> DecisionHistogram:
        """Return the sum of both histograms."""
        bins: dict[int, int] = {}
        self.add_to(bins)
        other.add_to(bins)
        return DecisionHistogram(bins)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DecisionHistogram) and self._stored == other._stored

    def __hash__(self) -> int:
        return hash(self._stored)

    def quantile(self, share: float) -> float | None:
        """Return the time in milliseconds within which this share of decisions was made.

        It is the middle, on a logarithmic scale, of the bin that contains the quantile; None
        without decisions.
        """
        remaining = math.ceil(share * self.decisions)
        for place, count in zip(self._stored[::2], self._stored[1::2], strict=True):
            remaining -= count
            if remaining <= 0:
                return float(f"{2.0 ** ((place + 0.5) / BINS):.3g}")
        return None

    def to_json(self) -> dict[str, object]:
        """Return the displayed statistics as plain values for JSON."""
        return {"decisions": self.decisions, "p50_ms": self.quantile(0.5), "p95_ms": self.p95}

    @property
    def p95(self) -> float | None:
        """The 95th percentile in milliseconds."""
        return self.quantile(0.95)


def _bin(milliseconds: float) -> int:
    return math.floor(BINS * math.log2(max(milliseconds, FASTEST_MS)))
