"""Drive the referee's HTTP/2 client with arbitrary bytes as what a bot's server sends.

An input is one byte of options (`Options`) and then chunks. Each chunk is what the server does
once the referee waits for it: `SEPARATOR`, one byte that names the action (`ServerAction`) and its
amount, and the bytes it sends. A separator, not a length, ends a chunk, so that a mutation of one
chunk leaves the others as they are.

To reproduce a failure without atheris:

    uv run python -m tests.fuzz.http2_target FILE

`drive` plays the conversation of a table with the real `referee.tables.bot_client.BotClient`:
Start, some messages of questions (by ``Play``, or by ``Act`` where the stream fails), End. It
returns the outcomes and raises AssertionError for everything that must not happen.
"""

import argparse
import asyncio
import gc
from collections import deque
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from pathlib import Path
from typing import Final

from pokearena.v1 import bot_pb2, poke_pb2

from referee.games.contract import ListedLegal
from referee.rpc.call import MESSAGE_BYTES, Call
from referee.rpc.channel import Channel
from referee.rpc.connection import REPLY_BYTES, Connection
from referee.rpc.http2 import FRAME_BYTES, HEAD_BYTES, HEADERS_BYTES, WINDOW_BYTES, head_at
from referee.rpc.work_budget import CONNECTION, FRAME, FRAME_BYTE, LARGEST, READ, WorkBudget
from referee.running_game import OpenQuestion
from referee.tables.bot_client import BotClient, FailureKind, NoAnswer
from referee.tables.stall_detector import ProcessStalled
from tests.fuzz.virtual_loop import MemoryTransport, VirtualLoop

SEPARATOR: Final = b"\xff\xfd"
ADDRESS: Final = "bot:1"
START_SECONDS: Final = 5.0
QUESTION_SECONDS: Final = 1.0
SHAPES: Final = ((1,), (1, 2, 1), (3, 3), (1, 1, 1, 1, 1), (200, 1), (2, 8), (1, 1), (16,))
"""Number of questions in each message; 200 questions grant the largest budget."""
LARGE_BYTES: Final = 120 << 10
"""Size of a large message of questions: more than the server's initial window."""
RECEIVED_BYTES: Final = 256 << 10
"""Maximum number of bytes that asyncio reads from a socket at a time."""
CONNECTIONS: Final = 3
"""Maximum number of open connections: one per call, and one for new calls."""
CALLS: Final = 2
"""Maximum number of simultaneous calls: the stream, and a single message."""
SENT_BYTES: Final = 256 << 10
"""Maximum number of bytes that the client sends besides replies."""


class ServerAction(IntEnum):
    """Actions of the server with the bytes of a chunk. The amount is from 0 to 31."""

    SEND = 0
    """Send the bytes together."""
    PIECES = 1
    """Send the bytes in pieces of amount + 1 bytes."""
    REPEAT = 2
    """Send the bytes 2 ** (amount % 16) times, at most `RECEIVED_BYTES`, together."""
    CLOSE = 3
    """Send the bytes and close the connection; an odd amount resets it."""
    STALL = 4
    """Send the bytes, and stop reading from the referee."""
    READ = 5
    """Send the bytes, and continue to read."""
    WAIT = 6
    """Send the bytes after 0.1 s times the amount."""
    REFUSE = 7
    """Send the bytes, and refuse this number of the next connections."""


@dataclass(frozen=True, slots=True)
class Options:
    start: bool
    """Whether the conversation begins with Start."""
    shape: tuple[int, ...]
    """Number of questions in each message."""
    large: bool
    """Whether each message of questions has `LARGE_BYTES`."""

    @classmethod
    def of(cls, value: int) -> "Options":
        return cls(not value & 1, SHAPES[value >> 1 & 7], bool(value & 16))

    @property
    def value(self) -> int:
        return (not self.start) | SHAPES.index(self.shape) << 1 | self.large << 4


@dataclass(slots=True)
class Chunk:
    action: ServerAction
    amount: int
    data: bytes


def decoded(data: bytes) -> tuple[Options, list[Chunk]]:
    first, *rest = data[1:].split(SEPARATOR)
    chunks = [Chunk(ServerAction.SEND, 0, first)] if first else []
    for part in rest:
        value = part[0] if part else 0
        chunks.append(Chunk(ServerAction(value & 7), value >> 3, part[1:]))
    return Options.of(data[0] if data else 0), chunks


def encoded(options: Options, chunks: list[Chunk]) -> bytes:
    parts = [SEPARATOR + bytes([chunk.action | chunk.amount << 3]) + chunk.data for chunk in chunks]
    return bytes([options.value]) + b"".join(parts)


@lru_cache
def questions(options: Options) -> list[list[OpenQuestion]]:
    legal = [bot_pb2.Action(poke=poke_pb2.PokeAction())]
    return [
        [
            OpenQuestion(
                game,
                decision,
                bot_pb2.ActRequest(
                    match="m" * (LARGE_BYTES // count if options.large else 1),
                    game=game,
                    decision=decision,
                    legal=legal,
                    complete=True,
                ).SerializeToString(),
                ListedLegal((), False),
                bank_ms=0,
                allowance_ms=0.0,
            )
            for game in range(count)
        ]
        for decision, count in enumerate(options.shape)
    ]


@dataclass(slots=True, eq=False)
class Link:
    transport: MemoryTransport
    connection: Connection
    received: bytes = b""
    """Bytes that the client has read, from the first incomplete frame of the last check."""


class ScriptedServer:
    """A server that follows chunks, and checks the state of the client before each."""

    def __init__(self, chunks: list[Chunk], budget: WorkBudget) -> None:
        self._budget = budget
        self._chunks = deque(chunks)
        self._pieces: deque[bytes] = deque()
        self._last: Chunk | None = None
        """The chunk with pieces left to send."""
        self._links: list[Link] = []
        self._refusals = 0
        self._until = 0.0
        """The time at which the server acts again."""
        self._least_cost = 0.0
        self._calls: set[Call] = set()
        """Calls that were open at the latest check."""

    def accept(self, transport: MemoryTransport) -> bool:
        self._least_cost += CONNECTION
        if self._refusals:
            self._refusals -= 1
            return False
        assert isinstance(transport.protocol, Connection)
        self._links.append(Link(transport, transport.protocol))
        return True

    def sleep_seconds(self, now: float) -> float | None:
        return self._until - now if self._until > now else None

    def act(self, now: float) -> bool:
        """Send the next piece on the newest connection, if it is open and the client reads."""
        self.check()
        if not self._links or self._until > now:
            return False
        current = self._links[-1]
        if not current.transport.open or not current.transport.reading:
            return False
        if self._last is None:
            if not self._chunks:
                return False
            self._begin(self._chunks.popleft(), current.transport, now)
            return True
        if self._pieces:
            self._send(current, self._pieces.popleft())
        if not self._pieces:
            chunk, self._last = self._last, None
            if chunk.action is ServerAction.CLOSE:
                current.connection.eof_received()
                current.transport.hang_up(
                    ConnectionResetError("reset") if chunk.amount & 1 else None
                )
        return True

    def _begin(self, chunk: Chunk, transport: MemoryTransport, now: float) -> None:
        self._last = chunk
        data, amount = chunk.data, chunk.amount
        match chunk.action:
            case ServerAction.PIECES:
                size = amount + 1
                self._pieces.extend(data[at : at + size] for at in range(0, len(data), size))
                return
            case ServerAction.REPEAT:
                times = min(1 << amount % 16, RECEIVED_BYTES // max(1, len(data)))
                data *= max(1, times)
            case ServerAction.STALL:
                transport.server_reads = False
            case ServerAction.READ:
                transport.read_all()
            case ServerAction.WAIT:
                self._until = now + 0.1 * amount
            case ServerAction.REFUSE:
                self._refusals = amount
            case _:
                pass
        self._pieces.extend(
            data[at : at + RECEIVED_BYTES] for at in range(0, len(data), RECEIVED_BYTES)
        )

    def _send(self, link: Link, data: bytes) -> None:
        if data:
            self._least_cost += READ
            link.received += data
            link.connection.data_received(data)

    def check(self) -> None:
        """Check the bounds of memory, the charges for received bytes, and the waiting tasks.

        Raises:
            AssertionError: memory exceeds its bound, a charge is too low, or a task waits for
                something that is available.
        """
        for link in self._links:
            check_senders(link.connection)
        for call in self._calls:
            check_reader(call)
        self._calls = {call for call in self._calls if call.status is None}
        self._links = [link for link in self._links if link.transport.open]
        assert len(self._links) <= CONNECTIONS, f"{len(self._links)} open connections"
        for link in self._links:
            check_memory(link.connection, link.transport.unsent)
            self._calls.update(link.connection._calls.values())
            if link.transport.reading:
                cost, link.received = whole_frames(link.received)
                self._least_cost += cost
        budget = self._budget
        if not budget.exceeded:
            assert budget.left <= LARGEST
            assert budget.spent >= 0.999 * self._least_cost, (
                f"{budget.spent} units were charged for what costs {self._least_cost}"
            )


def whole_frames(received: bytes) -> tuple[float, bytes]:
    """Return the least cost of the whole frames at the beginning, and the bytes after them."""
    cost, at = 0.0, 0
    while len(received) - at >= HEAD_BYTES:
        length = head_at(received, at)[0]
        if at + HEAD_BYTES + length > len(received):
            break
        cost += FRAME + FRAME_BYTE * length
        at += HEAD_BYTES + length
    return cost, received[at:]


def check_memory(connection: Connection, unsent: int) -> None:
    """Check that a connection stores a bounded number of its peer's bytes.

    Args:
        connection: an open connection.
        unsent: bytes that its peer does not read.
    """
    reader = connection._frames
    assert len(connection._backlog) <= RECEIVED_BYTES, "bytes that are not read yet"
    assert len(reader._rest) <= HEAD_BYTES + FRAME_BYTES, "a part of a frame"
    assert reader._block is None or len(reader._block[2]) <= HEADERS_BYTES, "headers"
    assert connection._headers._decoder.header_table_size <= 4096, "the table of headers"
    assert len(connection._calls) <= CALLS, "calls"
    assert len(connection._changes) <= CALLS, "tasks that wait"
    for call in connection._calls.values():
        assert len(call._buffer) <= MESSAGE_BYTES + WINDOW_BYTES, "messages of a call"
    assert unsent <= REPLY_BYTES + SENT_BYTES, "bytes that the bot does not read"


def check_reader(call: Call) -> None:
    """Check, when all tasks wait, that no task waits for a message or an end that has arrived."""
    if call._reader is not None:
        assert call.status is None, "a task waits for a call that has ended"
        length = int.from_bytes(call._buffer[1:5], "big")
        assert len(call._buffer) < 5 + length, "a task waits for a message that is there"


def check_senders(connection: Connection) -> None:
    """Check, when all tasks wait, that no task waits although it may send."""
    if connection._changes:
        assert connection._transport is not None, "a task waits for a connection that is lost"
        assert (
            not connection.flowing
            or connection.credit <= 0
            or any(call.credit <= 0 for call in connection._calls.values())
            or len(connection._calls) >= connection._most_calls
        ), "a task waits for credit that is there"


def check_clause(clause: str) -> None:
    """Check that a clause is short, printable and valid Unicode."""
    assert len(clause) <= 500, f"a clause of {len(clause)} characters"
    assert clause.isprintable(), f"a clause that is not printable: {clause!r}"
    clause.encode()


def drive(data: bytes) -> list[str]:
    """Play the conversation of an input; return the outcome of each message.

    Returns:
        "answered", "silent", "broken", "wrong" or "arena" (a failure of the arena), for Start
        and for each message of questions.

    Raises:
        AssertionError: a check failed.
        Exception: an exception that the client did not catch.
    """
    options, chunks = decoded(data)
    budget = WorkBudget()
    server = ScriptedServer(chunks, budget)
    loop = VirtualLoop(server)
    try:
        outcomes = loop.run_until_complete(_converse(options, budget))
        server.check()
        pending = asyncio.all_tasks(loop)
        assert not pending, f"tasks that were not ended: {pending}"
        timers = [timer for timer in loop._scheduled if not timer.cancelled()]  # type: ignore[attr-defined]
        assert not timers, f"timers that were not cancelled: {timers}"
        assert not server._links, "connections that were not closed"
    finally:
        loop.close()
    gc.collect(1)  # collecting a future with an unretrieved error reports the error
    assert not loop.errors, f"errors that nothing caught: {loop.errors}"
    return outcomes


async def _converse(options: Options, budget: WorkBudget) -> list[str]:
    bot = BotClient(ADDRESS, budget)
    assert isinstance(bot._channel, Channel)
    outcomes = []
    if options.start:
        outcomes.append(await _start(bot))
    if outcomes in ([], ["answered"]):
        outcomes += [await _ask(bot, message) for message in questions(options)]
    await bot.end("m")
    await bot.close()
    await asyncio.sleep(0)
    return outcomes


async def _start(bot: BotClient) -> str:
    try:
        await bot.start(bot_pb2.StartRequest(match="m", game="poke", seats=2), START_SECONDS)
    except NoAnswer as failure:
        return _failed(bot, failure)
    return "answered"


async def _ask(bot: BotClient, message: list[OpenQuestion]) -> str:
    answers: list[bot_pb2.ActResponse] = []
    try:
        await bot.ask(message, answers, QUESTION_SECONDS)
    except NoAnswer as failure:
        return _failed(bot, failure)
    except ProcessStalled:
        return "arena"
    keys = [(answer.game, answer.decision) for answer in answers]
    assert sorted(keys) == [(question.game, question.decision) for question in message]
    return "answered"


def _failed(bot: BotClient, failure: NoAnswer) -> str:
    check_clause(failure.clause)
    if bot.budget.exceeded:
        assert failure.kind is FailureKind.WRONG, f"the budget is exceeded, and {failure.clause}"
    return failure.kind.value


def main() -> None:
    """Run the input files of the command line and print their outcomes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", nargs="+", type=Path, help="an input, for example crash-HASH")
    for path in parser.parse_args().file:
        print(f"{path}: {', '.join(drive(path.read_bytes()))}")


if __name__ == "__main__":
    main()
