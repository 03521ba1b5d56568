"""A recorded match board by board: where it was won and lost. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import mean
from typing import Any

from arena.ratings.closed_match import ClosedGame, means, scores
from arena.store.matches.games import PlayedGame, read
from referee.record import MatchRecord


@dataclass(frozen=True, slots=True)
class Board:
    """The games of one board: the same cards in every seating. What is by entrant is in the
    match's order."""

    number: int
    games: tuple[PlayedGame, ...]

    @property
    def points(self) -> tuple[int, ...] | None:
        """The points of each entrant in all its games; None if a fault ended one without any."""
        told = [game.scores for game in self.games if game.scores is not None]
        return tuple(map(sum, zip(*told, strict=True))) if len(told) == len(self.games) else None

    @property
    def shares(self) -> tuple[float, ...]:
        """What each entrant won of its games against the others, from 0 to 1."""
        return shares(self.games)

    def ahead(self, entrant: int) -> float:
        """The points that an entrant has more than the others on the average."""
        return _ahead(self.points, entrant)

    def worst_game(self, entrant: int) -> int:
        """The number of the game in which an entrant did worst."""
        ranked = [
            (shares([game])[entrant], _ahead(game.scores, entrant), game.game)
            for game in self.games
        ]
        return min(ranked)[2]

    def to_json(self) -> dict[str, Any]:
        """It as plain values."""
        return {
            "board": self.number,
            "games": [game.game for game in self.games],
            "points": None if self.points is None else list(self.points),
            "shares": [round(share, 6) for share in self.shares],
        }


def boards(record: MatchRecord) -> list[Board]:
    """The boards of a match as far as they were played."""
    names = [str(name) for name, _ in record.match["entrants"]]
    played = [read(game.text, names) for game in record.games]
    ordered = sorted(played, key=lambda game: (game.board, game.table))
    return [Board(number, tuple(own)) for number, own in groupby(ordered, lambda one: one.board)]


def from_the_worst(played: Sequence[Board], entrant: int) -> list[Board]:
    """The boards in order, that on which an entrant did worst first: by games, then by points."""
    return sorted(played, key=lambda one: (one.shares[entrant], one.ahead(entrant), one.number))


def shares(games: Sequence[PlayedGame]) -> tuple[float, ...]:
    """What each entrant won of some games (at least one) against the others, from 0 to 1."""
    closed = [ClosedGame(g.game, g.places, g.scores, g.verdicts, g.faults) for g in games]
    return means(scores(closed))


def _ahead(points: Sequence[int] | None, entrant: int) -> float:
    if points is None:
        return 0.0
    return points[entrant] - mean(p for at, p in enumerate(points) if at != entrant)
