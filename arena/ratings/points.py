"""Points per board: the mean margin of an entrant to its table, in the game's own points.

This statistic complements strength. It has less variance, because it uses margins and not only
places. However, it is comparable only between entrants that met the same opponents, and its unit
depends on the game. It is computed as follows:

1. In each game with scores, an entrant's margin is its score minus the mean score of the others.
2. A margin beyond the clip counts as the clip, so that a single extreme game has limited weight.
3. A match counts as its mean margin; all matches have equal weight.
4. The error is that of the mean over matches, whose games may depend on each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

from arena.ratings.closed_match import ClosedMatch
from arena.ratings.scale import DECIMALS, Z95
from referee.games.shared.coded_errors import InvalidValue


@dataclass(frozen=True, slots=True)
class Points:
    """The points per board of one entrant.

    Attributes:
        entrant: the entrant.
        matches: number of matches with at least one game with scores.
        clipped: number of games whose margin was limited.
        mean: mean margin per board to the table.
        error: its standard error; None for a single match, which has no variance between matches.
        low: the lower end of the 95 % interval, or None.
        high: the upper end of the 95 % interval, or None.
    """

    entrant: str
    matches: int
    clipped: int
    mean: float
    error: float | None
    low: float | None
    high: float | None

    @property
    def margin(self) -> float | None:
        """Half the width of the 95 % interval; None without one."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    def to_json(self) -> dict[str, object]:
        """Return it as plain values for JSON."""
        return {
            "entrant": self.entrant,
            "matches": self.matches,
            "clipped": self.clipped,
            "mean": self.mean,
            "error": self.error,
            "interval": None if self.low is None else [self.low, self.high],
        }


@dataclass(frozen=True, slots=True)
class _Sum:
    """Sums over matches whose mean margins have the same denominator."""

    matches: int
    margins: int
    squares: int
    clipped: int


@dataclass(frozen=True, slots=True)
class Margins:
    """The margins of one match; tuples are in the order of its entrants.

    Attributes:
        scored: number of games with scores.
        sums: sum of the clipped margins, multiplied by the number of opponents to be integers.
        clipped: number of games of each entrant whose margin was limited.
    """

    scored: int
    sums: tuple[int, ...]
    clipped: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PointSums:
    """The margins of all matches, summed up as integers; an immutable value.

    Attributes:
        clip: the largest margin, in the game's points, that counts in full.
        sums: by entrant and denominator, which is opponents times games.

    Raises:
        ValueError: the clip is not positive.
    """

    clip: int
    sums: Mapping[tuple[str, int], _Sum] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.clip > 0:
            raise InvalidValue(
                f"points are clipped at a positive margin, not {self.clip}", code="clip"
            )

    @classmethod
    def of(cls, matches: Iterable[ClosedMatch], clip: int) -> Self:
        """Sum up matches; their order does not matter."""
        sums: dict[tuple[str, int], _Sum] = {}
        for match in matches:
            _fold(sums, match.entrants, margins(match, clip))
        return cls(clip, sums)

    def points(self) -> tuple[Points, ...]:
        """Return the points of all entrants with scored games, sorted by name."""
        entries: dict[str, list[tuple[_Sum, int]]] = {}
        for (name, divisor), sums in self.sums.items():
            entries.setdefault(name, []).append((sums, divisor))
        return tuple(self._points(name, entries[name]) for name in sorted(entries))

    def _points(self, name: str, entries: list[tuple[_Sum, int]]) -> Points:
        return points_of(
            name,
            {
                divisor: (sums.matches, sums.margins, sums.squares, sums.clipped)
                for sums, divisor in entries
            },
        )


def points_of(entrant: str, margins: Mapping[int, tuple[int, int, int, int]]) -> Points:
    """Return the points of an entrant with at least one game with scores.

    Args:
        entrant: the entrant.
        margins: by denominator: number of matches, sum of margins, sum of their squares, and
            number of clipped games.
    """
    matches = sum(sums[0] for sums in margins.values())
    clipped = sum(sums[3] for sums in margins.values())
    # Integers over a common denominator are exact, and faster to import than `fractions`.
    common = math.lcm(*margins)
    total = sum(sums[1] * (common // divisor) for divisor, sums in margins.items())
    squares = sum(sums[2] * (common // divisor) ** 2 for divisor, sums in margins.items())
    mean = total / (common * matches)
    rounded = round(mean, DECIMALS)
    if matches < 2:
        return Points(entrant, matches, clipped, rounded, None, None, None)
    deviations = matches * squares - total**2
    error = math.sqrt(deviations / (common**2 * matches**2 * (matches - 1)))
    low, high = (round(mean + side * Z95 * error, DECIMALS) for side in (-1, 1))
    return Points(entrant, matches, clipped, rounded, round(error, DECIMALS), low, high)


def margins(match: ClosedMatch, clip: int) -> Margins:
    """Return the margins of a match, each limited to `clip` points."""
    scored = [_margins(game.scores) for game in match.games if game.scores is not None]
    limit = clip * (len(match.entrants) - 1)
    places = range(len(match.entrants))
    return Margins(
        len(scored),
        tuple(sum(max(-limit, min(limit, game[place])) for game in scored) for place in places),
        tuple(sum(abs(game[place]) > limit for game in scored) for place in places),
    )


def _fold(sums: dict[tuple[str, int], _Sum], entrants: tuple[str, ...], margins: Margins) -> None:
    if not margins.scored:
        return
    divisor = (len(entrants) - 1) * margins.scored
    for entrant, margin, clipped in zip(entrants, margins.sums, margins.clipped, strict=True):
        before = sums.get((entrant, divisor))
        if before is None:
            sums[entrant, divisor] = _Sum(1, margin, margin**2, clipped)
        else:
            sums[entrant, divisor] = _Sum(
                before.matches + 1,
                before.margins + margin,
                before.squares + margin**2,
                before.clipped + clipped,
            )


def _margins(scores: tuple[int, ...]) -> list[int]:
    """Return the margin of each entrant, multiplied by the number of opponents to be an integer."""
    total = sum(scores)
    return [len(scores) * score - total for score in scores]
