"""The Python kit: all a bot needs besides an idea.

A whole bot::

    import random
    from pokearena_bot import run

    run(lambda turn: random.choice(turn.legal))

``turn`` is the question, the message ``ActRequest`` of proto/pokearena/v1/bot.proto: what you
see is ``turn.view.poke`` (or another game's), what you may do is ``turn.legal``, the most
harmless first. Return one of them, or any other legal ``Action``, or ``(action, "a note")``: the
replay shows the note beside the move.

A bot that remembers is an object, or its class::

    class Mine:
        def start(self, start): ...   # optional; what will be played (StartRequest)
        def act(self, turn): ...      # like the function above
        def end(self, end): ...       # optional; the table is over (EndRequest): tidy up here

    run(Mine())

Before every question ``random`` is seeded with ``turn.luck``, so the same question gets the same
answer whenever it is asked: tournaments with a seed come out the same twice, and `pokearena ask`
shows what really happened. Seed other generators (numpy's, your own) from ``turn.luck`` too, and
sort a set of texts before you go through it: its order differs from process to process.

Your code answers one question at a time, in a thread that is not the main one. What Python ties
to a thread (an SQLite connection, torch's ``no_grad``) has to be opened where it is used.

What the bot prints is kept (`pokearena logs`). An exception ends the process: its traceback is
the last thing in that output.
"""

import os
import random
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn, Protocol, TypeVar, runtime_checkable

import grpc
from pokearena.v1 import bot_pb2, bot_pb2_grpc

Turn = bot_pb2.ActRequest
Move = bot_pb2.Action | tuple[bot_pb2.Action, str]
Choose = Callable[[Turn], Move]
Response = TypeVar("Response")

GAMES_IN_FLIGHT = 16
"""How many games at once a plain function is asked about: it remembers nothing between them."""

_CALLS = 8
"""How many calls are served at the same time; a table needs two."""
_OPTIONS = [
    ("grpc.max_receive_message_length", 64 << 20),
    ("grpc.server_handshake_timeout_ms", 5_000),
    ("grpc.so_reuseport", 0),
]


@runtime_checkable
class Player(Protocol):
    """A bot that is an object. ``start``, ``end`` and ``games_in_flight`` are optional."""

    def act(self, turn: Turn) -> Move:
        """Answers one question."""


def run(bot: Choose | Player | type[Player], games_in_flight: int | None = None) -> None:
    """Serves a bot where the arena expects it, until the arena ends it (SIGTERM).

    Args:
        bot: a function of one question; an object with ``act``, or its class, made once.
        games_in_flight: how many games of a table it takes at the same time: 16 for a function,
            1 for an object, unless you say otherwise here, with an attribute of that name, or
            with the ``StartResponse`` that ``start`` may return. Give an object more if it keeps
            what it remembers by ``turn.game``; a function 1 if it has a memory after all.
    """
    address = os.environ.get("POKEARENA_ADDRESS")
    if not address:
        sys.exit(
            "This is a bot; the arena starts it and says where it has to listen.\n"
            "To see it play:  pokearena play poke . sample:random --watch"
        )
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    for ends in (signal.SIGTERM, signal.SIGINT):
        signal.signal(ends, lambda *_: _leave(0))
    service = _Service(bot() if isinstance(bot, type) else bot, games_in_flight)
    pool = ThreadPoolExecutor(_CALLS)
    server = grpc.server(pool, options=_OPTIONS, maximum_concurrent_rpcs=_CALLS)
    bot_pb2_grpc.add_BotServiceServicer_to_server(service, server)
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
        response = self._tell("start", request) or bot_pb2.StartResponse()
        response.games_in_flight = response.games_in_flight or self._games_in_flight
        return response

    def End(self, request: bot_pb2.EndRequest, context: Any) -> bot_pb2.EndResponse:
        self._tell("end", request)
        return bot_pb2.EndResponse()

    def Act(self, request: Turn, context: Any) -> bot_pb2.ActResponse:
        return self._safely(self._answer, request)

    def Play(
        self, requests: Iterator[bot_pb2.PlayRequest], context: Any
    ) -> Iterator[bot_pb2.PlayResponse]:
        for request in requests:
            yield self._safely(self._answer_all, request)

    def _answer_all(self, request: bot_pb2.PlayRequest) -> bot_pb2.PlayResponse:
        answer = self._answer
        return bot_pb2.PlayResponse(answers=[answer(turn) for turn in request.questions])

    def _answer(self, turn: Turn) -> bot_pb2.ActResponse:
        random.seed(turn.luck)
        move, note = self._choose(turn), ""
        if isinstance(move, tuple):
            move, note = move
        if not isinstance(move, bot_pb2.Action):
            raise TypeError(
                'an answer is one of turn.legal, another Action, or (action, "a note"); '
                f"it was of type {type(move).__name__}"
            )
        return bot_pb2.ActResponse(game=turn.game, decision=turn.decision, action=move, note=note)

    def _tell(self, what: str, request: Any) -> Any:
        """What the bot says to ``start`` or ``end``; None if it does not listen."""
        listener = getattr(self._bot, what, None)
        return listener and self._safely(listener, request)

    def _safely(self, author: Callable[[Any], Response], request: Any) -> Response:
        """Runs the author's code; an exception in it, `sys.exit` included, ends the process."""
        with self._turn:
            try:
                return author(request)
            except BaseException:
                sys.stdout.flush()
                traceback.print_exc()
                _leave(1)


def _leave(status: int) -> NoReturn:
    """Ends the process at once; an ordinary exit would wait for the threads that serve calls."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
