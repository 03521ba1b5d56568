"""Fails a call with an error message of 1 MiB."""

from typing import Any

import grpc
from wire import serve


def act(request: bytes, context: Any) -> bytes:
    context.abort(grpc.StatusCode.INTERNAL, "no " * (1 << 18))
    return b""


serve(act)
