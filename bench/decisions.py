"""Measure the cost of a decision between referee and bot, compared with raw gRPC.

    uv run python -m bench decisions

The peer is raw gRPC: the same number of messages of the same size and type. Its client (grpc.aio)
and its server (grpc.server with threads) are those of grpcio and do nothing else; the referee and
the Python kit have their own. It alternates between two servers, because a table has two bots. Peer
and table are measured in turns within one run, because rates drift; the figure is the median of
their ratios.
"""

import asyncio
import math
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
from pokearena.v1 import bot_pb2, bot_pb2_grpc

from bench.figure import Figure, FigureTarget, left_out
from bench.processes import HERE, started
from bench.sockets import engine, microseconds
from bench.table import table
from referee.game_codec import GameCodec
from referee.games.registry import find_game
from referee.games.shared.dealing import Seeded, board_seed
from referee.rpc.channel import Channel
from referee.rpc.work_budget import WorkBudget
from referee.tables.deadline import Deadline

RATIOS = {"Play": 1.15, "Act": 1.2}
"""Targets: the time of a decision, at most this ratio to raw gRPC, by method."""
TIMES_A_LINE, TIMES_A_LINE_IN_GO = 1.8, 3.5
"""Targets: decisions per second, at least this ratio to lines of text over TCP."""
LINES = 5_000
"""Maximum number of lines of a round."""
A_LINE = "a line of text over TCP, as Pokerbots"


def typical(game_id: str, games: int = 40) -> tuple[bot_pb2.PlayRequest, bot_pb2.PlayResponse]:
    """Return the question of random games that is nearest to the mean size, and its answer."""
    game = find_game(game_id)
    codec = GameCodec(game)
    chance = random.Random(1)
    samples: list[tuple[bot_pb2.ActRequest, bot_pb2.Action]] = []
    for number in range(games):
        state = game.start(Seeded(board_seed(bytes(32), number)))
        while state.actors:
            moves = {}
            for seat in state.actors:
                head = bot_pb2.ActRequest(
                    match="m-0123456789", game=number, decision=50, seat=seat, complete=True,
                    clock=bot_pb2.Clock(allowance_ms=200, bank_ms=10_000), luck=1 << 63,
                )  # fmt: skip
                legal = list(state.legal(seat))
                data = codec.question(head, state.view(seat), legal)
                moves[seat] = chance.choice(legal)
                action = bot_pb2.Action.FromString(codec.action(moves[seat]))
                samples.append((bot_pb2.ActRequest.FromString(data), action))
            state = state.play(moves)
    mean = statistics.mean(question.ByteSize() for question, _ in samples)
    question, action = min(samples, key=lambda sample: abs(sample[0].ByteSize() - mean))
    answer = bot_pb2.ActResponse(game=question.game, decision=50, action=action)
    return bot_pb2.PlayRequest(questions=[question]), bot_pb2.PlayResponse(answers=[answer])


async def ping_pong(
    addresses: Sequence[str], method: str, question: bot_pb2.PlayRequest, number: int
) -> float:
    """Return the microseconds per message and answer between plain gRPC peers."""
    channels = [grpc.aio.insecure_channel(address) for address in addresses]
    try:
        stubs: list[Any] = [bot_pb2_grpc.BotServiceStub(channel) for channel in channels]
        for channel in channels:
            await channel.channel_ready()
        began = time.perf_counter()
        if method == "Play":
            calls = [stub.Play() for stub in stubs]
            for n in range(number):
                call = calls[n & 1]
                await call.write(question)
                await call.read()
        else:
            for n in range(number):
                await stubs[n & 1].Act(question.questions[0])
        return 1e6 * (time.perf_counter() - began) / number
    finally:
        for channel in channels:
            await channel.close()


async def ping_pong_of_ours(
    addresses: Sequence[str], question: bot_pb2.PlayRequest, number: int
) -> float:
    """Return the same for ``Play`` with the referee's client, with a time limit per message."""
    service = bot_pb2.DESCRIPTOR.services_by_name["BotService"].full_name
    channels = [Channel(address, service, WorkBudget(math.inf)) for address in addresses]
    alarm = Deadline()
    data = question.SerializeToString()
    try:
        calls = [await channel.begin("Play", wait=True) for channel in channels]
        began = time.perf_counter()
        for n in range(number):
            with alarm.set(10):
                await calls[n & 1].send(data)
                await calls[n & 1].receive()
        return 1e6 * (time.perf_counter() - began) / number
    finally:
        alarm.close()
        for channel in channels:
            await channel.close()


def wire(rounds: int, number: int = 500) -> Iterator[Figure]:
    """Yield the times of the referee's client and of grpc.aio for the same messages."""
    question, answer = typical("poke")
    echo = ["echo.py", answer.SerializeToString().hex()]
    clock: tuple[list[float], list[float]] = ([], [])
    processor: tuple[list[float], list[float]] = ([], [])
    with started(echo, echo) as echoes:
        asyncio.run(ping_pong(echoes, "Play", question, number))
        for _ in range(rounds):
            spent = [time.process_time()]
            clock[1].append(asyncio.run(ping_pong(echoes, "Play", question, number)))
            spent.append(time.process_time())
            clock[0].append(asyncio.run(ping_pong_of_ours(echoes, question, number)))
            spent.append(time.process_time())
            theirs, ours = (1e6 * (after - before) / number for before, after in pairwise(spent))
            processor[0].append(ours)
            processor[1].append(theirs)
    name = "a message and its answer by the referee's client"
    yield Figure(name, "us", clock[0], "by grpc.aio", clock[1])
    yield Figure(f"{name}, of the processor", "us", processor[0], "by grpc.aio", processor[1])


def overhead(method: str, rounds: int, boards: int = 30) -> Iterator[Figure]:
    """Yield the time of a single decision, compared with a gRPC message and a line of text."""
    question, answer = typical("poke")
    bot = ["bot.py", "play", "1"] if method == "Play" else ["bot.py", "act"]
    echo = ["echo.py", answer.SerializeToString().hex()]
    costs: list[float] = []
    raw: list[float] = []
    lines: list[float] = []
    with started(["-m", "referee"], bot, bot, echo, echo) as (referee, *others), engine() as plain:
        table(referee, others[:2], boards)
        for _ in range(rounds):
            played = table(referee, others[:2], boards)
            costs.append(1e6 * played.seconds / played.decisions)
            raw.append(asyncio.run(ping_pong(others[2:], method, question, played.decisions)))
            lines.append(microseconds(plain, played.decisions))
    name = f"a decision by {method}, one at a time"
    sizes = f"{question.ByteSize()} and {answer.ByteSize()} bytes"
    target = FigureTarget(RATIOS[method], at_most=True, of_ratio=True)
    yield Figure(name, "us", costs, f"raw gRPC, {sizes}", raw, target)
    note = "without a schema, a list of what is legal, clocks, views or a record"
    yield Figure(name, "us", costs, A_LINE, lines, note=note)


def in_flight(games: int, rounds: int) -> Figure:
    """Return the decisions per second with this number of games of a table in flight."""
    name = f"poke, {games} {plural(games)} in flight"
    target = FigureTarget(TIMES_A_LINE, of_ratio=True) if games == 32 else None
    return rates(name, ["bot.py", "play", str(games)], games, rounds, target)


def rates(
    name: str, bot: Sequence[str], games: int, rounds: int, target: FigureTarget | None
) -> Figure:
    """Return the decisions per second of two of these bots, compared with lines over TCP."""
    speeds: list[float] = []
    lines: list[float] = []
    with started(["-m", "referee"], bot, bot) as (referee, *bots), engine() as plain:
        boards = min(max(60, games * 8), 256)
        table(referee, bots, boards)
        for _ in range(rounds):
            played = table(referee, bots, boards)
            speeds.append(played.decisions / played.seconds)
            lines.append(1e6 / microseconds(plain, min(played.decisions, LINES)))
    return Figure(name, "decisions a second", speeds, A_LINE, lines, target)


def in_go(games: int, rounds: int) -> Figure:
    """Measure the same with two random Go bots built from their kit.

    They use little processor time, so that the figure mainly measures the referee.
    """
    name = f"poke, two bots in Go, {games} games in flight"
    go = shutil.which("go")
    if go is None:
        return left_out(name, "go is not installed")
    with tempfile.TemporaryDirectory(prefix="bench-go-") as folder:
        kit = Path(folder) / "kit"
        shutil.copytree(HERE.parent / "sample_bots" / "go", kit)
        source = kit / "kit" / "kit.go"
        usual = "const GamesInFlight = 16\n"
        source.write_text(source.read_text().replace(usual, f"const GamesInFlight = {games}\n"))
        built = subprocess.run(
            [go, "build", "-o", "bot", "./random"], cwd=kit, capture_output=True, text=True
        )
        if built.returncode:
            return left_out(name, f"go cannot build the bot: {built.stderr.strip()[-200:]}")
        bot = [str(kit / "bot")]
        target = FigureTarget(TIMES_A_LINE_IN_GO, of_ratio=True)
        return rates(name, bot, games, rounds, target)


def plural(games: int) -> str:
    """Return the noun for this number of games."""
    return "game" if games == 1 else "games"


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the cost of a decision: on the wire, by each method, and with many games in flight."""
    yield from wire(4 * rounds)
    for method in ("Play", "Act"):
        yield from overhead(method, rounds)
    for games in (1, 8, 32, 128):
        yield in_flight(games, rounds)
    yield in_go(128, rounds)
