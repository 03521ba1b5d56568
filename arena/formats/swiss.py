"""`swiss`: each round pairs entrants with similar points that have not met before."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum
from typing import ClassVar, NamedTuple

from arena.formats.contract import (
    FormatEntrant,
    FormatMatch,
    FormatOver,
    MatchStatus,
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
from arena.formats.swiss_matching import Costs, best_pairs
from arena.formats.table_pool import Clans, choose, clans, fill, how_many
from referee.games.shared.coded_errors import InvalidValue

MAX_MATCHED_ENTRANTS = 400
"""In rounds of more entrants, only pairs near the best place of each entrant are compared."""
NEAR = 32
"""Maximum distance of such a pair: in the order of points, or from the preferred opponent."""


class RankingKey(NamedTuple):
    """The ranking key of a Swiss tournament, in this order.

    Attributes:
        buchholz: sum of the points of all its opponents.
        scores: sum of its mean scores.
    """

    points: int
    buchholz: int
    scores: float


@dataclass(frozen=True, slots=True)
class SwissFormat:
    """A fixed number of rounds, each paired when the previous one is over.

    A round gives 2 points for each opponent beaten and 1 for each equal one (two sides: win 2, draw
    1). A bye gives the points of a win with two sides. At larger tables, where several entrants
    have a bye in each round, it gives those of a draw. An entrant that joins later has no points
    for earlier rounds.

    Attributes:
        sides: sides of a match.
        rounds: number of rounds; 0: the number of rounds of a knockout.
        owners_meet: whether entrants of one owner may share a table of more than two sides.
    """

    reads_results: ClassVar[bool] = True

    sides: int = 2
    rounds: int = 0
    owners_meet: bool = False

    def next(self, entrants: Sequence[FormatEntrant], matches: Iterable[FormatMatch]) -> Step:
        """Return the matches of a round, or wait for the current one, or the end."""
        played = history(entrants, matches)
        if count_open(played):
            return waiting(played)
        number = next_round(played)
        clan = clans(entrants, self.sides, self.owners_meet)
        table = _SwissTable(entrants, played, self.sides)
        rounds = self.rounds or (len(seatable(entrants, 0)) - 1).bit_length()
        if number >= rounds:
            return FormatOver(f"all {rounds} rounds are over", table.ranking())
        pool = table.in_order(seatable(entrants, number))
        room = how_many(pool, self.sides, clan)
        if room == 0:
            if number == 0:
                raise InvalidValue(
                    f"a match here needs {self.sides} entrants of different owners",
                    code="too-few-owners",
                )
            return FormatOver("too few are left for a match", table.ranking())
        if self.sides == 2:
            tables = _pairs(pool, table)
        else:
            tables = _tables(pool, table, room, self.sides, clan)
        return NextMatches(fixtures(number, tables, entrants), f"round {number + 1} of {rounds}")

    def byes(
        self, entrants: Sequence[FormatEntrant], matches: Iterable[FormatMatch]
    ) -> dict[int, tuple[str, ...]]:
        """Return the entrants with a bye by round, in order of seeds; no key for other rounds."""
        busy: dict[int, set[str]] = {}
        for match in matches:
            busy.setdefault(match.round, set()).update(match.entrants)
        idle = {
            number: tuple(name for name in seatable(entrants, number) if name not in names)
            for number, names in busy.items()
        }
        return {number: names for number, names in idle.items() if names}

    def worth(
        self, entrants: Sequence[FormatEntrant], matches: Iterable[FormatMatch]
    ) -> dict[str, RankingKey]:
        """Return the ranking key of each entrant, from the rounds that are over."""
        played = history(entrants, matches)
        going = {match.round for match in played if match.state is MatchStatus.OPEN}
        return _SwissTable(
            entrants, [m for m in played if m.round not in going], self.sides
        ).worth()


class _SwissTable:
    """Points, meetings and idle rounds of all entrants before a round is paired."""

    def __init__(
        self, entrants: Sequence[FormatEntrant], played: Sequence[FormatMatch], sides: int
    ) -> None:
        self._entrants = entrants
        self._full = 2 * (sides - 1)
        self._played = played
        self.seeds = {entrant.name: position for position, entrant in enumerate(entrants)}
        self.points = dict.fromkeys(self.seeds, 0)
        self.idle = dict.fromkeys(self.seeds, 0)
        """Rounds without a match: byes, and rounds before the entrant joined."""
        self.meetings = Counter[frozenset[str]]()
        self.floated_down: set[str] = set()
        """Entrants whose opponent in the last round had fewer points."""
        self.floated_up: set[str] = set()
        """Entrants whose opponent in the last round had more points."""
        for number in range(next_round(played)):
            self._count([match for match in played if match.round == number], number, sides)

    def _count(self, matches: list[FormatMatch], number: int, sides: int) -> None:
        busy: set[str] = set()
        before = dict(self.points)
        self.floated_down, self.floated_up = set(), set()
        for match in matches:
            fewest, most = (end(before[name] for name in match.entrants) for end in (min, max))
            self.floated_down.update(n for n in match.entrants if before[n] > fewest)
            self.floated_up.update(n for n in match.entrants if before[n] < most)
            busy.update(match.entrants)
            for name, points in zip(match.entrants, match.points, strict=True):
                self.points[name] += points
            # The entrants of a void match do not count as having met.
            if match.state is MatchStatus.CLOSED:
                self.meetings.update(map(frozenset, combinations(match.entrants, 2)))
        for entrant in self._entrants:
            if entrant.name not in busy:
                self.idle[entrant.name] += 1
                if entrant.plays_in(number):
                    self.points[entrant.name] += self._full if sides == 2 else self._full // 2

    def in_order(self, names: Iterable[str]) -> list[str]:
        """Sort by points, then by seed."""
        return sorted(names, key=lambda name: (-self.points[name], self.seeds[name]))

    def bye_order(self, names: Iterable[str]) -> list[str]:
        """Sort by priority for a bye: fewest idle rounds, then fewest points, then worst seed."""
        return sorted(
            names, key=lambda name: (self.idle[name], self.points[name], -self.seeds[name])
        )

    def worth(self) -> dict[str, RankingKey]:
        """Return the ranking key of each entrant."""
        opposition = Counter[str]()
        scores: dict[str, list[float]] = {name: [] for name in self.seeds}
        for match in self._played:
            if not match.is_decided:
                continue
            for seat, name in enumerate(match.entrants):
                opposition[name] += sum(
                    self.points[opponent] for opponent in match.entrants if opponent != name
                )
                rest = [
                    score for opponent, score in enumerate(match.scores[seat]) if opponent != seat
                ]
                scores[name].append(fsum(rest) / len(rest))
        return {
            name: RankingKey(self.points[name], opposition[name], round(fsum(scores[name]), 9))
            for name in self.seeds
        }

    def ranking(self) -> Ranking:
        """Rank by points, then by the points of all opponents, then by the sum of mean scores."""
        return ranked((worth, name) for name, worth in self.worth().items())


Tables = list[tuple[list[str], str]]
"""The entrants of each table, and the reason for the pairing."""


def _pairs(pool: Sequence[str], table: _SwissTable) -> Tables:
    """Pair everyone, with one bye if necessary and with as few repeated meetings as possible."""
    byes: list[str | None] = [None]
    if len(pool) % 2:
        order = table.bye_order(pool)
        byes = [name for name in order if table.idle[name] == table.idle[order[0]]]
    for often in range(max(table.meetings.values(), default=0) + 1):
        for bye in byes:
            players = [name for name in pool if name != bye]
            tables = _best(players, table, often)
            if tables is not None:
                return tables
    raise AssertionError("an even number can always be paired when any may meet again")


def _best(players: Sequence[str], table: _SwissTable, often: int) -> Tables | None:
    """Pair everyone with an opponent met at most `often` times; None if that is impossible.

    The priorities are those of the FIDE Dutch system (FIDE Handbook C.04.3) without colours:

    1. few repeated meetings;
    2. small differences in points, by the sum of their squares;
    3. few entrants that meet a lower (or higher) one in two rounds running;
    4. within equal points, the upper half meets the lower half in order.
    """
    pairs = None
    if len(players) > MAX_MATCHED_ENTRANTS:
        pairs = best_pairs(len(players), _costs(players, table, often, NEAR))
    if pairs is None:
        pairs = best_pairs(len(players), _costs(players, table, often, len(players)))
    if pairs is None:
        return None
    return [
        ([players[higher], players[lower]], _why([players[higher], players[lower]], table))
        for higher, lower in pairs
    ]


def _costs(
    players: Sequence[str], table: _SwissTable, often: int, near: int
) -> Callable[[int, int], Costs | None]:
    """Return the function of the costs of a pair; None for a pair that is not allowed."""
    groups: dict[int, list[int]] = {}
    for at, name in enumerate(players):
        groups.setdefault(table.points[name], []).append(at)

    def cost(higher: int, lower: int) -> Costs | None:
        names = players[higher], players[lower]
        upper, under = (table.points[name] for name in names)
        if upper == under:
            distance = lower - higher - len(groups[upper]) // 2
        else:
            # The lowest of a group meet the highest of the next one.
            distance = groups[upper][-1] - higher + lower - groups[under][0]
        if min(abs(distance), lower - higher) > near:
            return None
        meetings = table.meetings[frozenset(names)]
        if meetings > often:
            return None
        again = (names[0] in table.floated_down) + (names[1] in table.floated_up)
        floats = 0 if upper == under else again
        return meetings, (upper - under) ** 2, floats, distance**2

    return cost


def _tables(
    pool: Sequence[str], table: _SwissTable, room: int, sides: int, clan: Clans
) -> list[tuple[list[str], str]]:
    """Fill `room` tables: with entrants that met least, then with those closest in points."""
    chosen = set(choose(reversed(table.bye_order(pool)), room, sides, clan))

    def liking(seated: Sequence[str], name: str) -> tuple[int, int]:
        meetings = sum(table.meetings[frozenset((name, other))] for other in seated)
        return meetings, abs(table.points[seated[0]] - table.points[name])

    players = [name for name in pool if name in chosen]
    return [(names, _why(names, table)) for names in fill(players, sides, clan, liking)]


def _why(names: Sequence[str], table: _SwissTable) -> str:
    points = sorted((table.points[name] for name in names), reverse=True)
    words = " against ".join(str(value) for value in points) + " points"
    again = any(table.meetings[frozenset(pair)] for pair in combinations(names, 2))
    return f"{words}, again" if again else words
