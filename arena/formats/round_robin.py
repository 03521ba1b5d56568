"""`round-robin`: everyone meets everyone. `gauntlet`: some challengers meet everyone else."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from arena.formats.contract import (
    FormatEntrant,
    FormatMatch,
    FormatOver,
    NextMatches,
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
class RoundRobinFormat:
    """Everyone meets everyone `cycles` times; all matches are known at the start.

    An entrant that joins later meets everyone `cycles` times in additional rounds.

    Attributes:
        sides: sides of a match.
        cycles: number of cycles.
        owners_meet: whether entrants of one owner may share a table of more than two sides. If not,
            and if an owner has several entrants, tables are chosen one by one (`table_pool.cover`).
    """

    sides: int = 2
    cycles: int = 1
    owners_meet: bool = False

    def next(self, entrants: Sequence[FormatEntrant], matches: Iterable[FormatMatch]) -> Step:
        """Return all matches of new entrants, or wait, or the end."""
        played = history(entrants, matches)
        number = next_round(played)
        pool = seatable(entrants, number)
        clan = clans(entrants, self.sides, self.owners_meet)
        if number == 0 and len({clan[name] for name in pool}) == len(pool):
            rounds = _balanced(pool, self.sides, self.cycles)
        else:
            new = _new(entrants, number)
            needed = {
                frozenset(pair): self.cycles
                for pair in combinations(pool, 2)
                if not new.isdisjoint(pair)
            }
            rounds = in_rounds(cover(pool, needed, self.sides, clan))
        return _step(entrants, played, rounds, "everyone has met everyone")


class ChallengeFormat(RoundRobinFormat):
    """A round robin that no ladder counts: its entrants chose their opponents.

    The owner of a bot requests it with two entrants (`arena.submissions.challenges`).
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class GauntletFormat:
    """The first `challengers` entrants meet everyone else `cycles` times, and not each other.

    The others meet only at tables of more than two sides, together with a challenger. They meet
    challengers equally often, within one, unless the rule on owners prevents it.
    """

    sides: int = 2
    cycles: int = 1
    challengers: int = 1
    owners_meet: bool = False

    def next(self, entrants: Sequence[FormatEntrant], matches: Iterable[FormatMatch]) -> Step:
        """Return all matches of new entrants, or wait, or the end."""
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
        needed = {
            frozenset(pair): self.cycles
            for pair in combinations(pool, 2)
            if len(challengers.intersection(pair)) == 1 and not new.isdisjoint(pair)
        }
        clan = clans(entrants, self.sides, self.owners_meet)
        rounds = in_rounds(cover(pool, needed, self.sides, clan))
        return _step(entrants, played, rounds, "the challengers have met everyone")


def _balanced(pool: Sequence[str], sides: int, cycles: int) -> list[list[list[str]]]:
    """Return the rounds of the balanced schedule, with names instead of indexes."""
    pairings = round_robin(len(pool), sides, cycles)
    rounds: list[list[Table]] = [[] for _ in range(pairings[-1].round + 1)]
    for pairing in pairings:
        rounds[pairing.round].append(pairing.entrants)
    return [[[pool[place] for place in table] for table in tables] for tables in rounds]


def _new(entrants: Sequence[FormatEntrant], number: int) -> set[str]:
    return {entrant.name for entrant in entrants if entrant.joined == number}


def _step(
    entrants: Sequence[FormatEntrant],
    played: list[FormatMatch],
    rounds: list[list[list[str]]],
    end: str,
) -> Step:
    """Return the next step if these rounds are all that is left to schedule."""
    first = next_round(played)
    made = tuple(
        fixture
        for number, tables in enumerate(rounds, first)
        for fixture in fixtures(number, [(table, "") for table in tables], entrants)
    )
    if made:
        return NextMatches(
            made, "all matches are known" if first == 0 else "newcomers meet the others"
        )
    if not played:
        raise ValueError(
            "there is nothing to play: no table can be filled, because bots of one owner share "
            "none; owners_meet = true lets them"
        )
    return waiting(played) if count_open(played) else FormatOver(end)
