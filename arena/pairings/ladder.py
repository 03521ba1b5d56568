"""`ladder`: runs until it is stopped, and everyone may come at any time."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from arena.pairings import guess
from arena.pairings.contract import (
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
from arena.pairings.line import Line
from arena.pairings.order import Order
from arena.pairings.tables import Clans, clans, complete

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
        self._guesses: dict[str, guess.Guess] = {}
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
        guesses = guess.guess(self._queue.even, guess.meetings(self._known))
        self._guesses = guesses
        for names in self._pending:
            self._learn(names)

        def gain(one: str, other: str) -> float:
            return float(format(guess.told(guesses[one], guesses[other], self._games), DIGITS))

        def mean(name: str) -> float:
            return guesses[name].mean

        return Order(self._pool, mean, self._queue.turn, gain, NEIGHBOURS, self._clan)

    def _learn(self, names: Sequence[str]) -> None:
        for one, other in combinations(names, 2):
            guess.learn(self._guesses[one], self._guesses[other], self._games)


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
