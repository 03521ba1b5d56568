"""Baseline gRPC server: a threaded server of grpcio with a constant answer.

``echo.py ANSWER`` answers every message, of the stream ``Play`` or the call ``Act``, with the same
message, given as the hexadecimal bytes of a ``PlayResponse``.
"""

import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
from pokearena.v1 import bot_pb2, bot_pb2_grpc


class Echo(bot_pb2_grpc.BotServiceServicer):
    """Returns the same answer to every request."""

    def __init__(self, answer: bot_pb2.PlayResponse) -> None:
        self.answer = answer

    def Act(self, request: bot_pb2.ActRequest, context: Any) -> bot_pb2.ActResponse:
        return self.answer.answers[0]

    def Play(
        self, requests: Iterator[bot_pb2.PlayRequest], context: Any
    ) -> Iterator[bot_pb2.PlayResponse]:
        for _ in requests:
            yield self.answer


server = grpc.server(ThreadPoolExecutor(4))
answer = bot_pb2.PlayResponse.FromString(bytes.fromhex(sys.argv[1]))
bot_pb2_grpc.add_BotServiceServicer_to_server(Echo(answer), server)
server.add_insecure_port(os.environ["POKEARENA_ADDRESS"])
server.start()
server.wait_for_termination()
