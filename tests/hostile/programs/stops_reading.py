"""Answers the first question, then neither reads nor answers."""

import time
from collections.abc import Iterator
from typing import Any

from wire import answer, questions, serve


def stream(requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
    from pokearena.v1 import bot_pb2

    for question in questions(next(requests)):
        yield bot_pb2.PlayResponse(answers=[answer(question)]).SerializeToString()
    time.sleep(600)


serve(stream=stream)
