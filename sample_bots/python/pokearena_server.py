"""Serve a bot by gRPC at a Unix socket, with one thread per connection.

``pokearena_bot`` uses this server if ``hpack`` is installed, and the server of grpcio otherwise.
grpcio passes each message between several threads, which costs more than most answers. Here the
thread that reads a question also answers it.

The server implements what gRPC over HTTP/2 needs: one direction of header compression, flow control
in both directions, calls with one request, and streams. It has no TLS and no compressed messages.
All calls of a connection share its thread: while a call waits for its next request, the thread
serves the calls that begin, so the latest call is served first.
"""

import os
import select
import signal
import socket
import stat
import struct
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass
from hpack import Decoder, Encoder, HPACKError, NeverIndexedHeaderTuple
from pokearena.v1 import bot_pb2

_SERVICE = bot_pb2.DESCRIPTOR.services_by_name["BotService"]
_METHODS = {f"/{_SERVICE.full_name}/{method.name}": method for method in _SERVICE.methods}

_CALLS = 8
"""Maximum number of open calls of a connection; a table needs two."""
_MESSAGE_BYTES = 64 << 20
"""Maximum size of a request in bytes."""
_HEADERS_BYTES = 64 << 10
"""Maximum size of encoded headers in bytes."""
_WINDOW_BYTES = 1 << 20
"""Flow-control window for received data in bytes, of a connection and of each call."""
_FRAME_BYTES = 16 << 10
"""Maximum size of a sent frame in bytes; every peer accepts it."""
_DEFAULT_WINDOW_BYTES = (1 << 16) - 1
_SIGNAL_BYTES = 4096

# Frame types, flags and settings (RFC 9113, sections 6 and 11).
_DATA, _HEADERS, _RST_STREAM, _SETTINGS, _PING, _WINDOW_UPDATE, _CONTINUATION = 0, 1, 3, 4, 6, 8, 9
_END_STREAM = _ACK = 0x1
_END_HEADERS, _PADDED, _PRIORITY = 0x4, 0x8, 0x20
_MAX_CONCURRENT_STREAMS, _INITIAL_WINDOW_SIZE = 3, 4
_REFUSED_STREAM = 7
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_HEAD = struct.Struct(">HBBBL")
"""Length (two parts), type, flags and call of a frame."""
_PREFIX = struct.Struct(">?L")
"""Prefix of a gRPC message: whether it is compressed, and its length."""
_NUMBER = struct.Struct(">L")
_SETTING = struct.Struct(">HL")

_OK, _RESOURCE_EXHAUSTED, _UNIMPLEMENTED, _INTERNAL = 0, 8, 12, 13
"""Status codes of gRPC."""


def serve(path: str, service: Any) -> None:
    """Serve a bot forever.

    Args:
        path: the Unix socket, which is created; a socket that a former process left is replaced.
        service: an implementation of ``BotServiceServicer``.
    """
    with suppress(FileNotFoundError):
        if stat.S_ISSOCK(os.stat(path).st_mode):
            os.unlink(path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        signals = _signals()
        while True:
            ready = select.select([listener, signals], [], [])[0]
            if signals in ready:
                signals.recv(_SIGNAL_BYTES)
            if listener in ready:
                peer, _ = listener.accept()
                threading.Thread(target=_Connection(peer, service).serve, daemon=True).start()


def _signals() -> socket.socket:
    """Return a socket that receives a byte for each signal that Python handles.

    Python runs handlers in this thread only. A signal that arrives just before the thread waits, or
    in another thread, would not end the wait otherwise, and SIGTERM would have no effect.
    """
    reading, writing = socket.socketpair()
    writing.setblocking(False)
    signal.set_wakeup_fd(writing.detach(), warn_on_full_buffer=False)
    return reading


def _frame(kind: int, flags: int, number: int, payload: bytes = b"") -> bytes:
    length = len(payload)
    return _HEAD.pack(length >> 8, length & 0xFF, kind, flags, number) + payload


def _header_block(*headers: tuple[str, str]) -> bytes:
    """Encode headers without changes to the compression table."""
    return Encoder().encode((NeverIndexedHeaderTuple(*h) for h in headers), huffman=False)


_RESPONSE_HEADERS = _header_block((":status", "200"), ("content-type", "application/grpc"))


class _ProtocolError(Exception):
    """The peer violates HTTP/2 or a limit; the connection is closed."""


class _CallError(Exception):
    """A call ends with this status code."""

    def __init__(self, code: int) -> None:
        self.code = code


class _Context:
    """Context of a call. The generated code of a missing method sets a status before it raises."""

    def set_code(self, code: object) -> None:
        """Ignore the status; the exception implies it."""

    def set_details(self, details: str) -> None:
        """Ignore the message of the status."""


class _Call:
    """An open call."""

    def __init__(self, number: int, credit: int) -> None:
        self.number = number
        self.credit = credit
        """Flow-control window for sending, in bytes."""
        self.received = bytearray()
        self.unacknowledged = 0
        """Received bytes not yet returned to the peer by a WINDOW_UPDATE."""
        self.has_ended = False
        """Whether the peer has sent its last request."""
        self.is_reset = False
        self.has_headers = False
        """Whether the headers of the response have been sent."""

    def next_message(self) -> bytes | None:
        """Remove the first complete message; None if there is none.

        Raises:
            _CallError: the message is compressed or too large.
        """
        if len(self.received) < _PREFIX.size:
            return None
        compressed, length = _PREFIX.unpack_from(self.received)
        if compressed:
            raise _CallError(_UNIMPLEMENTED)
        if length > _MESSAGE_BYTES:
            raise _CallError(_RESOURCE_EXHAUSTED)
        end = _PREFIX.size + length
        if len(self.received) < end:
            return None
        message = bytes(self.received[_PREFIX.size : end])
        del self.received[:end]
        return message


class _Connection:
    """A connection of a client, served by one thread."""

    def __init__(self, peer: socket.socket, service: Any) -> None:
        self._peer = peer
        self._service = service
        self._received = bytearray()
        self._decoder = Decoder(max_header_list_size=_HEADERS_BYTES)
        self._calls: dict[int, _Call] = {}
        self._latest = 0
        """Number of the latest call; numbers increase."""
        self._credit = _DEFAULT_WINDOW_BYTES
        """Flow-control window for sending, in bytes."""
        self._call_credit = _DEFAULT_WINDOW_BYTES
        """The same of a new call."""
        self._unacknowledged = 0

    def serve(self) -> None:
        """Serve the client until it closes the connection."""
        settings = _SETTING.pack(_MAX_CONCURRENT_STREAMS, _CALLS)
        settings += _SETTING.pack(_INITIAL_WINDOW_SIZE, _WINDOW_BYTES)
        more = _NUMBER.pack(_WINDOW_BYTES - _DEFAULT_WINDOW_BYTES)
        with self._peer, suppress(OSError, EOFError, _ProtocolError, HPACKError, struct.error):
            if self._read(len(_PREFACE)) != _PREFACE:
                return
            self._peer.sendall(
                _frame(_SETTINGS, 0, 0, settings) + _frame(_WINDOW_UPDATE, 0, 0, more)
            )
            while True:
                self._receive_frame()

    def _read(self, size: int) -> bytes:
        """Return the next bytes, waiting for them.

        Raises:
            EOFError: the connection is closed.
        """
        received = self._received
        while len(received) < size:
            data = self._peer.recv(1 << 16)
            if not data:
                raise EOFError
            received += data
        taken = bytes(received[:size])
        del received[:size]
        return taken

    def _receive_frame(self) -> None:
        """Process the next frame; a frame that begins a call returns after the call."""
        high, low, kind, flags, number = _HEAD.unpack(self._read(_HEAD.size))
        if (length := high << 8 | low) > _FRAME_BYTES:
            raise _ProtocolError
        payload = self._read(length)
        if kind == _DATA:
            self._receive_data(flags, number, payload)
        elif kind == _HEADERS:
            self._receive_headers(flags, number, payload)
        elif kind == _SETTINGS and not flags & _ACK:
            self._receive_settings(payload)
        elif kind == _PING and not flags & _ACK:
            self._peer.sendall(_frame(_PING, _ACK, 0, payload))
        elif kind == _WINDOW_UPDATE:
            self._receive_credit(number, *_NUMBER.unpack(payload))
        elif kind == _RST_STREAM and number in self._calls:
            self._calls.pop(number).is_reset = True

    def _receive_data(self, flags: int, number: int, payload: bytes) -> None:
        self._unacknowledged += len(payload)
        if self._unacknowledged > _WINDOW_BYTES // 2:
            self._acknowledge(0, self._unacknowledged)
            self._unacknowledged = 0
        if (call := self._calls.get(number)) is None:
            return
        call.has_ended = bool(flags & _END_STREAM)
        call.received += _without_padding(flags, payload)
        if len(call.received) > _MESSAGE_BYTES + _WINDOW_BYTES:
            raise _ProtocolError
        call.unacknowledged += len(payload)
        if call.unacknowledged > _WINDOW_BYTES // 2 and not call.has_ended:
            self._acknowledge(number, call.unacknowledged)
            call.unacknowledged = 0

    def _acknowledge(self, number: int, size: int) -> None:
        """Extend the peer's window, of a call or (number 0) of the connection."""
        self._peer.sendall(_frame(_WINDOW_UPDATE, 0, number, _NUMBER.pack(size)))

    def _receive_headers(self, flags: int, number: int, payload: bytes) -> None:
        ends = bool(flags & _END_STREAM)
        block = _without_padding(flags, payload)[5 if flags & _PRIORITY else 0 :]
        while not flags & _END_HEADERS:
            high, low, kind, flags, _ = _HEAD.unpack(self._read(_HEAD.size))
            block += self._read(high << 8 | low)
            if kind != _CONTINUATION or len(block) > _HEADERS_BYTES:
                raise _ProtocolError
        headers: dict[Any, Any] = dict(self._decoder.decode(block))
        if (open_call := self._calls.get(number)) is not None:
            open_call.has_ended = ends
        elif number <= self._latest:
            return
        elif len(self._calls) >= _CALLS:
            self._peer.sendall(_frame(_RST_STREAM, 0, number, _NUMBER.pack(_REFUSED_STREAM)))
        else:
            self._latest = number
            call = self._calls[number] = _Call(number, self._call_credit)
            call.has_ended = ends
            self._serve_call(call, headers.get(":path", ""))

    def _receive_settings(self, payload: bytes) -> None:
        for name, value in _SETTING.iter_unpack(payload):
            if name == _INITIAL_WINDOW_SIZE:
                for call in self._calls.values():
                    call.credit += value - self._call_credit
                self._call_credit = value
        self._peer.sendall(_frame(_SETTINGS, _ACK, 0))

    def _receive_credit(self, number: int, more: int) -> None:
        if not number:
            self._credit += more
        elif number in self._calls:
            self._calls[number].credit += more

    def _serve_call(self, call: _Call, path: str) -> None:
        try:
            self._respond(call, path)
            code = _OK
        except _CallError as error:
            code = error.code
        except NotImplementedError:
            code = _UNIMPLEMENTED
        except DecodeError:
            code = _INTERNAL
        if not call.is_reset:
            status = _header_block(("grpc-status", str(code)))
            block = status if call.has_headers else _RESPONSE_HEADERS + status
            self._peer.sendall(_frame(_HEADERS, _END_HEADERS | _END_STREAM, call.number, block))
            del self._calls[call.number]

    def _respond(self, call: _Call, path: str) -> None:
        """Send the responses of a call.

        Raises:
            _CallError: the call cannot be served.
            NotImplementedError: the method is not implemented.
            DecodeError: a request is not valid.
        """
        if (method := _METHODS.get(path)) is None:
            raise _CallError(_UNIMPLEMENTED)
        implementation = getattr(self._service, method.name)
        requests = self._requests(call, GetMessageClass(method.input_type))
        if method.client_streaming:
            for response in implementation(requests, _Context()):
                self._send(call, response.SerializeToString())
        elif (request := next(requests, None)) is not None:
            self._send(call, implementation(request, _Context()).SerializeToString())
        else:
            raise _CallError(_INTERNAL)

    def _requests(self, call: _Call, kind: Any) -> Iterator[Any]:
        """Yield the requests of a call as they arrive."""
        while not call.is_reset:
            if (message := call.next_message()) is not None:
                yield kind.FromString(message)
            elif call.has_ended:
                return
            else:
                self._receive_frame()

    def _send(self, call: _Call, message: bytes) -> None:
        """Send a response, waiting for the flow control of the peer.

        Raises:
            _CallError: the peer has reset the call.
        """
        data = _PREFIX.pack(False, len(message)) + message
        frames = b""
        if not call.has_headers:
            call.has_headers = True
            frames = _frame(_HEADERS, _END_HEADERS, call.number, _RESPONSE_HEADERS)
        while data:
            room = min(call.credit, self._credit, _FRAME_BYTES)
            if call.is_reset:
                raise _CallError(_INTERNAL)
            if room <= 0:
                self._receive_frame()
                continue
            part, data = data[:room], data[room:]
            call.credit -= len(part)
            self._credit -= len(part)
            self._peer.sendall(frames + _frame(_DATA, 0, call.number, part))
            frames = b""


def _without_padding(flags: int, payload: bytes) -> bytes:
    """Return the payload of a DATA or HEADERS frame without padding."""
    return payload[1 : len(payload) - payload[0]] if flags & _PADDED else payload
