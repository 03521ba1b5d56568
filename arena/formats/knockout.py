"""`knockout`: the loser of a series is eliminated; the last remaining entrant wins."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import ClassVar, Literal

from arena.formats.contract import (
    Fixture,
    FormatEntrant,
    FormatMatch,
    FormatOver,
    NextMatches,
    Ranking,
    Step,
    count_open,
    history,
    waiting,
)
from referee.games.shared.coded_errors import InvalidValue

VOIDS = 3
"""Maximum number of void matches of a series that are replaced."""
BALANCE_DECIMALS = 9
"""Sums of scores are compared at this number of decimals, to ignore rounding errors."""


def bracket(size: int) -> list[int]:
    """Return the seeds (from 0) of a bracket from top to bottom; neighbours are paired.

    If the better seed always wins, each stage pairs the best remaining seed with the worst, the
    second best with the second worst, and so on.

    Args:
        size: the number of places, a power of two.
    """
    order = [0]
    while len(order) < size:
        last = 2 * len(order) - 1
        order = [seed for better in order for seed in (better, last - better)]
    return order


@dataclass(frozen=True, slots=True)
class Tie:
    """A pairing in a bracket, the upper entrant first.

    Attributes:
        pair: the names; empty: no entrant, so the other one has a bye; None: not determined yet.
        won: number of matches that each has won.
        winner: the entrant that advances; None if undecided.
        places: (round, number) of its matches so far.
        decided_by: what made the winner advance if it was not ahead in matches won; else empty.
    """

    pair: tuple[str | None, str | None]
    won: tuple[int, int] = (0, 0)
    winner: str | None = None
    places: tuple[tuple[int, int], ...] = ()
    decided_by: "TieBreak" = ""


TieBreak = Literal["", "score", "seed", "withdrawal"]
"""What decides a series that is level in matches won."""


@dataclass(frozen=True, slots=True)
class KnockoutFormat:
    """A bracket of best-of-n series between two sides.

    A series is decided by the first of these rules that applies:

    1. The lead in matches won (mean score above one half) exceeds the remaining matches.
    2. After `best_of` matches: the matches won, then the sum of the mean scores.
    3. If both are equal: up to `extra` more matches, one at a time; rule 2 is applied after each.
    4. If still equal: the better seed advances.

    An entrant that forfeits a match loses it with a mean score of 0. One that withdraws loses its
    undecided series. After more than `VOIDS` void matches the leader advances, or the better seed
    if equal. The best seeds get the byes of the first stage. Entrants cannot join after the start.

    A stage is a round. The matches of slot s are numbered from s * (best_of + extra + VOIDS).

    Attributes:
        best_of: matches of a series; it ends when the lead cannot be caught up any more.
        extra: maximum number of extra matches after an equal series.
    """

    reads_results: ClassVar[bool] = True

    best_of: int = 1
    extra: int = 2

    def __post_init__(self) -> None:
        if self.best_of < 1 or self.extra < 0:
            raise InvalidValue(
                f"best_of is how many matches a series has: 1 or more, not {self.best_of}",
                code="best-of",
            )

    def next(self, entrants: Sequence[FormatEntrant], matches: Iterable[FormatMatch]) -> Step:
        """Return the matches of every undecided series, or wait, or the end."""
        played = history(entrants, matches)
        seeds = [entrant for entrant in entrants if entrant.joined == 0]
        if len(seeds) < 2:
            raise InvalidValue("a knockout needs at least two entrants", code="too-few-entrants")
        draw = _Draw(self, seeds, played)
        if draw.coming:
            return NextMatches(
                tuple(draw.coming), f"the last {draw.left} play the best of {self.best_of}"
            )
        if draw.left > 1:
            return waiting(played)
        # An extra match that became unnecessary by a withdrawal may still be open.
        return (
            waiting(played)
            if count_open(played)
            else FormatOver("the final is over", draw.ranking())
        )

    def bracket(
        self, entrants: Sequence[FormatEntrant], matches: Iterable[FormatMatch]
    ) -> tuple[tuple[Tie, ...], ...]:
        """Return the ties of each stage from top to bottom, as far as they are determined."""
        seeds = [entrant for entrant in entrants if entrant.joined == 0]
        return tuple(map(tuple, _Draw(self, seeds, history(entrants, matches)).ties))


class _Draw:
    """The bracket as far as it is decided; `coming` are the matches to play now."""

    def __init__(
        self, rules: KnockoutFormat, seeds: Sequence[FormatEntrant], played: list[FormatMatch]
    ) -> None:
        self._rules, self._seeds, self._played = rules, seeds, played
        self._span = rules.best_of + rules.extra + VOIDS
        self.coming: list[Fixture] = []
        self.ties: list[list[Tie]] = []
        self._out: list[list[int]] = []
        self._beyond: set[str] = set()
        size = 1 << (len(seeds) - 1).bit_length()
        # Seeds from len(seeds) on are byes; None is an entrant that is not determined yet.
        self._line: list[int | None] = list(bracket(size))
        while len(self._line) > 1:
            self._stage()
        self.left = len(seeds) - sum(map(len, self._out))

    def ranking(self) -> Ranking:
        """Rank the winner first, then the loser of the final, then by the stage of elimination."""
        (winner,) = self._line
        assert winner is not None
        groups = [[winner], *reversed(self._out)]
        return tuple(tuple(self._seeds[seed].name for seed in sorted(g)) for g in groups if g)

    def _stage(self) -> None:
        out: list[int] = []
        line: list[int | None] = []
        ties: list[Tie] = []
        stage = len(self._out)
        later = (match for match in self._played if match.round > stage)
        # Entrants that have been paired in a later stage.
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
        upper, lower = (self._name(seed) or "" for seed in pair)
        means = [
            match.scores[match.entrants.index(upper)][match.entrants.index(lower)]
            for match in mine
            if match.is_decided
        ]
        is_decided = upper and lower and winner is not None
        decision = self._series(mine, pair).decision() if is_decided else None
        return Tie(
            (upper, lower),
            (sum(mean > 0.5 for mean in means), sum(mean < 0.5 for mean in means)),
            self._name(winner),
            tuple(match.place for match in mine),
            decision[1] if decision else "",
        )

    def _series(self, matches: list[FormatMatch], pair: tuple[int, int]) -> "_Series":
        upper, lower = sorted(pair)
        return _Series(self._rules, (self._seeds[upper], self._seeds[lower]), matches)

    def _matches(self, stage: int, slot: int) -> list[FormatMatch]:
        return [
            match
            for match in self._played
            if match.round == stage and match.number // self._span == slot
        ]

    def _loser(self, slot: int, upper: int, lower: int) -> int | None:
        """Return the loser of a slot's series; if undecided, None, and add matches to `coming`."""
        stage = len(self._out)
        mine = self._matches(stage, slot)
        gone_on = [seed for seed in (upper, lower) if self._seeds[seed].name in self._beyond]
        if len(gone_on) == 1:
            # A pairing in a later stage fixes the winner. Without this rule, later withdrawals
            # could reverse the decision.
            return upper + lower - gone_on[0]
        series = self._series(mine, (upper, lower))
        if decision := series.decision():
            return (upper, lower)[decision[0]]
        why = f"seed {upper + 1} against seed {lower + 1}: {series.words}"
        names = self._seeds[upper].name, self._seeds[lower].name
        first = slot * self._span + len(mine)
        self.coming += [
            Fixture(stage, number, names, why) for number in range(first, first + series.needs())
        ]
        return None


@dataclass
class _Series:
    """The matches of one slot between two seeds, the better seed first."""

    rules: KnockoutFormat
    pair: tuple[FormatEntrant, FormatEntrant]
    matches: list[FormatMatch]
    played: int = 0
    voids: int = 0
    opens: int = 0
    lead: int = 0
    """Matches won by the better seed minus matches won by the other."""
    balance: float = field(default=0.0)
    """Sum over its matches of the mean score minus one half."""

    def __post_init__(self) -> None:
        decided = [match for match in self.matches if match.is_decided]
        self.played = len(decided)
        self.opens = count_open(self.matches)
        self.voids = len(self.matches) - self.played - self.opens
        means = [match.scores[0][1] for match in decided]
        self.lead = sum((mean > 0.5) - (mean < 0.5) for mean in means)
        self.balance = round(fsum(mean - 0.5 for mean in means), BALANCE_DECIMALS)

    @property
    def words(self) -> str:
        return f"{self.played} of {self.rules.best_of} played, the lead is {self.lead}"

    def decision(self) -> tuple[int, TieBreak] | None:
        """Return the loser, 0 for the better seed, and what broke a tie; None if undecided."""
        if self.opens:
            return None
        ahead = self.lead or self.balance
        level: TieBreak = "" if self.lead else "score" if self.balance else "seed"
        remaining = self.rules.best_of - self.played
        if remaining > 0 and abs(self.lead) > remaining:
            return int(self.lead > 0), level
        if remaining <= 0 and (ahead or self.played == self.rules.best_of + self.rules.extra):
            return int(ahead >= 0), level
        gone = [entrant.withdrawn is not None for entrant in self.pair]
        if any(gone):
            return 0 if gone[0] and not gone[1] else 1, "withdrawal"
        if self.voids > VOIDS:
            return int(ahead >= 0), level
        return None

    def needs(self) -> int:
        """Return the minimum number of further matches, which can be played in parallel."""
        remaining = self.rules.best_of - self.played
        if self.opens:
            return 0
        missing = 1 if remaining <= 0 else (remaining - abs(self.lead)) // 2 + 1
        # The numbering of a slot has room for this many matches only.
        return min(missing, self.rules.best_of + self.rules.extra + VOIDS - len(self.matches))
