"""The counts of one entrant: whole numbers, to which matches are added, and from which subtracted.

The order of matches therefore does not change any digit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Final, Self

from arena.ratings.closed_match import FINISHED, ClosedMatch
from arena.ratings.decision_histogram import DecisionHistogram
from arena.ratings.points import MarginSums, Points, points_of
from arena.ratings.points import margins as margins_of

MEAN_DECIMALS: Final = 6


@dataclass(slots=True)
class EntrantSums:
    """The sums over the matches of an entrant.

    Attributes:
        matches: number of matches.
        games: number of games.
        wins: games with the first place alone.
        draws: games with a shared first place.
        points: sum of the scores, in the game's own points.
        shares: by denominator, the sum of numerators of its mean scores.
        margins: the margins (`arena.ratings.points`).
        verdicts: number of games that did not finish, by verdict.
        corrections: number of answers that it corrected.
        defaults: number of default actions that it played.
        thinking: number of decisions by bin (`DecisionHistogram`).
    """

    matches: int = 0
    games: int = 0
    wins: int = 0
    draws: int = 0
    points: int = 0
    shares: Counter[int] = field(default_factory=Counter)
    margins: MarginSums = field(default_factory=dict)
    verdicts: Counter[str] = field(default_factory=Counter)
    corrections: int = 0
    defaults: int = 0
    thinking: Counter[int] = field(default_factory=Counter)

    def add(self, other: Self, times: int = 1) -> None:
        """Add other sums; `times` is -1 to subtract them."""
        self.matches += times * other.matches
        self.games += times * other.games
        self.wins += times * other.wins
        self.draws += times * other.draws
        self.points += times * other.points
        self.corrections += times * other.corrections
        self.defaults += times * other.defaults
        _add(self.shares, other.shares, times)
        _add(self.verdicts, other.verdicts, times)
        _add(self.thinking, other.thinking, times)
        for divisor, values in other.margins.items():
            before = self.margins.get(divisor, (0, 0, 0, 0))
            changed = (
                before[0] + times * values[0],
                before[1] + times * values[1],
                before[2] + times * values[2],
                before[3] + times * values[3],
            )
            self.margins[divisor] = changed
            if not any(changed):
                del self.margins[divisor]

    @property
    def mean(self) -> float | None:
        """The mean over the matches of the mean score; None before the first match."""
        if not self.matches:
            return None
        common = math.lcm(*self.shares)
        total = sum(got * (common // most) for most, got in self.shares.items())
        return round(total / (common * self.matches), MEAN_DECIMALS)

    def points_per_board(self, entrant: str) -> Points | None:
        """Return the points per board; None before the first game with scores."""
        return points_of(entrant, self.margins) if self.margins else None

    def to_row(self) -> dict[str, Any]:
        """Return the sums as columns of a table; JSON has no numbers as keys."""
        return {
            "matches": self.matches,
            "games": self.games,
            "wins": self.wins,
            "draws": self.draws,
            "points": self.points,
            "shares": sorted(self.shares.items()),
            "margins": [[divisor, *values] for divisor, values in sorted(self.margins.items())],
            "verdicts": dict(sorted(self.verdicts.items())),
            "corrections": self.corrections,
            "defaults": self.defaults,
            "thinking": sorted(self.thinking.items()),
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the sums in the columns of `to_row`."""
        margins = {
            divisor: (matches, total, squares, clipped)
            for divisor, matches, total, squares, clipped in row["margins"]
        }
        return cls(
            row["matches"],
            row["games"],
            row["wins"],
            row["draws"],
            row["points"],
            Counter(dict(row["shares"])),
            margins,
            Counter(row["verdicts"]),
            row["corrections"],
            row["defaults"],
            Counter(dict(row["thinking"])),
        )


def of_match(
    match: ClosedMatch, clip: int, thinking: Sequence[DecisionHistogram] = ()
) -> dict[str, EntrantSums]:
    """Return the sums of one match by entrant.

    Args:
        clip: the limit of margins, in the game's points.
        thinking: the decision times of its entrants; empty if they were not counted.
    """
    won = half_points(match)
    most = 2 * match.played * (len(match.entrants) - 1)
    margins = margins_of(match, clip)
    sums = {}
    for place, name in enumerate(match.entrants):
        bins: Counter[int] = Counter()
        if thinking:
            thinking[place].add_to(bins)
        sums[name] = EntrantSums(
            1,
            match.played,
            sum(game.is_won(place) for game in match.games),
            sum(game.is_drawn(place) for game in match.games),
            sum(game.scores[place] for game in match.games if game.scores is not None),
            Counter({most: won[place]}),
            margins[place],
            Counter(game.verdicts[place] for game in match.games),
            sum(game.corrections[place] for game in match.games if game.corrections),
            sum(game.defaults[place] for game in match.games if game.defaults),
            bins,
        )
        del sums[name].verdicts[FINISHED]
    return sums


def half_points(match: ClosedMatch) -> list[int]:
    """Return the half points of each entrant against all others together."""
    won = [0] * len(match.entrants)
    for (first, second), got in zip(combinations(range(len(won)), 2), match.halves, strict=True):
        won[first] += got
        won[second] += 2 * match.played - got
    return won


def _add(into: Counter[Any], other: Mapping[Any, int], times: int) -> None:
    for key, value in other.items():
        into[key] += times * value
        if not into[key]:
            del into[key]
