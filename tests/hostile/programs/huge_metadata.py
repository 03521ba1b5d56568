"""Sends metadata of 1 MiB before its answer."""

from typing import Any

from wire import serve


def act(request: bytes, context: Any) -> bytes:
    context.send_initial_metadata([("huge", "x" * (1 << 20))])
    return b""


serve(act)
