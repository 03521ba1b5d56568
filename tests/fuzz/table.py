"""Fuzz real tables with a bot that sends mutated messages, against honest bots.

The bot serves a real socket with raw bytes, so the referee's client receives exactly these bytes.
"""

import asyncio
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import grpc
import grpc.aio
from google.protobuf.message import DecodeError
from pokearena.v1 import bot_pb2, bot_pb2_grpc, referee_pb2

from referee.game_checks.tables import Table
from referee.game_codec import DecodeError as NoAction
from referee.game_codec import GameCodec
from referee.games.shared.dealing import board_seed
from referee.record import GameRecord
from referee.tables.stall_detector import ProcessStalled
from tests.fuzz.decoder import check_sentence, good_answers, tried
from tests.fuzz.mutations import Mutations
from tests.referee.authors import Author, AuthorService, TableResults, drive

BOARDS: Final = 3
"""Three boards, because a third fault excludes a seat."""
AT_ONCE: Final = 4
"""Number of tables at the same time."""
ALLOWANCE_MS: Final = 5000
"""The allowance is long, so that a busy machine does not cause timeouts."""
CODES: Final = [code for code in grpc.StatusCode if code is not grpc.StatusCode.OK]
DETAILS: Final = ("", "no idea", "\x1b[2J", "ä\u202e", "x" * 3000, "%00%ff", "a\nb\x00c")
SERVICE: Final = bot_pb2.DESCRIPTOR.services_by_name["BotService"].full_name
BAD: Final = 0.35
"""The largest share of mutated messages."""


@dataclass
class Fuzzer:
    """A bot that records the expected verdict of each message that it sends."""

    codec: GameCodec
    mutations: Mutations
    streams: bool
    bad: float = 0.0
    sent: int = 0
    worth: dict[tuple[int, int], str] = field(default_factory=dict)
    """The expected verdict by game and decision."""

    def handlers(self) -> grpc.GenericRpcHandler:
        """Return the bot's methods, without serializers."""
        methods: dict[str, Any] = {
            "Act": grpc.unary_unary_rpc_method_handler(self.act),
            "Start": grpc.unary_unary_rpc_method_handler(self.start),
        }
        if self.streams:
            methods["Play"] = grpc.stream_stream_rpc_method_handler(self.play)
        return grpc.method_handlers_generic_handler(SERVICE, methods)

    async def start(self, request: bytes, context: Any) -> bytes:
        return b""

    async def act(self, request: bytes, context: Any) -> bytes:
        question = bot_pb2.ActRequest.FromString(request)
        # If a stream fails before its first answer, the referee sends the question again by Act.
        self.worth.pop((question.game, question.decision), None)
        self.sent += 1
        if not self._is_bad():
            return self._good(question).SerializeToString()
        if self.mutations.rng.random() < 0.1:
            await self._fail(question, context)
        data = self.mutations.message(self._good(question).SerializeToString())
        try:
            verdict = self._judged(bot_pb2.ActResponse.FromString(data), question)
        except DecodeError:
            verdict = "protocol"
        self._note(question, verdict)
        return data

    async def play(self, requests: AsyncIterator[bytes], context: Any) -> AsyncIterator[bytes]:
        async for request in requests:
            (question,) = bot_pb2.PlayRequest.FromString(request).questions
            self.sent += 1
            good = bot_pb2.PlayResponse(answers=[self._good(question)]).SerializeToString()
            if not self._is_bad():
                yield good
                continue
            if self.mutations.rng.random() < 0.1:
                await self._fail(question, context)
            data = self.mutations.message(good)
            try:
                answers = bot_pb2.PlayResponse.FromString(data).answers
            except DecodeError:
                self._note(question, "protocol")
            else:
                self._note(question, self._all(answers, question))
            yield data

    async def _fail(self, question: bot_pb2.ActRequest, context: Any) -> None:
        self._note(question, "protocol")
        code, details = (self.mutations.rng.choice(choices) for choices in (CODES, DETAILS))
        await context.abort(code, details)

    def _is_bad(self) -> bool:
        return self.mutations.rng.random() < self.bad

    def _good(self, question: bot_pb2.ActRequest) -> bot_pb2.ActResponse:
        return bot_pb2.ActResponse(
            game=question.game,
            decision=question.decision,
            action=self.mutations.rng.choice(question.legal),
        )

    def _note(self, question: bot_pb2.ActRequest, verdict: str) -> None:
        self.worth[question.game, question.decision] = verdict

    def _all(self, answers: Sequence[bot_pb2.ActResponse], question: bot_pb2.ActRequest) -> str:
        """Return the expected verdict of a message with these answers.

        A message with a wrong or an additional answer is invalid as a whole.
        """
        if not answers:
            return "timeout"
        first = (answers[0].game, answers[0].decision)
        if len(answers) > 1 or first != (question.game, question.decision):
            return "protocol"
        return self._judged(answers[0], question)

    def _judged(self, answer: bot_pb2.ActResponse, question: bot_pb2.ActRequest) -> str:
        try:
            action = self.codec.decode(answer.action)
        except NoAction:
            return "protocol"
        listed = (self.codec.decode(encoded) for encoded in question.legal)
        if action in listed:
            return "finished"
        return "illegal" if question.complete else "finished or illegal"


def fuzz(messages: int, seed: str, tables: Sequence[Table] | None = None) -> Counter[str]:
    """Play tables of all games until at least this number of messages is sent; count the verdicts.

    Raises:
        AssertionError: a message did not get the expected verdict.
    """
    return asyncio.run(_fuzz(messages, seed, tables or tried()))


async def _fuzz(messages: int, seed: str, tables: Sequence[Table]) -> Counter[str]:
    strangers = [answer for table in tables for answer in good_answers(table)]
    verdicts: Counter[str] = Counter()
    numbers = iter(range(1 << 40))

    async def play_on() -> None:
        while verdicts["messages"] < messages:
            number = next(numbers)
            table = tables[number % len(tables)]
            mutations = Mutations(f"{seed}/{number}", strangers)
            streams = number // len(tables) % 2 == 0
            await _a_table(table, Fuzzer(table.codec, mutations, streams), number, verdicts)

    await asyncio.gather(*(play_on() for _ in range(AT_ONCE)))
    return verdicts


async def _a_table(table: Table, fuzzer: Fuzzer, number: int, verdicts: Counter[str]) -> None:
    seat = number % table.seats
    fuzzer.bad = fuzzer.mutations.rng.choice((0.02, 0.1, BAD))
    played: TableResults | None = None
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        addresses = []
        for other in range(table.seats):
            server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
            if other == seat:
                server.add_generic_rpc_handlers((fuzzer.handlers(),))
            else:
                bot_pb2_grpc.add_BotServiceServicer_to_server(AuthorService(Author()), server)
            addresses.append(f"unix:{folder / str(other)}")
            server.add_insecure_port(addresses[-1])
            await server.start()
            stack.push_async_callback(server.stop, 0)
        try:
            played = await drive(_order(table, addresses, number))
        except* ProcessStalled:
            # All tables and bots share one processor, possibly with other programs.
            verdicts["tables that stood still, which no bot was charged for"] += 1
    if played is None:
        return
    verdicts["messages"] += fuzzer.sent
    verdicts["tables"] += 1
    for verdict in _check(table, fuzzer, played, seat):
        verdicts[verdict] += 1


def _order(table: Table, addresses: list[str], number: int) -> referee_pb2.Table:
    return referee_pb2.Table(
        match="m-fuzz",
        game=table.game.id,
        options={name: str(value).lower() for name, value in table.settings},
        seats=[referee_pb2.Seat(address=address) for address in addresses],
        boards=[
            referee_pb2.Board(game=b, number=b, seed=board_seed(number.to_bytes(32, "big"), b))
            for b in range(BOARDS)
        ],
        allowance_ms=ALLOWANCE_MS,
        start_ms=60_000,
    )


def _check(table: Table, fuzzer: Fuzzer, played: TableResults, seat: int) -> Iterator[str]:
    assert len(played.games) == BOARDS, f"{table}: a game has no end"
    side = table.game.sides(table.seats, table.options)
    for game in played.games:
        for fault in game.faults:
            assert fault["seat"] == seat, f"{table}: an honest bot was charged: {fault['sentence']}"
            check_sentence(fault["sentence"])
        yield from _worth(table, fuzzer, game, seat)
        others = {v for s, v in enumerate(game.result["verdicts"]) if side[s] != side[seat]}
        assert others == {"finished"}, f"{table}: {others} for honest bots"


def _worth(table: Table, fuzzer: Fuzzer, game: GameRecord, seat: int) -> Iterator[str]:
    faults = {(game.number, fault["decision"]): fault for fault in game.faults}
    for key, worth in fuzzer.worth.items():
        if key[0] != game.number:
            continue
        fault = faults.pop(key, None)
        verdict = fault["verdict"] if fault is not None else "finished"
        sentences = fault["sentence"] if fault is not None else ""
        assert verdict in worth.split(" or "), (
            f"{table}, {key}: {verdict}, not {worth}: {sentences}"
        )
        yield verdict
    sentences = [fault["sentence"] for fault in faults.values()]
    assert not sentences, f"{table}: faults that nothing was sent for: {sentences}"
