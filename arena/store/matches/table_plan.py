"""Compute the boards of a match that are still to be played, by table."""

from collections.abc import Iterable
from dataclasses import dataclass

from arena.formats.round_robin import seatings
from arena.ratings.closed_match import PlayedGame
from arena.store.matches.spec import MatchSpec
from referee.games.registry import find_game


@dataclass(frozen=True, slots=True)
class RemainingResources:
    """The resources that a seat has left at its table, and its faults and crashes so far."""

    bank_ms: int
    faults: int = 0
    crashes: int = 0


@dataclass(frozen=True, slots=True)
class BoardPlan:
    """A board to be played at a table."""

    game: int
    """The game's number within the match: table * boards + board."""
    number: int
    """The number that derives its deal: the board's, or the game's if tables are not mirrored."""


@dataclass(frozen=True, slots=True)
class TablePlan:
    """The remaining boards of one table."""

    table: int
    seating: tuple[int, ...]
    """The entrant at each seat, as its index in the match."""
    boards: tuple[BoardPlan, ...]
    rights: tuple[RemainingResources, ...]


def plan(spec: MatchSpec, committed: Iterable[PlayedGame] = ()) -> tuple[TablePlan, ...]:
    """Return the tables of a match with unplayed boards, in order.

    Bank time, faults and crashes of the committed games are deducted from the seats' rights.

    Raises:
        SetupError: the game does not exist, or it cannot be played with these settings.
    """
    done = list(committed)
    tables = []
    for table, seating in enumerate(_seatings(spec)):
        played = [game for game in done if game.table == table]
        boards = _boards(spec, table, {game.game for game in played})
        if boards:
            rights = tuple(_rights(spec, seat, played) for seat in range(spec.seats))
            tables.append(TablePlan(table, seating, boards, rights))
    return tuple(tables)


def _seatings(spec: MatchSpec) -> list[tuple[int, ...]]:
    game = find_game(spec.game)
    options = game.settle(spec.options)
    game.check_seats(spec.seats, options)
    sides = game.sides(spec.seats, options)
    rotations = seatings(len(spec.entrants))[: spec.tables]
    return [tuple(by_side[side] for side in sides) for by_side in rotations]


def _boards(spec: MatchSpec, table: int, played: set[int]) -> tuple[BoardPlan, ...]:
    games = [(table * spec.boards + board, board) for board in range(spec.boards)]
    return tuple(
        BoardPlan(game, board if spec.mirrored else game)
        for game, board in games
        if game not in played
    )


def _rights(spec: MatchSpec, seat: int, played: list[PlayedGame]) -> RemainingResources:
    drawn = sum(float(game.tally["bank_ms"][seat]) for game in played)
    return RemainingResources(
        bank_ms=max(0, int(spec.clock.bank_ms - drawn)),
        faults=sum(int(game.tally["faults"][seat]) for game in played),
        crashes=sum(int(game.tally["crashes"][seat]) for game in played),
    )
