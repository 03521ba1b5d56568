"""Where workers of other machines come in: to the desk, and to the seats they have ordered."""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
import ssl
from pathlib import Path
from typing import Final

from arena.remote.tunnel import streams
from arena.remote.tunnel.streams import Stream, TunnelEndpoint

HELLO_SECONDS: Final = 5.0
"""Within this time a connection has to prove that it is a worker's."""
MOST_STRANGERS: Final = 64
"""So many connections may be about to prove it."""
MOST_STREAMS: Final = 1024
"""So many may be open; each holds some hundred KiB at most."""

log = logging.getLogger("arena.relay")


class Refused(Exception):
    """A connection is not let in. The text is a clause for the log."""


class WorkerEndpoint:
    """Lets in who can read the store, and carries bytes to the sockets that are here.

    desk: where the relay takes orders, "unix:PATH". sockets: the directory of its seats.
    """

    def __init__(self, desk: str, sockets: Path) -> None:
        self._desk = desk.removeprefix("unix:")
        self._sockets = sockets
        self._secret = secrets.token_urlsafe(32)
        self._strangers = 0
        self._streams: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def open(self, listen: str, certificate: Path | None, key: Path | None) -> TunnelEndpoint:
        """Begins to listen; gives the way here, to be written into the store.

        Raises OSError if it cannot listen there, or if the certificate cannot be used; ValueError
        if there is none in its file.
        """
        context, shown = None, ""
        if certificate is not None and key is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            shown = streams.fingerprint(certificate)
        host, _, port = listen.rpartition(":")
        self._server = await asyncio.start_server(
            self._come,
            host.strip("[]"),
            int(port),
            ssl=context,
            ssl_handshake_timeout=HELLO_SECONDS if context else None,
        )
        taken = self._server.sockets[0].getsockname()[1]
        return TunnelEndpoint(f"{host}:{taken}", self._secret, shown)

    async def close(self) -> None:
        """Ends it and all that came in by it."""
        if self._server is not None:
            self._server.close()
        for stream in self._streams:
            stream.cancel()
        await asyncio.gather(*self._streams, return_exceptions=True)

    async def _come(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._streams.add(task)
        try:
            await self._serve(Stream(reader, writer))
        except Refused as refused:
            log.warning("no worker's, at %s: %s", writer.get_extra_info("peername"), refused)
        except (OSError, asyncio.CancelledError):
            # The other machine is gone, or the relay ends.
            pass
        finally:
            self._streams.discard(task)
            writer.close()

    async def _serve(self, worker: Stream) -> None:
        streams.keep_alive(worker.writer)
        name = await self._admit(worker)
        if name == streams.ECHO:
            worker.writer.write(streams.OPENED)
            await worker.carry_to(worker)
            return
        socket = self._desk if name == streams.DESK else str(self._sockets / name)
        near = Stream(*await asyncio.open_unix_connection(socket))
        worker.writer.write(streams.OPENED)
        await streams.join(worker, near)

    async def _admit(self, worker: Stream) -> str:
        if self._strangers >= MOST_STRANGERS or len(self._streams) > MOST_STREAMS:
            raise Refused("too many connections")
        self._strangers += 1
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                return await self._known(worker)
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            raise Refused("it did not say what it wants") from None
        finally:
            self._strangers -= 1

    async def _known(self, worker: Stream) -> str:
        nonce = secrets.token_bytes(streams.NONCE_BYTES)
        worker.writer.write(nonce)
        shown = await worker.reader.readexactly(streams.PROOF_BYTES)
        name = (await worker.reader.readuntil(b"\n"))[:-1].decode("ascii", "replace")
        if not hmac.compare_digest(shown, streams.proof(self._secret, nonce, name)):
            raise Refused("it has not the secret that is in the store")
        if name not in (streams.ECHO, streams.DESK) and not streams.SEAT.fullmatch(name):
            raise Refused("it asks for what there is not")
        return name
