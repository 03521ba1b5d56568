"""Spectator stream: send positions of a table's games at a limited rate.

`State.public` of each game leaves out what spectators may not see.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence

from pokearena.v1 import bot_pb2, referee_pb2

from referee.running_game import RunningGame
from referee.tables.table_stream import TableStream


class SpectatorStream:
    """Samples one game of a table until it is over, then the next one.

    The position is sampled on a timer, so a decision has no extra cost.
    """

    def __init__(
        self,
        order: referee_pb2.Table,
        games: Callable[[], Iterable[RunningGame]],
        banks: Callable[[], Sequence[float]],
        caller: TableStream,
    ) -> None:
        """Prepare the stream of a table."""
        self._pause = order.watch_ms / 1000
        self._has_notes = order.watch_notes
        self._games = games
        self._banks = banks
        self._caller = caller
        self._game: RunningGame | None = None
        self._shown: tuple[int, int, bool] | None = None
        self._due = time.monotonic() + self._pause

    async def keep_open(self) -> None:
        """Send positions until cancelled; return at once if nobody watches the table."""
        while self._pause:
            left = self._due - time.monotonic()
            await asyncio.sleep(left if left > 0 else self._pause)
            self._sample()

    def ended(self, game: RunningGame) -> None:
        """Send the final position of a finished game if an update is due.

        Must be called before the finished game is reported.
        """
        if game is self._game:
            self._sample()

    def _sample(self) -> None:
        now = time.monotonic()
        if now < self._due:
            return
        if self._game is None:
            self._game = next(iter(self._games()), None)
        game = self._game
        if game is None:
            return
        over = game.result is not None
        position = (game.number, game.decisions, over)
        if position != self._shown:
            self._shown = position
            self._due = now + self._pause
            self._caller.send(referee_pb2.RunTableResponse(shown=self._position(game, over)))
        if over:
            self._game = None

    def _position(self, game: RunningGame, over: bool) -> referee_pb2.PositionShown:
        view = game.setting.codec.view(game.state.public())
        return referee_pb2.PositionShown(
            game=game.number,
            board=game.board.number,
            decision=game.decisions,
            actors=() if over else game.state.actors,
            view=bot_pb2.View.FromString(view),
            bank_ms=[int(bank_ms) for bank_ms in self._banks()],
            notes=game.notes if self._has_notes else (),
        )
