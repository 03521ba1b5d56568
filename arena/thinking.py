"""How long bots think: decision times in a histogram that is small and adds up.

A bin is a factor of 2 ** (1/8) wide (9 %), so that a quantile is told to about 5 %, whatever its
size, and a match of a thousand decisions is some thirty numbers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

BINS = 8
"""So many bins for a factor of two."""
FASTEST_MS = 0.01
"""What is quicker than this counts as this; nothing over a wire is."""


class Thinking:
    """Decision times of one bot; an immutable value.

    bins: how many decisions fell into each bin; bin b is from 2 ** (b / 8) milliseconds to the
        next.
    """

    __slots__ = ("bins",)

    def __init__(self, bins: Mapping[int, int] | None = None) -> None:
        self.bins: Mapping[int, int] = dict(bins or {})

    @classmethod
    def of(cls, milliseconds: Iterable[float]) -> Thinking:
        """Count decisions."""
        return cls(Counter(_bin(time) for time in milliseconds))

    @classmethod
    def read(cls, stored: Sequence[int]) -> Thinking:
        """Return what `stored` was made of."""
        return cls(dict(zip(stored[::2], stored[1::2], strict=True)))

    def stored(self) -> list[int]:
        """Return it as it is kept: bin, count, bin, count, ... in ascending order."""
        return [number for pair in sorted(self.bins.items()) for number in pair]

    @property
    def decisions(self) -> int:
        """How many were counted."""
        return sum(self.bins.values())

    def __add__(self, other: Thinking) -> Thinking:
        """Return the decisions of both."""
        return Thinking(Counter(self.bins) + Counter(other.bins))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Thinking) and self.bins == other.bins

    def __hash__(self) -> int:
        return hash(tuple(sorted(self.bins.items())))

    def quantile(self, share: float) -> float | None:
        """Return the time in milliseconds within which this share of decisions was made.

        It is the middle of the bin (on the scale of logarithms) that holds it; None if there was
        no decision.
        """
        wanted = math.ceil(share * self.decisions)
        for place, count in sorted(self.bins.items()):
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
