"""Leaves the last question of every batch unanswered."""

from collections.abc import Iterator
from typing import Any

from pokearena.v1 import bot_pb2
from wire import answer, questions, serve


def start(request: bytes, context: Any) -> bytes:
    return bot_pb2.StartResponse(games_in_flight=8).SerializeToString()


def stream(requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
    for request in requests:
        answers = [answer(question) for question in questions(request)[:-1]]
        yield bot_pb2.PlayResponse(answers=answers).SerializeToString()


serve(stream=stream, start=start)
