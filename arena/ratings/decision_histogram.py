"""How long bots think: decision times in a histogram that is small and adds up.

A bin is a factor of 2 ** (1/4) wide (19 %), so that a quantile is told to about 9 %, whatever its
size, and a match of a thousand decisions is some thirty numbers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

BINS = 4
"""So many bins for a factor of two."""
FASTEST_MS = 0.01
"""What is quicker than this counts as this; nothing over a wire is."""


class Thinking:
    """Decision times of one bot; an immutable value."""

    __slots__ = ("_stored",)

    def __init__(self, bins: Mapping[int, int] | None = None) -> None:
        """Take how many decisions fell into each bin.

        Bin b is from 2 ** (b / 4) milliseconds to where the next one begins.
        """
        self._stored = tuple(chain.from_iterable(sorted((bins or {}).items())))

    @classmethod
    def of(cls, milliseconds: Iterable[float]) -> Thinking:
        """Count decisions."""
        return cls(Counter(_bin(time) for time in milliseconds))

    @classmethod
    def read(cls, stored: Sequence[int]) -> Thinking:
        """Return what `stored` was made of."""
        made = cls()
        made._stored = tuple(stored)
        return made

    def stored(self) -> list[int]:
        """Return it as it is kept: bin, count, bin, count, ... in ascending order."""
        return list(self._stored)

    def add_to(self, bins: dict[int, int]) -> None:
        """Add its decisions to bins that are being summed up."""
        numbers = iter(self._stored)
        for place in numbers:
            bins[place] = bins.get(place, 0) + next(numbers)

    @property
    def decisions(self) -> int:
        """How many were counted."""
        return sum(self._stored[1::2])

    def __add__(self, other: Thinking) -> Thinking:
        """Return the decisions of both."""
        bins: dict[int, int] = {}
        self.add_to(bins)
        other.add_to(bins)
        return Thinking(bins)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Thinking) and self._stored == other._stored

    def __hash__(self) -> int:
        return hash(self._stored)

    def quantile(self, share: float) -> float | None:
        """Return the time in milliseconds within which this share of decisions was made.

        It is the middle of the bin (on the scale of logarithms) that holds it; None if there was
        no decision.
        """
        wanted = math.ceil(share * self.decisions)
        for place, count in zip(self._stored[::2], self._stored[1::2], strict=True):
            wanted -= count
            if wanted <= 0:
                return float(f"{2.0 ** ((place + 0.5) / BINS):.3g}")
        return None

    def to_json(self) -> dict[str, object]:
        """Return what people ask of it as plain values."""
        return {"decisions": self.decisions, "p50_ms": self.quantile(0.5), "p95_ms": self.p95}

    @property
    def p95(self) -> float | None:
        """The 95th percentile, in milliseconds."""
        return self.quantile(0.95)


def _bin(milliseconds: float) -> int:
    return math.floor(BINS * math.log2(max(milliseconds, FASTEST_MS)))
