"""Bounds on the streams of strangers: in total and per address, the oldest gives way."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Final
from urllib.parse import unquote

import grpc
import grpc.aio

MOST_STRANGERS: Final = 64
"""Streams of strangers at a time; one more ends the oldest."""
MOST_PER_ADDRESS: Final = 8
"""The same for streams from one address. Connectors send their first message at once, so a silent
stream gives way and an honest one is not kept out, even behind the same address."""
ASIDE_SECONDS: Final = 60.0
"""The longest call of another service than the relay's own, such as a watched health state."""


class StrangerStreams:
    """Streams whose peers are not known, bounded in total and per address."""

    def __init__(self) -> None:
        self._limits: dict[asyncio.Timeout, str] = {}
        """The time limits of the streams, the oldest first, with their addresses."""

    @contextlib.contextmanager
    def counted(self, address: str, limit: asyncio.Timeout) -> Iterator[None]:
        """Count a stream while the block lasts; end the oldest if there are too many.

        Args:
            address: where the stream comes from.
            limit: the time limit of the block's task.
        """
        same = [other for other, of in self._limits.items() if of == address]
        if len(same) >= MOST_PER_ADDRESS:
            self._end(same[0])
        elif len(self._limits) >= MOST_STRANGERS:
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
    """Return the address in gRPC's name of a peer; of an IPv6 address the network (/64).

    Args:
        peer: "ipv4:192.0.2.1:50000", "ipv6:%5B2001:db8::1%5D:50000" or another text.
    """
    kind, _, rest = unquote(peer).partition(":")
    host = rest.rpartition(":")[0]
    if kind != "ipv6":
        return host or peer
    try:
        packed = ipaddress.IPv6Address(host.strip("[]").partition("%")[0])
    except ValueError:
        return host
    mapped = packed.ipv4_mapped
    return str(mapped or ipaddress.IPv6Network((int(packed) >> 64 << 64, 64)))


class BoundedServices(grpc.aio.ServerInterceptor):
    """Bounds the calls of every service but one, which bounds its own.

    Without it, watched health states of one address could take all streams of the server.
    """

    def __init__(self, exempt: str) -> None:
        """Bound all but the service of this full name."""
        self._exempt = f"/{exempt}/"
        self._streams = StrangerStreams()

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], handler_call_details: Any
    ) -> Any:
        """Return the handler of a call, bounded."""
        handler = await continuation(handler_call_details)
        if handler is None or handler_call_details.method.startswith(self._exempt):
            return handler
        made = {
            (False, False): (grpc.unary_unary_rpc_method_handler, handler.unary_unary),
            (False, True): (grpc.unary_stream_rpc_method_handler, handler.unary_stream),
            (True, False): (grpc.stream_unary_rpc_method_handler, handler.stream_unary),
            (True, True): (grpc.stream_stream_rpc_method_handler, handler.stream_stream),
        }
        make, behaviour = made[handler.request_streaming, handler.response_streaming]
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
                    # A method that writes to the context itself, as that of the health service.
                    await answers

        return bounded

    @contextlib.asynccontextmanager
    async def _counted(self, context: Any) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(ASIDE_SECONDS) as limit:
                with self._streams.counted(address_of(context.peer()), limit):
                    yield
        except TimeoutError:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many calls")
