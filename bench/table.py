"""Run a table with a real referee and real bots for measurements."""

import queue
import time
from collections.abc import Sequence
from dataclasses import dataclass

import grpc
from pokearena.v1 import referee_pb2, referee_pb2_grpc

from referee.games.shared.dealing import board_seed


@dataclass(frozen=True, slots=True)
class TableSpeed:
    """Games, decisions and seconds after the first game, which serves as a warm-up."""

    games: int
    decisions: int
    seconds: float


def table(
    referee: str, bots: Sequence[str], boards: int, game: str = "poke", watch_ms: int = 0
) -> TableSpeed:
    """Play a table; the measurement begins at the end of its first game."""
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
    games, decisions, began, ended = 0, 0, 0.0, 0.0
    with grpc.insecure_channel(referee) as channel:
        stub = referee_pb2_grpc.RefereeServiceStub(channel)
        for event in stub.RunTable(iter(requests.get, None), wait_for_ready=True):
            if event.WhichOneof("event") == "game":
                ended = time.perf_counter()
                if began:
                    games += 1
                    decisions += event.game.record.count('"type":"action"')
                began = began or ended
                if '"finished","finished"' not in event.game.record:
                    raise SystemExit(f"a bot faulted: {event.game.record[-500:]}")
    requests.put(None)
    return TableSpeed(games, decisions, ended - began)
