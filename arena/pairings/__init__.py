"""Who plays whom: the matches of a round robin, in rounds, for any number of sides.

Pure and deterministic: the same numbers always give the same pairings in the same order.
Entrants are indexes from 0; who they are is the caller's business.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TypeVar

from arena.pairings.blocks import balanced_cycles

__all__ = ["ALL_COMBINATIONS_UP_TO", "Pairing", "in_rounds", "round_robin", "seatings"]

# With more than two sides: up to so many combinations of entrants, a cycle plays all of them.
ALL_COMBINATIONS_UP_TO = 300

Table = tuple[int, ...]
Seated = TypeVar("Seated", bound=Sequence[Hashable])


@dataclass(frozen=True, slots=True)
class Pairing:
    """One match to be played: its round, counted from 0, and its entrants, ascending."""

    round: int
    entrants: Table


def seatings(sides: int) -> tuple[Table, ...]:
    """Return the seatings of a match, one a table: the rotations of its entrants over the sides.

    Seating t gives side s to entrant (s + t) modulo sides; with two sides that is both ways.

    Raises ValueError if there is no side.
    """
    if sides < 1:
        raise ValueError(f"a match needs at least one side, not {sides}")
    return tuple(tuple((side + table) % sides for side in range(sides)) for table in range(sides))


def round_robin(entrants: int, sides: int, cycles: int = 1) -> tuple[Pairing, ...]:
    """Return the matches of a round robin, round by round; nobody plays twice in a round.

    Two sides: everyone meets everyone once a cycle; an odd number of entrants gives each of them
    one bye a cycle.
    More sides: all combinations of entrants once a cycle where these are at most
    `ALL_COMBINATIONS_UP_TO`. Otherwise a selection in which, after every cycle, any two entrants
    have played equally often and any two pairs have met equally often, both within one; a
    cycle lets everyone meet everyone at least once. Where the search for such a selection finds
    only a smaller one (seen with seven sides and more), it is smaller, but keeps "within one".

    Raises ValueError if there are fewer entrants than sides, fewer than two sides or no cycle.
    """
    if sides < 2:
        raise ValueError(f"a round robin needs at least two sides, not {sides}")
    if entrants < sides:
        raise ValueError(f"a match here needs {sides} entrants, but there are only {entrants}")
    if cycles < 1:
        raise ValueError(f"a round robin needs at least one cycle, not {cycles}")
    rounds: list[list[Table]] = []
    for cycle in _cycles(entrants, sides, cycles):
        rounds.extend(cycle)
    return tuple(Pairing(number, table) for number, tables in enumerate(rounds) for table in tables)


def _cycles(entrants: int, sides: int, cycles: int) -> Iterator[list[list[Table]]]:
    """Yield the rounds of every cycle."""
    if sides == 2:
        yield from [_circle(entrants)] * cycles
    elif comb(entrants, sides) <= ALL_COMBINATIONS_UP_TO:
        yield from [in_rounds(combinations(range(entrants), sides))] * cycles
    else:
        yield from map(in_rounds, balanced_cycles(entrants, sides, cycles))


def _circle(entrants: int) -> list[list[Table]]:
    """Return the rounds of the circle method: one stands still, the others move around it."""
    # An odd number gets an empty chair, which stands still; who would meet it has a bye.
    moving = entrants - 1 if entrants % 2 == 0 else entrants
    rounds: list[list[Table]] = []
    for turn in range(moving):
        pairs = [
            ((turn + step) % moving, (turn - step) % moving) for step in range(1, moving // 2 + 1)
        ]
        if moving < entrants:
            pairs.append((turn, moving))
        rounds.append(sorted((min(pair), max(pair)) for pair in pairs))
    return rounds


def in_rounds(tables: Iterable[Seated]) -> list[list[Seated]]:
    """Put every table into the first round in which all its entrants are still free."""
    rounds: list[list[Seated]] = []
    busy: list[set[Hashable]] = []
    for table in tables:
        free = (number for number, taken in enumerate(busy) if taken.isdisjoint(table))
        number = next(free, len(rounds))
        if number == len(rounds):
            rounds.append([])
            busy.append(set())
        rounds[number].append(table)
        busy[number].update(table)
    return rounds
