"""Split the results of a recorded match by board. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from statistics import mean
from typing import Any

from arena.ratings.closed_match import PlayedGame, means, scores
from arena.store.matches.games import recorded_game
from referee.record import MatchRecord


@dataclass(frozen=True, slots=True)
class BoardResult:
    """The games of one board: the same cards in every seating.

    Values by entrant are in the order of the match's entrants.
    """

    number: int
    games: tuple[PlayedGame, ...]

    @property
    def points(self) -> tuple[int, ...] | None:
        """Points of each entrant over all games; None if a fault ended a game without scores."""
        scores = [game.scores for game in self.games if game.scores is not None]
        return (
            tuple(map(sum, zip(*scores, strict=True))) if len(scores) == len(self.games) else None
        )

    @property
    def shares(self) -> tuple[float, ...]:
        """Share of its games won by each entrant against the others, from 0 to 1."""
        return shares(self.games)

    def ahead(self, entrant: int) -> float:
        """Return an entrant's points minus the mean of the other entrants' points."""
        return _ahead(self.points, entrant)

    def worst_game(self, entrant: int) -> int:
        """Return the number of the game with an entrant's worst result."""
        ranked = [
            (shares([game])[entrant], _ahead(game.scores, entrant), game.game)
            for game in self.games
        ]
        return min(ranked)[2]

    def to_json(self) -> dict[str, Any]:
        return {
            "board": self.number,
            "games": [game.game for game in self.games],
            "points": None if self.points is None else list(self.points),
            "shares": [round(share, 6) for share in self.shares],
        }


def boards(record: MatchRecord) -> list[BoardResult]:
    """Return the boards of a match, as far as they were played."""
    names = [str(name) for name, _ in record.match["entrants"]]
    played = [recorded_game(game, names) for game in record.games]
    ordered = sorted(played, key=lambda game: (game.board, game.table))
    return [
        BoardResult(number, tuple(games)) for number, games in groupby(ordered, attrgetter("board"))
    ]


def from_the_worst(boards: Sequence[BoardResult], entrant: int) -> list[BoardResult]:
    """Sort boards by an entrant's result, the worst first: by games, then by points."""
    return sorted(
        boards, key=lambda board: (board.shares[entrant], board.ahead(entrant), board.number)
    )


def shares(games: Sequence[PlayedGame]) -> tuple[float, ...]:
    """Return each entrant's share of at least one game won against the others, from 0 to 1."""
    return means(scores(games))


def _ahead(points: Sequence[int] | None, entrant: int) -> float:
    if points is None:
        return 0.0
    return points[entrant] - mean(p for at, p in enumerate(points) if at != entrant)
