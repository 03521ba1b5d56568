"""Pair the rounds of a ladder: one class for each version of the pairing rules.

The reasons of pairings keep their words, because verification compares them with the stored ones.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from itertools import combinations, permutations
from typing import Final

from arena.formats.contract import FormatEntrant, FormatMatch, seatable
from arena.formats.inversion_gains import InversionGains, information_of_ranking
from arena.formats.ladder_summary import LadderSummary, TurnRules
from arena.formats.strength_estimate import (
    PRIOR,
    StrengthEstimate,
    add_information,
    information_gain,
)
from arena.formats.strength_order import StrengthOrder
from arena.formats.table_pool import Clans, complete
from arena.formats.waiting_queue import WaitingQueue

NEIGHBOURS = 3
"""Number of lower neighbours in the strength order that are considered for an adaptive match."""
SLACK = 1
"""Levels up to this many above the lowest count as lowest, so that there is a choice."""
DIGITS = ".9e"
"""Format for comparing gains: ten significant digits, because machines may differ in the last."""


class LeastMetPairing:
    """The pairing of one round by `pairing: 1`: opponents are the entrants met least often.

    Adaptive matches are chosen among neighbours in the order of strength.
    """

    def __init__(
        self,
        rules: TurnRules,
        entrants: Sequence[FormatEntrant],
        summary: LadderSummary,
        recent: Sequence[FormatMatch],
        number: int,
        clan: Clans,
    ) -> None:
        self._rules, self._clan, self._summary = rules, clan, summary
        self._pool = seatable(entrants, number)
        self._turns = summary.turns(rules, entrants, recent)
        so_far = summary.matches + len(recent)
        self._turns.enter(number, so_far)
        self._met: dict[str, Counter[str]] = {}
        for count, match in enumerate(recent, summary.matches):
            self._meet(match.entrants, count)
        # Results of the last round are not used, even if known: the pairing must not depend on when
        # its matches close.
        self._pending = [match.entrants for match in recent]
        self._games = summary.games / (rules.sides - 1) if summary.games else 1.0
        self._estimates: dict[str, StrengthEstimate] = {}
        self._strength_order: StrengthOrder | None = None
        self._waiting_queue = WaitingQueue(
            sorted(self._pool, key=self._turns.turn), self._turns.even
        )

    def table(self, count: int) -> tuple[Sequence[str], str]:
        """Return the entrants of the match with this number, and the reason for the pairing."""
        adaptive = self._rules.is_adaptive(count)
        pairing = self._adaptive_pairing() if adaptive else self._even()
        self._turns.count(pairing[0], count)
        self._meet(pairing[0], count)
        self._waiting_queue.played(sorted(pairing[0], key=self._turns.turn), not adaptive)
        self._scheduled(pairing[0])
        return pairing

    def _meet(self, names: Sequence[str], count: int) -> None:
        """Count the meetings of a match that is not in the summary, unless it is adaptive."""
        if not self._rules.is_adaptive(count):
            for first, second in permutations(names, 2):
                self._met.setdefault(first, Counter())[second] += 1

    def _times_met(self, name: str) -> Counter[str]:
        return self._summary.times_met(name) + self._met.get(name, Counter())

    def _scheduled(self, names: Sequence[str]) -> None:
        """Count a scheduled match as played in the estimates of adaptive matches."""
        if self._strength_order is None:
            self._pending.append(tuple(names))
        else:
            self._learn(names)
            self._strength_order.changed(names)

    def _even(self) -> tuple[Sequence[str], str]:
        """Seat the entrant that has waited longest, and others beside it."""
        table = [min(self._waiting_queue.heads(), key=self._turns.turn)]
        while len(table) < self._rules.sides:
            seated_clans = {self._clan[name] for name in table}
            table.append(self._beside(table, seated_clans))
        return table, f"even: {table[0]} has waited longest"

    def _beside(self, table: Sequence[str], seated_clans: Collection[Hashable]) -> str:
        """Return the least played entrant of another clan that has met the table least."""
        times_met, neighbour, least = [self._times_met(other) for other in table], "", 0
        for group in self._waiting_queue.groups(SLACK):
            for name in group:
                if self._clan[name] in seated_clans:
                    continue
                times = sum(counts[name] for counts in times_met)
                if not neighbour or times < least:
                    neighbour, least = name, times
                # All later entrants have played more, or waited less.
                if not times:
                    return neighbour
            if neighbour:
                break
        return neighbour

    def _adaptive_pairing(self) -> tuple[Sequence[str], str]:
        order = self._strength_order = self._strength_order or self._ordered()
        first, second = order.best()
        table: list[str] | None = [first, second]
        if self._rules.sides > 2:
            rank = {name: place for place, name in enumerate(order.names)}

            def rank_distance(seated: Sequence[str], name: str) -> int:
                return abs(2 * rank[name] - rank[first] - rank[second])

            table = complete(
                [first, second], order.names, self._rules.sides, self._clan, rank_distance
            )
        assert table is not None
        return table, f"telling: which of {first} and {second} is the better"

    def _ordered(self) -> StrengthOrder:
        estimates = self._summary.strengths(self._turns.even)
        self._estimates = estimates
        for names in self._pending:
            self._learn(names)

        def gain(first: str, second: str) -> float:
            return float(
                format(information_gain(estimates[first], estimates[second], self._games), DIGITS)
            )

        def mean(name: str) -> float:
            return estimates[name].mean

        return StrengthOrder(self._pool, mean, self._turns.turn, gain, NEIGHBOURS, self._clan)

    def _learn(self, names: Sequence[str]) -> None:
        for first, second in combinations(names, 2):
            add_information(self._estimates[first], self._estimates[second], self._games)


class InversionGainPairing(LeastMetPairing):
    """The pairing of one round by `pairing: 2`: opponents are chosen by `InversionGains`."""

    def __init__(
        self,
        rules: TurnRules,
        entrants: Sequence[FormatEntrant],
        summary: LadderSummary,
        recent: Sequence[FormatMatch],
        number: int,
        clan: Clans,
    ) -> None:
        super().__init__(rules, entrants, summary, recent, number, clan)
        table = summary.meetings()
        means = {
            name: estimate.mean for name, estimate in summary.strengths(self._turns.even).items()
        }
        information = self._information()
        self._gains = InversionGains(
            self._pool, means, table, PRIOR, self._games, clan, information
        )
        for names in self._pending:
            self._gains.learn(names)

    def _information(self) -> float:
        """Return the information of a counted game, relative to a game of two entrants."""
        return 1.0

    def _scheduled(self, names: Sequence[str]) -> None:
        self._gains.learn(names)

    def _beside(self, table: Sequence[str], seated_clans: Collection[Hashable]) -> str:
        """Return the entrant of another clan with the largest gain, of the least played ones.

        Equal ones are chosen by waiting time.
        """
        for group in self._waiting_queue.groups(SLACK):
            candidates = [name for name in group if self._clan[name] not in seated_clans]
            if candidates:
                return self._best_of(candidates, table)
        raise AssertionError("`next` has checked that there are enough clans")

    def _adaptive_pairing(self) -> tuple[Sequence[str], str]:
        turns = [self._turns.turn(name) for name in self._pool]
        waited = {turn: place for place, turn in enumerate(sorted(turns))}
        first, second = self._gains.best([waited[turn] for turn in turns])
        table = [self._pool[first], self._pool[second]]
        why = f"telling: which of {table[0]} and {table[1]} is the better"
        while len(table) < self._rules.sides:
            table.append(self._best_beside(table, {self._clan[name] for name in table}))
        return table, why

    def _best_beside(self, table: Sequence[str], excluded_clans: Collection[Hashable]) -> str:
        """Return the entrant outside `excluded_clans` with the largest gain, of all entrants."""
        candidates = [name for name in self._pool if self._clan[name] not in excluded_clans]
        return self._best_of(sorted(candidates, key=self._turns.turn), table)

    def _best_of(self, candidates: Sequence[str], table: Sequence[str]) -> str:
        place = self._gains.place
        best = self._gains.beside(
            [place[name] for name in table], [place[name] for name in candidates]
        )
        return self._pool[best]


class UnrestrictedInversionGainPairing(InversionGainPairing):
    """The pairing of one round by `pairing: 3`: any entrant may be an opponent.

    - Any entrant may have the other seats of an even match. Pairing 2 keeps the numbers of even
      matches equal, so it gives many of them to bots whose place is certain.
    - A ranking of several entrants has the information of the model of Plackett and Luce. Pairing 2
      counts it as half of that, so it also plays pairs that are certain.
    """

    def _information(self) -> float:
        return information_of_ranking(self._rules.sides)

    def _beside(self, table: Sequence[str], seated_clans: Collection[Hashable]) -> str:
        return self._best_beside(table, seated_clans)


PAIRINGS: Final[Mapping[int, type[LeastMetPairing]]] = {
    1: LeastMetPairing,
    2: InversionGainPairing,
    3: UnrestrictedInversionGainPairing,
}
"""The pairing of a round by the version of the rules. Without adaptive matches, or with more than
`MAX_ADAPTIVE_ENTRANTS` entrants, the rules of pairing 1 apply."""
