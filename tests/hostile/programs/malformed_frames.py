"""Sends valid HTTP/2 settings, and then frames with wrong lengths and streams."""

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
