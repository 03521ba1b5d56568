"""One seat of a connected bot: its process and the open requests to it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import grpc
import grpc.aio
from google.protobuf.message import DecodeError
from pokearena.v1 import bot_pb2, relay_pb2

from arena.bots.socket_probe import OPTIONS, authority
from arena.remote.connector_process import BotProcess, Command

DYING_SECONDS: Final = 0.3
"""Seconds to wait for the exit of a bot whose connection broke."""
_SERVICE: Final = bot_pb2.DESCRIPTOR.services_by_name["BotService"].full_name
_NAMES: Final = {
    relay_pb2.METHOD_START: "Start",
    relay_pb2.METHOD_ACT: "Act",
    relay_pb2.METHOD_END: "End",
}

Send = Callable[[relay_pb2.ConnectRequest], None]
"""Sends a message to the relay; it is discarded while disconnected."""


@dataclass(slots=True)
class _PendingRequest:
    """A request and its answers so far, kept to resend them if the connection is lost."""

    task: asyncio.Task[None] | None = None
    answers: list[relay_pb2.Answer] = field(default_factory=list)


class ConnectorSeat:
    """Plays one seat."""

    def __init__(self, number: int, command: Command, send: Send) -> None:
        self.number = number
        self._send = send
        self._process = BotProcess(command, self._gone)
        self._asked: dict[int, _PendingRequest] = {}
        self._ready: asyncio.Task[None] | None = None
        self._stream: Any = None
        self._channel = grpc.aio.insecure_channel(
            self._process.address, options=OPTIONS + authority(self._process.address)
        )
        # Messages pass through as bytes, because the referee validates the bot's answers.
        self._play: Any = self._channel.stream_stream(f"/{_SERVICE}/Play")

    def ask(self, ask: relay_pb2.Ask) -> None:
        """Forward a request to the bot.

        If it is a repeated one, resend the answers that the relay lacks.
        """
        known = self._asked.get(ask.number)
        if known is not None:
            for answer in known.answers[ask.answered :]:
                self._send(relay_pb2.ConnectRequest(answer=answer))
            return
        # A seat has one request at a time. Any older one was dropped while the connection was lost.
        before = [old.task for old in self._asked.values() if old.task and not old.task.done()]
        for number in list(self._asked):
            self.drop(number)
        pending = self._asked[ask.number] = _PendingRequest()
        pending.task = asyncio.create_task(self._answer(ask, pending, before))

    def drop(self, number: int) -> None:
        """Cancel a request whose answer is no longer needed."""
        pending = self._asked.pop(number, None)
        if pending is not None and pending.task is not None and not pending.task.done():
            pending.task.cancel()

    def remind(self) -> None:
        """Repeat, after a reconnection, that the process has ended."""
        if self._process.clause:
            self._gone(self._process.clause)

    async def close(self) -> None:
        """Cancel all requests and end the process; send the relay nothing more about this seat."""
        self._send = lambda message: None
        for number in list(self._asked):
            self.drop(number)
        with contextlib.suppress(grpc.aio.AioRpcError, asyncio.CancelledError):
            await self._channel.close()
        await self._process.close()

    def _gone(self, clause: str) -> None:
        gone = relay_pb2.Gone(seat=self.number, ended=clause)
        self._send(relay_pb2.ConnectRequest(gone=gone))

    async def _answer(
        self, ask: relay_pb2.Ask, pending: _PendingRequest, before: list[asyncio.Task[None]]
    ) -> None:
        def emit(**what: Any) -> None:
            part = len(pending.answers) + 1
            answer = relay_pb2.Answer(seat=self.number, number=ask.number, part=part, **what)
            pending.answers.append(answer)
            self._send(relay_pb2.ConnectRequest(answer=answer))

        try:
            if before:
                await asyncio.wait(before)
            await self._begin(ask)
            if ask.method == relay_pb2.METHOD_PLAY:
                await self._ask_by_stream(ask.request, emit)
            else:
                response = await self._ask_once(ask.method, ask.request)
                emit(response=response, done=True)
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.UNAVAILABLE:
                # The relay must learn of the process's exit before it receives the failed answer.
                await self._process.settled(DYING_SECONDS)
            emit(done=True, code=error.code().value[0], details=(error.details() or "")[:500])

    async def _begin(self, ask: relay_pb2.Ask) -> None:
        """Start the process if necessary.

        If the match began before the process, send the bot the stored Start request first.
        """
        if self._ready is None:
            self._ready = asyncio.create_task(self._start(ask.start))
        # Dropping the request must not cancel the start of the process.
        await asyncio.shield(self._ready)

    async def _start(self, opening: bytes) -> None:
        await self._process.start()
        if opening:
            with contextlib.suppress(grpc.aio.AioRpcError):
                await self._ask_once(relay_pb2.METHOD_START, opening)

    async def _ask_once(self, method: relay_pb2.Method, request: bytes) -> bytes:
        is_end = method == relay_pb2.METHOD_END
        if is_end and self._stream is not None:
            with contextlib.suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
                await self._stream.done_writing()
        call: Any = self._channel.unary_unary(f"/{_SERVICE}/{_NAMES[method]}")
        response: bytes = await call(request, wait_for_ready=method == relay_pb2.METHOD_START)
        return response

    async def _ask_by_stream(self, request: bytes, emit: Callable[..., None]) -> None:
        stream = self._stream = self._stream or self._play()
        try:
            await self._write_and_read(stream, request, emit)
        except BaseException:
            stream.cancel()
            self._stream = None
            raise

    async def _write_and_read(self, stream: Any, request: bytes, emit: Callable[..., None]) -> None:
        with contextlib.suppress(asyncio.InvalidStateError, grpc.aio.AioRpcError):
            await stream.write(request)
        questions = bot_pb2.PlayRequest.FromString(request).questions
        waiting = {(question.game, question.decision) for question in questions}
        while waiting:
            response = await stream.read()
            if response is grpc.aio.EOF:
                self._stream = None
                code = await stream.code()
                if code is grpc.StatusCode.UNAVAILABLE:
                    await self._process.settled(DYING_SECONDS)
                details = (await stream.details() or "")[:500]
                emit(done=True, closed=True, code=code.value[0], details=details)
                return
            with contextlib.suppress(DecodeError):
                for answer in bot_pb2.PlayResponse.FromString(response).answers:
                    waiting.discard((answer.game, answer.decision))
            emit(response=response, done=not waiting)
