"""`round-robin`: everyone meets everyone. `gauntlet`: some challengers meet everyone else."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from arena.formats.contract import (
    Entrant,
    Match,
    Over,
    Play,
    Step,
    count_open,
    fixtures,
    history,
    next_round,
    seatable,
    waiting,
)
from arena.formats.pairings import Table, in_rounds, round_robin
from arena.formats.table_pool import clans, cover


@dataclass(frozen=True, slots=True)
class RoundRobin:
    """Everyone meets everyone `cycles` times; all matches are known from the start.

    sides: of a match. owners_meet: whether one owner's may share a table of more than two sides;
        otherwise, where that changes anything, tables are found one by one (`tables.cover`).
    Who joins later meets everybody `cycles` times in rounds of its own.
    """

    sides: int = 2
    cycles: int = 1
    owners_meet: bool = False

    def next(self, entrants: Sequence[Entrant], matches: Iterable[Match]) -> Step:
        """Return all matches of those who are new, or wait, or the end."""
        played = history(entrants, matches)
        number = next_round(played)
        pool = seatable(entrants, number)
        clan = clans(entrants, self.sides, self.owners_meet)
        if number == 0 and len({clan[name] for name in pool}) == len(pool):
            rounds = _balanced(pool, self.sides, self.cycles)
        else:
            new = _new(entrants, number)
            wanted = {
                frozenset(pair): self.cycles
                for pair in combinations(pool, 2)
                if not new.isdisjoint(pair)
            }
            rounds = in_rounds(cover(pool, wanted, self.sides, clan))
        return _step(entrants, played, rounds, "everyone has met everyone")


@dataclass(frozen=True, slots=True)
class Gauntlet:
    """The first `challengers` entrants meet everyone else `cycles` times, and not each other.

    The others meet only beside a challenger at tables of more than two sides, where they meet
    challengers equally often, within one, unless owners stand in the way.
    """

    sides: int = 2
    cycles: int = 1
    challengers: int = 1
    owners_meet: bool = False

    def next(self, entrants: Sequence[Entrant], matches: Iterable[Match]) -> Step:
        """Return all matches of those who are new, or wait, or the end."""
        if not 1 <= self.challengers < len(entrants):
            raise ValueError(
                f"{self.challengers} challengers of {len(entrants)} entrants: "
                "a gauntlet needs at least one, and one to meet"
            )
        played = history(entrants, matches)
        number = next_round(played)
        pool = seatable(entrants, number)
        new = _new(entrants, number)
        challengers = {entrant.name for entrant in entrants[: self.challengers]}
        wanted = {
            frozenset(pair): self.cycles
            for pair in combinations(pool, 2)
            if len(challengers.intersection(pair)) == 1 and not new.isdisjoint(pair)
        }
        clan = clans(entrants, self.sides, self.owners_meet)
        rounds = in_rounds(cover(pool, wanted, self.sides, clan))
        return _step(entrants, played, rounds, "the challengers have met everyone")


def _balanced(pool: Sequence[str], sides: int, cycles: int) -> list[list[list[str]]]:
    """The rounds of the balanced schedule."""
    pairings = round_robin(len(pool), sides, cycles)
    rounds: list[list[Table]] = [[] for _ in range(pairings[-1].round + 1)]
    for pairing in pairings:
        rounds[pairing.round].append(pairing.entrants)
    return [[[pool[one] for one in table] for table in tables] for tables in rounds]


def _new(entrants: Sequence[Entrant], number: int) -> set[str]:
    return {entrant.name for entrant in entrants if entrant.joined == number}


def _step(
    entrants: Sequence[Entrant], played: list[Match], rounds: list[list[list[str]]], end: str
) -> Step:
    """What follows when these rounds are all that is left to schedule."""
    first = next_round(played)
    made = tuple(
        fixture
        for number, tables in enumerate(rounds, first)
        for fixture in fixtures(number, [(table, "") for table in tables], entrants)
    )
    if made:
        return Play(made, "all matches are known" if first == 0 else "newcomers meet the others")
    if not played:
        raise ValueError(
            "there is nothing to play: no table can be filled, because bots of one owner share "
            "none; owners_meet = true lets them"
        )
    return waiting(played) if count_open(played) else Over(end)
