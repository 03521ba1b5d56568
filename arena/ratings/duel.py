"""Two versions against each other, as the testing of chess engines counts it.

What is counted are *units*: results that are independent of each other. A unit is a single game
(three results: trinomial), a pair of games over the same cards with the seats changed (five:
pentanomial), or a whole match of ours. Games of one unit may depend on each other as they like,
which is why pairs are counted: luck that helps both sides in turn cancels, and the error shrinks.

The formulas are those of Michel Van den Bergh's "Comments on Normalized Elo", which fishtest and
fastchess use; the tests hold the figures that fastchess publishes.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from arena.ratings.closed_match import Scored, pairwise
from arena.ratings.scale import Z95, gap_of, normal

NORMALIZED = 800.0 / math.log(10.0)
"""Points of normalized Elo of one standard deviation of a game."""


@dataclass(frozen=True, slots=True)
class Duel:
    """How often each score occurred, seen by the first of the two versions.

    scores: what a unit can end with, from 0 (all lost) to 1 (all won), ascending.
    counts: how many units ended so; without a negative one.
    games: how many games a unit has.

    Raises ValueError if the tuples do not fit together or nothing was counted.
    """

    scores: tuple[float, ...]
    counts: tuple[int, ...]
    games: int = 1

    def __post_init__(self) -> None:
        if len(self.scores) != len(self.counts) or min(self.counts, default=-1) < 0:
            raise ValueError("a duel needs a count for every score, and none may be negative")
        if list(self.scores) != sorted(set(self.scores)) or self.games < 1:
            raise ValueError("the scores of a duel ascend, and its units have a game or more")
        if not sum(self.counts):
            raise ValueError("a duel needs at least one result")

    @property
    def units(self) -> int:
        """How many units were counted."""
        return sum(self.counts)

    @property
    def score(self) -> float:
        """The mean score."""
        return math.fsum(map(math.prod, zip(self.scores, self.counts, strict=True))) / self.units

    @property
    def variance(self) -> float:
        """The variance of a unit's score; of a sample, divided by its size as fastchess does."""
        mean = self.score
        squares = ((score - mean) ** 2 for score in self.scores)
        return math.fsum(map(math.prod, zip(squares, self.counts, strict=True))) / self.units

    @property
    def error(self) -> float:
        """The standard error of the mean score."""
        return math.sqrt(self.variance / self.units)


@dataclass(frozen=True, slots=True)
class Interval:
    """A value and its 95 % interval; the ends may be infinite where everything was won or lost."""

    value: float
    low: float
    high: float

    @property
    def margin(self) -> float:
        """Half the width of the interval: what stands after the +-."""
        return (self.high - self.low) / 2

    def to_json(self) -> dict[str, float | None]:
        """Return it as plain values; None for what is infinite or has no value."""
        values = {"value": self.value, "low": self.low, "high": self.high}
        return {name: v if math.isfinite(v) else None for name, v in values.items()}


def trinomial(wins: int, losses: int, draws: int) -> Duel:
    """Single games, each on cards of its own."""
    return Duel((0.0, 0.5, 1.0), (losses, draws, wins))


def pentanomial(ll: int, ld: int, wl: int, dd: int, wd: int, ww: int) -> Duel:
    """Pairs of games over the same cards: both lost, one lost and one drawn, and so on."""
    return Duel((0.0, 0.25, 0.5, 0.75, 1.0), (ll, ld, wl + dd, wd, ww), games=2)


def of_matches(matches: Iterable[Scored], first: str, second: str) -> Duel:
    """The matches of two entrants as a duel, a whole match being one unit.

    Args:
        matches: those in which not both sat are passed over; at tables of more only how these two
            did against each other is counted.
        first, second: versions as "name@version".

    Raises:
        ValueError: they have not met, or their matches differ in the number of games, so that one
            unit would weigh more than another.
    """
    found: Counter[Fraction] = Counter()
    games = set()
    for match in matches:
        if {first, second} <= set(match.entrants):
            score = pairwise(match)[match.entrants.index(first)][match.entrants.index(second)]
            games.add(match.played)
            found[Fraction(round(score * 2 * match.played), 2 * match.played)] += 1
    if len(games) != 1:
        told = "differ in their number of games" if games else "do not exist"
        raise ValueError(f"the matches between {first} and {second} {told}")
    return _of_halves(found, games.pop())


def _of_halves(found: Mapping[Fraction, int], games: int) -> Duel:
    possible = [Fraction(halves, 2 * games) for halves in range(2 * games + 1)]
    counts = tuple(found.get(score, 0) for score in possible)
    return Duel(tuple(map(float, possible)), counts, games)


def elo_difference(duel: Duel) -> Interval:
    """How many Elo points the first is stronger; the interval is that of the mean score."""
    mean, doubt = duel.score, Z95 * duel.error
    return Interval(gap_of(mean), gap_of(mean - doubt), gap_of(mean + doubt))


def normalized_elo(duel: Duel) -> Interval:
    """The difference in standard deviations of a game: how many games it takes to see it.

    It has no value if every unit ended alike, but for one half, which is 0.
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
    """The likelihood that the first is the stronger one, from 0 to 1."""
    if not duel.error:
        return 0.5 + 0.5 * ((duel.score > 0.5) - (duel.score < 0.5))
    return normal((duel.score - 0.5) / duel.error)
