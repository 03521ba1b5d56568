"""What a decision costs, from the referee to the bot and back, beside raw gRPC.

    uv run python -m bench.decisions

Peer: raw gRPC, that is as many messages of the same size and make between the same kind of client
(grpc.aio) and server (grpc.server with threads) that do nothing else, alternately with two servers
as a table has two bots. Peer and table take turns within one run, because rates drift; the figure
is the median of their ratios.
"""

import argparse
import asyncio
import queue
import random
import statistics
import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import grpc
import grpc.aio
from pokearena.v1 import bot_pb2, bot_pb2_grpc, referee_pb2, referee_pb2_grpc

from bench.processes import started
from referee.alarm import Alarm
from referee.channel import Channel
from referee.codec import Codec
from referee.dealing import Seeded, board_seed
from referee.games.registry import find

RATIO = 1.2
PER_SECOND = 20_000


def typical(game_id: str, games: int = 40) -> tuple[bot_pb2.PlayRequest, bot_pb2.PlayResponse]:
    """The question of random games that is nearest to the mean size, and its answer."""
    game = find(game_id)
    codec = Codec(game)
    chance = random.Random(1)
    asked: list[tuple[bot_pb2.ActRequest, bot_pb2.Action]] = []
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
                asked.append((bot_pb2.ActRequest.FromString(data), action))
            state = state.play(moves)
    mean = statistics.mean(question.ByteSize() for question, _ in asked)
    question, action = min(asked, key=lambda one: abs(one[0].ByteSize() - mean))
    answer = bot_pb2.ActResponse(game=question.game, decision=50, action=action)
    return bot_pb2.PlayRequest(questions=[question]), bot_pb2.PlayResponse(answers=[answer])


async def ping_pong(
    addresses: Sequence[str], method: str, question: bot_pb2.PlayRequest, number: int
) -> float:
    """Microseconds a message and its answer take between gRPC peers that do nothing else."""
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
    """The same by ``Play`` with the referee's own client, each message under a time limit."""
    service = bot_pb2.DESCRIPTOR.services_by_name["BotService"].full_name
    channels = [Channel(address, service) for address in addresses]
    alarm = Alarm()
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


def table(
    referee: str, bots: Sequence[str], boards: int, game: str = "poke", watch_ms: int = 0
) -> tuple[int, float]:
    """Plays a table; decisions and seconds, counted from the end of its first game."""
    order = referee_pb2.Table(
        match="m-0123456789",
        game=game,
        seats=[referee_pb2.Seat(address=bot, bank_ms=10_000) for bot in bots],
        boards=[
            referee_pb2.Board(game=b, number=b, seed=board_seed(bytes(32), b))
            for b in range(boards)
        ],
        start_ms=10_000,
        allowance_ms=200,
        watch_ms=watch_ms,
    )
    requests: queue.SimpleQueue[referee_pb2.RunTableRequest | None] = queue.SimpleQueue()
    requests.put(referee_pb2.RunTableRequest(table=order))
    decisions, began, ended = 0, 0.0, 0.0
    with grpc.insecure_channel(referee) as channel:
        stub = referee_pb2_grpc.RefereeServiceStub(channel)
        for event in stub.RunTable(iter(requests.get, None), wait_for_ready=True):
            if event.WhichOneof("event") == "game":
                ended = time.perf_counter()
                if began:
                    decisions += event.game.record.count('"type":"action"')
                began = began or ended
                if '"finished","finished"' not in event.game.record:
                    raise SystemExit(f"a bot faulted: {event.game.record[-500:]}")
    requests.put(None)
    return decisions, ended - began


def wire(rounds: int, number: int = 500) -> None:
    """Prints what the referee's client and grpc.aio take for the same messages."""
    question, answer = typical("poke")
    echo = ["echo.py", answer.SerializeToString().hex()]
    with started(echo, echo) as echoes:
        asyncio.run(ping_pong(echoes, "Play", question, number))
        times: list[tuple[float, float, float, float]] = []
        for _ in range(rounds):
            cpu = [time.process_time()]
            theirs = asyncio.run(ping_pong(echoes, "Play", question, number))
            cpu.append(time.process_time())
            ours = asyncio.run(ping_pong_of_ours(echoes, question, number))
            cpu.append(time.process_time())
            spent = [1e6 * (after - before) / number for before, after in pairwise(cpu)]
            times.append((ours, theirs, spent[1], spent[0]))
    middle = [statistics.median(some) for some in zip(*times, strict=True)]
    ratios = [ours / theirs for ours, theirs, _, _ in times]
    busy = [ours / theirs for _, _, ours, theirs in times]
    print(
        f"a message and its answer by the referee's client: {middle[0]:.0f} us, by grpc.aio "
        f"{middle[1]:.0f} us: {statistics.median(ratios):.2f} x "
        f"({min(ratios):.2f} to {max(ratios):.2f}); of the processor {middle[2]:.0f} us, "
        f"{middle[3]:.0f} us: {statistics.median(busy):.2f} x ({min(busy):.2f} to {max(busy):.2f})"
    )


def overhead(method: str, rounds: int, boards: int) -> None:
    """Prints what a decision costs beside a ping-pong by the same method."""
    question, answer = typical("poke")
    bot = ["bot.py", "play", "1"] if method == "Play" else ["bot.py", "act"]
    echo = ["echo.py", answer.SerializeToString().hex()]
    with started(["-m", "referee"], bot, bot, echo, echo) as (referee, *others):
        ratios = []
        table(referee, others[:2], boards)
        for _ in range(rounds):
            decisions, seconds = table(referee, others[:2], boards)
            ours = 1e6 * seconds / decisions
            theirs = asyncio.run(ping_pong(others[2:], method, question, decisions))
            ratios.append((ours / theirs, ours, theirs))
    ratio, ours, theirs = sorted(ratios)[len(ratios) // 2]
    verdict = "ok" if ratio <= RATIO else "MISSED"
    print(
        f"{method:5} one at a time: {ours:6.0f} us a decision, raw {theirs:6.0f} us "
        f"({question.ByteSize()} and {answer.ByteSize()} bytes): {ratio:.2f} x "
        f"({min(ratios)[0]:.2f} to {max(ratios)[0]:.2f}); target {RATIO}: {verdict}"
    )


def in_flight(games: int, rounds: int) -> None:
    """Prints decisions a second with so many games of a table in flight."""
    bot = ["bot.py", "play", str(games)]
    with started(["-m", "referee"], bot, bot) as (referee, *bots):
        boards = max(60, games * 8)
        table(referee, bots, boards)
        rates = []
        for _ in range(rounds):
            decisions, seconds = table(referee, bots, boards)
            rates.append(decisions / seconds)
    middle = statistics.median(rates)
    said = f"; target {PER_SECOND}: {'ok' if middle >= PER_SECOND else 'MISSED'}"
    print(
        f"{games:4} games in flight: {middle:8.0f} decisions a second "
        f"({min(rates):.0f} to {max(rates):.0f}){said if games == 32 else ''}"
    )


def main() -> None:
    """Prints all figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    wire(4 * rounds)
    for method in ("Play", "Act"):
        overhead(method, rounds, boards=30)
    for games in (1, 8, 32, 128):
        in_flight(games, rounds)


if __name__ == "__main__":
    main()
