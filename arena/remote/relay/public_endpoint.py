"""The relay's public endpoint, to which authors' connectors connect."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Final

import grpc
import grpc.aio
from pokearena.v1 import relay_pb2, relay_pb2_grpc
from sqlalchemy.exc import SQLAlchemyError

from arena.errors import StoreError
from arena.remote.relay.relay_session import ConnectorLink, RelaySession
from arena.remote.relay.session_registry import ConnectionRefused, SessionRegistry
from arena.remote.relay.unauthenticated_streams import (
    BoundedServices,
    UnauthenticatedStreams,
    address_of,
)

if TYPE_CHECKING:
    from pathlib import Path

SERVICE: Final = relay_pb2.DESCRIPTOR.services_by_name["RelayService"].full_name
HELLO_SECONDS: Final = 5.0
"""Seconds within which a new connection must send Hello."""
MESSAGE_BYTES: Final = (1 << 20) + 4096
"""Limit of a received message: an answer of 1 MiB and its envelope."""
_OPTIONS: Final[list[tuple[str, Any]]] = [
    ("grpc.max_receive_message_length", MESSAGE_BYTES),
    ("grpc.max_send_message_length", 4 << 20),
    ("grpc.max_concurrent_streams", 4),
    ("grpc.max_metadata_size", 8 << 10),
    ("grpc.absolute_max_metadata_size", 8 << 10),
    ("grpc.server_handshake_timeout_ms", 5_000),
    ("grpc.max_connection_idle_ms", 30_000),
    # A broken network path causes no error. Peers that do not answer a ping are disconnected.
    ("grpc.keepalive_time_ms", 4_000),
    ("grpc.keepalive_timeout_ms", 4_000),
    ("grpc.keepalive_permit_without_calls", 0),
    ("grpc.http2.max_pings_without_data", 0),
    # Connectors send such pings too, so they must be permitted.
    ("grpc.http2.min_ping_interval_without_data_ms", 500),
    ("grpc.http2.max_ping_strikes", 0),
    ("grpc.so_reuseport", 0),
]


class PublicEndpoint(relay_pb2_grpc.RelayServiceServicer):
    """Implements the gRPC service for connectors."""

    def __init__(self, registry: SessionRegistry) -> None:
        self._registry = registry
        self._silent = UnauthenticatedStreams()

    async def Connect(
        self, requests: AsyncIterator[relay_pb2.ConnectRequest], context: Any
    ) -> AsyncIterator[relay_pb2.ConnectResponse]:
        """Serve the connection of one bot; relay.proto describes the messages."""
        try:
            session = await self._admit(requests, context.peer())
        except ConnectionRefused as refused:
            await context.abort(refused.code, str(refused))
            return
        link = ConnectorLink()
        await self._registry.welcome(session, link, context.peer())
        receiving = asyncio.create_task(self._receive(requests, session, link))
        try:
            async for message in link.messages():
                yield message
            if link.farewell:
                await context.abort(grpc.StatusCode.ABORTED, link.farewell)
        finally:
            receiving.cancel()
            # A separate task, because this one may have been cancelled with the connection.
            await asyncio.shield(asyncio.create_task(self._registry.leave(session, link)))

    async def _admit(
        self, requests: AsyncIterator[relay_pb2.ConnectRequest], peer: str
    ) -> RelaySession:
        try:
            async with asyncio.timeout(HELLO_SECONDS) as limit:
                with self._silent.counted(address_of(peer), limit):
                    first = await anext(aiter(requests), None)
                if first is None or not first.HasField("hello") or not first.hello.instance:
                    raise ConnectionRefused(
                        grpc.StatusCode.INVALID_ARGUMENT,
                        "the first message must be Hello, with a token and an instance.",
                    )
                return await self._registry.enter(first.hello, peer)
        except TimeoutError:
            raise ConnectionRefused(
                grpc.StatusCode.DEADLINE_EXCEEDED,
                f"no Hello arrived within {HELLO_SECONDS:g} s, or before too many other streams"
                " were opened without one.",
            ) from None
        except (SQLAlchemyError, StoreError):
            logging.getLogger("arena.relay").exception(
                "connections cannot be admitted: the store is unavailable"
            )
            raise ConnectionRefused(
                grpc.StatusCode.UNAVAILABLE,
                "the arena cannot check the token at the moment; try again.",
            ) from None

    async def _receive(
        self,
        requests: AsyncIterator[relay_pb2.ConnectRequest],
        session: RelaySession,
        link: ConnectorLink,
    ) -> None:
        with contextlib.suppress(grpc.aio.AioRpcError, asyncio.CancelledError):
            async for message in requests:
                if session.link is link:
                    await self._registry.receive(session, message)
            link.end()


def server(
    gate: PublicEndpoint, listen: str, certificate: Path | None, key: Path | None
) -> tuple[grpc.aio.Server, int]:
    """Return a server for the public endpoint, not yet started, and its port.

    It uses TLS if a certificate and a key are given.

    Raises:
        OSError: the certificate or the key cannot be read.
        RuntimeError: the address cannot be bound.
    """
    grpc_server = grpc.aio.server(
        options=_OPTIONS, maximum_concurrent_rpcs=1024, interceptors=[BoundedServices(SERVICE)]
    )
    relay_pb2_grpc.add_RelayServiceServicer_to_server(gate, grpc_server)
    if certificate is None or key is None:
        return grpc_server, grpc_server.add_insecure_port(listen)
    pair = (key.read_bytes(), certificate.read_bytes())
    return grpc_server, grpc_server.add_secure_port(listen, grpc.ssl_server_credentials([pair]))
