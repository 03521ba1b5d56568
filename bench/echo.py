"""The peer: a gRPC server of the same kind as the kit's that answers bytes with bytes.

``echo.py SIZE`` answers every message, of a stream ``Play`` or a call ``Act``, with SIZE bytes.
"""

import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc

ANSWER = bytes(int(sys.argv[1]))


def act(request: bytes, context: Any) -> bytes:
    return ANSWER


def play(requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
    for _ in requests:
        yield ANSWER


handlers: dict[str, Any] = {
    "Act": grpc.unary_unary_rpc_method_handler(act),
    "Play": grpc.stream_stream_rpc_method_handler(play),
}
server = grpc.server(ThreadPoolExecutor(4))
server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Echo", handlers),))
server.add_insecure_port(os.environ["POKEARENA_ADDRESS"])
server.start()
server.wait_for_termination()
