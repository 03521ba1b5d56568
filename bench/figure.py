"""A figure of the benchmark: values by round, and those of its peer."""

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class FigureTarget:
    """The target of a figure.

    Attributes:
        bound: limit of the median, or of the ratio to the peer.
        at_most: whether the limit is an upper one.
        of_ratio: whether the limit applies to the ratio.
    """

    bound: float
    at_most: bool = False
    of_ratio: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """Values measured in turns with those of a peer.

    Attributes:
        name: name of the figure.
        unit: unit of the values.
        values: one value per round.
        peer: name of the peer measured in the same rounds.
        beside: values of the peer.
        target: the target, if any.
        note: information needed to interpret the values, or the reason why they are missing.
    """

    name: str
    unit: str
    values: Sequence[float]
    peer: str = ""
    beside: Sequence[float] = ()
    target: FigureTarget | None = None
    note: str = ""

    @property
    def median(self) -> float:
        """The median of the values."""
        return statistics.median(self.values)

    @property
    def spread(self) -> float:
        """The median absolute deviation, in per cent of the median."""
        middle = self.median
        away = statistics.median([abs(value - middle) for value in self.values])
        return 100 * away / middle if middle else 0.0

    @property
    def ratios(self) -> list[float]:
        """The ratios to the peer, by round."""
        return [value / other for value, other in zip(self.values, self.beside, strict=False)]

    @property
    def ratio(self) -> float | None:
        """The median ratio; None without a peer."""
        return statistics.median(self.ratios) if self.beside else None

    @property
    def reached(self) -> bool | None:
        """Whether the target is reached; None without a target or a value."""
        if self.target is None or not self.values:
            return None
        value = self.ratio if self.target.of_ratio else self.median
        if value is None:
            return None
        return value <= self.target.bound if self.target.at_most else value >= self.target.bound

    def line(self) -> dict[str, Any]:
        """Return the figure as a line of the history."""
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
"""A part of the benchmark: measures the given number of rounds and yields figures."""


def left_out(name: str, why: str) -> Figure:
    """Return a figure for a measurement that is not possible here."""
    return Figure(name, "", (), note=f"left out: {why}")


def figure_text(figure: Figure) -> str:
    """Return a figure as user-facing text."""
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
    """Format a value with three significant digits, or with all digits before the point."""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 4
    return f"{value:,.{digits}f}"
