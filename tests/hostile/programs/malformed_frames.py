"""Speaks HTTP/2 up to the first frames, and then frames with lengths and streams that lie."""

import contextlib
import socket

from wire import path

SETTINGS = bytes(3) + b"\x04\x00" + bytes(4)
WRONG = b"\xff\xff\xff\x00\xff\x7f\xff\xff\xff" + bytes(1 << 16)

listener = socket.socket(socket.AF_UNIX)
listener.bind(path())
listener.listen()
while True:
    connection, _ = listener.accept()
    with contextlib.suppress(OSError), connection:
        connection.sendall(SETTINGS)
        connection.recv(1 << 16)
        connection.sendall(WRONG)
        connection.recv(1 << 16)
