"""Those who look at the pages, as many as are asked for: sockets, and the times they measure."""

import asyncio
import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Times:
    """Milliseconds."""

    all: list[float] = field(default_factory=list)

    def told(self) -> str:
        """How many, the median and the 95th percentile."""
        if len(self.all) < 20:
            return f"{len(self.all)} only"
        cuts = statistics.quantiles(self.all, n=20)
        return (
            f"{len(self.all):6}  p50 {statistics.median(self.all):7.1f} ms"
            f"  p95 {cuts[-1]:7.1f} ms  most {max(self.all):7.1f} ms"
        )


async def watch(port: int, path: str, times: Times, begun: asyncio.Semaphore) -> None:
    """One who looks at a live page until cancelled, noting how old news are when they come."""
    async with begun:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**22)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: bench\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        assert b" 200 " in head.splitlines()[0], head
    is_first = True
    try:
        while line := await reader.readline():
            if line.startswith(b"data: "):
                # What everybody gets who comes is no news.
                if not is_first:
                    told = float(line[len(b'data: {"at": ') :].partition(b",")[0])
                    times.all.append(1000 * (time.time() - told))
                is_first = False
    finally:
        writer.close()


async def page(port: int, path: str) -> tuple[float, int]:
    """Asks for a page over a connection of its own: milliseconds, and its bytes."""
    began = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**22)
    request = f"GET {path} HTTP/1.1\r\nHost: bench\r\nAccept-Encoding: gzip\r\n"
    writer.write((request + "Connection: close\r\n\r\n").encode())
    answer = await reader.read()
    writer.close()
    assert b" 200 " in answer[:20], answer[:200]
    return 1000 * (time.perf_counter() - began), len(answer)


async def browse(port: int, paths: Sequence[str], pause: float, times: Times) -> None:
    """Asks for one page after the other until cancelled."""
    number = 0
    while True:
        took, _ = await page(port, paths[number % len(paths)])
        times.all.append(took)
        number += 1
        await asyncio.sleep(pause)


def document(text: bytes) -> object:
    """JSON."""
    return json.loads(text)
