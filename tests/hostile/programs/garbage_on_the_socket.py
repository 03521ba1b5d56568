"""Sends random bytes instead of gRPC on every connection."""

import contextlib
import random
import socket

from wire import path

listener = socket.socket(socket.AF_UNIX)
listener.bind(path())
listener.listen()
while True:
    connection, _ = listener.accept()
    with contextlib.suppress(OSError), connection:
        for _ in range(64):
            connection.sendall(random.randbytes(1 << 16))
