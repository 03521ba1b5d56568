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
from dataclasses import dataclass

from arena.ratings.closed_match import ClosedMatch
from arena.ratings.scale import DECIMALS, Z95


@dataclass(frozen=True, slots=True)
class Points:
    """The points per board of one entrant.

    Attributes:
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
        return {
            "entrant": self.entrant,
            "matches": self.matches,
            "clipped": self.clipped,
            "mean": self.mean,
            "error": self.error,
            "interval": None if self.low is None else [self.low, self.high],
        }


MarginSums = dict[int, tuple[int, int, int, int]]
"""Margins by denominator (opponents times games with scores): number of matches, sum of margins,
sum of their squares, and number of clipped games."""


def points_of(entrant: str, margins: MarginSums) -> Points:
    """Return the points of an entrant with at least one game with scores."""
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


def margins(match: ClosedMatch, clip: int) -> list[MarginSums]:
    """Return the margins of each entrant in a match, limited to `clip` points.

    They are multiplied by the number of opponents to be integers.
    """
    scored = [_margins(game.scores) for game in match.games if game.scores is not None]
    limit = clip * (len(match.entrants) - 1)
    sums: list[MarginSums] = [{} for _ in match.entrants]
    for place, of_entrant in enumerate(sums if scored else ()):
        margin = sum(max(-limit, min(limit, game[place])) for game in scored)
        clipped = sum(abs(game[place]) > limit for game in scored)
        of_entrant[(len(match.entrants) - 1) * len(scored)] = (1, margin, margin**2, clipped)
    return sums


def _margins(scores: tuple[int, ...]) -> list[int]:
    """Return the margin of each entrant, multiplied by the number of opponents to be an integer."""
    total = sum(scores)
    return [len(scores) * score - total for score in scores]
