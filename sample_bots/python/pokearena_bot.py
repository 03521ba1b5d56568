"""The Python kit: all a bot needs besides an idea.

A whole bot::

    import random
    from pokearena_bot import run

    run(lambda turn: random.choice(turn.legal))

``turn`` is the question, the message ``ActRequest`` of proto/pokearena/v1/bot.proto: what you
see is ``turn.view.poke`` (or another game's), what you may do is ``turn.legal``, the most
harmless first. Return one of them, or any other legal ``Action``, or ``(action, "a note")``: the
replay shows the note beside the move.

A bot that remembers is an object::

    class Mine:
        def start(self, start): ...   # optional; what will be played (StartRequest)
        def act(self, turn): ...      # like the function above
        def end(self, end): ...       # optional; the table is over

    run(Mine())

Before every question ``random`` is seeded with ``turn.luck``, so the same question gets the same
answer whenever it is asked: tournaments with a seed come out the same twice, and `pokearena ask`
shows what really happened. Seed other generators (numpy's, your own) from ``turn.luck`` too.

What the bot prints is kept (`pokearena logs`). An exception ends the process: its traceback is
the last thing in that output.
"""

import os
import random
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn, Protocol, runtime_checkable

import grpc
from pokearena.v1 import bot_pb2, bot_pb2_grpc

Move = bot_pb2.Action | tuple[bot_pb2.Action, str]
Choose = Callable[[bot_pb2.ActRequest], Move]

GAMES_IN_FLIGHT = 16
"""How many games at once a plain function is asked about: it remembers nothing between them."""

_THREADS = 8
_OPTIONS = [
    ("grpc.max_receive_message_length", 64 << 20),
    ("grpc.so_reuseport", 0),
]


@runtime_checkable
class Player(Protocol):
    """A bot that is an object. ``start``, ``end`` and ``games_in_flight`` are optional."""

    def act(self, turn: bot_pb2.ActRequest) -> Move:
        """Answers one question."""


def run(bot: Choose | Player, games_in_flight: int | None = None) -> None:
    """Serves a bot where the arena expects it, until the arena ends it.

    Args:
        bot: a function of one question, or an object with ``act``.
        games_in_flight: how many games of a table it takes at the same time: 16 for a function,
            1 for an object, unless you say otherwise here (or with an attribute of that name).
    """
    address = os.environ.get("POKEARENA_ADDRESS")
    if not address:
        sys.exit(
            "This is a bot; the arena starts it and says where it has to listen.\n"
            "To see it play:  pokearena play poke . sample:random --watch"
        )
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    server = grpc.server(ThreadPoolExecutor(_THREADS), options=_OPTIONS)
    bot_pb2_grpc.add_BotServiceServicer_to_server(_Service(bot, games_in_flight), server)
    server.add_insecure_port(address)
    server.start()
    server.wait_for_termination()


class _Service(bot_pb2_grpc.BotServiceServicer):
    """The bot as the referee asks it. The author's code runs on one thread at a time."""

    def __init__(self, bot: Choose | Player, games_in_flight: int | None) -> None:
        self._bot = bot
        self._choose: Choose = bot.act if isinstance(bot, Player) else bot
        if games_in_flight is None:
            usual = 1 if isinstance(bot, Player) else GAMES_IN_FLIGHT
            games_in_flight = getattr(bot, "games_in_flight", usual)
        self._games_in_flight = games_in_flight
        self._turn = threading.Lock()

    def Start(self, request: bot_pb2.StartRequest, context: Any) -> bot_pb2.StartResponse:
        self._tell("start", request)
        return bot_pb2.StartResponse(games_in_flight=self._games_in_flight)

    def End(self, request: bot_pb2.EndRequest, context: Any) -> bot_pb2.EndResponse:
        self._tell("end", request)
        return bot_pb2.EndResponse()

    def Act(self, request: bot_pb2.ActRequest, context: Any) -> bot_pb2.ActResponse:
        return self._answer(request)

    def Play(
        self, requests: Iterator[bot_pb2.PlayRequest], context: Any
    ) -> Iterator[bot_pb2.PlayResponse]:
        answer = self._answer
        for request in requests:
            yield bot_pb2.PlayResponse(answers=[answer(turn) for turn in request.questions])

    def _answer(self, turn: bot_pb2.ActRequest) -> bot_pb2.ActResponse:
        note = ""
        with self._turn:
            try:
                random.seed(turn.luck)
                move = self._choose(turn)
                if isinstance(move, tuple):
                    move, note = move
                return bot_pb2.ActResponse(
                    game=turn.game, decision=turn.decision, action=move, note=note
                )
            except Exception:
                _give_up()

    def _tell(self, what: str, request: Any) -> None:
        listener = getattr(self._bot, what, None)
        if listener is not None:
            with self._turn:
                try:
                    listener(request)
                except Exception:
                    _give_up()


def _give_up() -> NoReturn:
    """Ends the process where the error is still to be seen."""
    traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1)
