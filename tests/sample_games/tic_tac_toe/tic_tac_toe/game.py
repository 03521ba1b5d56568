"""Rules of tic-tac-toe (tic_tac_toe.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from referee.games.contract import Action, Bounds, Game, Legal, ListedLegal, Options, State
from referee.games.shared.dealing import Chance

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
EMPTY = -1


@dataclass(frozen=True, slots=True)
class Mark:
    """Mark a square."""

    square: int


@dataclass(frozen=True, slots=True)
class TicTacToeView:
    """The board, with the seat on each square or -1; all of it is public."""

    board: Annotated[tuple[int, ...], Bounds(EMPTY, 1, 9)]
    scores: Annotated[tuple[int, ...], Bounds(0, 1, 2)]


@dataclass(frozen=True)
class TicTacToeState(State):
    """A position."""

    board: tuple[int, ...]

    @property
    def scores(self) -> tuple[int, ...]:
        lines = [{self.board[square] for square in line} for line in LINES]
        return tuple(int({seat} in lines) for seat in (0, 1))

    @property
    def actors(self) -> tuple[int, ...]:
        left = self.board.count(EMPTY)
        return () if any(self.scores) or not left else ((9 - left) % 2,)

    def legal(self, seat: int) -> Legal:
        return ListedLegal(Mark(at) for at, owner in enumerate(self.board) if owner == EMPTY)

    def view(self, seat: int) -> TicTacToeView:
        return self.public()

    def public(self) -> TicTacToeView:
        return TicTacToeView(self.board, self.scores)

    def after(self, moves: Mapping[int, Action]) -> State:
        ((seat, action),) = moves.items()
        board = list(self.board)
        board[action.square] = seat
        return TicTacToeState(tuple(board))


class TicTacToe(Game):
    """Tic-tac-toe: boards differ by their first two marks."""

    id = "tic_tac_toe"
    title = "Tic-tac-toe"
    seats = (2,)
    view_type = TicTacToeView
    action_types = (Mark,)
    redeals = False
    opening_actions = 2

    def _start(self, luck: Chance, seats: int, options: Options) -> TicTacToeState:
        return TicTacToeState((EMPTY,) * 9)
