"""Points per board: how far an entrant is ahead of its table in the game's own points.

A companion of strength. It has less variance, because it says by how much and not only who, but it
compares only those who met the same opponents, and it means what the game's points mean.
In each game that has scores an entrant's margin is its score less the mean of the others'. A margin
beyond the clip counts as the clip, so that no freak game outweighs a hundred others. A match counts
its mean margin, every match alike; the error is that of the mean over matches, whose games may
depend on each other as they like.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Self

from arena.ratings.scale import Z95
from arena.results import ClosedMatch

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
            _fold(sums, match, clip)
        return cls(clip, sums)

    def with_match(self, match: ClosedMatch) -> Self:
        """Return the sums with one more match."""
        sums = dict(self.sums)
        _fold(sums, match, self.clip)
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


def _fold(sums: dict[tuple[str, int], _Sum], match: ClosedMatch, clip: int) -> None:
    scored = [_margins(game.scores) for game in match.games if game.scores is not None]
    if not scored:
        return
    opponents = len(match.entrants) - 1
    limit = clip * opponents
    for place, entrant in enumerate(match.entrants):
        margins = [margins[place] for margins in scored]
        margin = sum(max(-limit, min(limit, value)) for value in margins)
        clipped = sum(abs(value) > limit for value in margins)
        key = entrant, opponents * len(scored)
        before = sums.get(key, _Sum(0, 0, 0, 0))
        sums[key] = _Sum(
            before.matches + 1,
            before.margins + margin,
            before.squares + margin**2,
            before.clipped + clipped,
        )


def _margins(scores: tuple[int, ...]) -> list[int]:
    """The margin of everyone, times the number of opponents, which makes it whole."""
    total = sum(scores)
    return [len(scores) * score - total for score in scores]
