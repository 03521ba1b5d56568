"""Comparison of two versions, with the statistics of chess engine testing.

The observations are *units*, results that are independent of each other. A unit is a single game
(three results: trinomial), a pair of games over the same cards with the seats changed (five:
pentanomial), or a whole match of the arena. Games within a unit may depend on each other. Pairs are
used because luck that favours each side in turn cancels out, which reduces the error.

The formulas are from Michel Van den Bergh's "Comments on Normalized Elo", which fishtest and
fastchess use. The tests contain the figures that fastchess publishes.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from arena.ratings.closed_match import ClosedMatch, pairwise
from arena.ratings.scale import Z95, gap_of, normal
from referee.games.shared.coded_errors import InvalidValue

NORMALIZED = 800.0 / math.log(10.0)
"""Points of normalized Elo for one standard deviation of a game's score."""


@dataclass(frozen=True, slots=True)
class Duel:
    """The number of units with each score, from the perspective of the first version.

    Attributes:
        scores: the possible scores of a unit, ascending from 0 (all lost) to 1 (all won).
        counts: number of units with each score.
        games: games of a unit.

    Raises:
        ValueError: the tuples differ in length, a count is negative, the scores are not ascending,
            a unit has less than one game, or nothing was counted.
    """

    scores: tuple[float, ...]
    counts: tuple[int, ...]
    games: int = 1

    def __post_init__(self) -> None:
        if len(self.scores) != len(self.counts) or min(self.counts, default=-1) < 0:
            raise InvalidValue(
                "a duel needs a count for every score, and none may be negative", code="counts"
            )
        if list(self.scores) != sorted(set(self.scores)) or self.games < 1:
            raise InvalidValue(
                "the scores of a duel ascend, and its units have a game or more", code="scores"
            )
        if not sum(self.counts):
            raise InvalidValue("a duel needs at least one result", code="no-result")

    @property
    def units(self) -> int:
        return sum(self.counts)

    @property
    def score(self) -> float:
        """The mean score."""
        return math.fsum(map(math.prod, zip(self.scores, self.counts, strict=True))) / self.units

    @property
    def variance(self) -> float:
        """The variance of a unit's score; the sample variance, divided by n as in fastchess."""
        mean = self.score
        squares = ((score - mean) ** 2 for score in self.scores)
        return math.fsum(map(math.prod, zip(squares, self.counts, strict=True))) / self.units

    @property
    def error(self) -> float:
        """The standard error of the mean score."""
        return math.sqrt(self.variance / self.units)


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with its 95 % interval; the ends can be infinite if everything was won or lost."""

    value: float
    low: float
    high: float

    @property
    def margin(self) -> float:
        """Half the width of the interval, the value after "+-"."""
        return (self.high - self.low) / 2

    def to_json(self) -> dict[str, float | None]:
        """Return it as plain values for JSON; infinite and undefined values are None."""
        values = {"value": self.value, "low": self.low, "high": self.high}
        return {name: v if math.isfinite(v) else None for name, v in values.items()}


def trinomial(wins: int, losses: int, draws: int) -> Duel:
    """Return the duel of single games, each with its own cards."""
    return Duel((0.0, 0.5, 1.0), (losses, draws, wins))


def pentanomial(ll: int, ld: int, wl: int, dd: int, wd: int, ww: int) -> Duel:
    """Return the duel of pairs of games over the same cards, by the results of both games."""
    return Duel((0.0, 0.25, 0.5, 0.75, 1.0), (ll, ld, wl + dd, wd, ww), games=2)


def of_boards(counts: Sequence[int]) -> Duel:
    """Return the duel of boards, each played in every seating.

    Args:
        counts: number of boards by the half points of the first version against the second, from 0
            to two for each game of a board.
    """
    games = (len(counts) - 1) // 2
    return _of_halves({Fraction(halves, 2 * games): n for halves, n in enumerate(counts)}, games)


def of_matches(matches: Iterable[ClosedMatch], first: str, second: str) -> Duel:
    """Return the matches of two entrants as a duel whose units are whole matches.

    Args:
        matches: matches without both versions are ignored. At larger tables only the score between
            the two counts.
        first: a version as "name@version".

    Raises:
        ValueError: they have not met, or their matches have different numbers of games, so that
            units would not have equal weight.
    """
    counts: Counter[Fraction] = Counter()
    games = set()
    for match in matches:
        if {first, second} <= set(match.entrants):
            score = pairwise(match)[match.entrants.index(first)][match.entrants.index(second)]
            games.add(match.played)
            counts[Fraction(round(score * 2 * match.played), 2 * match.played)] += 1
    if len(games) != 1:
        problem = "differ in their number of games" if games else "do not exist"
        code = "game-counts" if games else "never-met"
        raise InvalidValue(f"the matches between {first} and {second} {problem}", code=code)
    return _of_halves(counts, games.pop())


def _of_halves(by_score: Mapping[Fraction, int], games: int) -> Duel:
    possible = [Fraction(halves, 2 * games) for halves in range(2 * games + 1)]
    counts = tuple(by_score.get(score, 0) for score in possible)
    return Duel(tuple(map(float, possible)), counts, games)


def elo_difference(duel: Duel) -> Interval:
    """Return the difference in Elo points; its interval is that of the mean score, converted."""
    mean, doubt = duel.score, Z95 * duel.error
    return Interval(gap_of(mean), gap_of(mean - doubt), gap_of(mean + doubt))


def normalized_elo(duel: Duel) -> Interval:
    """Return the difference in standard deviations of a game, in points of normalized Elo.

    It determines how many games are required to detect the difference. If all units ended alike, it
    is infinite, or 0 for a score of one half.
    """
    spread = math.sqrt(duel.games * duel.variance)

    def normalized(score: float) -> float:
        above = score - 0.5
        if spread:
            return above / spread * NORMALIZED
        return math.copysign(math.inf, above) if above else 0.0

    mean, doubt = duel.score, Z95 * duel.error
    return Interval(normalized(mean), normalized(mean - doubt), normalized(mean + doubt))


def superiority(duel: Duel) -> float:
    """Return the likelihood that the first version is stronger, from 0 to 1."""
    if not duel.error:
        return 0.5 + 0.5 * ((duel.score > 0.5) - (duel.score < 0.5))
    return normal((duel.score - 0.5) / duel.error)
