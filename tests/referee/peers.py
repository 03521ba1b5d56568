"""HTTP/2 peers at real sockets that send the frames of a script."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any

from referee.rpc.channel import Channel
from referee.rpc.http2 import END_HEADERS, END_STREAM, PREFACE, FrameKind, block, frame, head_at
from referee.rpc.work_budget import WorkBudget

SETTINGS = frame(FrameKind.SETTINGS, 0, 0)
"""The first frame of a server."""
GOOD = block([(":status", "200"), ("content-type", "application/grpc")])
DONE = block([("grpc-status", "0")])
PATIENCE = 60.0

Script = Callable[["Peer"], Awaitable[None]]


class Peer:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def receive(self, *kinds: FrameKind) -> tuple[int, int, bytes]:
        """Return stream, flags and payload of the next frame of one of these kinds."""
        while True:
            head = await self._reader.readexactly(9)
            length, kind, flags, stream = head_at(head, 0)
            payload = await self._reader.readexactly(length)
            if kind in kinds:
                return stream, flags, payload

    async def send(self, *frames: bytes) -> None:
        """Send frames, which need not be valid."""
        # Not `writelines`: on Python 3.12.1 and 3.13.0 `drain` does not wait after it.
        self._writer.write(b"".join(frames))
        await self._writer.drain()

    async def answer(self, stream: int, message: bytes) -> None:
        await self.send(
            frame(FrameKind.HEADERS, END_HEADERS, stream, GOOD),
            frame(FrameKind.DATA, 0, stream, prefixed(message)),
            frame(FrameKind.HEADERS, END_HEADERS | END_STREAM, stream, DONE),
        )

    async def ended(self) -> bytes:
        with suppress(ConnectionError):
            return await self._reader.read()
        return b""


def prefixed(message: bytes, packed: bool = False) -> bytes:
    return bytes([packed]) + len(message).to_bytes(4, "big") + message


def trailers(headers: Iterable[tuple[str, str]], stream: int = 1) -> bytes:
    return frame(FrameKind.HEADERS, END_HEADERS | END_STREAM, stream, block(headers))


@asynccontextmanager
async def scripted_peer(script: Script, settings: bytes = SETTINGS) -> AsyncIterator[Channel]:
    """Run a script for each connection; yield the address.

    Fails if its bytes cause an error report of the event loop.
    """
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    connections: set[asyncio.Task[None] | None] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.add(asyncio.current_task())
        try:
            assert await reader.readexactly(len(PREFACE)) == PREFACE
            writer.write(settings)
            await script(Peer(reader, writer))
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    with tempfile.TemporaryDirectory() as folder:
        server = await asyncio.start_unix_server(serve, f"{folder}/peer")
        channel = Channel(f"unix:{folder}/peer", "a.Service", WorkBudget())
        try:
            async with asyncio.timeout(PATIENCE):
                yield channel
        finally:
            await channel.close()
            server.close()
            for task in connections:
                if task is not None:
                    task.cancel()
            await asyncio.gather(*(task for task in connections if task), return_exceptions=True)
    assert complaints == []
