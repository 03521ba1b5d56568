"""A figure of the bench: what was measured, round by round, and beside what."""

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Target:
    """What a figure should come to.

    bound: of the median, or of the ratio to the peer.
    """

    bound: float
    at_most: bool = False
    of_ratio: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """What was measured, in turns with its peer.

    values: one a round, in ``unit``.
    peer: what else was measured in the same rounds; ``beside`` has its values.
    note: whatever a reader must know to read it rightly, or why there is no value.
    """

    name: str
    unit: str
    values: Sequence[float]
    peer: str = ""
    beside: Sequence[float] = ()
    target: Target | None = None
    note: str = ""

    @property
    def median(self) -> float:
        """The value in the middle."""
        return statistics.median(self.values)

    @property
    def spread(self) -> float:
        """The median distance from the median, in per cent of it."""
        middle = self.median
        away = statistics.median([abs(value - middle) for value in self.values])
        return 100 * away / middle if middle else 0.0

    @property
    def ratios(self) -> list[float]:
        """How many times the peer it is, round by round."""
        return [own / other for own, other in zip(self.values, self.beside, strict=False)]

    @property
    def ratio(self) -> float | None:
        """The ratio in the middle; None without a peer."""
        return statistics.median(self.ratios) if self.beside else None

    @property
    def reached(self) -> bool | None:
        """Whether it is what it should be; None if nothing was asked of it."""
        if self.target is None or not self.values:
            return None
        found = self.ratio if self.target.of_ratio else self.median
        if found is None:
            return None
        return found <= self.target.bound if self.target.at_most else found >= self.target.bound

    def line(self) -> dict[str, Any]:
        """It as it stands in the history."""
        return {
            "name": self.name,
            "unit": self.unit,
            "median": self.median if self.values else None,
            "values": list(self.values),
            "peer": self.peer,
            "beside": list(self.beside),
            "ratio": self.ratio,
            "target": None if self.target is None else self.target.bound,
            "reached": self.reached,
            "note": self.note,
        }


Part = Callable[[int], Iterator[Figure]]
"""A part of the bench: measures in so many rounds, and tells each figure as it is known."""


def left_out(name: str, why: str) -> Figure:
    """What could not be measured here."""
    return Figure(name, "", (), note=f"left out: {why}")


def told(figure: Figure) -> str:
    """A figure as lines for people."""
    if not figure.values:
        return f"{figure.name}: {figure.note}"
    text = (
        f"{figure.name}: {number(figure.median)} {figure.unit} +- {figure.spread:.0f} % "
        f"({number(min(figure.values))} to {number(max(figure.values))})"
    )
    if figure.ratio is not None:
        ratios = figure.ratios
        text += (
            f"\n    {figure.peer}: {number(statistics.median(figure.beside))}; "
            f"{figure.ratio:.2f} x that ({min(ratios):.2f} to {max(ratios):.2f})"
        )
    if figure.target is not None:
        kind = "at most" if figure.target.at_most else "at least"
        times = " x" if figure.target.of_ratio else ""
        verdict = "reached" if figure.reached else "MISSED"
        text += f"\n    target {kind} {figure.target.bound:,g}{times}: {verdict}"
    return text + (f"\n    {figure.note}" if figure.note else "")


def number(value: float) -> str:
    """A value with three digits that count, or all before the point."""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 4
    return f"{value:,.{digits}f}"
