"""A seat of a connected bot: a gRPC server to which the referee sends its requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import grpc
import grpc.aio
from pokearena.v1 import bot_pb2, relay_pb2

MOST_OPEN: Final = 4
"""Maximum number of simultaneously open requests of one seat; a referee has one."""
QUESTION_BYTES: Final = 3 << 20
"""Size limit of a forwarded request, in bytes."""
_OPTIONS: Final[list[tuple[str, Any]]] = [
    ("grpc.max_receive_message_length", QUESTION_BYTES),
    ("grpc.max_concurrent_streams", 16),
    ("grpc.max_metadata_size", 16 << 10),
    ("grpc.absolute_max_metadata_size", 16 << 10),
    ("grpc.server_handshake_timeout_ms", 5_000),
    ("grpc.so_reuseport", 0),
]
_SERVICE: Final = bot_pb2.DESCRIPTOR.services_by_name["BotService"].full_name
_CODES: Final = {code.value[0]: code for code in grpc.StatusCode}

Send = Callable[[relay_pb2.ConnectResponse], None]
"""Sends a message to the connector; it is discarded while the connector is disconnected."""


@dataclass(slots=True)
class _OpenRequest:
    """A request whose answers are not complete."""

    ask: relay_pb2.Ask
    answers: asyncio.Queue[relay_pb2.Answer] = field(default_factory=asyncio.Queue)


class RelaySeat:
    """One process of a bot, as a BotService for the referee.

    Args:
        number: unique among the seats of this relay.
        match: ID of the match.
        socket: path of the Unix socket on which the seat listens.
        send: sends a message to the bot's connector.
        charge: called with the size of each new request, in bytes.
    """

    def __init__(
        self, number: int, match: str, socket: Path, send: Send, charge: Callable[[int], None]
    ) -> None:
        self.number = number
        self.match = match
        self.address = f"unix:{socket}"
        self.ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """Resolves to a clause when the bot's process has ended by itself."""
        self._socket = socket
        self._send = send
        self._charge = charge
        self._open: dict[int, _OpenRequest] = {}
        self._asked = 0
        self._start = b""
        self._server: grpc.aio.Server | None = None

    async def listen(self) -> None:
        """Start the server on the seat's socket."""
        self._server = grpc.aio.server(options=_OPTIONS)
        handlers: dict[str, Any] = {
            "Start": grpc.unary_unary_rpc_method_handler(self._started),
            "Act": grpc.unary_unary_rpc_method_handler(partial(self._once, relay_pb2.METHOD_ACT)),
            "Play": grpc.stream_stream_rpc_method_handler(self._played),
            "End": grpc.unary_unary_rpc_method_handler(partial(self._once, relay_pb2.METHOD_END)),
        }
        generic = grpc.method_handlers_generic_handler(_SERVICE, handlers)
        self._server.add_generic_rpc_handlers((generic,))
        self._server.add_insecure_port(self.address)
        await self._server.start()

    async def close(self) -> None:
        """Stop the server and instruct the connector to end the seat's process."""
        self._send(relay_pb2.ConnectResponse(close=relay_pb2.Close(seat=self.number)))
        if self._server is not None:
            await self._server.stop(None)
        self._socket.unlink(missing_ok=True)

    def remind(self) -> None:
        """Resend the open requests after a reconnection."""
        for pending in self._open.values():
            self._send(relay_pb2.ConnectResponse(ask=pending.ask))

    def receive(self, answer: relay_pb2.Answer) -> None:
        """Pass an answer to its open request.

        Drops the answer if the request is closed or the part was already received.
        """
        pending = self._open.get(answer.number)
        if pending is not None and answer.part == pending.ask.answered + 1:
            pending.ask.answered += 1
            pending.answers.put_nowait(answer)

    def end(self, clause: str) -> None:
        """Record that the bot's process has ended by itself, and fail the open requests."""
        if not self.ended.done():
            self.ended.set_result(clause)
        lost = relay_pb2.Answer(
            done=True, code=grpc.StatusCode.UNAVAILABLE.value[0], details="its process ended"
        )
        for pending in self._open.values():
            pending.answers.put_nowait(lost)

    async def _started(self, request: bytes, context: Any) -> bytes:
        response = await self._once(relay_pb2.METHOD_START, request, context)
        self._start = request
        return response

    async def _once(self, method: relay_pb2.Method, request: bytes, context: Any) -> bytes:
        async for answer in self._answers(method, request, context):
            if answer.HasField("response"):
                return answer.response
            await _abort(answer, context)
        raise AssertionError("there is an answer, or it is aborted")

    async def _played(self, requests: AsyncIterator[bytes], context: Any) -> AsyncIterator[bytes]:
        async for request in requests:
            async for answer in self._answers(relay_pb2.METHOD_PLAY, request, context):
                if answer.HasField("response"):
                    yield answer.response
                if answer.code:
                    await _abort(answer, context)
                if answer.closed:
                    return

    async def _answers(
        self, method: relay_pb2.Method, request: bytes, context: Any
    ) -> AsyncIterator[relay_pb2.Answer]:
        """Forward one request and yield its answers.

        Ending the iteration early drops the request.
        """
        if self.ended.done():
            await context.abort(grpc.StatusCode.UNAVAILABLE, "its process has ended")
        if len(self._open) >= MOST_OPEN:
            await context.abort(
                grpc.StatusCode.RESOURCE_EXHAUSTED, "too many simultaneous requests"
            )
        self._asked += 1
        ask = relay_pb2.Ask(
            seat=self.number,
            number=self._asked,
            method=method,
            request=request,
            start=self._start,
        )
        pending = self._open[ask.number] = _OpenRequest(ask)
        is_done = False
        try:
            self._charge(len(request))
            self._send(relay_pb2.ConnectResponse(ask=ask))
            while not is_done:
                answer = await pending.answers.get()
                is_done = answer.done
                yield answer
        finally:
            del self._open[ask.number]
            if not is_done:
                drop = relay_pb2.Drop(seat=self.number, number=ask.number)
                self._send(relay_pb2.ConnectResponse(drop=drop))


async def _abort(answer: relay_pb2.Answer, context: Any) -> None:
    code = _CODES.get(answer.code, grpc.StatusCode.UNKNOWN)
    if code is grpc.StatusCode.OK:
        code = grpc.StatusCode.UNKNOWN
    await context.abort(code, answer.details[:500])
