"""Refuses to answer, with an explanation of a mebibyte."""

from typing import Any

import grpc
from wire import serve


def act(request: bytes, context: Any) -> bytes:
    context.abort(grpc.StatusCode.INTERNAL, "no " * (1 << 18))
    return b""


serve(act)
