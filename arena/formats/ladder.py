"""`ladder`: runs until it is stopped, and everyone may come at any time."""

from bisect import bisect_left, insort
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from math import erfc, exp, inf, pi, sqrt

from arena.formats.contract import (
    Entrant,
    Match,
    Over,
    Play,
    State,
    Step,
    Wait,
    count_open,
    fixtures,
    history,
    next_round,
    seatable,
    waiting,
)
from arena.formats.table_pool import Clans, clans, complete

# Entrants by what is thought of their strength, and which close pair a match would say most of.


Turn = tuple[int, int]


class Order:
    """The strongest first, equal ones by turn.

    It is told who has changed; what a match of two others would say stays known.

    gain: what a match of two would say. neighbours: so many below it in the order are thought of
    for everyone, other than those of its clan.
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
        """The two whose match says most; of equal pairs the first in the order."""
        one = max(self.names, key=self._best.__getitem__)
        others = self._below(bisect_left(self._keys, self._key[one]))
        return one, max(others, key=lambda other: self._gain(one, other))

    def changed(self, names: Iterable[str]) -> None:
        """The turns of these are others now, or what a match of theirs would say."""
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
        one = self.names[place]
        return max((self._gain(one, other) for other in self._below(place)), default=-inf)

    def _below(self, place: int) -> Iterator[str]:
        """Whom the one in a place is thought of with."""
        left = self._neighbours
        for at in range(place + 1, len(self.names)):
            if not left:
                return
            if self._clan[self.names[at]] != self._clan[self.names[place]]:
                left -= 1
                yield self.names[at]

    def _above(self, place: int) -> Iterator[str]:
        """Who is thought of with the one in a place; perhaps more."""
        between = Counter[Hashable]()
        for at in range(place - 1, -1, -1):
            # Whatever the clan of those further up, enough others come before this place.
            if between.total() - max(between.values(), default=0) >= self._neighbours:
                return
            yield self.names[at]
            between[self._clan[self.names[at]]] += 1


# A quick guess at strengths, to choose what to play next; `arena.ratings` ranks.
#
# Bradley-Terry with a normal prior, maximum a posteriori, by Newton's method one entrant at a time;
# the mean score of a match counts as so many games. The variances are those with all others held
# still, which is too small by what they share, and good enough to compare pairs.


PRIOR = 1 / 1.5**2
"""The precision of the prior: strengths are within about 1.5 (260 Elo) of each other."""
SWEEPS = 50
CLOSE = 1e-4

Meetings = Mapping[str, Mapping[str, tuple[float, float]]]
"""By entrant and opponent: the sum of scores, and how many games they are of."""


@dataclass(slots=True)
class Guess:
    """What is thought of an entrant: a strength in natural logarithms of odds, and a precision."""

    mean: float = 0.0
    precision: float = PRIOR

    @property
    def variance(self) -> float:
        """How uncertain the strength is."""
        return 1 / self.precision


def meetings(matches: Iterable[Match]) -> Meetings:
    """Return what the closed matches say of every two."""
    table: dict[str, dict[str, tuple[float, float]]] = {}
    for match in matches:
        if match.state is not State.CLOSED:
            continue
        games = len(match.games) / (len(match.entrants) - 1)
        for one, other in permutations(range(len(match.entrants)), 2):
            row = table.setdefault(match.entrants[one], {})
            score, weight = row.get(match.entrants[other], (0.0, 0.0))
            scored = match.scores[one][other] * games
            row[match.entrants[other]] = score + scored, weight + games
    return table


def guess(names: Iterable[str], table: Meetings) -> dict[str, Guess]:
    """Return what is thought of each of these, and of all who have played."""
    guesses = {name: Guess() for name in (*names, *table)}
    for _ in range(SWEEPS):
        moved = [_improve(guesses, guesses[name], row) for name, row in table.items()]
        if max(moved, default=0.0) < CLOSE:
            break
    return guesses


def _improve(
    guesses: Mapping[str, Guess], mine: Guess, row: Mapping[str, tuple[float, float]]
) -> float:
    """Take one step of Newton's; return how far it went."""
    slope, precision = -PRIOR * mine.mean, PRIOR
    for other, (score, games) in row.items():
        chance = 1 / (1 + exp(guesses[other].mean - mine.mean))
        slope += score - games * chance
        precision += games * chance * (1 - chance)
    # A step is held back, so that one-sided results do not throw it far off.
    step = min(max(slope / precision, -1.0), 1.0)
    mine.mean += step
    mine.precision = precision
    return abs(step)


def told(one: Guess, other: Guess, games: float) -> float:
    """Return how much one more match of two says about which of them is the better.

    The expected gain in strength of whom we would place first, by placing them after the match
    instead of now: the knowledge gradient of Frazier, Powell and Dayanik (2008).
    """
    variance = one.variance + other.variance
    gap = abs(one.mean - other.mean)
    chance = 1 / (1 + exp(-gap))
    learned = games * chance * (1 - chance) * variance
    change = sqrt(variance * learned / (1 + learned))
    z = -gap / change
    return change * (exp(-z * z / 2) / sqrt(2 * pi) + z * erfc(-z / sqrt(2)) / 2)


def learn(one: Guess, other: Guess, games: float) -> None:
    """Count a match that is scheduled as if it had been played and changed nothing."""
    chance = 1 / (1 + exp(other.mean - one.mean))
    for guessed in (one, other):
        guessed.precision += games * chance * (1 - chance)


# Who waits on a ladder: by even matches, and within as many of them by turn.


class Line:
    """Entrants by how many even matches they have had, those who have waited longest first.

    Who plays goes to the end, so nobody is ever sorted again: finding who comes next takes the
    same time among ten thousand as among ten.

    waiting: everyone in the order of the turns. even: how many even matches each has had.
    """

    def __init__(self, waiting: Iterable[str], even: Mapping[str, int]) -> None:
        self._level = {name: even[name] for name in waiting}
        self._levels: dict[int, OrderedDict[str, None]] = {}
        for name, level in self._level.items():
            self._levels.setdefault(level, OrderedDict())[name] = None

    def heads(self) -> Iterator[str]:
        """Who has waited longest among those of as many even matches."""
        for names in self._levels.values():
            yield next(iter(names))

    def groups(self, slack: int) -> Iterator[Iterator[str]]:
        """Those within so many of the least together, and then each further number by itself.

        Within a group first those with fewer even matches, of equal ones who has waited longest.
        """
        levels = sorted(self._levels)
        close = [level for level in levels if level <= levels[0] + slack]
        yield (name for level in close for name in self._levels[level])
        for level in levels[len(close) :]:
            yield iter(self._levels[level])

    def played(self, names: Iterable[str], is_even: bool) -> None:
        """These play now, in the order of their seeds."""
        for name in names:
            level = self._level[name]
            here = self._levels[level]
            del here[name]
            if not here:
                del self._levels[level]
            self._level[name] = level + is_even
            self._levels.setdefault(level + is_even, OrderedDict())[name] = None


NEIGHBOURS = 3
"""How far apart in the order two may be to be thought of for a match that tells."""
SLACK = 1
"""So many even matches more than the least still count as least, so that there is a choice."""
DIGITS = ".9e"
"""Gains are compared to so many digits: machines may differ in the last ones."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """Rounds of matches, the next one when the last but one is over.

    sides: of a match. adaptive: so many matches of a hundred, evenly spread, are played where they
        say most about the order; the others evenly. batch: matches of a round; 0 for as many as
        can be played side by side. placement: so many matches a newcomer is taken to be behind
        who has played least. limit: matches in all; 0 for no end.
    owners_meet: whether one owner's may share a table of more than two sides.
    open: whether what owners push comes onto it by itself. versions: so many of one bot play then,
        the newest ones; 0 for all. Neither says anything about who meets whom.

    In an even match who has waited longest plays; beside it sit, of those who have played least
    (within one), whom it has met least. Both counts are of even matches only, or the adaptive ones
    would be evened out. So with n entrants nobody waits through n even matches, or `bound(n)`
    matches of any kind.
    """

    sides: int = 2
    adaptive: int = 30
    batch: int = 0
    placement: int = 10
    limit: int = 0
    owners_meet: bool = False
    open: bool = False
    versions: int = 3

    def __post_init__(self) -> None:
        if not 0 <= self.adaptive <= 90:
            raise ValueError(
                f"adaptive is how many of a hundred matches are: 0 to 90, not {self.adaptive}"
            )

    def bound(self, entrants: int) -> int:
        """Return within how many matches everyone plays, of those scheduled since its last.

        entrants: who could be paired when it last played. Who comes later waits behind it.
        """
        return -(-100 * entrants // (100 - self.adaptive))

    def tells(self, number: int) -> bool:
        """Whether a match, counted from 0 over all rounds, is an adaptive one."""
        return number * self.adaptive % 100 >= 100 - self.adaptive

    def next(self, entrants: Sequence[Entrant], matches: Iterable[Match]) -> Step:
        """Return a round, or wait for the last but one."""
        played = history(entrants, matches)
        number = next_round(played)
        if self.limit and len(played) >= self.limit:
            end = Over(f"the limit of {self.limit} matches is reached")
            return waiting(played) if count_open(played) else end
        earlier = [match for match in played if match.round < number - 1]
        if count_open(earlier):
            return waiting(earlier)
        clan = clans(entrants, self.sides, self.owners_meet)
        pool = seatable(entrants, number)
        if len({clan[name] for name in pool}) < self.sides:
            owners = " of different owners" if self.sides > 2 else ""
            return Wait(
                f"a match needs {self.sides} entrants{owners}; `tournament add` lets more in"
            )
        wanted = self.batch or max(len(pool) // self.sides, 1)
        if self.limit:
            wanted = min(wanted, self.limit - len(played))
        maker = _Round(self, entrants, played, clan)
        tables = [maker.table(len(played) + place) for place in range(wanted)]
        return Play(fixtures(number, tables, entrants), "a ladder runs until it is stopped")


class _Round:
    """A round in the making."""

    def __init__(
        self, rules: Ladder, entrants: Sequence[Entrant], played: list[Match], clan: Clans
    ) -> None:
        self._rules, self._clan = rules, clan
        number = next_round(played)
        self._pool = seatable(entrants, number)
        self._queue = _Queue(rules, entrants)
        for count, match in enumerate(played):
            self._queue.enter(match.round, count)
            self._queue.count(match.entrants, count)
        self._queue.enter(number, len(played))
        # What the last round came to is not waited for, and not looked at if it is known.
        self._known = [match for match in played if match.round < number - 1]
        self._pending = [m.entrants for m in played[len(self._known) :]]
        sizes = [len(match.games) for match in self._known if match.state is State.CLOSED]
        self._games = sizes[-1] / (rules.sides - 1) if sizes else 1.0
        self._guesses: dict[str, Guess] = {}
        self._order: Order | None = None
        self._line = Line(sorted(self._pool, key=self._queue.turn), self._queue.even)

    def table(self, count: int) -> tuple[Sequence[str], str]:
        """Return who plays the match of this number, and why."""
        telling = self._rules.tells(count)
        made = self._telling() if telling else self._even()
        self._queue.count(made[0], count)
        self._line.played(sorted(made[0], key=self._queue.turn), not telling)
        if self._order is None:
            self._pending.append(tuple(made[0]))
        else:
            self._learn(made[0])
            self._order.changed(made[0])
        return made

    def _even(self) -> tuple[Sequence[str], str]:
        table = [min(self._line.heads(), key=self._queue.turn)]
        while len(table) < self._rules.sides:
            here = {self._clan[name] for name in table}
            table.append(self._beside(table, here))
        return table, f"even: {table[0]} has waited longest"

    def _beside(self, table: Sequence[str], here: Collection[Hashable]) -> str:
        """Return who of those who have played least has met these least."""
        met, found, least = self._queue.met, "", 0
        for group in self._line.groups(SLACK):
            for name in group:
                if self._clan[name] in here:
                    continue
                times = sum(met[frozenset((name, other))] for other in table)
                if not found or times < least:
                    found, least = name, times
                # Everyone behind it has played more, or waited less.
                if not times:
                    return found
            if found:
                break
        return found

    def _telling(self) -> tuple[Sequence[str], str]:
        order = self._order = self._order or self._ordered()
        one, other = order.best()
        table: list[str] | None = [one, other]
        if self._rules.sides > 2:
            rank = {name: place for place, name in enumerate(order.names)}

            def liking(seated: Sequence[str], name: str) -> int:
                return abs(2 * rank[name] - rank[one] - rank[other])

            table = complete([one, other], order.names, self._rules.sides, self._clan, liking)
        assert table is not None
        return table, f"telling: which of {one} and {other} is the better"

    def _ordered(self) -> Order:
        guesses = guess(self._queue.even, meetings(self._known))
        self._guesses = guesses
        for names in self._pending:
            self._learn(names)

        def gain(one: str, other: str) -> float:
            return float(format(told(guesses[one], guesses[other], self._games), DIGITS))

        def mean(name: str) -> float:
            return guesses[name].mean

        return Order(self._pool, mean, self._queue.turn, gain, NEIGHBOURS, self._clan)

    def _learn(self, names: Sequence[str]) -> None:
        for one, other in combinations(names, 2):
            learn(self._guesses[one], self._guesses[other], self._games)


class _Queue:
    """Who has played how often, and when last; read off the schedule alone."""

    def __init__(self, rules: Ladder, entrants: Sequence[Entrant]) -> None:
        self._rules, self._entrants = rules, entrants
        self._seeds = {entrant.name: place for place, entrant in enumerate(entrants)}
        # Who joins first is last, to be taken off.
        self._outside = sorted(entrants, key=lambda entrant: -entrant.joined)
        self._last: dict[str, int] = {}
        self.even: dict[str, int] = {}
        """Even matches of each; of a newcomer as many as keep its placement short."""
        self.met = Counter[frozenset[str]]()
        """How often any two have met in even matches."""

    def enter(self, number: int, count: int) -> None:
        """Let in who has joined by a round, before the match of this number."""
        while self._outside and self._outside[-1].joined <= number:
            joined = self._outside[-1].joined
            there = [
                self.even[one.name]
                for one in self._entrants
                if one.name in self.even and one.joined < joined and one.plays_in(number)
            ]
            start = max(min(there, default=0) - self._rules.placement, 0)
            while self._outside and self._outside[-1].joined == joined:
                entrant = self._outside.pop()
                self.even[entrant.name] = start
                self._last[entrant.name] = count

    def count(self, names: Iterable[str], count: int) -> None:
        """Count a match."""
        names = list(names)
        self._last.update(dict.fromkeys(names, count + 1))
        if not self._rules.tells(count):
            for name in names:
                self.even[name] += 1
            self.met.update(map(frozenset, combinations(names, 2)))

    def turn(self, name: str) -> tuple[int, int]:
        """The key of the queue: who has waited longest is least."""
        return self._last[name], self._seeds[name]
