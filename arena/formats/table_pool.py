"""Fill tables from a pool of entrants, where members of one clan never share a table.

A clan is the set of entrants of one owner. With two sides, or if the organiser lets owners meet,
each entrant is a clan of its own.

A pool of T * n entrants can fill T tables of n exactly if no clan has more than T members. The
algorithm keeps this invariant: a clan with as many members as there are tables left must get a seat
at the next table. There are at most n such clans, because otherwise they would have more members
than there are seats. Therefore `fill` never has to backtrack.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import permutations
from typing import Any

from arena.formats.contract import FormatEntrant

Clans = Mapping[str, Hashable]
Key = Any
"""A sort key; the least is preferred."""


def clans(entrants: Sequence[FormatEntrant], sides: int, owners_meet: bool) -> Clans:
    """Return the clan of each entrant, by name."""
    apart = sides > 2 and not owners_meet
    return {
        entrant.name: (True, entrant.owner) if apart and entrant.owner else (False, entrant.name)
        for entrant in entrants
    }


def how_many(pool: Iterable[str], sides: int, clan: Clans) -> int:
    """Return the maximum number of tables that this pool can fill at the same time."""
    sizes = Counter(clan[name] for name in pool)
    tables = sizes.total() // sides
    while tables and sum(min(size, tables) for size in sizes.values()) < tables * sides:
        tables -= 1
    return tables


def choose(order: Iterable[str], tables: int, sides: int, clan: Clans) -> list[str]:
    """Choose the first entrants in the order that fill the tables, at most `tables` of each clan.

    Args:
        order: entrants by preference.
        tables: number of tables, at most `how_many`; then tables * sides entrants are chosen.
        clan: the clan of each entrant.
    """
    chosen: list[str] = []
    sizes = Counter[Hashable]()
    for name in order:
        if len(chosen) < tables * sides and sizes[clan[name]] < tables:
            chosen.append(name)
            sizes[clan[name]] += 1
    return chosen


def fill(
    pool: Sequence[str], sides: int, clan: Clans, liking: Callable[[Sequence[str], str], Key]
) -> list[list[str]]:
    """Return the whole pool at tables.

    Args:
        pool: entrants from `choose`. The first one without a seat opens the next table.
        clan: the clan of each entrant.
        liking: sort key of a candidate, given the seated entrants; ties follow the pool's order.
    """
    standing = list(pool)
    tables = []
    for left in range(len(pool) // sides, 0, -1):
        table: list[str] = []
        while len(table) < sides:
            candidates = _allowed(standing, table, sides - len(table), left, clan)
            name = (
                min(candidates, key=lambda candidate: liking(table, candidate))
                if table
                else candidates[0]
            )
            table.append(name)
            standing.remove(name)
        tables.append(table)
    return tables


def _allowed(
    standing: Sequence[str], table: Sequence[str], seats: int, left: int, clan: Clans
) -> list[str]:
    """Return the candidates for the next seat that keep the remaining tables fillable."""
    seated_clans = {clan[name] for name in table}
    sizes = Counter(clan[name] for name in standing)
    urgent = {
        member for member, size in sizes.items() if size == left and member not in seated_clans
    }
    if len(urgent) >= seats:
        return [name for name in standing if clan[name] in urgent]
    return [name for name in standing if clan[name] not in seated_clans]


def complete(
    table: Sequence[str],
    pool: Iterable[str],
    sides: int,
    clan: Clans,
    liking: Callable[[Sequence[str], str], Key],
) -> list[str] | None:
    """Fill the empty seats of one table from the pool; None if that is impossible."""
    seated = list(table)
    rest = [name for name in pool if name not in seated]
    while len(seated) < sides:
        seated_clans = {clan[name] for name in seated}
        candidates = [name for name in rest if clan[name] not in seated_clans]
        if not candidates:
            return None
        name = min(candidates, key=lambda candidate: liking(seated, candidate))
        seated.append(name)
        rest.remove(name)
    return seated


def cover(
    pool: Sequence[str], needed: Mapping[frozenset[str], int], sides: int, clan: Clans
) -> list[list[str]]:
    """Return tables at which these pairs meet at least as often as wanted.

    A greedy algorithm, repeated until no pair lacks a meeting:

    1. Of the entrants that lack meetings, the one with the fewest matches opens a table.
    2. The second seat goes to the entrant with which it lacks most meetings.
    3. Each further seat goes to the entrant that lacks meetings with most of the seated entrants.
       Ties go to fewest meetings with them, fewest matches, then to the order of the pool.

    Pairs within a clan are ignored. Returns no tables if there are fewer clans than sides.
    """
    if len({clan[name] for name in pool}) < sides:
        return []
    place = {name: position for position, name in enumerate(pool)}
    lacking = {name: Counter[str]() for name in pool}
    for left, right in map(sorted, needed):
        if clan[left] != clan[right]:
            lacking[left][right] = lacking[right][left] = needed[frozenset((left, right))]
    plays = Counter[str]()
    meetings = Counter[tuple[str, str]]()
    tables: list[list[str]] = []

    def liking(table: Sequence[str], name: str) -> Key:
        lack = sum(lacking[name][other] > 0 for other in table)
        return -lack, sum(meetings[name, other] for other in table), plays[name], place[name]

    while True:
        short = [name for name in pool if any(times > 0 for times in lacking[name].values())]
        if not short:
            return tables
        first = min(short, key=lambda name: (plays[name], place[name]))
        second = min(
            lacking[first],
            key=lambda name: (-lacking[first][name], plays[name], place[name]),
        )
        table = complete([first, second], pool, sides, clan, liking)
        assert table is not None
        tables.append(table)
        plays.update(table)
        for left, right in permutations(table, 2):
            meetings[left, right] += 1
            lacking[left][right] -= 1
