"""Answers every question of a batch twice."""

from collections.abc import Iterator
from typing import Any

from pokearena.v1 import bot_pb2
from wire import answer, questions, serve


def start(request: bytes, context: Any) -> bytes:
    return bot_pb2.StartResponse(games_in_flight=8).SerializeToString()


def stream(requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
    for request in requests:
        answers = [answer(question) for question in questions(request)]
        yield bot_pb2.PlayResponse(answers=answers * 2).SerializeToString()


serve(stream=stream, start=start)
