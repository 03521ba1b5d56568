"""`sprt`: test whether the first entrant is better than the second (Wald's sequential test).

A. Wald, "Sequential Tests of Statistical Hypotheses" (1945): the test ends when the logarithm of
the likelihood ratio leaves the interval (log(beta / (1 - alpha)), log((1 - beta) / alpha)).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import log
from typing import TypeAlias

from arena.formats.contract import (
    FormatEntrant,
    FormatMatch,
    FormatOver,
    MatchStatus,
    NextMatches,
    Ranking,
    Step,
    count_open,
    fixtures,
    history,
    next_round,
    waiting,
)
from arena.ratings.closed_match import ClosedGame
from referee.games.shared.coded_errors import InvalidValue

PairCounts: TypeAlias = tuple[int, int, int, int, int, int]
"""Numbers of mirrored boards by result for the first entrant: LL, LD, WL, DD, WD, WW."""
LikelihoodRatio: TypeAlias = Callable[[PairCounts, float, float], float]
"""A function that returns the log-likelihood ratio of counts for `high` against `low`."""


@dataclass(frozen=True, slots=True)
class SprtDecision:
    """The result of the test.

    Attributes:
        better: whether the first entrant is better by `high` rather than by `low`.
        place: (round, number) of the decisive match.
        ratio: the log-likelihood ratio after it.
    """

    better: bool
    place: tuple[int, int]
    ratio: float


@dataclass(frozen=True, slots=True)
class SprtFormat:
    """A sequential test of two entrants with fixed bounds.

    The ratio is evaluated after each match in canonical order, as long as all earlier matches are
    over. The first match that crosses a bound decides; later matches do not change the result. They
    are finished and marked (`FormatOver.drained`), but not counted.

    Attributes:
        llr: the log-likelihood ratio, which also defines the scale of `low` and `high` (logistic or
            normalized Elo).
        low: the Elo difference of the null hypothesis.
        high: the Elo difference of the alternative.
        alpha: probability to accept `high` if `low` is true.
        beta: probability to accept `low` if `high` is true.
        batch: matches of a round; the next round begins when the last but one is over.
        limit: number of matches after which the test ends without a verdict; 0: unlimited.
    """

    llr: LikelihoodRatio
    low: float = 0.0
    high: float = 25.0
    alpha: float = 0.05
    beta: float = 0.05
    batch: int = 4
    limit: int = 0

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise InvalidValue(
                f"the lower bound {self.low} is not below the upper one {self.high}", code="bounds"
            )
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise InvalidValue("alpha and beta are between 0 and one half", code="error-rates")
        if self.batch < 1:
            raise InvalidValue("a round of the test has at least one match", code="batch")

    @property
    def bounds(self) -> tuple[float, float]:
        """The ratios at which the test decides for `low`, and for `high`."""
        return log(self.beta / (1 - self.alpha)), log((1 - self.beta) / self.alpha)

    def next(self, entrants: Sequence[FormatEntrant], matches: Iterable[FormatMatch]) -> Step:
        """Return the next round, or wait, or the verdict."""
        if len(entrants) != 2:
            raise InvalidValue(
                f"a test is between two entrants, not {len(entrants)}", code="entrant-count"
            )
        played = history(entrants, matches)
        first, second = (entrant.name for entrant in entrants)
        decided = self.verdict(played)
        if decided is not None:
            drained = tuple(match.place for match in played if match.place > decided.place)
            word = "better" if decided.better else "not better"
            ranking: Ranking = ((first,), (second,)) if decided.better else ((second,), (first,))
            return FormatOver(
                f"{first} is {word}: the ratio is {decided.ratio:.2f}", ranking, drained
            )
        number = next_round(played)
        gone = any(not entrant.plays_in(number) for entrant in entrants)
        if gone or (self.limit and len(played) >= self.limit):
            why = "an entrant has withdrawn" if gone else f"{self.limit} matches are played"
            return waiting(played) if count_open(played) else FormatOver(f"no verdict: {why}")
        earlier = [match for match in played if match.round < number - 1]
        if count_open(earlier):
            return waiting(earlier)
        coming = min(self.batch, self.limit - len(played)) if self.limit else self.batch
        tables = [([first, second], "")] * coming
        return NextMatches(
            fixtures(number, tables, entrants), "the test runs until a bound is crossed"
        )

    def verdict(self, played: Sequence[FormatMatch]) -> SprtDecision | None:
        """Return the first verdict of matches in canonical order; None without one."""
        low, high = self.bounds
        total: PairCounts = (0, 0, 0, 0, 0, 0)
        for match in played:
            if match.state is MatchStatus.OPEN:
                return None
            if match.state is MatchStatus.VOID:
                continue
            total = summed((total, pair_counts(match.games)))
            ratio = self.llr(total, self.low, self.high)
            if not low < ratio < high:
                return SprtDecision(ratio >= high, match.place, ratio)
        return None


def pair_counts(games: Sequence[ClosedGame]) -> PairCounts:
    """Count the boards of a match of two sides by result for its first entrant.

    Games are numbered table * boards + board. The two tables are the two seatings.
    """
    ordered = sorted(games, key=lambda game: game.game)
    boards = len(ordered) // 2
    counts = [0] * 6
    for there, back in zip(ordered[:boards], ordered[boards:], strict=True):
        halves = there.halves(0, 1), back.halves(0, 1)
        # Two of 4 half points: a win and a loss, or two draws.
        counts[{0: 0, 1: 1, 2: 2, 3: 4, 4: 5}[sum(halves)] + (halves == (1, 1))] += 1
    return counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]


def summed(counts: Iterable[PairCounts]) -> PairCounts:
    """Return the sum of one or more counts."""
    ll, ld, wl, dd, wd, ww = map(sum, zip(*counts, strict=True))
    return ll, ld, wl, dd, wd, ww
