"""`sprt`: test whether the first entrant is better than the second (Wald's sequential test).

At tables of more than two sides, further entrants take the remaining seats. Only the places of the
first two relative to each other count.

A. Wald, "Sequential Tests of Statistical Hypotheses" (1945): the test ends when the logarithm of
the likelihood ratio leaves the interval (log(beta / (1 - alpha)), log((1 - beta) / alpha)).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import add
from typing import ClassVar, TypeAlias, cast

from arena.formats.contract import (
    Fixture,
    FormatEntrant,
    FormatMatch,
    FormatOver,
    MatchStatus,
    NextMatches,
    Ranking,
    Step,
    count_open,
    history,
    next_round,
    waiting,
)
from arena.formats.table_pool import clans
from arena.ratings.closed_match import PlayedGame
from arena.ratings.duel import of_boards
from arena.ratings.sprt import Model, SprtSettings, log_likelihood_ratio
from referee.games.shared.coded_errors import InvalidValue

PairCounts: TypeAlias = tuple[int, int, int, int, int, int]
"""Numbers of mirrored boards by result for the first entrant: LL, LD, WL, DD, WD, WW."""


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
    are finished and marked (`FormatOver.drained`), but not counted. The parameters of the test are
    those of `SprtSettings`.

    Attributes:
        batch: matches of a round; the next round begins when the last but one is over.
        limit: number of matches after which the test ends without a verdict; 0: unlimited.
        owners_meet: whether entrants of one owner may share a table of more than two sides.
    """

    reads_results: ClassVar[bool] = True

    sides: int = 2
    low: float = 0.0
    high: float = 25.0
    alpha: float = 0.05
    beta: float = 0.05
    batch: int = 4
    limit: int = 0
    model: str = "logistic"
    owners_meet: bool = False

    def __post_init__(self) -> None:
        _ = self.test
        if self.batch < 1:
            raise InvalidValue("a round of the test has at least one match", code="batch")

    @property
    def test(self) -> SprtSettings:
        """The parameters of the test.

        Raises:
            ValueError: one of them is not valid.
        """
        return SprtSettings(self.low, self.high, self.alpha, self.beta, cast("Model", self.model))

    def ratio(self, counts: tuple[int, ...]) -> float:
        """Return the log-likelihood ratio of boards by result (`board_counts`)."""
        return log_likelihood_ratio(self.test, of_boards(counts))

    def next(self, entrants: Sequence[FormatEntrant], matches: Iterable[FormatMatch]) -> Step:
        """Return the next round, or wait, or the verdict."""
        self._check(entrants)
        played = history(entrants, matches)
        first, second = (entrant.name for entrant in entrants[:2])
        decided = self.verdict(played, (first, second))
        if decided is not None:
            drained = tuple(match.place for match in played if match.place > decided.place)
            word = "better" if decided.better else "not better"
            best = (first, second) if decided.better else (second, first)
            others = tuple(entrant.name for entrant in entrants[2:])
            ranking: Ranking = ((best[0],), (best[1],), *((others,) if others else ()))
            return FormatOver(
                f"{first} is {word}: the ratio is {decided.ratio:.2f}", ranking, drained
            )
        number = next_round(played)
        has_left = any(not entrant.plays_in(number) for entrant in entrants)
        if has_left or (self.limit and len(played) >= self.limit):
            why = "an entrant has withdrawn" if has_left else f"{self.limit} matches are played"
            return waiting(played) if count_open(played) else FormatOver(f"no verdict: {why}")
        earlier = [match for match in played if match.round < number - 1]
        if count_open(earlier):
            return waiting(earlier)
        size = min(self.batch, self.limit - len(played)) if self.limit else self.batch
        names = [entrant.name for entrant in entrants]
        fixtures = tuple(
            Fixture(number, place, self._seated(names, len(played) + place))
            for place in range(size)
        )
        return NextMatches(fixtures, "the test runs until a bound is crossed")

    def _check(self, entrants: Sequence[FormatEntrant]) -> None:
        if self.sides == 2 != len(entrants):
            raise InvalidValue(
                f"a test is between two entrants, not {len(entrants)}", code="entrant-count"
            )
        if len(entrants) < self.sides:
            raise InvalidValue(
                f"a table of {self.sides} sides needs {self.sides} entrants, not {len(entrants)}",
                code="entrant-count",
            )
        clan = clans(entrants, self.sides, self.owners_meet)
        if len(set(clan.values())) < len(entrants):
            raise InvalidValue(
                "the entrants of this test share tables, so they need different owners "
                "(owners_meet = true allows equal ones)",
                code="too-few-owners",
            )

    def _seated(self, names: Sequence[str], number: int) -> tuple[str, ...]:
        """Return the entrants of the match `number` of the test, in the order of their seats.

        The tables of a match rotate the seats. Therefore only the distance from the first to the
        second entrant matters: the matches take all distances in turn, and the others take turns in
        the remaining seats.
        """
        first, second, *others = names
        if self.sides == 2:
            return first, second
        turn, distance = divmod(number, self.sides - 1)
        at = turn * (self.sides - 2) % len(others)
        seated = [*others[at:], *others[:at]][: self.sides - 2]
        seated.insert(distance, second)
        return first, *seated

    def verdict(self, played: Sequence[FormatMatch], pair: tuple[str, str]) -> SprtDecision | None:
        """Return the first verdict on a pair of matches in canonical order; None without one."""
        test = self.test
        total = (0,) * (2 * self.sides + 1)
        for match in played:
            if match.state is MatchStatus.OPEN:
                return None
            if match.state is MatchStatus.VOID:
                continue
            total = tuple(map(add, total, board_counts(match.entrants, match.games, pair)))
            ratio = self.ratio(total)
            if (verdict := test.verdict(ratio)) != "open":
                return SprtDecision(verdict == "high", match.place, ratio)
        return None


def board_counts(
    entrants: Sequence[str], games: Sequence[PlayedGame], pair: tuple[str, str]
) -> tuple[int, ...]:
    """Count the boards of a match by the half points that the first of a pair won from the second.

    A board is played at one table for each side, and a game gives 0, 1 or 2 half points. With two
    sides the counts are those of LL, LD, WL and DD, WD, WW.
    """
    first, second = map(entrants.index, pair)
    sides = len(entrants)
    ordered = sorted(games, key=lambda game: game.game)
    boards = len(ordered) // sides
    counts = [0] * (2 * sides + 1)
    for board in range(boards):
        counts[sum(game.halves(first, second) for game in ordered[board::boards])] += 1
    return tuple(counts)


def pair_counts(games: Sequence[PlayedGame]) -> PairCounts:
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
