"""An event loop on virtual time, whose connections end in a scripted server in memory.

Nothing here opens a socket or waits: when all tasks wait, the loop lets the server act, and if
the server has nothing to do, it moves its clock to the next timer.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final, Protocol

STEPS: Final = 100_000
"""Iterations of the loop after which a conversation counts as a hang."""
PAUSE_BYTES: Final = 64 << 10
"""Unsent bytes above which a transport pauses its writer, as asyncio's do."""


class Hang(AssertionError):
    """All tasks wait for an event that never comes, or never stop working."""


class Server(Protocol):
    def act(self, now: float) -> bool:
        """Do one thing at this virtual time; return False if there is nothing to do now."""

    def sleep_seconds(self, now: float) -> float | None:
        """Return the seconds until `act` has something to do; None if there is nothing."""

    def accept(self, transport: "MemoryTransport") -> bool:
        """Take a new connection; return False to refuse it."""


class MemoryTransport(asyncio.Transport):
    """The client's end of a connection.

    Attributes:
        protocol: receives what the server sends.
        reading: whether the client reads; False after `pause_reading`.
        open: whether neither side has closed the connection.
        unsent: bytes that the server has not read.
        server_reads: whether the server reads what the client writes.
    """

    def __init__(self, loop: "VirtualLoop", protocol: asyncio.Protocol) -> None:
        super().__init__()
        self.protocol = protocol
        self.reading = True
        self.open = True
        self.unsent = 0
        self.server_reads = True
        self._loop = loop
        self._paused = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Count the bytes as unsent if the server does not read."""
        if self.open and not self.server_reads:
            self.unsent += len(data)
            if self.unsent > PAUSE_BYTES and not self._paused:
                self._paused = True
                self.protocol.pause_writing()

    def read_all(self) -> None:
        """Let the server read everything that was written, and everything written later."""
        self.server_reads = True
        self.unsent = 0
        if self._paused:
            self._paused = False
            self.protocol.resume_writing()

    def get_write_buffer_size(self) -> int:
        """Return the bytes that the server has not read."""
        return self.unsent

    def pause_reading(self) -> None:
        """Deliver nothing until `resume_reading`."""
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def is_closing(self) -> bool:
        return not self.open

    def abort(self) -> None:
        """Close the connection; the protocol is informed in the next iteration."""
        self.hang_up(None)

    def hang_up(self, error: Exception | None) -> None:
        """Close the connection for a reason, as the server or the network does."""
        if self.open:
            self.open = False
            self.unsent = 0
            self._loop.call_soon(self.protocol.connection_lost, error)


class VirtualLoop(asyncio.BaseEventLoop):
    """An event loop without a selector, sockets and a real clock.

    Attributes:
        errors: contexts of the loop's exception handler: errors of tasks, futures and callbacks
            that nothing caught.
    """

    def __init__(self, server: Server) -> None:
        super().__init__()
        self.errors: list[dict[str, Any]] = []
        self._selector = self
        self._server = server
        self._now = 0.0
        self._steps = 0
        self.set_exception_handler(lambda _, context: self.errors.append(context))

    def time(self) -> float:
        return self._now

    def select(self, timeout: float | None) -> list[object]:
        """Let the server act, or advance the time, instead of waiting for sockets.

        Raises:
            Hang: the server and all timers are idle, or there were too many iterations.
        """
        self._steps += 1
        if self._steps > STEPS:
            raise Hang(f"the loop is still busy after {STEPS:,} iterations")
        if timeout == 0 or self._server.act(self._now):
            return []
        pauses = [pause for pause in (timeout, self._server.sleep_seconds(self._now)) if pause]
        if not pauses:
            raise Hang("all tasks wait without a time limit")
        self._now += min(pauses)
        return []

    def _process_events(self, events: list[object]) -> None:
        """Do nothing: `select` never returns events."""

    def _write_to_self(self) -> None:
        """Do nothing: no other thread calls the loop."""

    async def create_connection(  # type: ignore[override]
        self, factory: Callable[[], asyncio.Protocol], host: str, port: int
    ) -> tuple[MemoryTransport, asyncio.Protocol]:
        """Connect to the server.

        Raises:
            ConnectionRefusedError: the server refuses.
        """
        protocol = factory()
        transport = MemoryTransport(self, protocol)
        if not self._server.accept(transport):
            raise ConnectionRefusedError("refused")
        protocol.connection_made(transport)
        await asyncio.sleep(0)
        return transport, protocol
