"""Streams between a worker's machine and the relay's, through which seats are reached from afar.

A stream is a TCP connection, over TLS if the relay has a certificate. The relay begins with a
number made by chance; the worker answers with the name of what it wants and a proof that it can
read the store: a hash of number and name, keyed with a secret that the relay has written there.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import re
import socket
import ssl
import tempfile
import threading
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from arena.errors import InfrastructureError
from arena.system import file_tree

# A worker's end of the tunnel to a relay on another machine.
#
#     referee --> socket here ==stream==> side door --> seat        the relay's machine
#     worker  --> socket here ==stream==> side door --> desk
#     beat    ===================stream==> side door, and back
#
# The beat goes there and back twice a second. Where it is late, what a bot failed to do meanwhile
# may be the cable's doing.


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

    def __init__(self, way: TunnelEndpoint, on_lost: Callable[[str], None]) -> None:
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
            self._echo = self._do(dial(way, ECHO))
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
            await join(near, await dial(self._way, name))
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


ECHO: Final = "echo"
"""The stream on which everything comes back as it was sent."""
DESK: Final = "desk"
"""The stream to where seats are ordered."""
SEAT: Final = re.compile(r"[0-9]{1,20}\.bot")
"""The stream to a seat has the name of its socket."""
NONCE_BYTES: Final = 32
PROOF_BYTES: Final = 32
OPENED: Final = b"\n"
"""What the relay says when it lets a worker in; else it hangs up."""
DIAL_SECONDS: Final = 5.0
CHUNK_BYTES: Final = 64 << 10
_SILENT_MS: Final = 15_000


class NoTunnel(Exception):
    """The relay cannot be reached from here. The text is a clause."""


@dataclass(frozen=True, slots=True)
class TunnelEndpoint:
    """How workers on other machines reach a relay, as it has written into the store."""

    address: str
    """"10.0.0.5:7001"."""
    secret: str = field(repr=False)
    """Made when the relay was started."""
    certificate: str = ""
    """SHA-256 of the relay's certificate, in hexadecimal; empty if it speaks no TLS."""

    @classmethod
    def read(cls, told: Mapping[str, str]) -> Self:
        """The way that a relay has written."""
        return cls(told["address"], told["secret"], told["certificate"])

    def written(self) -> dict[str, str]:
        """The same, to be written."""
        return {"address": self.address, "secret": self.secret, "certificate": self.certificate}


@dataclass(frozen=True, slots=True)
class Stream:
    """One direction in, one out."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def carry_to(self, other: Stream) -> None:
        """Hands on what comes in, until its end; no faster than the other side takes it."""
        while data := await self.reader.read(CHUNK_BYTES):
            other.writer.write(data)
            await other.writer.drain()

    async def close(self) -> None:
        """Ends it, after what is still to be sent."""
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()

    def abort(self) -> None:
        """Ends it at once."""
        self.writer.transport.abort()


async def join(one: Stream, other: Stream) -> None:
    """Carries between two streams until one of them ends; then both are ended."""
    ways = [asyncio.create_task(one.carry_to(other)), asyncio.create_task(other.carry_to(one))]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        await asyncio.gather(one.close(), other.close())
    finally:
        one.abort()
        other.abort()
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)


def proof(secret: str, nonce: bytes, name: str) -> bytes:
    """What shows that a worker has the secret, which it does not say."""
    return hmac.digest(secret.encode(), nonce + name.encode(), "sha256")


async def dial(way: TunnelEndpoint, name: str) -> Stream:
    """Opens a stream to the relay.

    Raises:
        NoTunnel: it does not answer, is another, or does not let us in.
    """
    host, _, port = way.address.rpartition(":")
    context = _believing_nobody() if way.certificate else None
    opened: Stream | None = None
    try:
        async with asyncio.timeout(DIAL_SECONDS):
            opened = Stream(
                *await asyncio.open_connection(host.strip("[]"), int(port), ssl=context)
            )
            _check(opened.writer, way)
            nonce = await opened.reader.readexactly(NONCE_BYTES)
            opened.writer.write(proof(way.secret, nonce, name) + f"{name}\n".encode())
            await opened.reader.readexactly(len(OPENED))
    except (OSError, ValueError, TimeoutError, asyncio.IncompleteReadError) as error:
        if opened is not None:
            opened.abort()
        raise NoTunnel(f"{way.address}: {_clause(error)}") from None
    except BaseException:
        if opened is not None:
            opened.abort()
        raise
    keep_alive(opened.writer)
    return opened


def answers(way: TunnelEndpoint) -> bool:
    """Whether the relay lets us in."""

    async def ask() -> None:
        (await dial(way, ECHO)).abort()

    try:
        asyncio.run(ask())
    except NoTunnel:
        return False
    return True


def is_reached(desk: str, told: Mapping[str, str] | None) -> bool:
    """Whether a relay can be asked from here: it is on this machine, or answers by its way."""
    if _is_here(desk):
        return True
    return told is not None and answers(TunnelEndpoint.read(told))


def needed(desk: str, told: Mapping[str, str] | None) -> TunnelEndpoint | None:
    """The way to a relay, as the store tells it, if the relay is not on this machine."""
    return None if told is None or _is_here(desk) else TunnelEndpoint.read(told)


def _is_here(desk: str) -> bool:
    """Whether the desk of a relay, and so the relay, is on this machine."""
    return Path(desk.removeprefix("unix:")).exists()


def fingerprint(certificate: Path) -> str:
    """The SHA-256 of the first certificate in a file (PEM), as in `Way`.

    Raises:
        OSError: the file cannot be read.
        ValueError: there is none in it.
    """
    text = certificate.read_text(encoding="ascii", errors="replace")
    found = re.search(f"{ssl.PEM_HEADER}.+?{ssl.PEM_FOOTER}", text, re.DOTALL)
    if found is None:
        raise ValueError(f"there is no certificate in {certificate}")
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(found[0])).hexdigest()


def keep_alive(writer: asyncio.StreamWriter) -> None:
    """Has the kernel notice that the machine at the other end is gone, within some 15 s."""
    end: socket.socket = writer.get_extra_info("socket")
    end.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", 5),
        ("TCP_KEEPINTVL", 5),
        ("TCP_KEEPCNT", 2),
        ("TCP_USER_TIMEOUT", _SILENT_MS),
    ):
        with contextlib.suppress(OSError):
            if hasattr(socket, name):
                end.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _believing_nobody() -> ssl.SSLContext:
    # The store says which certificate it is, so nobody need vouch for it.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _check(writer: asyncio.StreamWriter, way: TunnelEndpoint) -> None:
    if not way.certificate:
        return
    shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True) or b""
    if not hmac.compare_digest(hashlib.sha256(shown).hexdigest(), way.certificate):
        raise ValueError("its certificate is not the one that the relay has")


def _clause(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {DIAL_SECONDS:g} s"
    if isinstance(error, asyncio.IncompleteReadError):
        return "it hung up"
    return str(error) or type(error).__name__
