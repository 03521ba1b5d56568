"""A gRPC call: messages in both directions until a status (code and message) ends it."""

import asyncio
import struct
import zlib
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import unquote_to_bytes

from grpc import StatusCode

from referee.rpc.http2 import (
    END_STREAM,
    WINDOW_BYTES,
    ErrorCode,
    FrameKind,
    Headers,
    Http2Error,
    frame,
    more_credit,
    numbered,
)
from referee.rpc.work_budget import UNPACKED_BYTE, WorkBudget

# Status of a gRPC call: its code and message (gRPC over HTTP/2, "Responses").

_CODES = {code.value[0]: code for code in StatusCode}
_BY_HTTP = {
    "400": StatusCode.INTERNAL,
    "401": StatusCode.UNAUTHENTICATED,
    "403": StatusCode.PERMISSION_DENIED,
    "404": StatusCode.UNIMPLEMENTED,
    "429": StatusCode.UNAVAILABLE,
    "502": StatusCode.UNAVAILABLE,
    "503": StatusCode.UNAVAILABLE,
    "504": StatusCode.UNAVAILABLE,
}
_BY_RESET: dict[int, StatusCode] = {
    ErrorCode.REFUSED_STREAM: StatusCode.UNAVAILABLE,
    ErrorCode.CANCEL: StatusCode.CANCELLED,
    ErrorCode.ENHANCE_YOUR_CALM: StatusCode.RESOURCE_EXHAUSTED,
    ErrorCode.INADEQUATE_SECURITY: StatusCode.PERMISSION_DENIED,
}


@dataclass(frozen=True, slots=True)
class Status:
    """Final status of a call."""

    code: StatusCode
    details: str = ""


@dataclass(slots=True)
class CallFailed(Exception):
    """A call failed or could not begin."""

    status: Status


def of_trailers(headers: Headers, http: str) -> Status:
    """Return the status in the trailers of a call."""
    number = headers.get("grpc-status")
    if number is None:
        if http == "200":
            return Status(StatusCode.UNKNOWN, "it ended without a status")
        code = _BY_HTTP.get(http, StatusCode.UNKNOWN)
        return Status(code, f"Received http2 header with status: {http}")
    known = number.isascii() and number.isdigit() and len(number) < 4
    code = _CODES.get(int(number), StatusCode.UNKNOWN) if known else StatusCode.UNKNOWN
    return Status(code, _details(headers.get("grpc-message", "")))


def of_reset(code: int) -> Status:
    """Return the status of a call whose stream the peer has reset."""
    status = _BY_RESET.get(code, StatusCode.INTERNAL)
    return Status(status, f"Received RST_STREAM with error code {code}")


def _details(message: str) -> str:
    data = unquote_to_bytes(message.encode("latin-1"))
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


MESSAGE_BYTES = 1 << 20
"""Maximum size in bytes of a message from the peer."""

_PREFIX = struct.Struct(">?L")
_GRANT_BYTES = WINDOW_BYTES // 4
"""Consumed bytes after which a WINDOW_UPDATE is sent."""
_ZLIB_OR_GZIP = zlib.MAX_WBITS | 32
_PACKED = ("deflate", "gzip")
ENCODINGS = ",".join(("identity", *_PACKED))


class CallConnection(Protocol):
    """The connection of a call."""

    credit: int
    """Flow-control window for sending, in bytes."""
    budget: WorkBudget
    """The work budget charged for the peer's data."""
    frame_bytes: int
    """Maximum size in bytes of a frame payload that the peer accepts."""

    @property
    def flowing(self) -> bool:
        """Return whether the transport accepts data."""

    def write(self, data: bytes) -> None:
        """Send frames."""

    def write_data(self, data: bytes, flags: int, number: int) -> None:
        """Send a part of a call's message."""

    def forget(self, number: int) -> None:
        """Remove a call that is over."""

    async def change(self) -> None:
        """Wait until the connection's state changes, for example its window."""


class Call:
    """An open call, for use by one task at a time.

    Data of the peer is buffered until it is received. The peer may send at most one window ahead,
    in addition to the message that is being received.
    """

    def __init__(self, line: CallConnection, number: int, credit: int) -> None:
        self.number = number
        self.credit = credit
        """Flow-control window for sending, in bytes."""
        self.status: Status | None = None
        """Its final status; None while it is open."""
        self._line = line
        self._loop = asyncio.get_running_loop()
        self._window = WINDOW_BYTES
        self._owed = 0
        """Received bytes not yet returned to the peer by a WINDOW_UPDATE."""
        self._buffer = bytearray()
        self._reader: asyncio.Future[None] | None = None
        self._http = ""
        self._packed = False
        self._closed = False
        """Whether this side has ended its messages."""

    async def send(self, message: bytes, last: bool = False) -> None:
        """Send a message; wait while flow control does not allow it.

        Raises:
            CallFailed: the call is over.
        """
        data = _PREFIX.pack(False, len(message)) + message
        while True:
            if self.status is not None:
                raise CallFailed(self.status)
            line = self._line
            room = min(self.credit, line.credit, line.frame_bytes) if line.flowing else 0
            if room >= len(data):
                self.credit -= len(data)
                self._closed = last
                line.write_data(data, END_STREAM if last else 0, self.number)
                return
            if room > 0:
                self.credit -= room
                line.write_data(data[:room], 0, self.number)
                data = data[room:]
            else:
                await line.change()

    def finish(self) -> None:
        """End the messages of this side with END_STREAM."""
        if self.status is None and not self._closed:
            self._closed = True
            self._line.write(frame(FrameKind.DATA, END_STREAM, self.number))

    def cancel(self) -> None:
        """Cancel the call, if it is open; later data is ignored."""
        self._reset(Status(StatusCode.CANCELLED), ErrorCode.CANCEL)

    async def receive(self) -> bytes | None:
        """Return the next message; None after the last one, when the call has a status.

        Raises:
            CallFailed: the data is not a valid message, or the message is too large.
        """
        while True:
            message = self._message()
            if message is not None or self.status is not None:
                return message
            self._grant()
            self._reader = self._loop.create_future()
            try:
                await self._reader
            finally:
                self._reader = None

    def _message(self) -> bytes | None:
        """Remove the first complete message from the buffer; None if it is not complete."""
        buffer = self._buffer
        if len(buffer) < _PREFIX.size:
            return None
        packed, length = buffer[0], _PREFIX.unpack_from(buffer)[1]
        end = _PREFIX.size + length
        if length > MESSAGE_BYTES:
            self._give_up(StatusCode.RESOURCE_EXHAUSTED, f"a message of {length} bytes")
        if len(buffer) < end:
            return None
        message = bytes(buffer[_PREFIX.size : end])
        del buffer[:end]
        return self._unpacked(message) if packed else message

    def _unpacked(self, message: bytes) -> bytes:
        if not self._packed:
            self._give_up(StatusCode.INTERNAL, "a packed message, and no word of how")
        unpacking = zlib.decompressobj(_ZLIB_OR_GZIP)
        try:
            plain = unpacking.decompress(message, MESSAGE_BYTES + 1)
        except zlib.error:
            self._give_up(StatusCode.INTERNAL, "a packed message that cannot be unpacked")
        if len(plain) > MESSAGE_BYTES:
            self._give_up(StatusCode.RESOURCE_EXHAUSTED, "a packed message that is too large")
        self._line.budget.charge("bytes of compressed messages", UNPACKED_BYTE * len(plain))
        return plain

    def _give_up(self, code: StatusCode, details: str) -> None:
        status = Status(code, details)
        self._buffer.clear()
        self._reset(status, ErrorCode.CANCEL)
        raise CallFailed(status)

    def _grant(self) -> None:
        """Extend the peer's window by the bytes received so far.

        Called only when the buffer holds at most a part of one message.
        """
        if self._owed >= _GRANT_BYTES:
            self._line.write(numbered(FrameKind.WINDOW_UPDATE, self.number, self._owed))
            self._window += self._owed
            self._owed = 0

    def receive_data(self, payload: bytes, size: int, end: bool) -> None:
        """Process a DATA frame.

        Args:
            payload: the data without padding.
            size: the size of the payload in bytes, with padding.
            end: whether the stream ends.

        Raises:
            Http2Error: the frame exceeds the window.
        """
        self._window -= size
        self._owed += size
        if self._window < 0:
            raise Http2Error(ErrorCode.FLOW_CONTROL_ERROR, "sent more than it was allowed")
        if not self._http:
            self._reset(
                Status(StatusCode.INTERNAL, "data before headers"), ErrorCode.PROTOCOL_ERROR
            )
            return
        self._buffer += payload
        if end:
            self._end(of_trailers({}, self._http))
        else:
            self._wake()

    def receive_headers(self, headers: Headers, end: bool) -> None:
        """Process the headers before or after the messages."""
        http = headers.get(":status", "")
        if not self._http and not end:
            if http.startswith("1"):
                return
            self._http = http or "200"
            self._packed = headers.get("grpc-encoding") in _PACKED
            if self._http != "200":
                self._reset(of_trailers(headers, self._http), ErrorCode.CANCEL)
        elif end:
            self._end(of_trailers(headers, self._http or http))
        else:
            self._reset(Status(StatusCode.INTERNAL, "headers amid data"), ErrorCode.PROTOCOL_ERROR)

    def receive_credit(self, more: int) -> None:
        """Extend the window for sending.

        Raises:
            Http2Error: the window exceeds the limit of HTTP/2.
        """
        self.credit = more_credit(self.credit, more)

    def fail(self, status: Status) -> None:
        """End the call because its stream or connection is lost."""
        self._closed = True
        self._end(status)

    def _reset(self, status: Status, code: ErrorCode) -> None:
        if self.status is None:
            self._closed = True
            self._line.write(numbered(FrameKind.RST_STREAM, self.number, code))
            self._end(status)

    def _end(self, status: Status) -> None:
        if self.status is not None:
            return
        self.status = status
        if not self._closed:
            self._closed = True
            self._line.write(numbered(FrameKind.RST_STREAM, self.number, ErrorCode.CANCEL))
        self._line.forget(self.number)
        self._wake()

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)
