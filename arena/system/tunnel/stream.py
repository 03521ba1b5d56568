"""Streams of the tunnel: connections to the relay that begin with a proof."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import re
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from arena.system.tunnel.endpoint import TunnelEndpoint, is_here

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
    """Open a stream to the relay: ECHO, CONTROL_API or the name of a seat's socket.

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
    if is_here(control):
        return True
    return values is not None and is_reachable(TunnelEndpoint.read(values))


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
