"""Accepts every connection and sends nothing."""

import socket

from wire import path

listener = socket.socket(socket.AF_UNIX)
listener.bind(path())
listener.listen()
taken = []
while True:
    taken.append(listener.accept())
