"""An HTTP/2 server that answers Start and then sends the same bytes without end."""

import contextlib
import socket
import struct

from wire import path

SETTINGS, HEADERS = 4, 1
UNIMPLEMENTED = b"\x88\x00\x0bgrpc-status\x0212"
"""HPACK: the HTTP status 200 and gRPC's status UNIMPLEMENTED."""
END_OF_CALL = 0x5
START, PLAY = 1, 3
"""The streams of the first two calls."""


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    size = struct.pack(">I", len(payload))[1:]
    return size + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def calls(connection: socket.socket) -> int:
    """Read until the next call begins; return its stream."""
    data = b""
    while True:
        while len(data) >= 9:
            length, kind = int.from_bytes(data[:3], "big"), data[3]
            stream = int.from_bytes(data[5:9], "big")
            if len(data) < 9 + length:
                break
            data = data[9 + length :]
            if kind == HEADERS:
                return stream
        more = connection.recv(1 << 16)
        if not more:
            raise ConnectionError
        data += more


def serve(flood: bytes, read: bool = False) -> None:
    """Send `flood` repeatedly after the first question; optionally read what the client sends."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path())
    listener.listen()
    chunk = flood * max(1, (1 << 18) // len(flood))
    while True:
        connection, _ = listener.accept()
        with contextlib.suppress(OSError), connection:
            connection.sendall(frame(SETTINGS, 0, 0))
            connection.recv(24, socket.MSG_WAITALL)
            assert calls(connection) == START
            connection.sendall(frame(HEADERS, END_OF_CALL, START, UNIMPLEMENTED))
            calls(connection)
            while True:
                connection.sendall(chunk)
                if read:
                    connection.setblocking(False)
                    with contextlib.suppress(BlockingIOError):
                        connection.recv(1 << 20)
                    connection.setblocking(True)
