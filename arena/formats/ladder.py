"""`ladder`: runs until it is stopped; entrants can join at any time."""

from bisect import bisect_left, insort
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from math import erfc, exp, inf, pi, sqrt

from arena.formats.contract import (
    FormatEntrant,
    FormatMatch,
    FormatOver,
    MatchStatus,
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
from arena.formats.inversion_gains import InversionGains
from arena.formats.table_pool import Clans, clans, complete
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

    def best(self) -> tuple[str, str]:
        """Return the pair with the largest gain; of equal pairs the first in the order."""
        leader = max(self.names, key=self._best.__getitem__)
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
            self._best[name] = self._best_of(bisect_left(self._keys, self._key[name]))

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


# A quick estimate of strengths for choosing pairings; `arena.ratings` computes the ladder's ranks.
#
# The model is Bradley-Terry with a normal prior (maximum a posteriori). It is fitted by Newton's
# method, one entrant at a time. The mean score of a match counts as several games, see `meetings`.
# The variance of an entrant is computed with all other strengths fixed. It is therefore too small
# by the shared uncertainty, but sufficient to compare pairs.


PRIOR = 1 / 1.5**2
"""The precision of the prior: a standard deviation of 1.5, which is about 260 Elo."""
SWEEPS = 50
CLOSE = 1e-4

Meetings = Mapping[str, Mapping[str, tuple[float, float]]]
"""By entrant and opponent: the sum of scores, and the number of games it counts for."""


@dataclass(slots=True)
class StrengthEstimate:
    """The estimate for an entrant: strength in natural log-odds, and its precision."""

    mean: float = 0.0
    precision: float = PRIOR

    @property
    def variance(self) -> float:
        """The variance of the strength."""
        return 1 / self.precision


def meetings(matches: Iterable[FormatMatch]) -> Meetings:
    """Sum up the closed matches by entrant and opponent.

    In a match of n entrants each pair counts for games / (n - 1) games.
    """
    table: dict[str, dict[str, tuple[float, float]]] = {}
    for match in matches:
        if match.state is not MatchStatus.CLOSED:
            continue
        games = len(match.games) / (len(match.entrants) - 1)
        for first, second in permutations(range(len(match.entrants)), 2):
            row = table.setdefault(match.entrants[first], {})
            score, weight = row.get(match.entrants[second], (0.0, 0.0))
            scored = match.scores[first][second] * games
            row[match.entrants[second]] = score + scored, weight + games
    return table


def estimate_strengths(names: Iterable[str], table: Meetings) -> dict[str, StrengthEstimate]:
    """Estimate the strengths of these entrants and of all in the table."""
    guesses = {name: StrengthEstimate() for name in (*names, *table)}
    for _ in range(SWEEPS):
        moved = [_improve(guesses, guesses[name], row) for name, row in table.items()]
        if max(moved, default=0.0) < CLOSE:
            break
    return guesses


def _improve(
    guesses: Mapping[str, StrengthEstimate],
    mine: StrengthEstimate,
    row: Mapping[str, tuple[float, float]],
) -> float:
    """Do one Newton step for one entrant; return the size of the step."""
    slope, precision = -PRIOR * mine.mean, PRIOR
    for other, (score, games) in row.items():
        chance = 1 / (1 + exp(guesses[other].mean - mine.mean))
        slope += score - games * chance
        precision += games * chance * (1 - chance)
    # The step is limited to 1, so that one-sided results do not make it overshoot.
    step = min(max(slope / precision, -1.0), 1.0)
    mine.mean += step
    mine.precision = precision
    return abs(step)


def information_gain(first: StrengthEstimate, second: StrengthEstimate, games: float) -> float:
    """Return the information gain of one more match between two entrants.

    It is the knowledge gradient (Frazier, Powell and Dayanik 2008): the expected increase in the
    strength of the entrant ranked first, if the ranking is made after the match instead of now.

    1. `variance` is the variance of the difference in strength, `gap` its absolute mean.
    2. `learned` is the information of the match relative to the prior information.
    3. `change` is the standard deviation of the change of the mean difference by the match.
    4. The result is change * (phi(z) + z * Phi(z)) with z = -gap / change.
    """
    variance = first.variance + second.variance
    gap = abs(first.mean - second.mean)
    chance = 1 / (1 + exp(-gap))
    learned = games * chance * (1 - chance) * variance
    change = sqrt(variance * learned / (1 + learned))
    z = -gap / change
    return change * (exp(-z * z / 2) / sqrt(2 * pi) + z * erfc(-z / sqrt(2)) / 2)


def add_information(first: StrengthEstimate, second: StrengthEstimate, games: float) -> None:
    """Add the information of a scheduled match to both precisions; the strengths do not change."""
    chance = 1 / (1 + exp(second.mean - first.mean))
    for guessed in (first, second):
        guessed.precision += games * chance * (1 - chance)


# The waiting queue of a ladder: by number of even matches, then by turn.


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
            here = self._levels[level]
            del here[name]
            if not here:
                del self._levels[level]
            self._level[name] = level + is_even
            self._levels.setdefault(level + is_even, OrderedDict())[name] = None


NEIGHBOURS = 3
"""Number of lower neighbours in the strength order that are considered for an adaptive match."""
SLACK = 1
"""Levels up to this many above the lowest count as lowest, so that there is a choice."""
DIGITS = ".9e"
"""Format for comparing gains: ten significant digits, because machines may differ in the last."""
MANY = 400
"""Above this number of entrants, pairing 2 pairs as pairing 1, whose memory grows linearly."""
PAIRINGS = (1, 2)


@dataclass(frozen=True, slots=True)
class LadderFormat:
    """Rounds of matches; a round begins when the last but one is over.

    An even match is played by the entrant that has waited longest. The other seats go to entrants
    with the fewest even matches (within `SLACK`). Among them, pairing 2 chooses those whose match
    saves most inverted pairs (`arena.formats.inversion_gains`), and pairing 1, or pairing 2 without
    adaptive matches, those that it has met least often in even matches.
    Adaptive matches are not counted, because the even ones would otherwise compensate for them.
    Therefore, with n entrants, nobody waits longer than n even matches, or `bound(n)` matches of
    any kind.

    Attributes:
        sides: sides of a match.
        adaptive: percentage of matches, evenly spread, that are played where they are most
            informative about the order; the others are even.
        batch: matches of a round; 0: as many as can be played in parallel.
        placement: number of even matches by which a newcomer starts behind the entrant with the
            fewest.
        limit: total number of matches; 0: unlimited.
        owners_meet: whether entrants of one owner may share a table of more than two sides.
        open: whether accepted submissions enter the ladder automatically.
        versions: number of newest versions of each bot that play on an open ladder; 0: all.
        season: the number of the season of its form that the ladder begins; 0: it begins none.
        pairing: the version of the pairing rules, 1 or 2. New ladders have 2. Ladders without this
            setting were created by earlier versions and have 1, so that they continue and verify.

    `open`, `versions` and `season` do not affect pairings.
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
    pairing: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.adaptive <= 90:
            raise InvalidValue(
                f"adaptive is a percentage of the matches, 0 to 90, not {self.adaptive}",
                code="adaptive",
            )
        if self.pairing not in PAIRINGS:
            raise InvalidValue(f"pairing of ladder is 1 or 2, not {self.pairing}", code="pairing")

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
        played = history(entrants, matches)
        number = next_round(played)
        if self.limit and len(played) >= self.limit:
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
            target = min(target, self.limit - len(played))
        informed = self.pairing == 2 and self.adaptive and len(pool) <= MANY
        kind = _InformedPairing if informed else _RoundPairing
        maker = kind(self, entrants, played, clan)
        tables = [maker.table(len(played) + place) for place in range(target)]
        return NextMatches(fixtures(number, tables, entrants), "a ladder runs until it is stopped")


class _RoundPairing:
    """The pairing of one round."""

    def __init__(
        self,
        rules: LadderFormat,
        entrants: Sequence[FormatEntrant],
        played: list[FormatMatch],
        clan: Clans,
    ) -> None:
        self._rules, self._clan = rules, clan
        number = next_round(played)
        self._pool = seatable(entrants, number)
        self._queue = _Turns(rules, entrants)
        for count, match in enumerate(played):
            self._queue.enter(match.round, count)
            self._queue.count(match.entrants, count)
        self._queue.enter(number, len(played))
        # Results of the last round are not used, even if known: the pairing must not depend on when
        # its matches close.
        self._known = [match for match in played if match.round < number - 1]
        self._pending = [m.entrants for m in played[len(self._known) :]]
        sizes = [len(match.games) for match in self._known if match.state is MatchStatus.CLOSED]
        self._games = sizes[-1] / (rules.sides - 1) if sizes else 1.0
        self._guesses: dict[str, StrengthEstimate] = {}
        self._order: StrengthOrder | None = None
        self._line = WaitingQueue(sorted(self._pool, key=self._queue.turn), self._queue.even)

    def table(self, count: int) -> tuple[Sequence[str], str]:
        """Return the entrants of the match with this number, and the reason for the pairing."""
        telling = self._rules.tells(count)
        made = self._telling() if telling else self._even()
        self._queue.count(made[0], count)
        self._line.played(sorted(made[0], key=self._queue.turn), not telling)
        self._scheduled(made[0])
        return made

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
            here = {self._clan[name] for name in table}
            table.append(self._beside(table, here))
        return table, f"even: {table[0]} has waited longest"

    def _beside(self, table: Sequence[str], here: Collection[Hashable]) -> str:
        """Return the least played entrant outside the clans `here` that has met the table least."""
        times_met, neighbour, least = self._queue.met, "", 0
        for group in self._line.groups(SLACK):
            for name in group:
                if self._clan[name] in here:
                    continue
                times = sum(times_met[frozenset((name, other))] for other in table)
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
        guesses = estimate_strengths(self._queue.even, meetings(self._known))
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
        played: list[FormatMatch],
        clan: Clans,
    ) -> None:
        super().__init__(rules, entrants, played, clan)
        table = meetings(self._known)
        guesses = estimate_strengths(self._queue.even, table)
        means = {name: guess.mean for name, guess in guesses.items()}
        self._gains = InversionGains(self._pool, means, table, PRIOR, self._games, clan)
        for names in self._pending:
            self._gains.learn(names)

    def _scheduled(self, names: Sequence[str]) -> None:
        self._gains.learn(names)

    def _beside(self, table: Sequence[str], here: Collection[Hashable]) -> str:
        """Return the entrant outside the clans `here` with the largest gain, of the least played.

        Equal ones are chosen by waiting time.
        """
        for group in self._line.groups(SLACK):
            candidates = [name for name in group if self._clan[name] not in here]
            if candidates:
                return self._best_beside(table, candidates)
        raise AssertionError("`next` has checked that there are enough clans")

    def _telling(self) -> tuple[Sequence[str], str]:
        turns = [self._queue.turn(name) for name in self._pool]
        waited = {turn: place for place, turn in enumerate(sorted(turns))}
        first, second = self._gains.best([waited[turn] for turn in turns])
        table = [self._pool[first], self._pool[second]]
        why = f"telling: which of {table[0]} and {table[1]} is the better"
        while len(table) < self._rules.sides:
            here = {self._clan[name] for name in table}
            candidates = [name for name in self._pool if self._clan[name] not in here]
            candidates.sort(key=self._queue.turn)
            table.append(self._best_beside(table, candidates))
        return table, why

    def _best_beside(self, table: Sequence[str], candidates: Sequence[str]) -> str:
        place = self._gains.place
        best = self._gains.beside(
            [place[name] for name in table], [place[name] for name in candidates]
        )
        return self._pool[best]


class _Turns:
    """Numbers of matches and turns of all entrants, computed from the schedule alone."""

    def __init__(self, rules: LadderFormat, entrants: Sequence[FormatEntrant]) -> None:
        self._rules, self._entrants = rules, entrants
        self._seeds = {entrant.name: place for place, entrant in enumerate(entrants)}
        # Sorted so that the earliest entrants to join are popped first.
        self._outside = sorted(entrants, key=lambda entrant: -entrant.joined)
        self._last: dict[str, int] = {}
        self.even: dict[str, int] = {}
        """Number of even matches; a newcomer starts with a number that bounds its placement."""
        self.met = Counter[frozenset[str]]()
        """Number of even matches in which two entrants have met."""

    def enter(self, number: int, count: int) -> None:
        """Add the entrants that have joined by a round, before the match of this number."""
        while self._outside and self._outside[-1].joined <= number:
            joined = self._outside[-1].joined
            there = [
                self.even[candidate.name]
                for candidate in self._entrants
                if candidate.name in self.even
                and candidate.joined < joined
                and candidate.plays_in(number)
            ]
            start = max(min(there, default=0) - self._rules.placement, 0)
            while self._outside and self._outside[-1].joined == joined:
                entrant = self._outside.pop()
                self.even[entrant.name] = start
                self._last[entrant.name] = count

    def count(self, names: Iterable[str], count: int) -> None:
        """Count a match in the turns, and in the even matches if it is not adaptive."""
        names = list(names)
        self._last.update(dict.fromkeys(names, count + 1))
        if not self._rules.tells(count):
            for name in names:
                self.even[name] += 1
            self.met.update(map(frozenset, combinations(names, 2)))

    def turn(self, name: str) -> tuple[int, int]:
        """Return the sort key of the queue: the longest waiting entrant has the least key."""
        return self._last[name], self._seeds[name]
