"""Answers with half a million empty answers in one message."""

from collections.abc import Iterator
from typing import Any

from wire import questions, serve


def stream(requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
    for message in requests:
        questions(message)
        yield b"\x0a\x00" * 524_280


serve(stream=stream)
