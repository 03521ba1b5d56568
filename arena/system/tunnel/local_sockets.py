"""A worker's end of the tunnel: local sockets that lead to a relay on another machine.

    referee --> local socket ==stream==> worker endpoint --> seat           relay's machine
    worker  --> local socket ==stream==> worker endpoint --> control API
    heartbeat ==================stream==> worker endpoint, and back

The heartbeat makes a round trip twice a second. If it is late, the network may have caused a
bot's fault in the meantime.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final, TypeVar

from arena.errors import InfrastructureError
from arena.system import socket_paths, temporary_folder
from arena.system.tunnel.endpoint import TunnelEndpoint
from arena.system.tunnel.stream import ECHO, TunnelStream, TunnelUnavailable, dial, join

BEAT_SECONDS: Final = 0.5
LATE_SECONDS: Final = 2.0
"""Round-trip time above which the tunnel counts as delayed, in seconds.

Faults of bots behind a delayed tunnel do not count.
"""
LOST_SECONDS: Final = 10.0
"""Round-trip time after which the heartbeat, and with it the tunnel, counts as lost, in seconds."""
_LONGEST_DIRECTORY: Final = 70
_Result = TypeVar("_Result")


class Tunnel:
    """Local sockets that lead to a relay on another machine. Thread-safe.

    Args:
        endpoint: the tunnel endpoint of the relay.
        on_lost: called once with a sentence when the tunnel is lost, from a thread of its own; it
            must return at once.

    Raises:
        TunnelUnavailable: the relay cannot be reached.
    """

    def __init__(self, endpoint: TunnelEndpoint, on_lost: Callable[[str], None]) -> None:
        self._endpoint = endpoint
        self._on_lost = on_lost
        self._servers: dict[str, asyncio.Server] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._late = self._closed = False
        self._lost = ""
        self._beat_lock = asyncio.Lock()
        self._directory = _private_directory()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="tunnel", daemon=True)
        self._thread.start()
        try:
            self._echo = self._do(dial(endpoint, ECHO))
            self._do(self._begin())
        except BaseException:
            self.close()
            raise

    def address(self, name: str) -> str:
        """Return a local gRPC address for the control API or for the seat with this socket name."""
        return self._do(self._listen(name))

    def vouch(self) -> None:
        """Check with a heartbeat that the tunnel has never been delayed since it was opened.

        Raises:
            InfrastructureError: the tunnel was delayed or is lost; a fault of the bot does not
                count.
        """
        if not self._late:
            self._do(self._beat())
        if self._lost:
            raise InfrastructureError(self._lost, code="tunnel-lost")
        if self._late:
            raise InfrastructureError(
                f"the tunnel to the relay at {self._endpoint.address} was delayed by more than "
                f"{LATE_SECONDS:g} s, and a bot that uses it had a fault afterwards.",
                code="tunnel-late",
            )

    def close(self) -> None:
        """Close the tunnel and all its streams."""
        if self._closed:
            return
        self._closed = True
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        temporary_folder.remove(self._directory)

    def _do(self, coroutine: Coroutine[Any, Any, _Result]) -> _Result:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    async def _begin(self) -> None:
        self._keep(asyncio.create_task(self._keep_beating()))

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _keep_beating(self) -> None:
        try:
            while not self._lost:
                await self._beat()
                await asyncio.sleep(BEAT_SECONDS)
        finally:
            self._echo.abort()

    async def _beat(self) -> None:
        async with self._beat_lock:
            began = self._loop.time()
            try:
                async with asyncio.timeout(LOST_SECONDS):
                    self._echo.writer.write(b".")
                    await self._echo.reader.readexactly(1)
            except (OSError, EOFError, TimeoutError):
                self._lose()
            self._late = self._late or self._loop.time() - began > LATE_SECONDS

    def _lose(self) -> None:
        if not (self._lost or self._closed):
            self._lost = f"the tunnel to the relay at {self._endpoint.address} was lost."
            self._on_lost(self._lost)

    async def _listen(self, name: str) -> str:
        socket = self._directory / name

        async def handle_connection(
            reader: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._keep(task)
            # If a task of asyncio's server is cancelled, asyncio logs an error.
            with contextlib.suppress(asyncio.CancelledError):
                await self._forward(name, TunnelStream(reader, writer))

        if name not in self._servers:
            self._servers[name] = await asyncio.start_unix_server(handle_connection, socket)
        return f"unix:{socket}"

    async def _forward(self, name: str, local: TunnelStream) -> None:
        try:
            await join(local, await dial(self._endpoint, name))
        except TunnelUnavailable:
            self._lose()
        finally:
            local.abort()

    async def _end(self) -> None:
        for server in self._servers.values():
            server.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # The event loop closes the connections in its next iteration.
        await asyncio.sleep(0)


def _private_directory() -> Path:
    """Create a directory for sockets where the referee can reach it.

    It is in /tmp if the path would be too long for a Unix socket address, or not plain in it.
    """
    base = tempfile.gettempdir()
    fits = len(base) <= _LONGEST_DIRECTORY and socket_paths.is_plain(base)
    return temporary_folder.create(Path(base if fits else "/tmp"), temporary_folder.PREFIX)
