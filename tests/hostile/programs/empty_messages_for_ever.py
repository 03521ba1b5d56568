"""Sends messages without answers, for ever."""

from collections.abc import Iterator
from typing import Any

from wire import questions, serve


def stream(requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
    questions(next(requests))
    while True:
        yield b""


serve(stream=stream)
