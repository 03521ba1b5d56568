"""Results of closed matches as plain values by entrant, from which ratings are computed."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

from referee.games.shared.coded_errors import InvalidValue
from referee.numbering import game_text

# Why an entrant stopped playing, in the words of the record. The list duplicates `referee.faults`,
# because importing that module loads the protocol, and computing standings has to be fast.
FINISHED = "finished"
FAULTS = ("init", "timeout", "illegal", "protocol", "crash", "resources")
FORFEIT = "forfeit"
INFRASTRUCTURE = "infrastructure"
VERDICTS = frozenset((FINISHED, *FAULTS, FORFEIT, INFRASTRUCTURE))


@dataclass(frozen=True, slots=True)
class ClosedGame:
    """The result of one game; tuples are in the order of the match's entrants, not of the seats.

    Attributes:
        game: its number in the match.
        places: 1 is the best; equal results share a place.
        scores: in the game's own points; None if a fault ended the game before it had scores.
        verdicts: why each entrant stopped playing.
        faults: number of faults counted against each entrant in this game.

    Raises:
        ValueError: the tuples differ in length, or a verdict is unknown.
    """

    game: int
    places: tuple[int, ...]
    scores: tuple[int, ...] | None
    verdicts: tuple[str, ...]
    faults: tuple[int, ...]

    def halves(self, first: int, second: int) -> int:
        """Return the half points of `first` against `second`: better place 2, shared place 1."""
        return (self.places[first] <= self.places[second]) + (
            self.places[first] < self.places[second]
        )

    def __post_init__(self) -> None:
        columns: list[Sequence[object]] = [self.verdicts, self.faults]
        if self.scores is not None:
            columns.append(self.scores)
        if any(len(column) != len(self.places) for column in columns):
            raise InvalidValue(
                f"{game_text(self.game)} lacks values for some entrants", code="values-missing"
            )
        for verdict in self.verdicts:
            if verdict not in VERDICTS:
                raise InvalidValue(
                    f"{game_text(self.game)} has the unknown verdict {verdict!r}",
                    code="unknown-verdict",
                )


@dataclass(frozen=True, slots=True)
class ClosedMatch:
    """A match whose games are all over.

    Attributes:
        id: the match's id.
        round: its round, from 0.
        number: its number within the round, from 0.
        entrants: versions as "name@version", each once.
        games: the results of its games.
        tournament: position of its tournament by age among the given tournaments, from 0. It
            separates the rounds of different tournaments.

    Raises:
        ValueError: it has fewer than two entrants, an entrant twice, no game, or a game with
            another number of entrants.
    """

    id: str
    round: int
    number: int
    entrants: tuple[str, ...]
    games: tuple[ClosedGame, ...]
    tournament: int = 0

    def __post_init__(self) -> None:
        if len(self.entrants) < 2 or len(set(self.entrants)) < len(self.entrants):
            raise InvalidValue(
                f"match {self.id} needs two or more different entrants", code="entrants"
            )
        if not self.games:
            raise InvalidValue(f"match {self.id} is closed but has no game", code="no-game")
        for game in self.games:
            if len(game.places) != len(self.entrants):
                raise InvalidValue(
                    f"{game_text(game.game)} of match {self.id} has {len(game.places)} entrants, "
                    f"the match has {len(self.entrants)}",
                    code="entrant-count",
                )

    @property
    def played(self) -> int:
        """The number of games."""
        return len(self.games)

    @property
    def halves(self) -> tuple[int, ...]:
        """The half points between each two entrants; see `RatedMatch`."""
        return tuple(
            sum([game.halves(first, second) for game in self.games])
            for first, second in combinations(range(len(self.entrants)), 2)
        )


class RatedMatch(Protocol):
    """The attributes of a match that ratings require.

    `ClosedMatch` and `MatchScore` implement it.

    Attributes:
        id: the match's id.
        tournament: position of its tournament by age, from 0.
        round: its round, from 0.
        number: its number within the round, from 0.
        entrants: versions as "name@version".
        played: number of games.
        halves: for each two entrants, in the order (0, 1), (0, 2), ... (1, 2), ...: half points of
            the first against the second. A shared place counts one, a better place two.
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


@dataclass(frozen=True, slots=True)
class MatchScore:
    """The values of a `RatedMatch`, without the single games."""

    id: str
    tournament: int
    round: int
    number: int
    entrants: tuple[str, ...]
    played: int
    halves: tuple[int, ...]


def canonical_order(match: RatedMatch) -> tuple[int, int, int, str]:
    """Return the key that sorts matches into canonical order, in which floats are summed."""
    return match.tournament, match.round, match.number, match.id


def pairwise(match: RatedMatch) -> tuple[tuple[float, ...], ...]:
    """Return the score of entrant i against entrant j as `pairwise(match)[i][j]`, from 0 to 1.

    It is the mean over the games of 1 for the better place, 0.5 for a shared one and 0 for the
    worse. [i][j] and [j][i] add up to 1; the diagonal is 0.5.
    """
    size, most = len(match.entrants), 2 * match.played
    table = [[0.5] * size for _ in range(size)]
    for (first, second), got in zip(combinations(range(size), 2), match.halves, strict=True):
        table[first][second], table[second][first] = got / most, (most - got) / most
    return tuple(map(tuple, table))


def means(of_pairs: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Return the mean score of each entrant against the others, from the result of `pairwise`."""
    others = len(of_pairs) - 1
    # Subtract the diagonal.
    return tuple((sum(row) - 0.5) / others for row in of_pairs)


def winner(match: RatedMatch) -> str:
    """Return the entrant with the highest mean score; "" if several entrants share it."""
    shares = means(pairwise(match))
    highest = max(shares) - 1e-9
    first = [name for name, share in zip(match.entrants, shares, strict=True) if share >= highest]
    return first[0] if len(first) == 1 else ""


def scores(games: Sequence[ClosedGame]) -> tuple[tuple[float, ...], ...]:
    """Return the result of `pairwise` for the games of a match (at least one)."""
    names = tuple(str(place) for place in range(len(games[0].places)))
    return pairwise(ClosedMatch("", 0, 0, names, tuple(games)))
