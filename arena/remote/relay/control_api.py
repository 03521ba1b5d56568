"""The relay control API: workers order seats for connected bots. Only the arena can reach it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

import grpc.aio
from pokearena.v1 import relay_pb2, relay_pb2_grpc

from arena.remote.relay.session_registry import BotNotSeatable, SessionRegistry

_OPTIONS: Final[list[tuple[str, Any]]] = [
    ("grpc.max_receive_message_length", 64 << 10),
    ("grpc.max_metadata_size", 8 << 10),
    ("grpc.absolute_max_metadata_size", 8 << 10),
    ("grpc.server_handshake_timeout_ms", 5_000),
    ("grpc.http2.min_ping_interval_without_data_ms", 1_000),
    ("grpc.http2.max_ping_strikes", 0),
    ("grpc.so_reuseport", 0),
]


class ControlApi(relay_pb2_grpc.LobbyServiceServicer):
    """Implements the gRPC service through which workers order seats."""

    def __init__(self, registry: SessionRegistry) -> None:
        self._registry = registry

    async def Seat(
        self, request: relay_pb2.SeatRequest, context: Any
    ) -> AsyncIterator[relay_pb2.SeatResponse]:
        """Provide a seat for the duration of the call; relay.proto describes the responses."""
        try:
            session, seat = await self._registry.seat(request)
        except BotNotSeatable as nobody:
            yield relay_pb2.SeatResponse(absent=relay_pb2.Absent(reason=str(nobody)))
            return
        try:
            yield relay_pb2.SeatResponse(seated=relay_pb2.Seated(address=seat.address))
            clause = await asyncio.shield(seat.ended)
            yield relay_pb2.SeatResponse(ended=relay_pb2.Ended(clause=clause))
            await asyncio.Event().wait()
        finally:
            await asyncio.shield(asyncio.create_task(self._registry.clear(session, seat)))


def server(service: ControlApi, address: str) -> grpc.aio.Server:
    """Return a server of the control API at `address`, not yet started."""
    grpc_server = grpc.aio.server(options=_OPTIONS)
    relay_pb2_grpc.add_LobbyServiceServicer_to_server(service, grpc_server)
    grpc_server.add_insecure_port(address)
    return grpc_server
