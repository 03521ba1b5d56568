"""Answers once, and ends its stream when the next answer is expected."""

from collections.abc import Iterator
from typing import Any

from pokearena.v1 import bot_pb2
from wire import answer, questions, serve


def stream(requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
    answers = [answer(question) for question in questions(next(requests))]
    yield bot_pb2.PlayResponse(answers=answers).SerializeToString()


serve(stream=stream)
