"""Limits for streams of unauthenticated peers, in total and per address.

A stream beyond a limit ends the oldest one.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Final
from urllib.parse import unquote

import grpc
import grpc.aio

from arena.system.token_buckets import network_of

MAX_UNAUTHENTICATED_STREAMS: Final = 64
"""Maximum number of simultaneous unauthenticated streams; a further one ends the oldest."""
MOST_PER_ADDRESS: Final = 8
"""The same limit for streams from one address.

Connectors send their first message immediately. A silent stream is therefore replaced and an honest
one is not blocked, even behind the same address.
"""
OTHER_SERVICE_SECONDS: Final = 60.0
"""Limit, in seconds, of a call to any other service than the relay's own, such as a health
watch.
"""


class UnauthenticatedStreams:
    """Counts unauthenticated streams and limits them in total and per address."""

    def __init__(self) -> None:
        self._limits: dict[asyncio.Timeout, str] = {}
        """Address of each stream by its time limit, the oldest first."""

    @contextlib.contextmanager
    def counted(self, address: str, limit: asyncio.Timeout) -> Iterator[None]:
        """Count a stream for the duration of the block. End the oldest one if a limit is reached.

        Args:
            address: the peer's address.
            limit: the time limit of the block's task.
        """
        same = [other for other, of in self._limits.items() if of == address]
        if len(same) >= MOST_PER_ADDRESS:
            self._end(same[0])
        elif len(self._limits) >= MAX_UNAUTHENTICATED_STREAMS:
            self._end(next(iter(self._limits)))
        self._limits[limit] = address
        try:
            yield
        finally:
            self._limits.pop(limit, None)

    def _end(self, limit: asyncio.Timeout) -> None:
        del self._limits[limit]
        limit.reschedule(asyncio.get_running_loop().time())


def address_of(peer: str) -> str:
    """Return the address in gRPC's name of a peer; for an IPv6 address its /64 network.

    Args:
        peer: "ipv4:192.0.2.1:50000", "ipv6:%5B2001:db8::1%5D:50000" or another text.
    """
    host = unquote(peer).partition(":")[2].rpartition(":")[0]
    return network_of(host) if host else peer


class BoundedServices(grpc.aio.ServerInterceptor):
    """Limits the calls of all services except one, which has its own limits.

    Without it, health watches from one address could occupy all streams of the server.
    """

    def __init__(self, exempt: str) -> None:
        """Exempt the service with this full name."""
        self._exempt = f"/{exempt}/"
        self._streams = UnauthenticatedStreams()

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], handler_call_details: Any
    ) -> Any:
        """Return the handler of a call, wrapped in the limits."""
        handler = await continuation(handler_call_details)
        if handler is None or handler_call_details.method.startswith(self._exempt):
            return handler
        factories = {
            (False, False): (grpc.unary_unary_rpc_method_handler, handler.unary_unary),
            (False, True): (grpc.unary_stream_rpc_method_handler, handler.unary_stream),
            (True, False): (grpc.stream_unary_rpc_method_handler, handler.stream_unary),
            (True, True): (grpc.stream_stream_rpc_method_handler, handler.stream_stream),
        }
        make, behaviour = factories[handler.request_streaming, handler.response_streaming]
        bounded = self._stream if handler.response_streaming else self._single
        return make(
            bounded(behaviour),
            request_deserializer=handler.request_deserializer,
            response_serializer=handler.response_serializer,
        )

    def _single(self, behaviour: Any) -> Any:
        async def bounded(request: Any, context: Any) -> Any:
            async with self._counted(context):
                return await behaviour(request, context)

        return bounded

    def _stream(self, behaviour: Any) -> Any:
        async def bounded(request: Any, context: Any) -> AsyncIterator[Any]:
            async with self._counted(context):
                answers = behaviour(request, context)
                if hasattr(answers, "__aiter__"):
                    async for answer in answers:
                        yield answer
                else:
                    # Some methods write to the context themselves, for example the health
                    # service's.
                    await answers

        return bounded

    @contextlib.asynccontextmanager
    async def _counted(self, context: Any) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(OTHER_SERVICE_SECONDS) as limit:
                with self._streams.counted(address_of(context.peer()), limit):
                    yield
        except TimeoutError:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many calls")
