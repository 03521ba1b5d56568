"""Never answers, and keeps 64 threads busy meanwhile."""

import hashlib
import threading
import time

from honest import once, play


def spin() -> None:
    data = bytes(1 << 20)
    while True:
        # hashlib releases the interpreter lock for large inputs.
        hashlib.sha256(data).digest()


def act() -> None:
    for _ in range(64):
        threading.Thread(target=spin, daemon=True).start()
    time.sleep(600)


play(once(act))
