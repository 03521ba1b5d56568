"""Run work in a background thread of a test."""

import threading
from typing import Self


class BackgroundLoop:
    """Runs `go_on` in a thread during the block; leaving the block sets `over`."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self._thread = threading.Thread(target=self.go_on, daemon=True)

    def go_on(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.over.set()
        self._thread.join()
