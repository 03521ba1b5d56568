"""One gRPC call: messages to a peer and from it, until a status ends them."""

import asyncio
import struct
import zlib
from typing import Protocol

from grpc import StatusCode

from referee.rpc import status
from referee.rpc.budget import UNPACKED_BYTE, Budget
from referee.rpc.http2 import (
    END_STREAM,
    WINDOW_BYTES,
    Code,
    Headers,
    Http2Error,
    Kind,
    frame,
    more_credit,
    numbered,
)
from referee.rpc.status import CallFailed, Status

MESSAGE_BYTES = 1 << 20
"""The largest message a peer may send."""

_PREFIX = struct.Struct(">?L")
_GRANT_BYTES = WINDOW_BYTES // 4
"""A peer is told what has been taken when it has come to this much."""
_ZLIB_OR_GZIP = zlib.MAX_WBITS | 32
_PACKED = ("deflate", "gzip")
ENCODINGS = ",".join(("identity", *_PACKED))


class Line(Protocol):
    """The connection a call is made on."""

    credit: int
    """Bytes it may send before its peer allows more."""
    budget: Budget
    """Pays for what the peer sends."""
    frame_bytes: int
    """The largest payload its peer takes."""

    @property
    def flowing(self) -> bool:
        """Whether what is written goes out."""

    def write(self, data: bytes) -> None:
        """Sends frames."""

    def write_data(self, data: bytes, flags: int, number: int) -> None:
        """Sends a part of a call's message."""

    def forget(self, number: int) -> None:
        """Hears that a call is over."""

    async def change(self) -> None:
        """Waits until more may be sent, perhaps."""


class Call:
    """A call that has begun. Used by one task at a time.

    What the peer sends waits here until it is received. The peer may send no more than a window
    ahead, or the message that is being waited for.
    """

    def __init__(self, line: Line, number: int, credit: int) -> None:
        self.number = number
        self.credit = credit
        """Bytes it may send before its peer allows more."""
        self.status: Status | None = None
        """How it ended, once it has."""
        self._line = line
        self._loop = asyncio.get_running_loop()
        self._window = WINDOW_BYTES
        self._owed = 0
        """Bytes that came, of which the peer has not been told that they were taken."""
        self._buffer = bytearray()
        self._reader: asyncio.Future[None] | None = None
        self._http = ""
        self._packed = False
        self._closed = False
        """Whether we have nothing more to send."""

    async def send(self, message: bytes, last: bool = False) -> None:
        """Sends a message; waits where the peer does not take it yet.

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
        """Says that nothing more will be sent."""
        if self.status is None and not self._closed:
            self._closed = True
            self._line.write(frame(Kind.DATA, END_STREAM, self.number))

    def cancel(self) -> None:
        """Ends the call, if it has not ended; what comes late is never read."""
        self._reset(Status(StatusCode.CANCELLED), Code.CANCEL)

    async def receive(self) -> bytes | None:
        """The next message; None after the last one: the call has a status then.

        Raises:
            CallFailed: what came is no message, or too large.
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
        """Takes a whole message out of what has come; None if there is none yet."""
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
        found = Status(code, details)
        self._buffer.clear()
        self._reset(found, Code.CANCEL)
        raise CallFailed(found)

    def _grant(self) -> None:
        """Lets the peer send as much more as was taken: all but a part of one message."""
        if self._owed >= _GRANT_BYTES:
            self._line.write(numbered(Kind.WINDOW_UPDATE, self.number, self._owed))
            self._window += self._owed
            self._owed = 0

    def hear_data(self, payload: bytes, size: int, end: bool) -> None:
        """Takes a DATA frame, which had so many bytes with its padding.

        Raises:
            Http2Error: it is more than the peer was allowed.
        """
        self._window -= size
        self._owed += size
        if self._window < 0:
            raise Http2Error(Code.FLOW_CONTROL_ERROR, "sent more than it was allowed")
        if not self._http:
            self._reset(Status(StatusCode.INTERNAL, "data before headers"), Code.PROTOCOL_ERROR)
            return
        self._buffer += payload
        if end:
            self._end(status.of_trailers({}, self._http))
        else:
            self._wake()

    def hear_headers(self, headers: Headers, end: bool) -> None:
        """Takes headers: those before the messages, or those after."""
        http = headers.get(":status", "")
        if not self._http and not end:
            if http.startswith("1"):
                return
            self._http = http or "200"
            self._packed = headers.get("grpc-encoding") in _PACKED
            if self._http != "200":
                self._reset(status.of_trailers(headers, self._http), Code.CANCEL)
        elif end:
            self._end(status.of_trailers(headers, self._http or http))
        else:
            self._reset(Status(StatusCode.INTERNAL, "headers amid data"), Code.PROTOCOL_ERROR)

    def hear_credit(self, more: int) -> None:
        """Hears that more may be sent.

        Raises:
            Http2Error: more than there can be.
        """
        self.credit = more_credit(self.credit, more)

    def fail(self, found: Status) -> None:
        """Hears that the stream or the connection is gone."""
        self._closed = True
        self._end(found)

    def _reset(self, found: Status, code: Code) -> None:
        if self.status is None:
            self._closed = True
            self._line.write(numbered(Kind.RST_STREAM, self.number, code))
            self._end(found)

    def _end(self, found: Status) -> None:
        if self.status is not None:
            return
        self.status = found
        if not self._closed:
            self._closed = True
            self._line.write(numbered(Kind.RST_STREAM, self.number, Code.CANCEL))
        self._line.forget(self.number)
        self._wake()

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)
