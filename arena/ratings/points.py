"""Points per board: how far an entrant is ahead of its table in the game's own points.

A companion of strength. It has less variance, because it says by how much and not only who, but it
compares only those who met the same opponents, and it means what the game's points mean.
In each game that has scores an entrant's margin is its score less the mean of the others'. A margin
beyond the clip counts as the clip, so that no freak game outweighs a hundred others. A match counts
its mean margin, every match alike; the error is that of the mean over matches, whose games may
depend on each other as they like.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Self

from arena.ratings.closed_match import ClosedMatch
from arena.ratings.scale import Z95

USUAL_SHARE = 0.98
"""The share of margins that `usual_clip` leaves as they are."""
DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Points:
    """The points of one entrant.

    matches: how many had a game with scores. clipped: how many games were cut at the clip.
    mean: points a board ahead of its table. error: its standard error; low, high: the 95 %
        interval. These are None of a single match, which does not say how matches scatter.
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
        """Half of the width of its 95 % interval; None where there is none."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    def to_json(self) -> dict[str, object]:
        """Return it as plain values."""
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
    """Of matches whose mean margins have one denominator: the sums of numerators and squares."""

    matches: int
    margins: int
    squares: int
    clipped: int


@dataclass(frozen=True, slots=True)
class Margins:
    """What a match says of points; tuples in the order of its entrants.

    scored: how many of its games had scores.
    sums: the clipped margins of these games, summed, times the number of opponents, which makes
        them whole. clipped: how many of each entrant's games were cut at the clip.
    """

    scored: int
    sums: tuple[int, ...]
    clipped: tuple[int, ...]


class Summing:
    """Margins that are being summed up, match by match."""

    def __init__(self, clip: int) -> None:
        self._clip = clip
        self._sums: dict[tuple[str, int], _Sum] = {}

    def add(self, entrants: tuple[str, ...], margins: Margins) -> None:
        """Count one more match, whose margins were clipped alike."""
        _fold(self._sums, entrants, margins)

    def sums(self) -> PointSums:
        """Return the sums so far."""
        return PointSums(self._clip, dict(self._sums))


@dataclass(frozen=True, slots=True)
class PointSums:
    """The margins of all matches, summed up in whole numbers; an immutable value.

    clip: the largest margin, in the game's points, that counts in full.
    sums: by entrant and denominator: opponents times games.

    Raises ValueError if the clip is not positive.
    """

    clip: int
    sums: Mapping[tuple[str, int], _Sum] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.clip > 0:
            raise ValueError(f"points are clipped at a positive margin, not {self.clip}")

    @classmethod
    def of(cls, matches: Iterable[ClosedMatch], clip: int) -> Self:
        """Sum up matches; their order does not matter."""
        sums: dict[tuple[str, int], _Sum] = {}
        for match in matches:
            _fold(sums, match.entrants, margins(match, clip))
        return cls(clip, sums)

    def with_match(self, match: ClosedMatch) -> Self:
        """Return the sums with one more match."""
        sums = dict(self.sums)
        _fold(sums, match.entrants, margins(match, self.clip))
        return type(self)(self.clip, sums)

    def points(self) -> tuple[Points, ...]:
        """Return the points of everyone who has any, sorted by name."""
        names = sorted({name for name, _ in self.sums})
        return tuple(self._points(name) for name in names)

    def _points(self, name: str) -> Points:
        own = [(sums, divisor) for (entrant, divisor), sums in self.sums.items() if entrant == name]
        matches = sum(sums.matches for sums, _ in own)
        total = sum(Fraction(sums.margins, divisor) for sums, divisor in own)
        squares = sum(Fraction(sums.squares, divisor**2) for sums, divisor in own)
        mean, clipped = Fraction(total, matches), sum(sums.clipped for sums, _ in own)
        told = round(float(mean), DECIMALS)
        if matches < 2:
            return Points(name, matches, clipped, told, None, None, None)
        error = math.sqrt((squares - matches * mean**2) / (matches - 1) / matches)
        low, high = (round(float(mean) + side * Z95 * error, DECIMALS) for side in (-1, 1))
        return Points(name, matches, clipped, told, round(error, DECIMALS), low, high)


def usual_clip(matches: Iterable[ClosedMatch], share: float = USUAL_SHARE) -> int:
    """Return the whole margin that so many of all margins do not exceed; at least 1.

    A clip taken from the matches moves with them: fix it when a ladder is opened, and show it.
    """
    sizes = sorted(
        math.ceil(abs(margin) / (len(game.scores) - 1))
        for match in matches
        for game in match.games
        if game.scores is not None
        for margin in _margins(game.scores)
    )
    return max(1, sizes[math.ceil(share * len(sizes)) - 1]) if sizes else 1


def margins(match: ClosedMatch, clip: int) -> Margins:
    """Return the margins of a match; one beyond `clip` points counts as that."""
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
    """The margin of everyone, times the number of opponents, which makes it whole."""
    total = sum(scores)
    return [len(scores) * score - total for score in scores]
