"""An HTTP/2 connection to a bot: process its frames and dispatch them to calls.

A bot may be hostile. Memory is limited by the size of frames, of headers and of unread data (flow
control). Work is limited by the bot's budget (`referee.rpc.work_budget`). Bytes are processed in
slices, so that one bot does not delay the others for long.
"""

import asyncio
import time
from collections.abc import Callable

from grpc import StatusCode

from referee.rpc.call import Call, Status, of_reset
from referee.rpc.http2 import (
    ACK,
    END_HEADERS,
    END_STREAM,
    FRAME_BYTES,
    HEADERS_BYTES,
    LARGEST_FRAME_BYTES,
    LARGEST_WINDOW_BYTES,
    PREFACE,
    WINDOW_BYTES,
    ErrorCode,
    FrameKind,
    FrameReader,
    HeaderReader,
    HeadersTooLong,
    Http2Error,
    Http2Setting,
    frame,
    more_credit,
    number_in,
    numbered,
    settings,
    settings_in,
    without_padding,
)
from referee.rpc.work_budget import READ, BudgetExceeded, WorkBudget

REPLY_BYTES = 1 << 20
"""Limit in bytes of unsent replies; above it the connection is closed."""
MEASURED_BYTES = 2 << 10
"""Size in bytes of a read above which its processor time is measured."""
SLICE_BYTES = 16 << 10
"""Bytes processed before the event loop runs other tasks."""

_WINDOW = 1 << 20
"""Receive window of the connection in bytes.

Each call's window limits its unread data. The connection's window is wider, so that calls do not
wait for each other.
"""
_OPENING = (
    PREFACE
    + settings([(Http2Setting.ENABLE_PUSH, 0), (Http2Setting.MAX_HEADER_LIST_SIZE, HEADERS_BYTES)])
    + numbered(FrameKind.WINDOW_UPDATE, 0, _WINDOW - WINDOW_BYTES)
)
_LOST = Status(StatusCode.UNAVAILABLE, "the connection was lost")


class Connection(asyncio.Protocol):
    """A connection in any state: connecting, open or lost."""

    def __init__(self, budget: WorkBudget) -> None:
        self.budget = budget
        self._backlog = b""
        """Received bytes that wait for the next slice."""
        self._loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[None] = self._loop.create_future()
        """Done when the peer has sent its settings; fails with an OSError otherwise."""
        self.lost: asyncio.Future[None] = self._loop.create_future()
        """Done when the connection is lost."""
        self.credit = WINDOW_BYTES
        self.frame_bytes = FRAME_BYTES
        self.flowing = True
        self._transport: asyncio.Transport | None = None
        self._calls: dict[int, Call] = {}
        self._most_calls = LARGEST_WINDOW_BYTES
        self._call_credit = WINDOW_BYTES
        self._next = 1
        self._there = False
        self._leaving = False
        self._changes: set[asyncio.Future[None]] = set()
        self._window = _WINDOW
        self._frames = FrameReader(self._receive_frame, budget)
        self._headers = HeaderReader()
        self._handlers: dict[int, Callable[[int, int, bytes], None]] = {
            FrameKind.DATA: self._data,
            FrameKind.HEADERS: self._call_headers,
            FrameKind.RST_STREAM: self._reset,
            FrameKind.SETTINGS: self._settings,
            FrameKind.PUSH_PROMISE: self._push,
            FrameKind.PING: self._ping,
            FrameKind.GOAWAY: self._goaway,
            FrameKind.WINDOW_UPDATE: self._more_credit,
        }

    @property
    def takes_calls(self) -> bool:
        """Return whether new calls may begin."""
        return self._there and not self._leaving and self._next < LARGEST_WINDOW_BYTES

    async def begin(self, headers: bytes) -> Call:
        """Begin a call; wait while the peer's limit on concurrent calls is reached.

        Raises:
            OSError: the connection is lost.
        """
        while len(self._calls) >= self._most_calls and self.takes_calls:
            await self.change()
        if not self.takes_calls:
            raise ConnectionError("the connection was lost")
        call = Call(self, self._next, self._call_credit)
        self._calls[self._next] = call
        self._next += 2
        self.write(frame(FrameKind.HEADERS, END_HEADERS, call.number, headers))
        return call

    def write(self, data: bytes) -> None:
        """Send frames."""
        if self._transport is not None:
            self._transport.write(data)

    def write_data(self, data: bytes, flags: int, number: int) -> None:
        """Send a part of a call's message."""
        self.credit -= len(data)
        self.write(frame(FrameKind.DATA, flags, number, data))

    def forget(self, number: int) -> None:
        """Remove a call that is over."""
        self._calls.pop(number, None)
        self._changed()
        if self._leaving and not self._calls:
            self.abort()

    async def change(self) -> None:
        """Wait until the connection's state changes, for example its window."""
        change: asyncio.Future[None] = self._loop.create_future()
        self._changes.add(change)
        try:
            await change
        finally:
            self._changes.discard(change)

    def abort(self) -> None:
        """Close the connection immediately."""
        self._there = False
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(_OPENING)

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()
        if not self.lost.done():
            self.lost.set_result(None)

    def pause_writing(self) -> None:
        self.flowing = False

    def resume_writing(self) -> None:
        self.flowing = True
        self._changed()

    def data_received(self, data: bytes) -> None:
        if self._backlog:
            self._backlog += data
        elif len(data) > SLICE_BYTES:
            self._backlog = data
            self._read_on()
        else:
            self._read(data)

    def _read_on(self) -> None:
        """Process the next slice, then let the event loop run other tasks."""
        transport = self._transport
        if transport is None:
            return
        data, self._backlog = self._backlog[:SLICE_BYTES], self._backlog[SLICE_BYTES:]
        if self._backlog:
            transport.pause_reading()
            self._loop.call_soon(self._read_on)
        else:
            transport.resume_reading()
        self._read(data)

    def _read(self, data: bytes) -> None:
        if self._transport is None:
            return
        # Small reads cost little, and reading the clock would cost as much.
        measured = len(data) > MEASURED_BYTES
        began = time.thread_time() if measured else 0.0
        try:
            self.budget.charge("separate pieces", READ)
            self._frames.feed(data)
        except BudgetExceeded as error:
            self._fail_all(Status(StatusCode.RESOURCE_EXHAUSTED, str(error)))
            self._break(ErrorCode.ENHANCE_YOUR_CALM)
        except Http2Error as error:
            self._break(error.code)
        except HeadersTooLong as error:
            if (call := self._calls.get(error.stream)) is not None:
                call.fail(Status(StatusCode.RESOURCE_EXHAUSTED, "headers that are too long"))
            self._break(ErrorCode.ENHANCE_YOUR_CALM)
        if measured:
            self.budget.measured += time.thread_time() - began

    def _fail_all(self, why: Status) -> None:
        for call in list(self._calls.values()):
            call.fail(why)

    def _receive_frame(self, kind: int, stream: int, flags: int, payload: bytes) -> None:
        if (handle := self._handlers.get(kind)) is not None:
            handle(stream, flags, payload)

    def _call(self, stream: int) -> Call | None:
        """Return the call of a stream; None if it is over."""
        if not stream & 1 or stream >= self._next:
            raise Http2Error(ErrorCode.PROTOCOL_ERROR, "spoke on a stream that was never opened")
        return self._calls.get(stream)

    def _data(self, stream: int, flags: int, payload: bytes) -> None:
        self._window -= len(payload)
        if self._window < 0:
            raise Http2Error(ErrorCode.FLOW_CONTROL_ERROR, "sent more than it was allowed")
        if self._window < _WINDOW // 2:
            self.write(numbered(FrameKind.WINDOW_UPDATE, 0, _WINDOW - self._window))
            self._window = _WINDOW
        call = self._call(stream)
        if call is not None:
            plain = without_padding(flags, payload)
            call.receive_data(plain, len(payload), bool(flags & END_STREAM))

    def _call_headers(self, stream: int, flags: int, payload: bytes) -> None:
        call = self._call(stream)
        headers = self._headers.read(stream, payload)
        if call is not None:
            call.receive_headers(headers, bool(flags & END_STREAM))

    def _reset(self, stream: int, flags: int, payload: bytes) -> None:
        code = number_in(payload)
        if (call := self._call(stream)) is not None:
            call.fail(of_reset(code))

    def _settings(self, stream: int, flags: int, payload: bytes) -> None:
        if flags & ACK:
            return
        for name, value in settings_in(payload):
            if name == Http2Setting.INITIAL_WINDOW_SIZE:
                if value > LARGEST_WINDOW_BYTES:
                    raise Http2Error(ErrorCode.FLOW_CONTROL_ERROR, "allowed more than there can be")
                for call in self._calls.values():
                    call.receive_credit(value - self._call_credit)
                self._call_credit = value
            elif name == Http2Setting.MAX_FRAME_SIZE:
                if not FRAME_BYTES <= value <= LARGEST_FRAME_BYTES:
                    raise Http2Error(ErrorCode.PROTOCOL_ERROR, "takes frames of no possible size")
                self.frame_bytes = value
            elif name == Http2Setting.MAX_CONCURRENT_STREAMS:
                self._most_calls = value
        self._reply(frame(FrameKind.SETTINGS, ACK, 0))
        if not self.ready.done():
            self._there = True
            self.ready.set_result(None)
        self._changed()

    def _push(self, stream: int, flags: int, payload: bytes) -> None:
        raise Http2Error(ErrorCode.PROTOCOL_ERROR, "pushed what nobody asked for")

    def _ping(self, stream: int, flags: int, payload: bytes) -> None:
        if len(payload) != 8:
            raise Http2Error(ErrorCode.FRAME_SIZE_ERROR, "sent a ping of a wrong length")
        if not flags & ACK:
            self._reply(frame(FrameKind.PING, ACK, 0, payload))

    def _goaway(self, stream: int, flags: int, payload: bytes) -> None:
        last = number_in(payload) & LARGEST_WINDOW_BYTES
        number_in(payload, 4)
        self._leaving = True
        for call in [call for number, call in self._calls.items() if number > last]:
            call.fail(_LOST)
        self._changed()
        if not self._calls:
            self.abort()

    def _more_credit(self, stream: int, flags: int, payload: bytes) -> None:
        more = number_in(payload) & LARGEST_WINDOW_BYTES
        if not more:
            raise Http2Error(ErrorCode.PROTOCOL_ERROR, "allowed nothing more")
        if not stream:
            self.credit = more_credit(self.credit, more)
        elif (call := self._call(stream)) is not None:
            call.receive_credit(more)
        self._changed()

    def _reply(self, data: bytes) -> None:
        """Send a reply that the peer caused.

        Raises:
            Http2Error: too many replies are unsent because the peer does not read them.
        """
        if self._transport is not None:
            if self._transport.get_write_buffer_size() > REPLY_BYTES:
                raise Http2Error(ErrorCode.ENHANCE_YOUR_CALM, "does not read what it asked for")
            self._transport.write(data)

    def _break(self, code: ErrorCode) -> None:
        """Close the connection after a protocol error or an exceeded limit."""
        self.write(frame(FrameKind.GOAWAY, 0, 0, bytes(4) + int(code).to_bytes(4, "big")))
        self.abort()
        self._end()

    def _end(self) -> None:
        self._transport = None
        self._there = False
        if not self.ready.done():
            self.ready.set_exception(ConnectionError("it does not speak HTTP/2"))
            self.ready.exception()  # retrieved, because a waiting task may not exist
        self._backlog = b""
        self._fail_all(_LOST)
        self._changed()

    def _changed(self) -> None:
        for change in self._changes:
            if not change.done():
                change.set_result(None)
