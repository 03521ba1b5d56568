"""A worker's end of the tunnel to a relay on another machine.

    referee --> socket here ==stream==> side door --> seat        the relay's machine
    worker  --> socket here ==stream==> side door --> desk
    beat    ===================stream==> side door, and back

The beat goes there and back twice a second. Where it is late, what a bot failed to do meanwhile
may be the cable's doing.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final, TypeVar

from arena import tunnel
from arena.bots import file_tree
from arena.bots.errors import InfrastructureError
from arena.tunnel import NoTunnel, Stream, Way

BEAT_SECONDS: Final = 0.5
LATE_SECONDS: Final = 2.0
"""What takes so long to come back was held up: no fault is believed any more of a bot that is
asked through here."""
LOST_SECONDS: Final = 10.0
"""What has not come back by then is lost, and the tunnel with it."""
_LONGEST_DIRECTORY: Final = 70
_Result = TypeVar("_Result")


class Tunnel:
    """Sockets here that lead to a relay elsewhere. Safe to use from many threads.

    on_lost: called once with a sentence when the tunnel is lost, from a thread of its own; it
        must return at once.

    Raises:
        NoTunnel: the relay cannot be reached.
    """

    def __init__(self, way: Way, on_lost: Callable[[str], None]) -> None:
        self._way = way
        self._on_lost = on_lost
        self._servers: dict[str, asyncio.Server] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._late = self._closed = False
        self._lost = ""
        self._turn = asyncio.Lock()
        self._directory = _private_directory()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="tunnel", daemon=True)
        self._thread.start()
        try:
            self._echo = self._do(tunnel.dial(way, tunnel.ECHO))
            self._do(self._begin())
        except BaseException:
            self.close()
            raise

    def address(self, name: str) -> str:
        """A gRPC address here for the desk, or for the seat whose socket has this name."""
        return self._do(self._listen(name))

    def vouch(self) -> None:
        """Returns if all that was sent since the tunnel was opened was carried without delay.

        Raises:
            InfrastructureError: it was late, or is lost; what a bot failed to do does not count.
        """
        if not self._late:
            self._do(self._beat())
        if self._lost:
            raise InfrastructureError(self._lost)
        if self._late:
            raise InfrastructureError(
                f"The tunnel to the relay at {self._way.address} was held up for more than "
                f"{LATE_SECONDS:g} s, and a bot that is asked through it had a fault afterwards."
            )

    def close(self) -> None:
        """Ends it, with all its streams."""
        if self._closed:
            return
        self._closed = True
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        file_tree.remove(self._directory)

    def _do(self, what: Coroutine[Any, Any, _Result]) -> _Result:
        return asyncio.run_coroutine_threadsafe(what, self._loop).result()

    # --- in the loop -------------------------------------------------------------------

    async def _begin(self) -> None:
        self._keep(asyncio.create_task(self._go_on_beating()))

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _go_on_beating(self) -> None:
        try:
            while not self._lost:
                await self._beat()
                await asyncio.sleep(BEAT_SECONDS)
        finally:
            self._echo.abort()

    async def _beat(self) -> None:
        async with self._turn:
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
            self._lost = f"The tunnel to the relay at {self._way.address} was lost."
            self._on_lost(self._lost)

    async def _listen(self, name: str) -> str:
        socket = self._directory / name

        async def come(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._keep(task)
            # A task of asyncio's server that ends as cancelled is logged as an error.
            with contextlib.suppress(asyncio.CancelledError):
                await self._lead(name, Stream(reader, writer))

        if name not in self._servers:
            self._servers[name] = await asyncio.start_unix_server(come, socket)
        return f"unix:{socket}"

    async def _lead(self, name: str, near: Stream) -> None:
        try:
            await tunnel.join(near, await tunnel.dial(self._way, name))
        except NoTunnel:
            self._lose()
        finally:
            near.abort()

    async def _end(self) -> None:
        for server in self._servers.values():
            server.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # Connections are closed by the loop, one turn later.
        await asyncio.sleep(0)


def _private_directory() -> Path:
    """A directory for sockets, where those of bots are, which the referee can reach."""
    base = tempfile.gettempdir()
    short = len(base) <= _LONGEST_DIRECTORY
    return Path(tempfile.mkdtemp(prefix="pokearena-", dir=base if short else "/tmp"))
