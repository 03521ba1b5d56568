"""Who plays whom: the matches of a round robin, in rounds, for any number of sides.

Pure and deterministic: the same numbers always give the same pairings in the same order.
Entrants are indexes from 0; who they are is the caller's business.
"""

import random
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TypeVar

# Base blocks: a small set of tables which, shifted around the circle of entrants, is fair to all.
#
# Put the N entrants on a circle and shift one table (a *base block*) by 0, 1, ... N - 1 places.
# Everyone then sits at exactly as many of these N tables as the block has seats, and how often two
# entrants meet depends only on their distance d: it is the number of ordered pairs (x, y) of the
# block with x - y = d modulo N. So "everyone meets everyone equally often, within one" says that
# over all base blocks these counts differ by at most one. (For even N the pair at distance N / 2
# counts in both directions and therefore meets an even number of times; the same formula says so.)
#
# Such blocks are found by a bounded local search whose random numbers have a fixed seed: the same
# question always has the same answer.


Block = tuple[int, ...]

# A search for one number of blocks gives up after so many trials (about a tenth of a second).
TRIALS = 20_000
# How many blocks more than necessary are tried before the search makes do with fewer.
SPARE_BLOCKS = 8
# Some steps uphill, as far as this, keep the search from standing still.
UPHILL_CHANCE = 0.02
UPHILL_LIMIT = 4


def balanced_cycles(entrants: int, sides: int, cycles: int) -> Iterator[list[Block]]:
    """Yield the tables of each cycle, as ascending tuples of entrants.

    After every cycle plays and meetings are within one over all cycles so far, and unless the
    search found only fewer blocks, everyone has met everyone at least once a cycle.

    Raises ValueError if a second or later cycle cannot be found (seen only with seven sides and
    more; every game here has at most six).
    """
    # The tables nobody of a balanced set sits at are balanced too: search the smaller of the two.
    seats = min(sides, entrants - sides)
    once = -(-(entrants - 1) // (sides * (sides - 1)))
    dice = random.Random(entrants * 1000 + sides)
    meetings = [0] * entrants
    found = 0
    for cycle in range(1, cycles + 1):
        wanted = max(once * cycle - found, 1)
        selection = _search(meetings, seats, wanted, dice)
        if selection is None:
            if cycles > 1:
                raise ValueError(
                    f"no balanced selection of {cycles} cycles was found for {entrants} entrants "
                    f"at tables of {sides}: ask for {max(cycle - 1, 1)}"
                )
            yield _disjoint_tables(entrants, sides)
            return
        found += len(selection.blocks)
        meetings = selection.meetings
        yield [
            table
            for block in selection.blocks
            for table in _shifted(block, entrants, complement=seats != sides)
        ]


def _disjoint_tables(entrants: int, sides: int) -> list[Block]:
    """Return the last resort: as many tables as can play at once, meetings 0 or 1."""
    return [tuple(range(first, first + sides)) for first in range(0, entrants - sides + 1, sides)]


def _shifted(block: list[int], entrants: int, complement: bool) -> Iterator[Block]:
    everyone = set(range(entrants))
    for shift in range(entrants):
        table = {(seat + shift) % entrants for seat in block}
        yield tuple(sorted(everyone - table if complement else table))


class _Selection:
    """Base blocks in the making, on top of the meetings of earlier cycles."""

    def __init__(self, meetings: list[int], seats: int, blocks: int, dice: random.Random) -> None:
        self.meetings = meetings.copy()
        self.blocks: list[list[int]] = []
        self._entrants = len(meetings)
        self._dice = dice
        total = sum(meetings) + blocks * seats * (seats - 1)
        self._low, rest = divmod(total, self._entrants - 1)
        self._high = self._low + (rest > 0)
        for _ in range(blocks):
            self._add_block(seats)

    @property
    def hopeless(self) -> bool:
        """True if all counts would have to be odd, which the one at distance N / 2 never is."""
        return self._entrants % 2 == 0 and self._low == self._high and self._low % 2 == 1

    def repair(self, trials: int) -> bool:
        """Move single entrants of blocks until the meetings are within one; False: gave up."""
        excess = sum(self._excess(count) for count in self.meetings[1:])
        for _ in range(trials):
            if excess == 0:
                break
            block = self.blocks[self._below(len(self.blocks))]
            place = self._below(len(block))
            newcomer = self._below(self._entrants)
            if newcomer in block:
                continue
            changes = self._changes(block, place, newcomer)
            worse = sum(
                self._excess(self.meetings[distance] + change)
                - self._excess(self.meetings[distance])
                for distance, change in changes.items()
            )
            if worse <= 0 or (worse <= UPHILL_LIMIT and self._dice.random() < UPHILL_CHANCE):
                for distance, change in changes.items():
                    self.meetings[distance] += change
                block[place] = newcomer
                excess += worse
        return excess == 0

    def _add_block(self, seats: int) -> None:
        """Add a block, entrant by entrant, each where the meetings are fewest so far."""
        # Distances below 0 need no modulo here: they count from the end of the list.
        block = [0]
        while len(block) < seats:
            free = [entrant for entrant in range(self._entrants) if entrant not in block]
            scores = [
                (sum(self.meetings[entrant - other] for other in block), self._dice.random())
                for entrant in free
            ]
            newcomer = free[scores.index(min(scores))]
            for other in block:
                self.meetings[newcomer - other] += 1
                self.meetings[other - newcomer] += 1
            block.append(newcomer)
        self.blocks.append(block)

    def _changes(self, block: list[int], place: int, newcomer: int) -> dict[int, int]:
        """Return by distance how the meetings change when `newcomer` takes a place."""
        leaver = block[place]
        changes: dict[int, int] = {}
        for position, other in enumerate(block):
            if position == place:
                continue
            for entrant, change in ((leaver, -1), (newcomer, 1)):
                for distance in (entrant - other, other - entrant):
                    distance %= self._entrants
                    changes[distance] = changes.get(distance, 0) + change
        return changes

    def _excess(self, count: int) -> int:
        return max(self._low - count, count - self._high, 0) ** 2

    def _below(self, bound: int) -> int:
        # random() is the one method whose numbers are promised to stay the same for a seed.
        return int(self._dice.random() * bound)


def _search(meetings: list[int], seats: int, wanted: int, dice: random.Random) -> _Selection | None:
    more = range(wanted, wanted + SPARE_BLOCKS)
    fewer = range(wanted - 1, 0, -1)
    for blocks in (*more, *fewer):
        selection = _Selection(meetings, seats, blocks, dice)
        if not selection.hopeless and selection.repair(TRIALS):
            return selection
    return None


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
