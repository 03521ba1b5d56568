"""Sends the same answer to every question, for ever."""

from collections.abc import Iterator
from typing import Any

from pokearena.v1 import bot_pb2
from wire import answer, questions, serve


def stream(requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
    (first, *_) = questions(next(requests))
    message = bot_pb2.PlayResponse(answers=[answer(first)]).SerializeToString()
    while True:
        yield message


serve(stream=stream)
