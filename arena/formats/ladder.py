"""`ladder`: runs until it is stopped; entrants can join at any time."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from arena.formats.contract import (
    FormatEntrant,
    FormatMatch,
    FormatOver,
    MatchStatus,
    NextMatches,
    PairingStrengths,
    Step,
    WaitForMatches,
    count_open,
    fixtures,
    history,
    next_round,
    seatable,
    waiting,
)
from arena.formats.ladder_pairing import LadderRound, round_pairing
from arena.formats.ladder_schedule import LadderSchedule
from arena.formats.pairing_strengths import (
    MAX_FITTED_ENTRANTS,
    fit_strengths,
    fitted_meetings,
    meetings_of,
)
from arena.formats.table_pool import clans
from arena.ratings.meetings import Meetings
from arena.ratings.strength.settings import check_ladder_anchors, with_anchors
from referee.games.shared.coded_errors import InvalidValue

RoundResults: TypeAlias = Callable[[int], tuple[int, Meetings]]
"""Returns the sums of the results of the rounds before one, and the event up to which corrections
are included."""
StrengthFit: TypeAlias = Callable[[Meetings], Mapping[str, int]]
"""Returns the strengths of all entrants with results, in steps."""


@dataclass(frozen=True, slots=True)
class LadderFormat:
    """Rounds of matches; a round begins when the last but one is over, except its late matches.

    An even match is played by the entrant that has waited longest. Its other seats are given to
    the entrants whose match saves most inverted pairs (`arena.formats.inversion_gains`).
    Without adaptive matches, or with more than `MAX_GAIN_ENTRANTS` entrants, they are given to
    entrants with the fewest even matches, with the tolerance `arena.formats.ladder_pairing.SLACK`,
    and among these to the ones met least often in even matches. Adaptive matches are not counted,
    because the even ones would otherwise compensate for them. With n entrants, nobody waits longer
    than n even matches or `bound(n)` matches of any kind.

    Attributes:
        sides: sides of a match.
        adaptive: percentage of matches, evenly spread, that are played where they are most
            informative about the order; the others are even.
        batch: matches of a round; 0: the number that can be played in parallel.
        placement: number of even matches by which a newcomer starts behind the entrant with the
            fewest. Only effective without adaptive matches or with more than
            `MAX_GAIN_ENTRANTS` entrants; otherwise newcomers play more at first, because their
            strength is the least certain.
        limit: total number of matches; 0: unlimited.
        owners_meet: whether entrants of one owner may share a table of more than two sides.
        open: whether accepted submissions enter the ladder automatically.
        versions: number of newest versions of each bot that play on an open ladder; 0: all.
        season: the number of the season of its form that the ladder begins; 0: it begins none.
        anchors: anchors of strength, separated by commas: "NAME@VERSION=STRENGTH:DEVIATION" sets a
            prior, and without a deviation a fixed strength.

    `open`, `versions`, `season` and `anchors` do not affect pairings.
    """

    reads_results: ClassVar[bool] = True

    sides: int = 2
    adaptive: int = 80
    batch: int = 0
    placement: int = 10
    limit: int = 0
    owners_meet: bool = False
    open: bool = False
    versions: int = 3
    season: int = 0
    anchors: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.adaptive <= 90:
            raise InvalidValue(
                f"adaptive is a percentage of the matches, 0 to 90, not {self.adaptive}",
                code="adaptive",
            )
        try:
            check_ladder_anchors(with_anchors(self.anchors.split(",")))
        except ValueError as error:
            raise InvalidValue(f"anchors: {error}", code="invalid-anchor") from None

    def bound(self, entrants: int) -> int:
        """Return the number of matches within which every entrant plays again.

        Args:
            entrants: number of entrants that could be paired at its last match; later ones queue
                behind it.
        """
        return -(-100 * entrants // (100 - self.adaptive))

    def is_adaptive(self, number: int) -> bool:
        """Return whether a match, numbered from 0 over all rounds, is an adaptive one."""
        return number * self.adaptive % 100 >= 100 - self.adaptive

    def next(
        self,
        entrants: Sequence[FormatEntrant],
        matches: Iterable[FormatMatch],
        fitted: StrengthFit = fit_strengths,
    ) -> Step:
        """Return a round, or wait for the last but one.

        Args:
            entrants: all entrants, including withdrawn ones, in order of seeds.
            matches: all matches so far, in any order.
            fitted: returns the strengths to pair from.
        """
        played = list(matches)

        def results(before: int) -> tuple[int, Meetings]:
            return 0, meetings_of(match for match in played if match.round < before)

        return self.resume(entrants, LadderSchedule(), played, results, fitted)

    def resume(
        self,
        entrants: Sequence[FormatEntrant],
        schedule: LadderSchedule,
        matches: Iterable[FormatMatch],
        results: RoundResults,
        fitted: StrengthFit = fit_strengths,
    ) -> Step:
        """Return the same step as `next` from the sums of the first rounds.

        Args:
            entrants: all entrants, including withdrawn ones, in order of seeds.
            schedule: the sums of the first rounds. Before a round is paired, the rounds that it is
                based on are added.
            matches: the matches of the other rounds; their results are not used.
            results: returns the results of the rounds before one. The last round is not included,
                even if its results are known: a pairing must not depend on when its matches close.
            fitted: returns the strengths to pair from.
        """
        played = history(entrants, matches)
        number = max(next_round(played), schedule.round)
        so_far = schedule.matches + len(played)
        if self.limit and so_far >= self.limit:
            end = FormatOver(f"the limit of {self.limit} matches is reached")
            return waiting(played) if count_open(played) else end
        earlier = [match for match in played if match.round < number - 1]
        if any(match.state is MatchStatus.OPEN for match in earlier):
            return waiting(earlier)
        clan = clans(entrants, self.sides, self.owners_meet)
        pool = seatable(entrants, number)
        if len({clan[name] for name in pool}) < self.sides:
            owners = " of different owners" if self.sides > 2 else ""
            return WaitForMatches(
                f"a match needs {self.sides} entrants{owners}; `tournament add` lets more in"
            )
        target = self.batch or max(len(pool) // self.sides, 1)
        if self.limit:
            target = min(target, self.limit - so_far)
        schedule.add(self, entrants, earlier)
        meetings, strengths = Meetings(), None
        if number and self.adaptive and len(pool) <= MAX_FITTED_ENTRANTS:
            seq, meetings = results(number - 1)
            meetings = fitted_meetings(meetings, pool)
            strengths = PairingStrengths(seq, fitted(meetings))
        known, recent = strengths.values if strengths else {}, played[len(earlier) :]
        pairing = round_pairing(
            LadderRound(self, number, entrants, clan, schedule, recent, meetings, known)
        )
        tables = [pairing.table(so_far + place) for place in range(target)]
        return NextMatches(
            fixtures(number, tables, entrants), "a ladder runs until it is stopped", strengths
        )
