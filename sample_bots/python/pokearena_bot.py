"""The Python kit: implements the protocol for bots.

A complete bot::

    import random
    from pokearena_bot import run

    run(lambda turn: random.choice(turn.legal))

``turn`` is a question, the message ``ActRequest`` of proto/pokearena/v1/bot.proto.
``turn.view.poke`` (or that of another game) is everything your seat sees. ``turn.legal`` contains
the legal actions, the least risky first. Return one of them, or any other legal ``Action``, or
``(action, "a note")``: the replay shows the note beside the action.

A bot with memory is an object, or its class::

    class Mine:
        def start(self, start): ...   # optional; the table begins (StartRequest)
        def act(self, turn): ...      # like the function above
        def end(self, end): ...       # optional; the table is over (EndRequest): release resources

    run(Mine())

Before every question the kit seeds ``random`` with ``turn.luck``, so the same question always gets
the same answer: a tournament with a seed has the same result twice, and ``pokearena ask`` repeats
what happened in the match. Seed other generators (numpy's, your own) with ``turn.luck`` too. Sort a
set of strings before you iterate over it: its order is different in each process.

Your code answers one question at a time, in a thread that is not the main thread. Objects that
Python binds to a thread (an SQLite connection, torch's ``no_grad``) must be created in that thread.

``pokearena logs`` prints the bot's output. An exception ends the process, and its traceback is the
end of that output.
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
"""Number of games that a function plays concurrently: it has no memory."""

_CALLS = 8
"""Number of calls served concurrently; a table needs two."""
_OPTIONS = [
    ("grpc.max_receive_message_length", 64 << 20),
    ("grpc.server_handshake_timeout_ms", 5_000),
    ("grpc.so_reuseport", 0),
]


@runtime_checkable
class Player(Protocol):
    """A bot that is an object. ``start``, ``end`` and ``games_in_flight`` are optional."""

    def act(self, turn: Turn) -> Move:
        """Answer one question."""


def run(bot: Choose | Player | type[Player], games_in_flight: int | None = None) -> None:
    """Serve a bot at POKEARENA_ADDRESS until the arena ends it (SIGTERM).

    Args:
        bot: a function of one question, or an object with ``act``, or a class of such objects,
            which is instantiated once.
        games_in_flight: the number of games of a table that the bot plays concurrently; by default
            16 for a function and 1 for an object. An attribute with this name, and the
            ``StartResponse`` that ``start`` may return, set it too. Set more than 1 for an object
            that keeps its memory by ``turn.game``, and 1 for a function with memory.
    """
    address = os.environ.get("POKEARENA_ADDRESS")
    if not address:
        sys.exit(
            "This program is a bot: the arena starts it and sets POKEARENA_ADDRESS.\n"
            "To watch it play:  pokearena play poke . sample:random --watch"
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
    """Implements BotService. The author's code runs on one thread at a time."""

    def __init__(self, bot: Choose | Player, games_in_flight: int | None) -> None:
        self._bot = bot
        self._choose: Choose = bot.act if isinstance(bot, Player) else bot
        if games_in_flight is None:
            usual = 1 if isinstance(bot, Player) else GAMES_IN_FLIGHT
            games_in_flight = getattr(bot, "games_in_flight", usual)
        self._games_in_flight = games_in_flight
        self._turn = threading.Lock()

    def Start(self, request: bot_pb2.StartRequest, context: Any) -> bot_pb2.StartResponse:
        response = self._notify("start", request) or bot_pb2.StartResponse()
        response.games_in_flight = response.games_in_flight or self._games_in_flight
        return response

    def End(self, request: bot_pb2.EndRequest, context: Any) -> bot_pb2.EndResponse:
        self._notify("end", request)
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
                'return one of turn.legal, another Action, or (action, "a note"), '
                f"not {type(move).__name__}"
            )
        return bot_pb2.ActResponse(game=turn.game, decision=turn.decision, action=move, note=note)

    def _notify(self, name: str, request: Any) -> Any:
        """Call ``start`` or ``end``; return None if the bot does not have the method."""
        method = getattr(self._bot, name, None)
        return method and self._safely(method, request)

    def _safely(self, author: Callable[[Any], Response], request: Any) -> Response:
        """Run the author's code; an exception in it, `sys.exit` included, ends the process."""
        with self._turn:
            try:
                return author(request)
            except BaseException:
                sys.stdout.flush()
                traceback.print_exc()
                _leave(1)


def _leave(status: int) -> NoReturn:
    """End the process at once; an ordinary exit would wait for the threads that serve calls."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
