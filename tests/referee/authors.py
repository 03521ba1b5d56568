"""Play tables with bots at real sockets whose answers a test decides."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc.aio
from pokearena.v1 import bot_pb2, bot_pb2_grpc, referee_pb2

from referee.games.registry import find_game
from referee.games.shared.dealing import board_seed
from referee.generic_codec import new_codec
from referee.reasoning import digests
from referee.record import GameRecord, read_games
from referee.running_game import TableSetting
from referee.tables.table import RunningTable
from referee.tables.table_stream import TableStream

Answer = bot_pb2.ActResponse


def first(question: bot_pb2.ActRequest) -> Answer:
    return Answer(game=question.game, decision=question.decision, action=question.legal[0])


@dataclass
class Author:
    """A bot whose answers a test decides; it stores the questions that it received."""

    answer: Callable[[bot_pb2.ActRequest], Answer | Awaitable[Answer]] = first
    games_in_flight: int = 1
    without_legal: bool = False
    with_text: bool = False
    with_corrections: bool = False
    streams: bool = True
    starts: list[bot_pb2.StartRequest] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)
    questions: list[bot_pb2.ActRequest] = field(default_factory=list)
    ended: int = 0

    async def reply(self, question: bot_pb2.ActRequest) -> Answer:
        self.questions.append(question)
        answer = self.answer(question)
        return answer if isinstance(answer, Answer) else await answer


class AuthorService(bot_pb2_grpc.BotServiceServicer):
    """The gRPC service of an author's bot."""

    def __init__(self, author: Author) -> None:
        self.author = author

    async def Act(self, request: bot_pb2.ActRequest, context: Any) -> Answer:
        return await self.author.reply(request)

    async def Play(
        self, requests: AsyncIterator[bot_pb2.PlayRequest], context: Any
    ) -> AsyncIterator[bot_pb2.PlayResponse]:
        if not self.author.streams:
            await context.abort(grpc.StatusCode.UNIMPLEMENTED, "no stream here")
        async for request in requests:
            self.author.batches.append(len(request.questions))
            answers = [await self.author.reply(question) for question in request.questions]
            yield bot_pb2.PlayResponse(answers=answers)

    async def Start(self, request: bot_pb2.StartRequest, context: Any) -> bot_pb2.StartResponse:
        self.author.starts.append(request)
        return bot_pb2.StartResponse(
            games_in_flight=self.author.games_in_flight,
            without_legal=self.author.without_legal,
            with_text=self.author.with_text,
            with_corrections=self.author.with_corrections,
        )

    async def End(self, request: bot_pb2.EndRequest, context: Any) -> bot_pb2.EndResponse:
        self.author.ended += 1
        return bot_pb2.EndResponse()


@dataclass
class TableResults:
    games: list[GameRecord]
    faulted: list[referee_pb2.BotFaulted]
    shown: list[referee_pb2.PositionShown]
    """The positions sent to spectators."""
    reasoning: list[list[str]] = field(default_factory=list)
    """The private lines of each game, by seat."""
    asked: list[referee_pb2.QuestionsSent] = field(default_factory=list)

    @property
    def verdicts(self) -> list[list[str]]:
        return [game.result["verdicts"] for game in self.games]

    @property
    def places(self) -> list[list[int]]:
        return [game.result["places"] for game in self.games]

    @property
    def sentences(self) -> list[str]:
        return [fault["sentence"] for game in self.games for fault in game.faults]


def play(
    authors: Sequence[Author | str],
    boards: int = 1,
    game: str = "poke",
    bank_ms: int = 0,
    allowance_ms: int = 60_000,
    rights: Sequence[dict[str, int]] = (),
    report: Callable[[referee_pb2.BotFaulted], referee_pb2.BotReport | None] | None = None,
    board: bytes | None = None,
    **order: Any,
) -> TableResults:
    """Play a table of these bots.

    A text instead of a bot is its address; nothing listens at the address "nobody".
    """

    async def run() -> TableResults:
        with tempfile.TemporaryDirectory() as folder:
            servers, addresses = [], []
            for number, author in enumerate(authors):
                address = f"unix:{Path(folder) / str(number)}"
                if isinstance(author, str) and author.startswith("unix:"):
                    address = author
                addresses.append(address)
                if isinstance(author, Author):
                    server = grpc.aio.server()
                    bot_pb2_grpc.add_BotServiceServicer_to_server(AuthorService(author), server)
                    server.add_insecure_port(address)
                    await server.start()
                    servers.append(server)
            seats = [
                referee_pb2.Seat(
                    address=a,
                    bank_ms=r.get("bank_ms", bank_ms),
                    faults=r.get("faults", 0),
                    crashes=r.get("crashes", 0),
                )
                for a, r in zip(addresses, rights or [{}] * len(addresses), strict=True)
            ]
            table_order = referee_pb2.Table(
                game=game,
                seats=seats,
                boards=[
                    referee_pb2.Board(game=b, number=b, seed=board or board_seed(bytes(32), b))
                    for b in range(boards)
                ],
                allowance_ms=allowance_ms,
                **{"match": "m-test", "start_ms": 60_000, **order},
            )
            try:
                return await drive(table_order, report)
            finally:
                await asyncio.gather(*(server.stop(0) for server in servers))

    return asyncio.run(run())


async def drive(
    order: referee_pb2.Table,
    report: Callable[[referee_pb2.BotFaulted], referee_pb2.BotReport | None] | None = None,
) -> TableResults:
    """Play the table of an order.

    Args:
        order: the table.
        report: the sandbox's report on a fault; by default the bot's process still runs.
    """
    rules = find_game(order.game)
    options = rules.settle(dict(order.options))
    sides = rules.sides(len(order.seats), options)
    caller = TableStream()
    setting = TableSetting(
        order.match,
        rules,
        new_codec(rules),
        len(order.seats),
        options,
        sides,
        reasoning_bytes=order.reasoning_bytes,
    )
    table = RunningTable(order, setting, caller)
    running = asyncio.create_task(table.run())
    running.add_done_callback(lambda _: caller.close())
    played = TableResults([], [], [])
    async for event in caller.events():
        if event.WhichOneof("event") == "faulted":
            played.faulted.append(event.faulted)
            report_on_bot = report(event.faulted) if report else referee_pb2.BotReport()
            if report_on_bot is not None:
                report_on_bot.inquiry = event.faulted.inquiry
                caller.deliver_report(report_on_bot)
        elif event.WhichOneof("event") == "game":
            played.games.extend(read_games(event.game.record))
            played.reasoning.append(list(event.game.reasoning))
            check_fields(event.game, played.games[-1])
        elif event.WhichOneof("event") == "asked":
            played.asked.append(event.asked)
        elif event.WhichOneof("event") == "shown":
            played.shown.append(event.shown)
    await running
    played.games.sort(key=lambda g: g.number)
    return played


def check_fields(game: referee_pb2.GameFinished, record: GameRecord) -> None:
    result = record.result
    assert (game.game, game.board) == (record.number, record.game["board"])
    assert (list(game.places), list(game.scores) or None) == (result["places"], result["scores"])
    for name in ("verdicts", "bank_ms", "slowest_ms", "faults", "crashes"):
        assert list(getattr(game, name)) == result[name]
    assert [list(seat.tags) for seat in game.tags] == result.get("tags", [])
    for name in ("corrections", "defaults"):
        assert list(getattr(game, name)) == result.get(name, [])
    assert digests(game.reasoning) == result.get("reasoning", [])
    for seat, times in enumerate(game.decision_times):
        own = [line for line in record.actions if line["seat"] == seat]
        assert list(times.ms) == [line["ms"] for line in own if line.get("by") != "referee"]
    faults = [(f.decision, f.seat, f.verdict, f.sentence, f.ended, f.output) for f in game.faulted]
    assert faults == [
        (
            *(line[name] for name in ("decision", "seat", "verdict", "sentence")),
            *(line.get(name, "") for name in ("ended", "output")),
        )
        for line in record.faults
    ]
