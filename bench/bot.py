"""A bot for measurements that plays at random.

``play N``: the kit, N games in flight. ``act``: only the call Act, one game at a time.
"""

import os
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
from pokearena.v1 import bot_pb2, bot_pb2_grpc
from pokearena_bot import run


class ActOnly(bot_pb2_grpc.BotServiceServicer):
    """A bot that implements only the required method."""

    def Act(self, request: bot_pb2.ActRequest, context: Any) -> bot_pb2.ActResponse:
        return bot_pb2.ActResponse(action=random.choice(request.legal))


def main() -> None:
    """Serve until terminated."""
    if sys.argv[1] == "play":
        run(lambda turn: random.choice(turn.legal), games_in_flight=int(sys.argv[2]))
        return
    server = grpc.server(ThreadPoolExecutor(4))
    bot_pb2_grpc.add_BotServiceServicer_to_server(ActOnly(), server)
    server.add_insecure_port(os.environ["POKEARENA_ADDRESS"])
    server.start()
    server.wait_for_termination()


main()
