"""Points per board: how far an entrant is ahead of its table in the game's own points.

A companion of strength. It has less variance, because it says by how much and not only who, but it
compares only those who met the same opponents, and it means what the game's points mean.
In each game that has scores an entrant's margin is its score less the mean of the others'. A margin
beyond the clip counts as the clip, so that no freak game outweighs a hundred others. A match counts
its mean margin, every match alike; the error is that of the mean over matches, whose games may
depend on each other as they like.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from arena.ratings.scale import Z95
from arena.results import ClosedGame, ClosedMatch

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


def points(matches: Iterable[ClosedMatch], clip: Fraction | int) -> tuple[Points, ...]:
    """Return the points of everyone who has any, sorted by name; the order of matches is nothing.

    Args:
        clip: the largest margin, in the game's points, that counts in full.

    Raises:
        ValueError: the clip is not positive.
    """
    if not clip > 0:
        raise ValueError(f"points are clipped at a positive margin, not {clip}")
    means: dict[str, list[Fraction]] = {}
    clipped: dict[str, int] = {}
    for match in matches:
        for entrant, margins in _margins(match):
            cut = [max(-clip, min(clip, margin)) for margin in margins]
            means.setdefault(entrant, []).append(Fraction(sum(cut), len(cut)))
            clipped[entrant] = clipped.get(entrant, 0) + sum(
                before != after for before, after in zip(margins, cut, strict=True)
            )
    return tuple(_points(name, means[name], clipped[name]) for name in sorted(means))


def usual_clip(matches: Iterable[ClosedMatch], share: float = USUAL_SHARE) -> Fraction:
    """Return the margin that so many of all margins do not exceed; 1 if there are no margins.

    A clip taken from the matches moves with them: fix it when a ladder is opened, or show it.
    """
    sizes = sorted(
        abs(margin) for match in matches for _, margins in _margins(match) for margin in margins
    )
    if not sizes:
        return Fraction(1)
    return max(sizes[min(len(sizes) - 1, math.ceil(share * len(sizes)) - 1)], Fraction(1))


def _margins(match: ClosedMatch) -> Iterable[tuple[str, list[Fraction]]]:
    scored = [game for game in match.games if game.scores is not None]
    if not scored:
        return []
    return [
        (entrant, [_margin(game, place) for game in scored])
        for place, entrant in enumerate(match.entrants)
    ]


def _margin(game: ClosedGame, place: int) -> Fraction:
    scores = game.scores or ()
    others = sum(scores) - scores[place]
    return Fraction(scores[place] * (len(scores) - 1) - others, len(scores) - 1)


def _points(entrant: str, means: list[Fraction], clipped: int) -> Points:
    # Fractions add up exactly, so the order of the matches cannot matter.
    mean = Fraction(sum(means), len(means))
    if len(means) < 2:
        return Points(entrant, len(means), clipped, round(float(mean), DECIMALS), None, None, None)
    variance = sum((value - mean) ** 2 for value in means) / (len(means) - 1)
    error = math.sqrt(variance / len(means))
    low, high = (round(float(mean) + side * Z95 * error, DECIMALS) for side in (-1, 1))
    told = round(float(mean), DECIMALS), round(error, DECIMALS)
    return Points(entrant, len(means), clipped, *told, low, high)
