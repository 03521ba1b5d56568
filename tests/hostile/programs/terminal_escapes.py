"""Prints escape sequences and bidirectional text, and answers with such a note."""

import sys

from pokearena.v1 import bot_pb2
from wire import answer, serve

TEXT = "\x1b]0;title\x07\x1b[2J\u202eevil\u202c\u200b\u2066x\u2069\x9b31m"


def act(request: bytes, context: object) -> bytes:
    print(TEXT, flush=True)
    sys.stderr.buffer.write(b"\xff\xfe\x1b[31m\n")
    sys.stderr.flush()
    response = answer(bot_pb2.ActRequest.FromString(request))
    response.note = TEXT
    return response.SerializeToString()


serve(act)
