"""Answers one millisecond late, and answers the same question again in place of the next one."""

import time
from collections.abc import Iterator
from typing import Any

from pokearena.v1 import bot_pb2
from wire import answer, questions, serve

late: list[bytes] = []


def stream(requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
    for request in requests:
        if not late:
            (question,) = questions(request)
            late.append(bot_pb2.PlayResponse(answers=[answer(question)]).SerializeToString())
            time.sleep((question.clock.allowance_ms + question.clock.bank_ms + 1) / 1000)
        yield late[0]


serve(stream=stream)
