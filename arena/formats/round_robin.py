"""`round-robin`: everyone meets everyone. `gauntlet`: some challengers meet everyone else."""

import random
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from math import comb
from typing import ClassVar, NamedTuple, TypeVar

from arena.formats.contract import (
    FormatEntrant,
    FormatMatch,
    FormatOver,
    NextMatches,
    Ranking,
    Step,
    count_open,
    fixtures,
    history,
    next_round,
    ranked,
    seatable,
    waiting,
)
from arena.formats.table_pool import Clans, clans, complete, cover
from referee.games.shared.coded_errors import InvalidValue

# Pairings of a round robin, in rounds, for any number of sides.
#
# The functions are pure and deterministic: the same numbers give the same pairings in the same
# order. Entrants are indexes from 0; the caller maps them to names.

# Base blocks: a small set of tables which, shifted around the circle of entrants, is fair to all.
#
# Put the N entrants on a circle and shift one table (a *base block*) by 0, 1, ... N - 1 places.
# Everyone then plays at as many of these N tables as the block has seats. How often two entrants
# meet depends only on their distance d: it is the number of ordered pairs (x, y) of the block with
# x - y = d modulo N. So all meetings are equal within one if, summed over all base blocks, these
# counts differ by at most one. (For even N the pair at distance N / 2 is counted in both
# directions, so its count is always even. This agrees with the formula.)
#
# Such blocks are found by a bounded local search. Its random numbers have a fixed seed, so the same
# arguments always give the same result.


Block = tuple[int, ...]

# The search for a given number of blocks stops after this many trials (about 0.1 s).
TRIALS = 20_000
# The search tries up to this many more blocks than necessary before it accepts fewer.
SPARE_BLOCKS = 8
# The search accepts some steps uphill, up to this limit, to escape local minima.
UPHILL_CHANCE = 0.02
UPHILL_LIMIT = 4
# With more than two sides, up to this many combinations of entrants, a cycle plays all of them.
ALL_COMBINATIONS_UP_TO = 300


def balanced_cycles(entrants: int, sides: int, cycles: int) -> Iterator[list[Block]]:
    """Yield the tables of each cycle, as ascending tuples of entrants.

    After each cycle the numbers of matches per entrant, and of meetings per pair, are equal within
    one over all cycles so far. Unless the search found only fewer blocks, everyone has met everyone
    at least once in each cycle.

    Raises:
        ValueError: a second or later cycle cannot be found. This was observed only with seven or
            more sides; every game of the arena has at most six.
    """
    # The complements of balanced tables are balanced too: search the smaller of both sizes.
    seats = min(sides, entrants - sides)
    once = -(-(entrants - 1) // (sides * (sides - 1)))
    dice = random.Random(entrants * 1000 + sides)
    meetings = [0] * entrants
    covered = 0
    for cycle in range(1, cycles + 1):
        target = max(once * cycle - covered, 1)
        selection = _search(meetings, seats, target, dice)
        if selection is None:
            if cycles > 1:
                raise InvalidValue(
                    f"no balanced selection of {cycles} cycles was found for {entrants} entrants "
                    f"at tables of {sides}; set cycles = {max(cycle - 1, 1)}",
                    code="not-balanced",
                )
            yield _disjoint_tables(entrants, sides)
            return
        covered += len(selection.blocks)
        meetings = selection.meetings
        yield [
            table
            for block in selection.blocks
            for table in _shifted(block, entrants, complement=seats != sides)
        ]


def _disjoint_tables(entrants: int, sides: int) -> list[Block]:
    """Return the fallback: as many tables as can play at once; each pair meets at most once."""
    return [tuple(range(first, first + sides)) for first in range(0, entrants - sides + 1, sides)]


def _shifted(block: list[int], entrants: int, complement: bool) -> Iterator[Block]:
    everyone = set(range(entrants))
    for shift in range(entrants):
        table = {(seat + shift) % entrants for seat in block}
        yield tuple(sorted(everyone - table if complement else table))


class _Selection:
    """Base blocks under construction, in addition to the meetings of earlier cycles."""

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
        """Whether all counts would have to be odd: impossible, the one at N / 2 is even."""
        return self._entrants % 2 == 0 and self._low == self._high and self._low % 2 == 1

    def repair(self, trials: int) -> bool:
        """Reduce the excess by a local search; return whether the meetings are equal within one.

        Each trial proposes to replace one entrant of one block:

        1. Choose a block, a place in it and a newcomer at random.
        2. Compute the change of the excess, the sum over all distances of the squared deviations of
           the counts from the range [low, high].
        3. Accept a change that is not positive. Accept a positive one up to `UPHILL_LIMIT` with the
           probability `UPHILL_CHANCE`.
        """
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
        """Add a block greedily: each entrant where the meetings are fewest, ties at random."""
        # Distances below 0 do not need the modulo: they index from the end of the list.
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
        """Return the changes of the meetings, by distance, if `newcomer` takes a place."""
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
        # Python guarantees a reproducible sequence for a seed only for random().
        return int(self._dice.random() * bound)


def _search(meetings: list[int], seats: int, target: int, dice: random.Random) -> _Selection | None:
    more = range(target, target + SPARE_BLOCKS)
    fewer = range(target - 1, 0, -1)
    for blocks in (*more, *fewer):
        selection = _Selection(meetings, seats, blocks, dice)
        if not selection.hopeless and selection.repair(TRIALS):
            return selection
    return None


Table = tuple[int, ...]
Seated = TypeVar("Seated", bound=Sequence[Hashable])


@dataclass(frozen=True, slots=True)
class Pairing:
    """A match to be played: its round, from 0, and its entrants in ascending order."""

    round: int
    entrants: Table


def seatings(sides: int) -> tuple[Table, ...]:
    """Return the seatings of a match, one for each table: the rotations of its entrants.

    Seating t gives side s to entrant (s + t) modulo sides. Two sides have both seatings.

    Raises:
        ValueError: `sides` is less than 1.
    """
    if sides < 1:
        raise InvalidValue(f"a match needs at least one side, not {sides}", code="sides")
    return tuple(tuple((side + table) % sides for side in range(sides)) for table in range(sides))


def round_robin(entrants: int, sides: int, cycles: int = 1) -> tuple[Pairing, ...]:
    """Return the matches of a round robin by rounds; nobody plays twice in a round.

    - Two sides: everyone meets everyone once in a cycle. An odd number of entrants gives each of
      them one bye in a cycle.
    - More sides, with at most `ALL_COMBINATIONS_UP_TO` combinations of entrants: each combination
      once in a cycle.
    - More sides otherwise: a selection of tables. After each cycle the numbers of matches per
      entrant, and of meetings per pair, are equal within one. In a cycle everyone meets everyone at
      least once. If the search finds only a smaller selection (observed with seven or more sides),
      the first guarantee still holds.

    Raises:
        ValueError: there are fewer entrants than sides, fewer than two sides, or no cycle.
    """
    if sides < 2:
        raise InvalidValue(f"a round robin needs at least two sides, not {sides}", code="sides")
    if entrants < sides:
        raise InvalidValue(
            f"a match here needs {sides} entrants, but there are only {entrants}",
            code="too-few-entrants",
        )
    if cycles < 1:
        raise InvalidValue(f"a round robin needs at least one cycle, not {cycles}", code="cycles")
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
    """Return the rounds of the circle method: one entrant is fixed, the others rotate around it."""
    # With an odd number, the fixed place is empty; the entrant paired with it has a bye.
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
    """Assign each table to the first round in which all its entrants are free."""
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

    reads_results: ClassVar[bool] = False

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

    def ranking(self, entrants: Sequence[FormatEntrant], matches: Iterable[FormatMatch]) -> Ranking:
        """Return the final ranking of a round robin without open matches."""
        return _ranking([entrant.name for entrant in entrants], history(entrants, matches))

    def points(
        self, entrants: Sequence[FormatEntrant], matches: Iterable[FormatMatch]
    ) -> Mapping[str, int]:
        """Return the match points of each ranked entrant: 2 for a win, 1 for a draw."""
        return _points([entrant.name for entrant in entrants], history(entrants, matches))


class ChallengeFormat(RoundRobinFormat):
    """A round robin that no ladder counts: its entrants chose their opponents.

    The owner of a bot requests it with two entrants (`arena.submissions.challenges`).
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class GauntletFormat:
    """The first `challengers` entrants meet everyone else `cycles` times, and not each other.

    The others meet only at tables of more than two sides, together with a challenger. Two others
    meet a challenger equally often, within one, unless the rule on owners prevents it.

    Attributes:
        sides: sides of a match.
        cycles: number of meetings of a challenger with each other entrant.
        challengers: number of challengers.
        owners_meet: whether entrants of one owner may share a table of more than two sides.
    """

    reads_results: ClassVar[bool] = False

    sides: int = 2
    cycles: int = 1
    challengers: int = 1
    owners_meet: bool = False

    def next(self, entrants: Sequence[FormatEntrant], matches: Iterable[FormatMatch]) -> Step:
        """Return all matches of new entrants, or wait, or the end."""
        if not 1 <= self.challengers < len(entrants):
            raise InvalidValue(
                f"{self.challengers} challengers of {len(entrants)} entrants: "
                "a gauntlet needs at least one, and one to meet",
                code="challengers",
            )
        played = history(entrants, matches)
        pool = seatable(entrants, next_round(played))
        clan = clans(entrants, self.sides, self.owners_meet)
        tables = self._tables(entrants, pool, played, clan)
        return _step(entrants, played, in_rounds(tables), "the challengers have met everyone")

    def ranking(self, entrants: Sequence[FormatEntrant], matches: Iterable[FormatMatch]) -> Ranking:
        """Return the final ranking of a gauntlet without open matches: challengers, then the rest.

        The others have not met each other, so they share the last rank. Empty with one challenger,
        which has nobody to be compared with.
        """
        names = [entrant.name for entrant in entrants]
        challengers, others = names[: self.challengers], names[self.challengers :]
        if len(challengers) < 2:
            return ()
        first = _ranking(challengers, history(entrants, matches))
        return (*first, tuple(others)) if first else ()

    def points(
        self, entrants: Sequence[FormatEntrant], matches: Iterable[FormatMatch]
    ) -> Mapping[str, int]:
        """Return the match points of each challenger: 2 for a win, 1 for a draw."""
        names = [entrant.name for entrant in entrants[: self.challengers]]
        return _points(names, history(entrants, matches))

    def _tables(
        self,
        entrants: Sequence[FormatEntrant],
        pool: Sequence[str],
        played: Sequence[FormatMatch],
        clan: Clans,
    ) -> list[list[str]]:
        """Return the tables: one challenger each, and others that it has met least.

        The challengers take turns. Each further seat goes to the entrant that the challenger has
        met least, which keeps the numbers of its meetings equal within one. Ties go to fewest
        meetings with those seated, fewest matches, then to the order of seeds.
        """
        challengers = [entrant.name for entrant in entrants[: self.challengers]]
        others = [name for name in pool if name not in challengers]
        new = _new(entrants, next_round(played))
        if not played and len(others) < self.sides - 1:
            raise InvalidValue(
                f"a gauntlet at tables of {self.sides} sides needs {self.sides - 1} entrants "
                f"besides the challengers, not {len(others)}",
                code="challengers",
            )
        seating = _GauntletSeating(self.sides, clan, played)
        tables = []
        unfinished = [name for name in challengers if name in pool]
        while unfinished:
            for challenger in tuple(unfinished):
                lacking = [
                    name
                    for name in others
                    if clan[name] != clan[challenger]
                    and (name in new or challenger in new)
                    and seating.meetings[frozenset((challenger, name))] < self.cycles
                ]
                table = seating.table(challenger, others) if lacking else None
                if table is None or not set(table) & set(lacking):
                    unfinished.remove(challenger)
                else:
                    seating.count(table)
                    tables.append(table)
        return tables


class _GauntletSeating:
    """Meetings and matches of a gauntlet, and the next table of a challenger."""

    def __init__(self, sides: int, clan: Clans, played: Iterable[FormatMatch]) -> None:
        self._sides, self._clan = sides, clan
        self._plays = Counter[str]()
        self.meetings = Counter[frozenset[str]]()
        """The number of common matches of two entrants, scheduled ones included."""
        for match in played:
            self.count(match.entrants)

    def count(self, table: Sequence[str]) -> None:
        """Count a scheduled match."""
        self._plays.update(table)
        self.meetings.update(map(frozenset, combinations(table, 2)))

    def table(self, challenger: str, others: Sequence[str]) -> list[str] | None:
        """Return the next table of a challenger; None if it cannot be filled."""

        def liking(seated: Sequence[str], name: str) -> tuple[int, int, int]:
            meetings = sum(self.meetings[frozenset((name, other))] for other in seated[1:])
            return self.meetings[frozenset((challenger, name))], meetings, self._plays[name]

        return complete([challenger], others, self._sides, self._clan, liking)


def _balanced(pool: Sequence[str], sides: int, cycles: int) -> list[list[list[str]]]:
    """Return the rounds of the balanced schedule, with names instead of indexes."""
    pairings = round_robin(len(pool), sides, cycles)
    rounds: list[list[Table]] = [[] for _ in range(pairings[-1].round + 1)]
    for pairing in pairings:
        rounds[pairing.round].append(pairing.entrants)
    return [[[pool[place] for place in table] for table in tables] for tables in rounds]


def _ranking(names: Sequence[str], played: Sequence[FormatMatch]) -> Ranking:
    """Rank by points, then by points against those with equal ones, then by mean scores.

    Entrants that are still equal share a rank. Empty if no match has a result.
    """
    if not any(match.is_decided for match in played):
        return ()
    points, direct = _points(names, played), Counter[str]()
    scores = dict.fromkeys(names, 0.0)
    ranked_names = set(names)
    results = [
        result for match in played for result in _results(match) if result.entrant in ranked_names
    ]
    for result in results:
        scores[result.entrant] += result.score
    for result in results:
        if result.opponent in ranked_names and points[result.opponent] == points[result.entrant]:
            direct[result.entrant] += result.points
    return ranked(((points[name], direct[name], round(scores[name], 9)), name) for name in names)


def _points(names: Sequence[str], played: Iterable[FormatMatch]) -> Counter[str]:
    points = Counter(dict.fromkeys(names, 0))
    for match in played:
        points.update(
            {
                name: won
                for name, won in zip(match.entrants, match.points, strict=True)
                if name in points
            }
        )
    return points


class _Result(NamedTuple):
    """The result of an entrant against an opponent in one match."""

    entrant: str
    opponent: str
    points: int
    score: float


def _results(match: FormatMatch) -> Iterator[_Result]:
    for (seat, name), (other, opponent) in permutations(enumerate(match.entrants), 2):
        # A void match is a draw.
        score = match.scores[seat][other] if match.is_decided else 0.5
        yield _Result(name, opponent, (score > 0.5) + (score >= 0.5), score)


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
    next_fixtures = tuple(
        fixture
        for number, tables in enumerate(rounds, first)
        for fixture in fixtures(number, [(table, "") for table in tables], entrants)
    )
    if next_fixtures:
        return NextMatches(
            next_fixtures, "all matches are known" if first == 0 else "newcomers meet the others"
        )
    if not played:
        raise InvalidValue(
            "there is nothing to play: no table can be filled, because bots of one owner share "
            "none; owners_meet = true lets them",
            code="too-few-owners",
        )
    return waiting(played) if count_open(played) else FormatOver(end)
