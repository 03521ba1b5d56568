"""`ladder`: runs until it is stopped; entrants can join at any time."""

from bisect import bisect_left, insort
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import combinations, permutations
from math import inf
from typing import Final

from arena.formats.contract import (
    FormatEntrant,
    FormatMatch,
    FormatOver,
    NextMatches,
    Step,
    WaitForMatches,
    count_open,
    fixtures,
    history,
    next_round,
    seatable,
    waiting,
)
from arena.formats.inversion_gains import InversionGains, information_of_ranking
from arena.formats.ladder_summary import MANY, LadderSummary
from arena.formats.strength_estimate import (
    PRIOR,
    StrengthEstimate,
    add_information,
    information_gain,
)
from arena.formats.table_pool import Clans, clans, complete
from arena.ratings.strength.settings import check_ladder_anchors, with_anchors
from referee.games.shared.coded_errors import InvalidValue

# Adaptive pairing: entrants in order of their estimated strength, and the most informative pair of
# neighbours.


Turn = tuple[int, int]


class StrengthOrder:
    """Entrants ordered by estimated strength, the strongest first, equal ones by turn.

    The caller reports entrants that have changed; the gains of other pairs stay cached.

    Args:
        names: the entrants.
        mean: the estimated strength of an entrant.
        turn: the position of an entrant in the waiting queue.
        gain: the information gain of a match between two entrants.
        neighbours: number of lower neighbours in the order, outside the entrant's own clan, that
            are considered as its opponents.
        clan: the clan of each entrant.
    """

    def __init__(
        self,
        names: Iterable[str],
        mean: Callable[[str], float],
        turn: Callable[[str], Turn],
        gain: Callable[[str, str], float],
        neighbours: int,
        clan: Clans,
    ) -> None:
        self._mean, self._turn, self._gain = mean, turn, gain
        self._neighbours, self._clan = neighbours, clan
        self._key = {name: self._key_of(name) for name in names}
        self.names = sorted(self._key, key=self._key.__getitem__)
        self._keys = [self._key[name] for name in self.names]
        self._best = {name: self._best_of(place) for place, name in enumerate(self.names)}
        # Entries that differ from `_best` and `_key` are out of date, and are removed when found.
        self._leaders = [(-best, self._key[name], name) for name, best in self._best.items()]
        heapify(self._leaders)

    def best(self) -> tuple[str, str]:
        """Return the pair with the largest gain; of equal pairs the first in the order."""
        while not self._is_current(self._leaders[0]):
            heappop(self._leaders)
        leader = self._leaders[0][2]
        rivals = self._below(bisect_left(self._keys, self._key[leader]))
        return leader, max(rivals, key=lambda rival: self._gain(leader, rival))

    def changed(self, names: Iterable[str]) -> None:
        """Update entrants whose turns or gains have changed."""
        names = [name for name in names if name in self._key]
        touched: set[str] = set()
        for name in names:
            place = bisect_left(self._keys, self._key[name])
            touched.update(self._above(place))
            del self.names[place], self._keys[place]
        for name in names:
            key = self._key[name] = self._key_of(name)
            insort(self._keys, key)
            self.names.insert(bisect_left(self._keys, key), name)
        for name in names:
            touched.update((name, *self._above(bisect_left(self._keys, self._key[name]))))
        for name in touched:
            best = self._best[name] = self._best_of(bisect_left(self._keys, self._key[name]))
            heappush(self._leaders, (-best, self._key[name], name))

    def _is_current(self, entry: tuple[float, tuple[float, Turn], str]) -> bool:
        best, key, name = entry
        return best == -self._best[name] and key == self._key[name]

    def _key_of(self, name: str) -> tuple[float, Turn]:
        return -self._mean(name), self._turn(name)

    def _best_of(self, place: int) -> float:
        name = self.names[place]
        return max((self._gain(name, other) for other in self._below(place)), default=-inf)

    def _below(self, place: int) -> Iterator[str]:
        """Yield the opponents considered for the entrant at a place: its lower neighbours."""
        left = self._neighbours
        for at in range(place + 1, len(self.names)):
            if not left:
                return
            if self._clan[self.names[at]] != self._clan[self.names[place]]:
                left -= 1
                yield self.names[at]

    def _above(self, place: int) -> Iterator[str]:
        """Yield a superset of the entrants for which the one at a place is considered."""
        between = Counter[Hashable]()
        for at in range(place - 1, -1, -1):
            # Whatever clan a higher entrant has, enough other opponents are between it and this
            # place.
            if between.total() - max(between.values(), default=0) >= self._neighbours:
                return
            yield self.names[at]
            between[self._clan[self.names[at]]] += 1


class WaitingQueue:
    """The waiting queue: entrants by number of even matches, the longest waiting first.

    An entrant that plays moves to the end of its level, so the queue is never sorted again. The
    time to find the next entrant does not depend on the number of entrants.

    Args:
        waiting: all entrants in order of their turns.
        even: number of even matches of each entrant.
    """

    def __init__(self, waiting: Iterable[str], even: Mapping[str, int]) -> None:
        self._level = {name: even[name] for name in waiting}
        self._levels: dict[int, OrderedDict[str, None]] = {}
        for name, level in self._level.items():
            self._levels.setdefault(level, OrderedDict())[name] = None

    def heads(self) -> Iterator[str]:
        """Yield the longest waiting entrant of each level."""
        for names in self._levels.values():
            yield next(iter(names))

    def groups(self, slack: int) -> Iterator[Iterator[str]]:
        """Yield groups of entrants: the levels within `slack` of the lowest, then each further one.

        Within a group, entrants with fewer even matches come first, equal ones by waiting time.
        """
        levels = sorted(self._levels)
        close = [level for level in levels if level <= levels[0] + slack]
        yield (name for level in close for name in self._levels[level])
        for level in levels[len(close) :]:
            yield iter(self._levels[level])

    def played(self, names: Iterable[str], is_even: bool) -> None:
        """Move entrants that play now, in order of their turns, to the end of their levels."""
        for name in names:
            level = self._level[name]
            queue = self._levels[level]
            del queue[name]
            if not queue:
                del self._levels[level]
            self._level[name] = level + is_even
            self._levels.setdefault(level + is_even, OrderedDict())[name] = None


NEIGHBOURS = 3
"""Number of lower neighbours in the strength order that are considered for an adaptive match."""
SLACK = 1
"""Levels up to this many above the lowest count as lowest, so that there is a choice."""
DIGITS = ".9e"
"""Format for comparing gains: ten significant digits, because machines may differ in the last."""


@dataclass(frozen=True, slots=True)
class LadderFormat:
    """Rounds of matches; a round begins when the last but one is over.

    An even match is played by the entrant that has waited longest. Pairing 3 gives its other seats
    to the entrants whose match saves most inverted pairs (`arena.formats.inversion_gains`).
    Pairing 2 considers only entrants with the fewest even matches (within `SLACK`). Pairing 1, and
    any pairing without adaptive matches, chooses among these the ones met least often in even
    matches. Adaptive matches are not counted, because the even ones would otherwise compensate for
    them. With n entrants, nobody waits longer than n even matches or `bound(n)` matches of any
    kind.

    Attributes:
        sides: sides of a match.
        adaptive: percentage of matches, evenly spread, that are played where they are most
            informative about the order; the others are even.
        batch: matches of a round; 0: the number that can be played in parallel.
        placement: number of even matches by which a newcomer starts behind the entrant with the
            fewest. Without effect under pairing 3, where newcomers play more at first, because
            their strength is the least certain.
        limit: total number of matches; 0: unlimited.
        owners_meet: whether entrants of one owner may share a table of more than two sides.
        open: whether accepted submissions enter the ladder automatically.
        versions: number of newest versions of each bot that play on an open ladder; 0: all.
        season: the number of the season of its form that the ladder begins; 0: it begins none.
        anchors: anchors of strength, separated by commas: "NAME@VERSION=STRENGTH:DEVIATION" sets a
            prior, and without a deviation a fixed strength.
        pairing: the version of the pairing rules, 1 to 3. New ladders have 3. Earlier ladders keep
            2, or have 1 without this setting, so that they continue and verify.

    `open`, `versions`, `season` and `anchors` do not affect pairings.
    """

    sides: int = 2
    adaptive: int = 30
    batch: int = 0
    placement: int = 10
    limit: int = 0
    owners_meet: bool = False
    open: bool = False
    versions: int = 3
    season: int = 0
    anchors: str = ""
    pairing: int = 1

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

    def tells(self, number: int) -> bool:
        """Return whether a match, numbered from 0 over all rounds, is an adaptive one."""
        return number * self.adaptive % 100 >= 100 - self.adaptive

    def next(self, entrants: Sequence[FormatEntrant], matches: Iterable[FormatMatch]) -> Step:
        """Return a round, or wait for the last but one."""
        return self.resume(entrants, LadderSummary(), matches)

    def resume(
        self,
        entrants: Sequence[FormatEntrant],
        summary: LadderSummary,
        matches: Iterable[FormatMatch],
    ) -> Step:
        """Return the same step as `next` from a summary of the first rounds.

        Args:
            entrants: all entrants, including withdrawn ones, in order of seeds.
            summary: the sums of the first rounds. Before a round is paired, the rounds that it is
                based on are added.
            matches: the matches of the other rounds.
        """
        played = history(entrants, matches)
        number = max(next_round(played), summary.round)
        so_far = summary.matches + len(played)
        if self.limit and so_far >= self.limit:
            end = FormatOver(f"the limit of {self.limit} matches is reached")
            return waiting(played) if count_open(played) else end
        earlier = [match for match in played if match.round < number - 1]
        if count_open(earlier):
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
        summary.add(self, entrants, earlier)
        kind = PAIRINGS[self.pairing] if self.adaptive and len(pool) <= MANY else _RoundPairing
        maker = kind(self, entrants, summary, played[len(earlier) :], number, clan)
        tables = [maker.table(so_far + place) for place in range(target)]
        return NextMatches(fixtures(number, tables, entrants), "a ladder runs until it is stopped")


class _RoundPairing:
    """The pairing of one round."""

    def __init__(
        self,
        rules: LadderFormat,
        entrants: Sequence[FormatEntrant],
        summary: LadderSummary,
        recent: Sequence[FormatMatch],
        number: int,
        clan: Clans,
    ) -> None:
        self._rules, self._clan, self._summary = rules, clan, summary
        self._pool = seatable(entrants, number)
        self._queue = summary.turns(rules, entrants, recent)
        so_far = summary.matches + len(recent)
        self._queue.enter(number, so_far)
        self._met: dict[str, Counter[str]] = {}
        for count, match in enumerate(recent, summary.matches):
            self._meet(match.entrants, count)
        # Results of the last round are not used, even if known: the pairing must not depend on when
        # its matches close.
        self._pending = [match.entrants for match in recent]
        self._games = summary.games / (rules.sides - 1) if summary.games else 1.0
        self._guesses: dict[str, StrengthEstimate] = {}
        self._order: StrengthOrder | None = None
        self._line = WaitingQueue(sorted(self._pool, key=self._queue.turn), self._queue.even)

    def table(self, count: int) -> tuple[Sequence[str], str]:
        """Return the entrants of the match with this number, and the reason for the pairing."""
        telling = self._rules.tells(count)
        pairing = self._telling() if telling else self._even()
        self._queue.count(pairing[0], count)
        self._meet(pairing[0], count)
        self._line.played(sorted(pairing[0], key=self._queue.turn), not telling)
        self._scheduled(pairing[0])
        return pairing

    def _meet(self, names: Sequence[str], count: int) -> None:
        """Count the meetings of a match that is not in the summary, unless it is adaptive."""
        if not self._rules.tells(count):
            for first, second in permutations(names, 2):
                self._met.setdefault(first, Counter())[second] += 1

    def _times_met(self, name: str) -> Counter[str]:
        return self._summary.times_met(name) + self._met.get(name, Counter())

    def _scheduled(self, names: Sequence[str]) -> None:
        """Count a scheduled match as played in the estimates of adaptive matches."""
        if self._order is None:
            self._pending.append(tuple(names))
        else:
            self._learn(names)
            self._order.changed(names)

    def _even(self) -> tuple[Sequence[str], str]:
        """Seat the entrant that has waited longest, and others beside it."""
        table = [min(self._line.heads(), key=self._queue.turn)]
        while len(table) < self._rules.sides:
            seated_clans = {self._clan[name] for name in table}
            table.append(self._beside(table, seated_clans))
        return table, f"even: {table[0]} has waited longest"

    def _beside(self, table: Sequence[str], seated_clans: Collection[Hashable]) -> str:
        """Return the least played entrant of another clan that has met the table least."""
        times_met, neighbour, least = [self._times_met(other) for other in table], "", 0
        for group in self._line.groups(SLACK):
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

    def _telling(self) -> tuple[Sequence[str], str]:
        order = self._order = self._order or self._ordered()
        first, second = order.best()
        table: list[str] | None = [first, second]
        if self._rules.sides > 2:
            rank = {name: place for place, name in enumerate(order.names)}

            def liking(seated: Sequence[str], name: str) -> int:
                return abs(2 * rank[name] - rank[first] - rank[second])

            table = complete([first, second], order.names, self._rules.sides, self._clan, liking)
        assert table is not None
        return table, f"telling: which of {first} and {second} is the better"

    def _ordered(self) -> StrengthOrder:
        guesses = self._summary.strengths(self._queue.even)
        self._guesses = guesses
        for names in self._pending:
            self._learn(names)

        def gain(first: str, second: str) -> float:
            return float(
                format(information_gain(guesses[first], guesses[second], self._games), DIGITS)
            )

        def mean(name: str) -> float:
            return guesses[name].mean

        return StrengthOrder(self._pool, mean, self._queue.turn, gain, NEIGHBOURS, self._clan)

    def _learn(self, names: Sequence[str]) -> None:
        for first, second in combinations(names, 2):
            add_information(self._guesses[first], self._guesses[second], self._games)


class _InformedPairing(_RoundPairing):
    """The pairing of one round by pairing 2: opponents are chosen by `InversionGains`."""

    def __init__(
        self,
        rules: LadderFormat,
        entrants: Sequence[FormatEntrant],
        summary: LadderSummary,
        recent: Sequence[FormatMatch],
        number: int,
        clan: Clans,
    ) -> None:
        super().__init__(rules, entrants, summary, recent, number, clan)
        table = summary.meetings()
        means = {name: guess.mean for name, guess in summary.strengths(self._queue.even).items()}
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
        for group in self._line.groups(SLACK):
            candidates = [name for name in group if self._clan[name] not in seated_clans]
            if candidates:
                return self._best_of(candidates, table)
        raise AssertionError("`next` has checked that there are enough clans")

    def _telling(self) -> tuple[Sequence[str], str]:
        turns = [self._queue.turn(name) for name in self._pool]
        waited = {turn: place for place, turn in enumerate(sorted(turns))}
        first, second = self._gains.best([waited[turn] for turn in turns])
        table = [self._pool[first], self._pool[second]]
        why = f"telling: which of {table[0]} and {table[1]} is the better"
        while len(table) < self._rules.sides:
            table.append(self._best_beside(table, {self._clan[name] for name in table}))
        return table, why

    def _best_beside(self, table: Sequence[str], here: Collection[Hashable]) -> str:
        """Return the entrant outside the clans `here` with the largest gain, of all entrants."""
        candidates = [name for name in self._pool if self._clan[name] not in here]
        return self._best_of(sorted(candidates, key=self._queue.turn), table)

    def _best_of(self, candidates: Sequence[str], table: Sequence[str]) -> str:
        place = self._gains.place
        best = self._gains.beside(
            [place[name] for name in table], [place[name] for name in candidates]
        )
        return self._pool[best]


class _FreePairing(_InformedPairing):
    """The pairing of one round by pairing 3.

    - Any entrant may have the other seats of an even match. Pairing 2 keeps the numbers of even
      matches equal, so it gives many of them to bots whose place is certain.
    - A ranking of several entrants has the information of the model of Plackett and Luce. Pairing 2
      counts it as half of that, so it also plays pairs that are certain.
    """

    def _information(self) -> float:
        return information_of_ranking(self._rules.sides)

    def _beside(self, table: Sequence[str], seated_clans: Collection[Hashable]) -> str:
        return self._best_beside(table, seated_clans)


PAIRINGS: Final[Mapping[int, type[_RoundPairing]]] = {
    1: _RoundPairing,
    2: _InformedPairing,
    3: _FreePairing,
}
"""The pairing of a round by the version of the rules. Without adaptive matches, or with more than
`MANY` entrants, the rules of pairing 1 apply."""
