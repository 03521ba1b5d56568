"""Tunnel between a worker's machine and the relay's machine, through which the worker uses seats.

A stream is a TCP connection, over TLS if the relay has a certificate. The relay begins with a
random nonce. The worker answers with a proof that it can read the store and with the name of the
socket it requires. The proof is an HMAC-SHA256 of nonce and name, keyed with the secret that the
relay has written to the store.
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
#     referee --> local socket ==stream==> worker endpoint --> seat           relay's machine
#     worker  --> local socket ==stream==> worker endpoint --> control API
#     heartbeat ==================stream==> worker endpoint, and back
#
# The heartbeat makes a round trip twice a second. If it is late, the network may have caused a
# bot's fault in the meantime.


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
                f"the tunnel to the relay at {self._endpoint.address} was held up for more than "
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
        file_tree.remove(self._directory)

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

    It is in /tmp if the path would be too long for a Unix socket address.
    """
    base = tempfile.gettempdir()
    short = len(base) <= _LONGEST_DIRECTORY
    return Path(tempfile.mkdtemp(prefix="pokearena-", dir=base if short else "/tmp"))


ECHO: Final = "echo"
"""Name of the stream that returns everything it receives; used for the heartbeat."""
CONTROL_API: Final = "desk"
"""Name of the stream to the relay control API."""
SEAT: Final = re.compile(r"[0-9]{1,20}\.bot")
"""Name of the stream to a seat, equal to the name of the seat's socket."""
NONCE_BYTES: Final = 32
PROOF_BYTES: Final = 32
OPENED: Final = b"\n"
"""Sent by the relay when it admits a worker; otherwise it closes the connection."""
DIAL_SECONDS: Final = 5.0
CHUNK_BYTES: Final = 64 << 10
_SILENT_MS: Final = 15_000


class TunnelUnavailable(Exception):
    """The relay cannot be reached from this machine. The exception's text is a clause."""


@dataclass(frozen=True, slots=True)
class TunnelEndpoint:
    """Address, secret and certificate with which workers on other machines reach a relay.

    The relay writes them to the store.
    """

    address: str
    """HOST:PORT, for example "10.0.0.5:7001"."""
    secret: str = field(repr=False)
    """Random secret, created when the relay starts."""
    certificate: str = ""
    """SHA-256 of the relay's certificate, in hexadecimal; empty without TLS."""

    @classmethod
    def read(cls, values: Mapping[str, str]) -> Self:
        """Build the endpoint from the mapping that `written` returned."""
        return cls(values["address"], values["secret"], values["certificate"])

    def written(self) -> dict[str, str]:
        """Return the fields as a mapping for the store."""
        return {"address": self.address, "secret": self.secret, "certificate": self.certificate}


@dataclass(frozen=True, slots=True)
class TunnelStream:
    """The two directions of a connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def carry_to(self, other: TunnelStream) -> None:
        """Copy the input to another stream until its end, with backpressure."""
        while data := await self.reader.read(CHUNK_BYTES):
            other.writer.write(data)
            await other.writer.drain()

    async def close(self) -> None:
        """Send the remaining data and close the connection."""
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()

    def abort(self) -> None:
        """Close the connection immediately and discard unsent data."""
        self.writer.transport.abort()


async def join(first: TunnelStream, second: TunnelStream) -> None:
    """Copy in both directions between two streams until one of them ends; then close both."""
    tasks = [
        asyncio.create_task(first.carry_to(second)),
        asyncio.create_task(second.carry_to(first)),
    ]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.gather(first.close(), second.close())
    finally:
        first.abort()
        second.abort()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def proof(secret: str, nonce: bytes, name: str) -> bytes:
    """Return the HMAC that proves possession of the secret without revealing it."""
    return hmac.digest(secret.encode(), nonce + name.encode(), "sha256")


async def dial(endpoint: TunnelEndpoint, name: str) -> TunnelStream:
    """Open a stream to the relay.

    Args:
        endpoint: the relay's tunnel endpoint.
        name: ECHO, CONTROL_API or the name of a seat's socket.

    Raises:
        TunnelUnavailable: the relay does not answer, has another certificate or refuses the
            connection.
    """
    host, _, port = endpoint.address.rpartition(":")
    context = _unverified_context() if endpoint.certificate else None
    opened: TunnelStream | None = None
    try:
        async with asyncio.timeout(DIAL_SECONDS):
            opened = TunnelStream(
                *await asyncio.open_connection(host.strip("[]"), int(port), ssl=context)
            )
            _check(opened.writer, endpoint)
            nonce = await opened.reader.readexactly(NONCE_BYTES)
            opened.writer.write(proof(endpoint.secret, nonce, name) + f"{name}\n".encode())
            await opened.reader.readexactly(len(OPENED))
    except (OSError, ValueError, TimeoutError, asyncio.IncompleteReadError) as error:
        if opened is not None:
            opened.abort()
        raise TunnelUnavailable(f"{endpoint.address}: {_clause(error)}") from None
    except BaseException:
        if opened is not None:
            opened.abort()
        raise
    keep_alive(opened.writer)
    return opened


def is_reachable(endpoint: TunnelEndpoint) -> bool:
    """Whether the relay accepts a stream from this machine."""

    async def open_and_close() -> None:
        (await dial(endpoint, ECHO)).abort()

    try:
        asyncio.run(open_and_close())
    except TunnelUnavailable:
        return False
    return True


def is_reached(control: str, values: Mapping[str, str] | None) -> bool:
    """Whether a relay is on this machine or can be reached through its tunnel endpoint."""
    if _is_here(control):
        return True
    return values is not None and is_reachable(TunnelEndpoint.read(values))


def needed(control: str, values: Mapping[str, str] | None) -> TunnelEndpoint | None:
    """Return a relay's stored tunnel endpoint; None if it has none or is on this machine."""
    return None if values is None or _is_here(control) else TunnelEndpoint.read(values)


def _is_here(control: str) -> bool:
    """Whether the relay is on this machine: the socket of its control API exists."""
    return Path(control.removeprefix("unix:")).exists()


def fingerprint(certificate: Path) -> str:
    """Return the SHA-256 of the first certificate in a PEM file, in hexadecimal.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file contains no certificate.
    """
    text = certificate.read_text(encoding="ascii", errors="replace")
    block = re.search(f"{ssl.PEM_HEADER}.+?{ssl.PEM_FOOTER}", text, re.DOTALL)
    if block is None:
        raise ValueError(f"there is no certificate in {certificate}")
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(block[0])).hexdigest()


def keep_alive(writer: asyncio.StreamWriter) -> None:
    """Configure TCP keepalive so that a vanished peer is detected within about 15 s."""
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


def _unverified_context() -> ssl.SSLContext:
    # The store contains the certificate's fingerprint, so a CA is not needed; `_check` compares it.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _check(writer: asyncio.StreamWriter, endpoint: TunnelEndpoint) -> None:
    if not endpoint.certificate:
        return
    shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True) or b""
    if not hmac.compare_digest(hashlib.sha256(shown).hexdigest(), endpoint.certificate):
        raise ValueError("its certificate is not the one that the relay has")


def _clause(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {DIAL_SECONDS:g} s"
    if isinstance(error, asyncio.IncompleteReadError):
        return "it closed the connection"
    return str(error) or type(error).__name__
