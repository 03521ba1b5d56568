"""Answers, in its stream, a question that was never sent."""

from collections.abc import Iterator
from typing import Any

from pokearena.v1 import bot_pb2
from wire import answer, questions, serve


def stream(requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
    for request in requests:
        answers = [answer(question) for question in questions(request)]
        for batch_answer in answers:
            batch_answer.decision += 1
        yield bot_pb2.PlayResponse(answers=answers).SerializeToString()


serve(stream=stream)
