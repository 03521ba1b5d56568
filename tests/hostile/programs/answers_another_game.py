"""Answers with the action of another of the five games."""

from pokearena.v1 import bot_pb2, saint_poker_pb2
from wire import serve


def act(request: bytes, context: object) -> bytes:
    return bot_pb2.ActResponse(
        action=bot_pb2.Action(saint_poker=saint_poker_pb2.SaintPokerAction())
    ).SerializeToString()


serve(act)
