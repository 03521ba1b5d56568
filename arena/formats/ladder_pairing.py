"""Pair the rounds of a ladder: by the gain in order, or by meetings and neighbours.

The reasons of pairings keep their words, because verification compares them with the stored ones.
"""

from collections import Counter, OrderedDict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, permutations

from arena.formats.contract import FormatEntrant, FormatMatch, seatable
from arena.formats.inversion_gains import InversionGains, information_of_ranking
from arena.formats.ladder_schedule import LadderSchedule, LadderTurns, TurnRules
from arena.formats.pairing_strengths import CENTRE, PRIOR, games_between, natural
from arena.formats.table_pool import Clans
from arena.ratings.meetings import Meetings

NEIGHBOURS = 6
"""Number of nearest entrants in the order of strength that are considered for a seat of an
adaptive match."""
MAX_GAIN_ENTRANTS = 400
"""Above this number of entrants, rounds are paired by `LeastMetPairing`, whose memory grows
linearly."""
SLACK = 1
"""Levels up to this many above the lowest count as lowest, so that there is a choice."""


@dataclass(frozen=True, slots=True)
class LadderRound:
    """The state of a ladder that determines the pairing of a round.

    Args:
        entrants: all entrants of the ladder.
        clan: the clans, whose members do not share a table.
        schedule: the sums of the rounds before the last one.
        recent: the matches of the last round.
        meetings: the sums of the results that strengths are fitted to.
        strengths: these strengths, in steps; those of the others are unknown.
    """

    rules: TurnRules
    number: int
    entrants: Sequence[FormatEntrant]
    clan: Clans
    schedule: LadderSchedule
    recent: Sequence[FormatMatch]
    meetings: Meetings
    strengths: Mapping[str, int]

    @property
    def pool(self) -> list[str]:
        """The entrants that can be paired."""
        return seatable(self.entrants, self.number)


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


class LeastMetPairing:
    """The pairing of one round in time and memory that grow linearly with the entrants.

    - Even matches: the entrant that has waited longest, and those that it has met least often.
    - Adaptive matches: the entrant that has waited longest, and those of its neighbours in the
      order of strength that have waited longest.
    """

    def __init__(self, of: LadderRound) -> None:
        schedule = of.schedule
        self._rules, self._clan, self._schedule = of.rules, of.clan, schedule
        self._pool = of.pool
        self._strengths = of.strengths
        self._turns = LadderTurns(of.rules, of.entrants, dict(schedule.last), dict(schedule.even))
        self._met: dict[str, Counter[str]] = {}
        for count, match in enumerate(of.recent, schedule.matches):
            self._turns.enter(match.round, count)
            self._schedule_match(match.entrants, count)
        self._turns.enter(of.number, schedule.matches + len(of.recent))
        self._order: list[str] = []
        self._ranks: dict[str, int] = {}
        self._waiting_queue = WaitingQueue(
            sorted(self._pool, key=self._turns.turn), self._turns.even
        )

    def table(self, count: int) -> tuple[Sequence[str], str]:
        """Return the entrants of the match with this number, and the reason for the pairing."""
        adaptive = self._turns.is_adaptive(count)
        pairing = self._adaptive_pairing() if adaptive else self._even()
        self._schedule_match(pairing[0], count)
        self._waiting_queue.played(sorted(pairing[0], key=self._turns.turn), not adaptive)
        return pairing

    def _schedule_match(self, names: Sequence[str], count: int) -> None:
        """Count a match that is not in the sums of the schedule."""
        self._turns.count(names, count)
        if not self._turns.is_adaptive(count):
            for first, second in permutations(names, 2):
                self._met.setdefault(first, Counter())[second] += 1

    def _times_met(self, name: str) -> Counter[str]:
        return self._schedule.times_met(name) + self._met.get(name, Counter())

    def _even(self) -> tuple[Sequence[str], str]:
        """Seat the entrant that has waited longest, and others beside it."""
        table = [self._longest_waiting()]
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
        if not self._order:
            self._order = self._by_strength()
            self._ranks = {name: rank for rank, name in enumerate(self._order)}
        table = [self._longest_waiting()]
        while len(table) < self._rules.sides:
            seated_clans = {self._clan[name] for name in table}
            free = (n for n in self._near(table[0]) if self._clan[n] not in seated_clans)
            table.append(min(islice(free, NEIGHBOURS), key=self._turns.turn))
        return table, _reason(table)

    def _longest_waiting(self) -> str:
        return min(self._waiting_queue.heads(), key=self._turns.turn)

    def _by_strength(self) -> list[str]:
        known = self._strengths
        return sorted(
            self._pool, key=lambda name: (-known.get(name, CENTRE), self._turns.turn(name))
        )

    def _near(self, name: str) -> Iterator[str]:
        """Yield the other entrants from the nearest in strength to the farthest."""
        rank = self._ranks[name]
        for distance in range(1, len(self._order)):
            for place in (rank - distance, rank + distance):
                if 0 <= place < len(self._order):
                    yield self._order[place]


class InversionGainPairing(LeastMetPairing):
    """The pairing of one round by `InversionGains`, for at most `MAX_GAIN_ENTRANTS` entrants.

    Any entrant may have the other seats of an even match: equal numbers of even matches would give
    many of them to bots whose place is certain.
    """

    def __init__(self, of: LadderRound) -> None:
        super().__init__(of)
        known = dict.fromkeys(self._pool, CENTRE) | dict(of.strengths)
        games = max((line_up.games for line_up in of.meetings.sums), default=1)
        self._gains = InversionGains(
            self._pool,
            {name: natural(strength) for name, strength in known.items()},
            games_between(of.meetings),
            PRIOR,
            games / (of.rules.sides - 1),
            of.clan,
            information_of_ranking(of.rules.sides),
        )
        # Results of the last round are not used, even if known: the pairing must not depend on when
        # its matches close.
        for match in of.recent:
            self._gains.learn(match.entrants)

    def table(self, count: int) -> tuple[Sequence[str], str]:
        """Return the entrants of the match with this number, and the reason for the pairing."""
        pairing = super().table(count)
        self._gains.learn(pairing[0])
        return pairing

    def _beside(self, table: Sequence[str], seated_clans: Collection[Hashable]) -> str:
        """Return the entrant of another clan with the largest gain; equal ones by waiting time."""
        candidates = [name for name in self._pool if self._clan[name] not in seated_clans]
        candidates.sort(key=self._turns.turn)
        place = self._gains.place
        best = self._gains.beside(
            [place[name] for name in table], [place[name] for name in candidates]
        )
        return self._pool[best]

    def _adaptive_pairing(self) -> tuple[Sequence[str], str]:
        turns = [self._turns.turn(name) for name in self._pool]
        waited = {turn: place for place, turn in enumerate(sorted(turns))}
        first, second = self._gains.best([waited[turn] for turn in turns])
        table = [self._pool[first], self._pool[second]]
        while len(table) < self._rules.sides:
            table.append(self._beside(table, {self._clan[name] for name in table}))
        return table, _reason(table)


def round_pairing(of: LadderRound) -> LeastMetPairing:
    """Return the pairing of a round, by gains if it has adaptive matches and few entrants."""
    by_gain = of.rules.adaptive and len(of.pool) <= MAX_GAIN_ENTRANTS
    return InversionGainPairing(of) if by_gain else LeastMetPairing(of)


def _reason(table: Sequence[str]) -> str:
    return f"telling: which of {table[0]} and {table[1]} is the better"
