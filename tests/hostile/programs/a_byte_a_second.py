"""Sends an honest answer at one byte per second, through a slow pipe."""

import os
import socket
import tempfile
import threading
import time
from pathlib import Path

from wire import answer, path, serve


def pump(source: socket.socket, target: socket.socket, slow: bool) -> None:
    while data := source.recv(1 << 16):
        if not slow or not question_received.is_set():
            target.sendall(data)
            continue
        for byte in data:
            target.sendall(bytes([byte]))
            time.sleep(1)


def carry() -> None:
    while True:
        outside, _ = listener.accept()
        inside = socket.socket(socket.AF_UNIX)
        inside.connect(inner)
        for pair in ((outside, inside, False), (inside, outside, True)):
            threading.Thread(target=pump, args=pair, daemon=True).start()


def act(request: bytes, context: object) -> bytes:
    from pokearena.v1 import bot_pb2

    question_received.set()
    return answer(bot_pb2.ActRequest.FromString(request)).SerializeToString()


question_received = threading.Event()
inner = str(Path(tempfile.mkdtemp()) / "inner")
listener = socket.socket(socket.AF_UNIX)
listener.bind(path())
os.environ["POKEARENA_ADDRESS"] = f"unix:{inner}"
threading.Thread(target=serve, args=(act,), daemon=True).start()
while not Path(inner).exists():
    time.sleep(0.01)
listener.listen()
carry()
