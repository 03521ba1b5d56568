"""Measure the processor time per unit of the work budget, for each kind of input.

    uv run python -m bench work_budget

The referee's connection reads 1 MiB of each kind of flood, in pieces as a socket delivers them, and
a client parses the largest legal message. The figure is processor time per unit of cost
(referee/rpc/work_budget.py). The weights are upper bounds, so each figure should be at most one
microsecond. A much lower figure means that bots are charged more than the actual cost.
"""

import asyncio
import math
import time
from collections.abc import Iterator

from pokearena.v1 import bot_pb2

from bench.figure import Figure, FigureTarget
from referee.rpc.connection import Connection
from referee.rpc.http2 import FrameKind, frame
from referee.rpc.work_budget import MESSAGE, MESSAGE_BYTE, WorkBudget

BYTES = 1 << 20
PIECE_BYTES = 1 << 16
MOST_MICROSECONDS = 1.0
_SETTINGS = frame(FrameKind.SETTINGS, 0, 0)
_FLOODS = {
    "full SETTINGS frames": frame(FrameKind.SETTINGS, 0, 0, bytes([0, 9, 0, 0, 0, 1]) * 2730),
    "empty SETTINGS frames": _SETTINGS,
    "PING frames": frame(FrameKind.PING, 0, 0, bytes(8)),
    "WINDOW_UPDATE frames": frame(FrameKind.WINDOW_UPDATE, 0, 0, b"\0\0\0\1"),
    "PRIORITY frames": frame(FrameKind.PRIORITY, 0, 1, bytes(5)),
    "unknown frames": frame(FrameKind.PING, 0, 1)[:3] + b"\x20" + bytes(5),
    "large unknown frames": (16384).to_bytes(3, "big") + b"\x20" + bytes(5) + bytes(16384),
}


class _Unread(asyncio.Transport):
    """A transport whose peer reads everything at once."""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def abort(self) -> None:
        raise AssertionError("the connection was broken off: this flood is not what it should be")


def figures(rounds: int) -> Iterator[Figure]:
    """Yield a figure for each kind of input.

    Args:
        rounds: number of measurements of each kind.
    """
    target = FigureTarget(MOST_MICROSECONDS, at_most=True)
    for name, flood in _FLOODS.items():
        values = [asyncio.run(_read(flood)) for _ in range(rounds)]
        yield Figure(f"a unit of {name}", "us", values, target=target)
    for name, make in (("answers without content", _empty), ("answers of poke", _poke)):
        values = [_parse(make()) for _ in range(rounds)]
        yield Figure(f"a unit of a message of {name}", "us", values, target=target)


async def _read(flood: bytes) -> float:
    """Return the microseconds per unit that a connection takes to read a flood."""
    budget = WorkBudget(math.inf)
    connection = Connection(budget)
    connection.connection_made(_Unread())
    connection.data_received(_SETTINGS)
    data = flood * (BYTES // len(flood))
    spent, began = budget.spent, time.process_time()
    for at in range(0, len(data), PIECE_BYTES):
        connection.data_received(data[at : at + PIECE_BYTES])
        # The event loop reads the remainder that exceeds a time slice.
        while connection._backlog:
            await asyncio.sleep(0)
    took = time.process_time() - began
    return 1e6 * took / (budget.spent - spent)


def _parse(message: bytes) -> float:
    times = 20
    began = time.process_time()
    for _ in range(times):
        for answer in bot_pb2.PlayResponse.FromString(message).answers:
            _ = answer.game, answer.decision, answer.action
    took = (time.process_time() - began) / times
    return 1e6 * took / (MESSAGE + MESSAGE_BYTE * len(message))


def _empty() -> bytes:
    return bot_pb2.PlayResponse(answers=[bot_pb2.ActResponse()] * 8192).SerializeToString()


def _poke() -> bytes:
    answer = bot_pb2.ActResponse(game=127, decision=1000)
    answer.action.poke.SetInParent()
    return bot_pb2.PlayResponse(answers=[answer] * 1024).SerializeToString()
