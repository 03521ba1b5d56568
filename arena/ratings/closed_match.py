"""What a closed match says: plain values by entrant, which ratings and standings are made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

# Why an entrant stopped playing, in the words of the record: those of `referee.verdict`, which
# cannot be imported here, because it loads the protocol and the standings have to be quick.
FINISHED = "finished"
FAULTS = ("init", "timeout", "illegal", "protocol", "crash", "resources")
FORFEIT = "forfeit"
INFRASTRUCTURE = "infrastructure"
VERDICTS = frozenset((FINISHED, *FAULTS, FORFEIT, INFRASTRUCTURE))


@dataclass(frozen=True, slots=True)
class ClosedGame:
    """The result of one game, every tuple in the order of the match's entrants (not of seats).

    game: its number in the match.
    places: 1 is the best; equal results share a place.
    scores: in the game's own points, or None if a fault ended the game before it had any.
    verdicts: why each entrant stopped playing.
    faults: how many faults were counted against each entrant in this game.

    Raises ValueError if the tuples differ in length or a verdict is unknown.
    """

    game: int
    places: tuple[int, ...]
    scores: tuple[int, ...] | None
    verdicts: tuple[str, ...]
    faults: tuple[int, ...]

    def halves(self, one: int, other: int) -> int:
        """Half games that the first of these entrants won from the other: 2 is a better place,
        1 a shared one."""
        return (self.places[one] <= self.places[other]) + (self.places[one] < self.places[other])

    def __post_init__(self) -> None:
        columns: list[Sequence[object]] = [self.verdicts, self.faults]
        if self.scores is not None:
            columns.append(self.scores)
        if any(len(column) != len(self.places) for column in columns):
            raise ValueError(f"game {self.game} does not say everything of every entrant")
        for verdict in self.verdicts:
            if verdict not in VERDICTS:
                raise ValueError(f"game {self.game} has the unknown verdict {verdict!r}")


@dataclass(frozen=True, slots=True)
class ClosedMatch:
    """A match all of whose games are over.

    id: the match's id. round, number: its place in the schedule, both from 0.
    entrants: versions as "name@version", each once.
    tournament: where its tournament stands among all that are told of, by age, from 0; it keeps
        the rounds of several tournaments apart.

    Raises ValueError if it has fewer than two entrants, one of them twice, no game, or a game
    with another number of entrants.
    """

    id: str
    round: int
    number: int
    entrants: tuple[str, ...]
    games: tuple[ClosedGame, ...]
    tournament: int = 0

    def __post_init__(self) -> None:
        if len(self.entrants) < 2 or len(set(self.entrants)) < len(self.entrants):
            raise ValueError(f"match {self.id} needs two or more different entrants")
        if not self.games:
            raise ValueError(f"match {self.id} is closed but has no game")
        for game in self.games:
            if len(game.places) != len(self.entrants):
                raise ValueError(
                    f"game {game.game} of match {self.id} has {len(game.places)} entrants, "
                    f"the match has {len(self.entrants)}"
                )

    @property
    def played(self) -> int:
        """How many games it had."""
        return len(self.games)

    @property
    def halves(self) -> tuple[int, ...]:
        """What each of two entrants won from the other; see `Scored`."""
        return tuple(
            sum([game.halves(one, other) for game in self.games])
            for one, other in combinations(range(len(self.entrants)), 2)
        )


class Scored(Protocol):
    """All that ratings ask of a match: `ClosedMatch` has it, and so has its
    `arena.ratings.match_digest`.

    played: how many games it had.
    halves: for each two of its entrants, in the order (0, 1), (0, 2), ... (1, 2), ...: half games
        won by the first from the second; a shared place is one, a better place two.
    """

    @property
    def id(self) -> str: ...
    @property
    def tournament(self) -> int: ...
    @property
    def round(self) -> int: ...
    @property
    def number(self) -> int: ...
    @property
    def entrants(self) -> tuple[str, ...]: ...
    @property
    def played(self) -> int: ...
    @property
    def halves(self) -> tuple[int, ...]: ...


def canonical_order(match: Scored) -> tuple[int, int, int, str]:
    """Return the key that sorts matches into the one order in which they are folded."""
    return match.tournament, match.round, match.number, match.id


def pairwise(match: Scored) -> tuple[tuple[float, ...], ...]:
    """Return how well entrant i did against entrant j, as `pairwise(match)[i][j]` from 0 to 1.

    It is the mean over the games of 1 for the better place, 0.5 for a shared one and 0 for the
    worse. [i][j] and [j][i] add up to 1; the diagonal is 0.5.
    """
    size, most = len(match.entrants), 2 * match.played
    table = [[0.5] * size for _ in range(size)]
    for (one, other), got in zip(combinations(range(size), 2), match.halves, strict=True):
        table[one][other], table[other][one] = got / most, (most - got) / most
    return tuple(map(tuple, table))


def means(of_pairs: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Return how well each entrant did on average against the others, by what `pairwise` gave."""
    others = len(of_pairs) - 1
    # Without the diagonal.
    return tuple((sum(row) - 0.5) / others for row in of_pairs)


def scores(games: Sequence[ClosedGame]) -> tuple[tuple[float, ...], ...]:
    """Return what `pairwise` does, from the games of a match (at least one) alone."""
    names = tuple(str(place) for place in range(len(games[0].places)))
    return pairwise(ClosedMatch("", 0, 0, names, tuple(games)))
