"""`swiss`: each round pairs entrants with similar points that have not met before."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence, Set
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
from arena.formats.swiss_matching import best_pairs
from arena.formats.table_pool import Clans, choose, clans, fill, how_many
from referee.games.shared.coded_errors import InvalidValue

# Maximum matching with preferences: pair everyone, and grant preferences where this stays possible.
#
# 1. Find a perfect matching.
# 2. For each entrant in order, try its preferred opponents. A pair is fixed if the rest of the
#    matching can be repaired, which one search for an augmenting path decides.
#
# The search is Edmonds' blossom algorithm ("Paths, trees, and flowers", 1965) in the usual form: a
# breadth-first search that stores the base of each blossom.


FREE = -1
Friends = Sequence[Sequence[int]]
MAX_MATCHED_ENTRANTS = 400
"""Rounds of more entrants are paired by the rules of pairing 1, which take less time."""


def pair_up(
    size: int,
    allowed: Callable[[int, int], bool],
    wishes: Callable[[int, Sequence[int]], Iterable[int]],
) -> list[tuple[int, int]] | None:
    """Return pairs of 0 .. size - 1, or None if not all of them can be paired.

    Args:
        size: number of entrants.
        allowed: whether two may be paired; symmetric.
        wishes: for an entrant and all unpaired later ones (ascending), the opponents by preference.
            Lower numbers choose first.
    """
    friends = [[b for b in range(size) if b != a and allowed(a, b)] for a in range(size)]
    mates = [FREE] * size
    for player in range(size):
        if mates[player] == FREE and not _augment(friends, mates, player, set()):
            return None
    done: set[int] = set()
    pairs = []
    for player in range(size):
        if player in done:
            continue
        unpaired = [opponent for opponent in range(player + 1, size) if opponent not in done]
        for opponent in wishes(player, unpaired):
            if allowed(player, opponent) and _grant(friends, mates, player, opponent, done):
                break
        done |= {player, mates[player]}
        pairs.append((player, mates[player]))
    return pairs


def _grant(friends: Friends, mates: list[int], player: int, opponent: int, done: Set[int]) -> bool:
    """Pair two if the others can still be paired; members of `done` keep their partners."""
    if mates[player] == opponent:
        return True
    trial = mates.copy()
    left, right = mates[player], mates[opponent]
    trial[player], trial[opponent] = opponent, player
    trial[left] = trial[right] = FREE
    if not _augment(friends, trial, left, done | {player, opponent}):
        return False
    mates[:] = trial
    return True


def _augment(friends: Friends, mates: list[int], root: int, fixed: Set[int]) -> bool:
    """Find an alternating path from a free root to another free vertex, and swap along it."""
    search = _AugmentingPathSearch(friends, mates, root, fixed)
    end = search.run()
    while end != FREE:
        before = search.parent[end]
        following = mates[before]
        mates[end], mates[before] = before, end
        end = following
    return mates[root] != FREE


class _AugmentingPathSearch:
    """One breadth-first search; `parent` leads back from a free end to the root."""

    def __init__(self, friends: Friends, mates: list[int], root: int, fixed: Set[int]) -> None:
        self._friends, self._mates, self._root, self._fixed = friends, mates, root, fixed
        self.parent = [FREE] * len(mates)
        self._base = list(range(len(mates)))
        self._outer = [False] * len(mates)
        self._queue = deque([root])
        self._outer[root] = True

    def run(self) -> int:
        """Return a free vertex that was reached, or FREE."""
        while self._queue:
            player = self._queue.popleft()
            for friend in self._friends[player]:
                if friend in self._fixed or self._mates[player] == friend:
                    continue
                if self._base[player] == self._base[friend]:
                    continue
                mate = self._mates[friend]
                if friend == self._root or (mate != FREE and self.parent[mate] != FREE):
                    self._contract(player, friend)
                elif self.parent[friend] == FREE:
                    self.parent[friend] = player
                    if mate == FREE:
                        return friend
                    self._outer[mate] = True
                    self._queue.append(mate)
        return FREE

    def _contract(self, first: int, second: int) -> None:
        """Contract the odd cycle that the edge between two outer vertices closes to a blossom."""
        base = self._meeting(first, second)
        inside = [False] * len(self._mates)
        self._mark(first, base, second, inside)
        self._mark(second, base, first, inside)
        for vertex, its_base in enumerate(self._base):
            if inside[its_base]:
                self._base[vertex] = base
                if not self._outer[vertex]:
                    self._outer[vertex] = True
                    self._queue.append(vertex)

    def _meeting(self, first: int, second: int) -> int:
        """Return the base at which the paths from two outer vertices to the root meet."""
        seen = set()
        while True:
            first = self._base[first]
            seen.add(first)
            if self._mates[first] == FREE:
                break
            first = self.parent[self._mates[first]]
        while self._base[second] not in seen:
            second = self.parent[self._mates[self._base[second]]]
        return self._base[second]

    def _mark(self, vertex: int, base: int, child: int, inside: list[bool]) -> None:
        """Mark one side of the cycle, and let its inner vertices lead back through the edge."""
        while self._base[vertex] != base:
            mate = self._mates[vertex]
            inside[self._base[vertex]] = inside[self._base[mate]] = True
            self.parent[vertex] = child
            child = mate
            vertex = self.parent[mate]


class RankingKey(NamedTuple):
    """The ranking key of a Swiss tournament, in this order.

    Attributes:
        points: its points.
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
        pairing: the version of the pairing rules for two sides, 1 or 2. New tournaments have 2.
            Tournaments without this setting have 1, so earlier ones continue and verify.
    """

    reads_results: ClassVar[bool] = True

    sides: int = 2
    rounds: int = 0
    owners_meet: bool = False
    pairing: int = 1

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
            best = self.pairing > 1 and len(pool) <= MAX_MATCHED_ENTRANTS
            tables = _pairs(pool, table, _best if best else _matched)
        else:
            tables = _tables(pool, table, room, self.sides, clan)
        return NextMatches(fixtures(number, tables, entrants), f"round {number + 1} of {rounds}")

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
            if match.state is not MatchStatus.CLOSED:
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


def _pairs(
    pool: Sequence[str],
    table: _SwissTable,
    matched: Callable[[Sequence[str], _SwissTable, int], Tables | None],
) -> Tables:
    """Pair everyone, with one bye if necessary and with as few repeated meetings as possible."""
    byes: list[str | None] = [None]
    if len(pool) % 2:
        order = table.bye_order(pool)
        byes = [name for name in order if table.idle[name] == table.idle[order[0]]]
    for often in range(max(table.meetings.values(), default=0) + 1):
        for bye in byes:
            players = [name for name in pool if name != bye]
            tables = matched(players, table, often)
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
    groups: dict[int, list[int]] = {}
    for at, name in enumerate(players):
        groups.setdefault(table.points[name], []).append(at)

    def cost(higher: int, lower: int) -> tuple[int, ...] | None:
        names = players[higher], players[lower]
        meetings = table.meetings[frozenset(names)]
        if meetings > often:
            return None
        upper, under = (table.points[name] for name in names)
        if upper == under:
            half = len(groups[upper]) // 2
            return meetings, 0, 0, (lower - higher - half) ** 2
        again = (names[0] in table.floated_down) + (names[1] in table.floated_up)
        # The lowest of a group meet the highest of the next one.
        middle = groups[upper][-1] - higher + lower - groups[under][0]
        return meetings, (upper - under) ** 2, again, middle**2

    try:
        pairs = best_pairs(len(players), cost)
    except OverflowError:
        return _matched(players, table, often)
    if pairs is None:
        return None
    return [
        ([players[higher], players[lower]], _why([players[higher], players[lower]], table))
        for higher, lower in pairs
    ]


def _matched(players: Sequence[str], table: _SwissTable, often: int) -> Tables | None:
    """Pair everyone with an opponent met at most `often` times; None if that is impossible."""

    def meetings(player: int, opponent: int) -> int:
        return table.meetings[frozenset((players[player], players[opponent]))]

    def wishes(player: int, unpaired: Sequence[int]) -> list[int]:
        # Within a group of equal points, the upper half is paired with the lower half.
        mine = table.points[players[player]]
        group = [
            player,
            *(opponent for opponent in unpaired if table.points[players[opponent]] == mine),
        ]
        half = group[len(group) // 2]
        return sorted(
            unpaired,
            key=lambda opponent: (
                meetings(player, opponent),
                mine - table.points[players[opponent]],
                abs(opponent - half),
            ),
        )

    pairs = pair_up(
        len(players), lambda player, opponent: meetings(player, opponent) <= often, wishes
    )
    if pairs is None:
        return None
    return [
        ([players[player], players[opponent]], _why([players[player], players[opponent]], table))
        for player, opponent in pairs
    ]


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
