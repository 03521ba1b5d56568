"""The worker endpoint: gives workers on other machines access to the control API and to seats."""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
import ssl
from pathlib import Path
from typing import Final

from arena.system.tunnel.endpoint import TunnelEndpoint, fingerprint
from arena.system.tunnel.stream import (
    CONTROL_API,
    ECHO,
    NONCE_BYTES,
    OPENED,
    PROOF_BYTES,
    SEAT,
    TunnelStream,
    join,
    keep_alive,
    proof,
)

HELLO_SECONDS: Final = 5.0
"""Seconds within which a connection must prove that it belongs to a worker."""
MAX_UNPROVEN_STREAMS: Final = 64
"""Maximum number of simultaneous connections that have not yet sent a proof."""
MOST_STREAMS: Final = 1024
"""Maximum number of open connections; each uses at most a few hundred KiB."""

log = logging.getLogger("arena.relay")


class PeerRefused(Exception):
    """A connection is refused. The exception's text is a clause for the log."""


class WorkerEndpoint:
    """Admits peers that can read the store and forwards their bytes to local sockets.

    Args:
        control: address of the relay control API, "unix:PATH".
        sockets: the directory of the seats' sockets.
    """

    def __init__(self, control: str, sockets: Path) -> None:
        self._control = control.removeprefix("unix:")
        self._sockets = sockets
        self._secret = secrets.token_urlsafe(32)
        self._unproven = 0
        self._streams: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def open(self, listen: str, certificate: Path | None, key: Path | None) -> TunnelEndpoint:
        """Start to listen and return the tunnel endpoint, which the caller writes to the store.

        Args:
            listen: HOST:PORT.
            certificate: PEM file; without it and `key` the endpoint does not use TLS.
            key: PEM file of the private key.

        Raises:
            OSError: the address cannot be bound or the certificate cannot be used.
            ValueError: the file contains no certificate.
        """
        context, shown = None, ""
        if certificate is not None and key is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            shown = fingerprint(certificate)
        host, _, port = listen.rpartition(":")
        self._server = await asyncio.start_server(
            self._handle_connection,
            host.strip("[]"),
            int(port),
            ssl=context,
            ssl_handshake_timeout=HELLO_SECONDS if context else None,
        )
        taken = self._server.sockets[0].getsockname()[1]
        return TunnelEndpoint(f"{host}:{taken}", self._secret, shown)

    async def close(self) -> None:
        """Close the server and all connections."""
        if self._server is not None:
            self._server.close()
        for stream in self._streams:
            stream.cancel()
        await asyncio.gather(*self._streams, return_exceptions=True)

    async def _handle_connection(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._streams.add(task)
        try:
            await self._serve(TunnelStream(reader, writer))
        except PeerRefused as refused:
            log.warning(
                "connection from %s refused: %s", writer.get_extra_info("peername"), refused
            )
        except (OSError, asyncio.CancelledError):
            # The other machine is disconnected, or the relay ends.
            pass
        finally:
            self._streams.discard(task)
            writer.close()

    async def _serve(self, worker: TunnelStream) -> None:
        keep_alive(worker.writer)
        name = await self._admit(worker)
        if name == ECHO:
            worker.writer.write(OPENED)
            await worker.carry_to(worker)
            return
        socket = self._control if name == CONTROL_API else str(self._sockets / name)
        local = TunnelStream(*await asyncio.open_unix_connection(socket))
        worker.writer.write(OPENED)
        await join(worker, local)

    async def _admit(self, worker: TunnelStream) -> str:
        if self._unproven >= MAX_UNPROVEN_STREAMS or len(self._streams) > MOST_STREAMS:
            raise PeerRefused("too many connections")
        self._unproven += 1
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                return await self._stream_name(worker)
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            raise PeerRefused("it did not send the name of a stream") from None
        finally:
            self._unproven -= 1

    async def _stream_name(self, worker: TunnelStream) -> str:
        """Check the proof that the peer can read the store, and return the requested stream."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        worker.writer.write(nonce)
        shown = await worker.reader.readexactly(PROOF_BYTES)
        name = (await worker.reader.readuntil(b"\n"))[:-1].decode("ascii", "replace")
        if not hmac.compare_digest(shown, proof(self._secret, nonce, name)):
            raise PeerRefused("it does not have the secret in the store")
        if name not in (ECHO, CONTROL_API) and not SEAT.fullmatch(name):
            raise PeerRefused("unknown stream name")
        return name
