"""A bot without a kit that controls the bytes that it sends."""

import os
import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
from pokearena.v1 import bot_pb2

Raw = Callable[[bytes, Any], bytes]
RawStream = Callable[[Iterator[bytes], Any], Iterator[bytes]]
_SIZES = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]


def answer(question: bot_pb2.ActRequest) -> bot_pb2.ActResponse:
    """Return an honest answer."""
    move = random.Random(question.luck).choice(question.legal)
    return bot_pb2.ActResponse(game=question.game, decision=question.decision, action=move)


def questions(message: bytes) -> list[bot_pb2.ActRequest]:
    """Return the questions of a message of `Play`."""
    return list(bot_pb2.PlayRequest.FromString(message).questions)


def serve(
    act: Raw | None = None, stream: RawStream | None = None, start: Raw | None = None
) -> None:
    """Serve methods that receive and return raw bytes; a method that is None is unimplemented."""
    handlers = {}
    if act is not None:
        handlers["Act"] = grpc.unary_unary_rpc_method_handler(act)
    if stream is not None:
        handlers["Play"] = grpc.stream_stream_rpc_method_handler(stream)
    if start is not None:
        handlers["Start"] = grpc.unary_unary_rpc_method_handler(start)
    service = bot_pb2.DESCRIPTOR.services_by_name["BotService"].full_name
    server = grpc.server(ThreadPoolExecutor(8), options=_SIZES)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
    server.add_insecure_port(os.environ["POKEARENA_ADDRESS"])
    server.start()
    while True:
        time.sleep(600)


def path() -> str:
    """Return the path of the socket on which the bot must listen."""
    return os.environ["POKEARENA_ADDRESS"].removeprefix("unix:")
