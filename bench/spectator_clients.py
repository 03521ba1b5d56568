"""Simulated spectators of the web pages: sockets, and the times they measure."""

import asyncio
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

_STAMP = b'data: {"at": '


@dataclass
class LatencySamples:
    """Measured times in milliseconds."""

    all: list[float] = field(default_factory=list)

    def summary(self) -> str:
        """Return the count, the median, the 95th percentile and the maximum as text."""
        if len(self.all) < 20:
            return f"{len(self.all)} only"
        cuts = statistics.quantiles(self.all, n=20)
        return (
            f"{len(self.all):6}  p50 {statistics.median(self.all):7.1f} ms"
            f"  p95 {cuts[-1]:7.1f} ms  most {max(self.all):7.1f} ms"
        )


class Watching(asyncio.Protocol):
    """Spectator of a live page that records the age of events on arrival.

    Events are not processed further: hundreds of spectators share one process, and its core is
    shared with the measured server.
    """

    def __init__(self, path: str, times: LatencySamples) -> None:
        self._path = path
        self._times = times
        self._is_first = True
        self.begun = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Request the event stream."""
        assert isinstance(transport, asyncio.WriteTransport)
        self.transport = transport
        transport.write(f"GET {self._path} HTTP/1.1\r\nHost: bench\r\n\r\n".encode())

    def data_received(self, data: bytes) -> None:
        """Compute the age of an event from its time stamp."""
        at = data.find(_STAMP)
        if at < 0:
            return
        # The first event is the state that every new spectator receives, not an update.
        if self._is_first:
            self._is_first = False
            self.begun.set_result(None)
            return
        stamp = float(data[at + len(_STAMP) :].partition(b",")[0])
        self._times.all.append(1000 * (time.time() - stamp))

    def connection_lost(self, exc: Exception | None) -> None:
        """Report a connection that closed before its first event."""
        if not self.begun.done():
            self.begun.set_exception(ConnectionError("no news"))


async def watch(port: int, path: str, times: LatencySamples, begun: asyncio.Semaphore) -> None:
    """Watch a live page until cancelled."""
    loop = asyncio.get_running_loop()
    async with begun:
        connection = loop.create_connection(lambda: Watching(path, times), "127.0.0.1", port)
        transport, watching = await connection
        await watching.begun
    try:
        await loop.create_future()
    finally:
        transport.close()


async def page(port: int, path: str) -> tuple[float, int]:
    """Request a page over a new connection; return milliseconds and the size in bytes."""
    began = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**22)
    request = f"GET {path} HTTP/1.1\r\nHost: bench\r\nAccept-Encoding: gzip\r\n"
    writer.write((request + "Connection: close\r\n\r\n").encode())
    answer = await reader.read()
    writer.close()
    assert b" 200 " in answer[:20], answer[:200]
    return 1000 * (time.perf_counter() - began), len(answer)


async def browse(port: int, paths: Sequence[str], pause: float, times: LatencySamples) -> None:
    """Request one page after the other until cancelled."""
    number = 0
    while True:
        took, _ = await page(port, paths[number % len(paths)])
        times.all.append(took)
        number += 1
        await asyncio.sleep(pause)
