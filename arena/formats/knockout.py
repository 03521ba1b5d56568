"""`knockout`: who loses a series is out; the last one wins."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import fsum

from arena.formats.contract import (
    Entrant,
    Fixture,
    Match,
    Over,
    Play,
    Ranking,
    State,
    Step,
    count_open,
    history,
    waiting,
)

VOIDS = 3
"""So many void matches of a series are replaced."""
DECIMALS = 9
"""Sums of scores that agree in so many differ by rounding only."""


def bracket(size: int) -> list[int]:
    """Return the seeds (from 0) of a bracket from top to bottom; neighbours meet.

    size: a power of two. If the better seed always wins, in every stage the best meets the worst
    of those who are left, the second best the second worst, and so on.
    """
    order = [0]
    while len(order) < size:
        last = 2 * len(order) - 1
        order = [seed for one in order for seed in (one, last - one)]
    return order


@dataclass(frozen=True, slots=True)
class Tie:
    """Two who meet in a bracket, the upper one first.

    pair: their names; empty: nobody, the other has a bye; None: not known yet.
    won: matches each has won. winner: who goes on; None while nobody knows.
    places: (round, number) of its matches so far.
    """

    pair: tuple[str | None, str | None]
    won: tuple[int, int] = (0, 0)
    winner: str | None = None
    places: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Knockout:
    """A bracket of best-of series between two sides.

    best_of: matches of a series; it ends when the lead can no longer be caught up.
    extra: matches that may follow if it ends level, one at a time.

    A series is decided by matches won (by a mean score above one half), then by the sum of the
    mean scores; if both are level, by extra matches; if it is level after these, the better seed
    goes on. So does who leads, or the better seed, after more than `VOIDS` void matches. Who
    withdraws loses the series that is not decided. The best seeds have the byes of the first
    stage. Nobody can join.

    A stage is a round; the matches of slot s have the numbers from s * (best_of + extra + VOIDS).
    """

    best_of: int = 1
    extra: int = 2

    def __post_init__(self) -> None:
        if self.best_of < 1 or self.extra < 0:
            raise ValueError(
                f"best_of is how many matches a series has: 1 or more, not {self.best_of}"
            )

    def next(self, entrants: Sequence[Entrant], matches: Iterable[Match]) -> Step:
        """Return the matches of every series that is not decided, or wait, or the end."""
        played = history(entrants, matches)
        seeds = [entrant for entrant in entrants if entrant.joined == 0]
        if len(seeds) < 2:
            raise ValueError("a knockout needs at least two entrants")
        draw = _Draw(self, seeds, played)
        if draw.coming:
            return Play(tuple(draw.coming), f"the last {draw.left} play the best of {self.best_of}")
        if draw.left > 1:
            return waiting(played)
        # An extra match that a withdrawal has made useless may still be open.
        return waiting(played) if count_open(played) else Over("the final is over", draw.ranking())

    def bracket(
        self, entrants: Sequence[Entrant], matches: Iterable[Match]
    ) -> tuple[tuple[Tie, ...], ...]:
        """Return the ties of every stage from top to bottom, as far as they are known."""
        seeds = [entrant for entrant in entrants if entrant.joined == 0]
        return tuple(map(tuple, _Draw(self, seeds, history(entrants, matches)).ties))


class _Draw:
    """The bracket as far as it is decided. `coming`: what is to be played now."""

    def __init__(self, rules: Knockout, seeds: Sequence[Entrant], played: list[Match]) -> None:
        self._rules, self._seeds, self._played = rules, seeds, played
        self._span = rules.best_of + rules.extra + VOIDS
        self.coming: list[Fixture] = []
        self.ties: list[list[Tie]] = []
        self._out: list[list[int]] = []
        self._beyond: set[str] = set()
        size = 1 << (len(seeds) - 1).bit_length()
        # Seeds beyond the last are byes; None is who is not known yet.
        self._line: list[int | None] = list(bracket(size))
        while len(self._line) > 1:
            self._stage()
        self.left = len(seeds) - sum(map(len, self._out))

    def ranking(self) -> Ranking:
        """The winner, the loser of the final, then by the stage at which they went out."""
        (winner,) = self._line
        assert winner is not None
        groups = [[winner], *reversed(self._out)]
        return tuple(tuple(self._seeds[one].name for one in sorted(g)) for g in groups if g)

    def _stage(self) -> None:
        out: list[int] = []
        line: list[int | None] = []
        ties: list[Tie] = []
        stage = len(self._out)
        later = (match for match in self._played if match.round > stage)
        # Who has been paired in a later stage.
        self._beyond = {name for match in later for name in match.entrants}
        for slot in range(len(self._line) // 2):
            pair = self._line[2 * slot], self._line[2 * slot + 1]
            if pair[0] is None or pair[1] is None:
                line.append(None)
                ties.append(Tie((self._name(pair[0]), self._name(pair[1]))))
                continue
            upper, lower = min(pair[0], pair[1]), max(pair[0], pair[1])
            loser = lower if lower >= len(self._seeds) else self._loser(slot, upper, lower)
            line.append(None if loser is None else upper + lower - loser)
            ties.append(self._tie(slot, (pair[0], pair[1]), line[-1]))
            if loser is not None and loser < len(self._seeds):
                out.append(loser)
        self._line = line
        self._out.append(out)
        self.ties.append(ties)

    def _name(self, seed: int | None) -> str | None:
        if seed is None:
            return None
        return self._seeds[seed].name if seed < len(self._seeds) else ""

    def _tie(self, slot: int, pair: tuple[int, int], winner: int | None) -> Tie:
        mine = self._matches(len(self._out), slot)
        upper, lower = (self._name(one) or "" for one in pair)
        means = [
            match.scores[match.entrants.index(upper)][match.entrants.index(lower)]
            for match in mine
            if match.state is State.CLOSED
        ]
        return Tie(
            (upper, lower),
            (sum(mean > 0.5 for mean in means), sum(mean < 0.5 for mean in means)),
            self._name(winner),
            tuple(match.place for match in mine),
        )

    def _matches(self, stage: int, slot: int) -> list[Match]:
        return [
            match
            for match in self._played
            if match.round == stage and match.number // self._span == slot
        ]

    def _loser(self, slot: int, upper: int, lower: int) -> int | None:
        """Who has lost the series of a slot; or None, and what it needs is coming."""
        stage = len(self._out)
        mine = self._matches(stage, slot)
        gone_on = [one for one in (upper, lower) if self._seeds[one].name in self._beyond]
        if len(gone_on) == 1:
            # Whatever has happened since: who both withdrew in turn would decide it anew.
            return upper + lower - gone_on[0]
        series = _Series(self._rules, (self._seeds[upper], self._seeds[lower]), mine)
        loser = series.loser()
        if loser is not None:
            return (upper, lower)[loser]
        why = f"seed {upper + 1} against seed {lower + 1}: {series.words}"
        names = self._seeds[upper].name, self._seeds[lower].name
        first = slot * self._span + len(mine)
        self.coming += [
            Fixture(stage, number, names, why) for number in range(first, first + series.needs())
        ]
        return None


@dataclass
class _Series:
    """The matches of one slot, between the better seed and the other."""

    rules: Knockout
    pair: tuple[Entrant, Entrant]
    matches: list[Match]
    played: int = 0
    voids: int = 0
    opens: int = 0
    lead: int = 0
    """How many matches more the better seed has won; below 0: fewer."""
    balance: float = field(default=0.0)
    """By how much its mean scores exceed one half, in all."""

    def __post_init__(self) -> None:
        states = [match.state for match in self.matches]
        self.played = states.count(State.CLOSED)
        self.voids = states.count(State.VOID)
        self.opens = states.count(State.OPEN)
        means = [match.scores[0][1] for match in self.matches if match.state is State.CLOSED]
        self.lead = sum((mean > 0.5) - (mean < 0.5) for mean in means)
        self.balance = round(fsum(mean - 0.5 for mean in means), DECIMALS)

    @property
    def words(self) -> str:
        return f"{self.played} of {self.rules.best_of} played, the lead is {self.lead}"

    def loser(self) -> int | None:
        """0: the better seed, 1: the other, None: not decided."""
        if self.opens:
            return None
        ahead = self.lead or self.balance
        remaining = self.rules.best_of - self.played
        if remaining > 0 and abs(self.lead) > remaining:
            return int(self.lead > 0)
        if remaining <= 0 and (ahead or self.played == self.rules.best_of + self.rules.extra):
            return int(ahead >= 0)
        gone = [entrant.withdrawn is not None for entrant in self.pair]
        if any(gone):
            return 0 if gone[0] and not gone[1] else 1
        if self.voids > VOIDS:
            return int(ahead >= 0)
        return None

    def needs(self) -> int:
        """How many more matches it needs at least, so that they can be played side by side."""
        remaining = self.rules.best_of - self.played
        if self.opens:
            return 0
        wanted = 1 if remaining <= 0 else (remaining - abs(self.lead)) // 2 + 1
        # The numbers of a slot leave room for so many and no more.
        return min(wanted, self.rules.best_of + self.rules.extra + VOIDS - len(self.matches))
