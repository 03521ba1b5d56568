"""Base blocks: a small set of tables which, shifted around the circle of entrants, is fair to all.

Put the N entrants on a circle and shift one table (a *base block*) by 0, 1, ... N - 1 places.
Everyone then sits at exactly as many of these N tables as the block has seats, and how often two
entrants meet depends only on their distance d: it is the number of ordered pairs (x, y) of the
block with x - y = d modulo N. So "everyone meets everyone equally often, within one" says that
over all base blocks these counts differ by at most one. (For even N the pair at distance N / 2
counts in both directions and therefore meets an even number of times; the same formula says so.)

Such blocks are found by a bounded local search whose random numbers have a fixed seed: the same
question always has the same answer.
"""

import random
from collections.abc import Iterator

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
