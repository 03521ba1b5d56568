"""Accepts every connection and closes it after its settings."""

import contextlib
import socket

from wire import path

SETTINGS = bytes(3) + b"\x04\x00" + bytes(4)
listener = socket.socket(socket.AF_UNIX)
listener.bind(path())
listener.listen()
while True:
    connection, _ = listener.accept()
    with contextlib.suppress(OSError), connection:
        connection.sendall(SETTINGS)
