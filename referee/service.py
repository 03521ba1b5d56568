"""The referee as a gRPC service."""

import asyncio
import logging
from collections.abc import AsyncIterator

import grpc
import grpc.aio
from pokearena.v1 import referee_pb2, referee_pb2_grpc

from referee import logs
from referee.games.contract import SetupError
from referee.games.game_packages import BUILT_IN, game_code
from referee.games.registry import GAMES, find_game
from referee.games.shared.dealing import SEED_BYTES
from referee.generic_codec import new_codec
from referee.presentation.question_text import PresentationFailed
from referee.rpc.trace import SeatTrace, TraceFile
from referee.running_game import TableSetting
from referee.tables.stall_detector import ProcessStalled
from referee.tables.table import RunningTable
from referee.tables.table_stream import TableStream

log = logging.getLogger("referee")

Context = grpc.aio.ServicerContext[referee_pb2.RunTableRequest, referee_pb2.RunTableResponse]


class RefereeService(referee_pb2_grpc.RefereeServiceServicer):
    """Implements the gRPC service of the referee: the list of games, and tables."""

    def __init__(self, trace: TraceFile | None = None) -> None:
        """Prepare the service; `trace` receives all messages of its tables."""
        self._trace = trace
        self._tables: dict[tuple[str, int], RunningTable] = {}
        """The running tables, by match and number."""
        # Those of packages are loaded when they are played: a faulty one must not stop the others.
        self._codecs = {game_id: new_codec(GAMES[game_id]) for game_id in BUILT_IN}

    async def ListGames(
        self, request: referee_pb2.ListGamesRequest, context: Context
    ) -> referee_pb2.ListGamesResponse:
        """Return the registered games, sorted by id."""
        return referee_pb2.ListGamesResponse(
            games=[
                referee_pb2.GameInfo(
                    id=game.id,
                    title=game.title,
                    seats=game.seats,
                    options=[
                        referee_pb2.OptionInfo(
                            name=name,
                            default_text=str(option.default).lower(),
                            meaning=option.meaning,
                        )
                        for name, option in game.options.items()
                    ],
                )
                for _, game in sorted(GAMES.items())
            ]
        )

    async def RunTable(
        self, requests: AsyncIterator[referee_pb2.RunTableRequest], context: Context
    ) -> AsyncIterator[referee_pb2.RunTableResponse]:
        """Play one table; referee.proto describes the stream."""
        first = await anext(aiter(requests), None)
        if first is None or first.WhichOneof("message") != "table":
            await context.abort(
                grpc.StatusCode.INVALID_ARGUMENT, "the first request must be the table"
            )
        assert first is not None
        try:
            setting = self._setting(first.table)
        except SetupError as error:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
        caller = TableStream()
        # The context is bound only in the tasks: a generator runs in the context of its consumer.
        traces = [
            SeatTrace(self._trace, first.table.number, seat)
            for seat in range(len(first.table.seats))
            if self._trace is not None
        ]
        with logs.bound(match=first.table.match, table=first.table.number):
            table = RunningTable(first.table, setting, caller, traces)
            key = first.table.match, first.table.number
            self._tables[key] = table
            running = asyncio.create_task(_run(first.table.match, table, caller))
            receiving = asyncio.create_task(_receive(requests, table, caller))
        try:
            async for event in caller.events():
                yield event
            await running
        except ProcessStalled as error:
            await context.abort(grpc.StatusCode.UNAVAILABLE, str(error))
        except PresentationFailed as error:
            await context.abort(grpc.StatusCode.INTERNAL, str(error))
        finally:
            if self._tables.get(key) is table:
                del self._tables[key]
            receiving.cancel()
            running.cancel()
            await asyncio.gather(receiving, running, return_exceptions=True)
            setting.codec.forget_games()

    async def ExcuseTime(
        self, request: referee_pb2.ExcuseTimeRequest, context: Context
    ) -> referee_pb2.ExcuseTimeResponse:
        """Excuse time of a bot; referee.proto describes it."""
        if table := self._tables.get((request.match, request.table)):
            table.excuse(request)
        return referee_pb2.ExcuseTimeResponse()

    def _setting(self, order: referee_pb2.Table) -> TableSetting:
        """Check a table and return the settings that its games share."""
        game = find_game(order.game)
        options = game.settle(dict(order.options))
        game.check_seats(len(order.seats), options)
        numbers = [board.game for board in order.boards]
        if len(set(numbers)) != len(numbers):
            raise SetupError(
                "two boards have the same game number; each game is played once", code="game-twice"
            )
        short = next((b for b in order.boards if len(b.seed) != SEED_BYTES), None)
        if short is not None:
            raise SetupError(
                f"the seed of game {short.game} has {len(short.seed)} bytes; it must have "
                f"{SEED_BYTES}",
                code="seed-length",
            )
        sides = game.sides(len(order.seats), options)
        codec = self._codecs.get(game.id)
        if codec is None:
            codec = self._codecs[game.id] = new_codec(game)
        return TableSetting(
            order.match,
            game,
            codec,
            len(order.seats),
            options,
            sides,
            table=order.number,
            seating=tuple(seat.entrant for seat in order.seats),
            sandbox=order.sandbox,
            package=game_code(game.id),
            reasoning_bytes=order.reasoning_bytes,
        )


async def _run(match: str, table: RunningTable, caller: TableStream) -> None:
    try:
        log.info("%s: a table begins", match)
        await table.run()
        shares = ", ".join(f"{100 * share:.1f} %" for share in table.budget_shares)
        log.info("%s: a table is over; its bots used %s of their work budgets", match, shares)
    except BaseExceptionGroup as group:
        cause = _known_cause(group)
        if cause is None:
            raise
        log.warning("%s: broken off, %s", match, cause)
        raise type(cause)(*cause.args) from None
    finally:
        caller.close()


def _known_cause(group: BaseExceptionGroup[BaseException]) -> BaseException | None:
    """Return the exception of a kind for which a caller gets a sentence; None for others."""
    for error in group.exceptions:
        found = _known_cause(error) if isinstance(error, BaseExceptionGroup) else error
        if isinstance(found, ProcessStalled | PresentationFailed):
            return found
    return None


async def _receive(
    requests: AsyncIterator[referee_pb2.RunTableRequest], table: RunningTable, caller: TableStream
) -> None:
    async for request in requests:
        if request.WhichOneof("message") != "report":
            continue
        if request.report.inquiry:
            caller.deliver_report(request.report)
        else:
            table.ended(request.report)
