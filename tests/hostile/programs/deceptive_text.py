"""Puts escape sequences and bidirectional text into its manifest, its stderr and a gRPC error."""

import sys
from typing import Any

import grpc
from wire import serve

TEXT = "\x1b]0;title\x07\x1b[2J\u202eevil\u202c\u200b\u2066x\u2069\x9b31m\u3164\u2028fake"


def act(request: bytes, context: Any) -> bytes:
    print(TEXT, file=sys.stderr, flush=True)
    context.abort(grpc.StatusCode.INVALID_ARGUMENT, TEXT)
    raise AssertionError("abort raises")


serve(act)
