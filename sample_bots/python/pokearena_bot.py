"""The Python kit: implements the protocol for bots.

A complete bot::

    import random
    from pokearena_bot import run

    run(lambda turn: random.choice(turn.legal))

``turn`` is a question, the message ``ActRequest`` of proto/pokearena/v1/bot.proto.
``turn.view.poke`` (or that of another game) is everything your seat sees. ``turn.legal`` contains
the legal actions, the least risky first. Return one of them, or any other legal ``Action``, or
``(action, "a note")``: the replay shows the note beside the action.

A function for each game gets typed questions, which editors complete and ``mypy`` checks::

    from pokearena_bot import PokeAction, PokeChoice, PokeTurn, run

    def choose(turn: PokeTurn) -> PokeChoice:
        print(turn.poke.hand)               # the view: PokeView
        for action in turn.legal:           # PokeAction.Stand, .Draw, .Lead or .Answer
            match action:
                case PokeAction.Draw(discards=[card]):
                    return action
        return turn.legal[0]

    run(poke=choose)                        # saint_poker=..., pokex=..., pouku=..., pokino=...

The folder ``games`` contains an example for each game.

A bot with memory is an object, or its class::

    class Mine(Bot):
        def start(self, start): ...   # optional; the table begins (StartRequest)
        def poke(self, turn): ...     # like choose() above; a method for each game
        def end(self, end): ...       # optional; the table is over (EndRequest): release resources

    run(Mine())

Instead of a method for each game, it can define ``act(self, turn)``, which gets the questions of
all games like the function of the first example.

A bot for a language model returns ``StartResponse(with_text=True)`` from ``start``. Then
``turn.text`` is the question as plain text, and the answer may be a text too: the number of a
listed action, or the action in words.

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
from functools import cached_property
from typing import Any, Generic, NoReturn, Protocol, TypeAlias, TypeVar, runtime_checkable

from pokearena.v1 import bot_pb2
from pokearena.v1.bot_pb2 import Action, Clock, EndRequest, StartRequest, StartResponse
from pokearena.v1.poke_pb2 import PokeAction, PokeView
from pokearena.v1.pokex_pb2 import PokexAction, PokexView
from pokearena.v1.pokino_pb2 import PokinoAction, PokinoView
from pokearena.v1.pouku_pb2 import PoukuAction, PoukuView
from pokearena.v1.saint_poker_pb2 import SaintPokerAction, SaintPokerView

try:
    import pokearena_server
except ImportError:  # hpack is not installed
    pokearena_server = None  # type: ignore[assignment]

__all__ = [
    "GAMES_IN_FLIGHT", "Action", "Bot", "Choose", "Clock", "EndRequest", "GameTurn", "Move",
    "Player", "PokeAction", "PokeChoice", "PokeTurn", "PokeView", "PokexAction", "PokexChoice",
    "PokexTurn", "PokexView", "PokinoAction", "PokinoChoice", "PokinoTurn", "PokinoView",
    "PoukuAction", "PoukuChoice", "PoukuTurn", "PoukuView", "SaintPokerAction", "SaintPokerChoice",
    "SaintPokerTurn", "SaintPokerView", "StartRequest", "StartResponse", "Turn", "run",
]  # fmt: skip

Turn = bot_pb2.ActRequest
Move = Action | str | tuple[Action | str, str]
"""An action, or its text as ``turn.text`` lists it; or one of them with a note."""
Choose = Callable[[Turn], Move]
Response = TypeVar("Response")
Choice = TypeVar("Choice")

PokeChoice = PokeAction.Stand | PokeAction.Draw | PokeAction.Lead | PokeAction.Answer
SaintPokerChoice = SaintPokerAction.River | SaintPokerAction.Show | SaintPokerAction.PickUp
PokexAuction = PokexAction.PassBid | PokexAction.Bid | PokexAction.NameWild
PokexChoice = PokexAuction | PokexAction.PlayPair | PokexAction.PlayCard
PoukuChoice = PoukuAction.Discard | PoukuAction.Give | PoukuAction.GoOut
PokinoChoice = PokinoAction.PassTurn | PokinoAction.Domino | PokinoAction.Run

GAMES_IN_FLIGHT = 16
"""Number of games that a function plays concurrently: it has no memory."""

_CALLS = 8
"""Number of calls served concurrently; a table needs two."""
_OPTIONS = [
    ("grpc.max_receive_message_length", 64 << 20),
    ("grpc.server_handshake_timeout_ms", 5_000),
    ("grpc.so_reuseport", 0),
]


class GameTurn(Generic[Choice]):
    """A question in one game. ``question`` is the message with all its members."""

    def __init__(self, question: Turn) -> None:
        self.question = question

    @cached_property
    def legal(self) -> list[Choice]:
        """Legal actions, the least risky first. Return one of them, or any other legal action."""
        actions = (_member(action, "game") for action in self.question.legal)
        return [_member(action, "action") for action in actions]

    @property
    def text(self) -> str:
        """The question as plain text, if the bot's ``start`` has returned ``with_text``."""
        return self.question.text

    @property
    def complete(self) -> bool:
        """Whether `legal` lists every legal action. Otherwise it is an unbiased sample."""
        return self.question.complete

    @property
    def seat(self) -> int:
        """Your seat, from 0. Seat numbers run in turn order."""
        return self.question.seat

    @property
    def game(self) -> int:
        """Number of the game within the match, from 0."""
        return self.question.game

    @property
    def decision(self) -> int:
        """Number of the decision within the game, from 0, counted over all seats."""
        return self.question.decision

    @property
    def clock(self) -> Clock:
        """The time limit for the answer."""
        return self.question.clock


class PokeTurn(GameTurn[PokeChoice]):
    """A question in Poke."""

    @property
    def poke(self) -> PokeView:
        """Everything that your seat sees."""
        return self.question.view.poke


class SaintPokerTurn(GameTurn[SaintPokerChoice]):
    """A question in Saint Poker."""

    @property
    def saint_poker(self) -> SaintPokerView:
        """Everything that your seat sees."""
        return self.question.view.saint_poker


class PokexTurn(GameTurn[PokexChoice]):
    """A question in Pokex."""

    @property
    def pokex(self) -> PokexView:
        """Everything that your seat sees."""
        return self.question.view.pokex


class PoukuTurn(GameTurn[PoukuChoice]):
    """A question in Pouku."""

    @property
    def pouku(self) -> PoukuView:
        """Everything that your seat sees."""
        return self.question.view.pouku


class PokinoTurn(GameTurn[PokinoChoice]):
    """A question in Pokino."""

    @property
    def pokino(self) -> PokinoView:
        """Everything that your seat sees."""
        return self.question.view.pokino


Answer: TypeAlias = Choice | str | tuple[Choice | str, str]
"""The result of a function for one game: an action or its text; or one of them with a note."""


@runtime_checkable
class Player(Protocol):
    """A bot that is an object. ``start``, ``end`` and ``games_in_flight`` are optional."""

    def act(self, turn: Turn) -> Move:
        """Answer one question."""
        ...


class Bot:
    """A bot with memory. Override the method of each game that it plays."""

    def start(self, start: StartRequest) -> StartResponse | None:
        """Prepare for a table; the response can set the number of concurrent games."""
        return None

    def poke(self, turn: PokeTurn) -> Answer[PokeChoice]:
        """Answer a question in Poke."""
        raise _unanswered("poke")

    def saint_poker(self, turn: SaintPokerTurn) -> Answer[SaintPokerChoice]:
        """Answer a question in Saint Poker."""
        raise _unanswered("saint_poker")

    def pokex(self, turn: PokexTurn) -> Answer[PokexChoice]:
        """Answer a question in Pokex."""
        raise _unanswered("pokex")

    def pouku(self, turn: PoukuTurn) -> Answer[PoukuChoice]:
        """Answer a question in Pouku."""
        raise _unanswered("pouku")

    def pokino(self, turn: PokinoTurn) -> Answer[PokinoChoice]:
        """Answer a question in Pokino."""
        raise _unanswered("pokino")

    def end(self, end: EndRequest) -> None:
        """Release resources: the table is over."""

    def act(self, turn: Turn) -> Move:
        """Answer a question of any game; calls the method of its game."""
        name = turn.view.WhichOneof("game") or ""
        answer = getattr(self, name)(_GAMES[name][0](turn))
        return (_action(answer[0]), answer[1]) if isinstance(answer, tuple) else _action(answer)


_GAMES: dict[str, tuple[type[GameTurn[Any]], type[Any]]] = {
    "poke": (PokeTurn, PokeAction),
    "saint_poker": (SaintPokerTurn, SaintPokerAction),
    "pokex": (PokexTurn, PokexAction),
    "pouku": (PoukuTurn, PoukuAction),
    "pokino": (PokinoTurn, PokinoAction),
}
_KINDS: dict[type[Any], tuple[str, str]] = {
    type(getattr(message(), kind)): (game, kind)
    for game, (_, message) in _GAMES.items()
    for kind in message.DESCRIPTOR.fields_by_name
}
"""Names of the game and the kind of an action, by its type."""


def _member(message: Any, group: str) -> Any:
    """Return the member of a group (oneof) that is set."""
    return getattr(message, message.WhichOneof(group))


def _action(choice: Any) -> Action | str:
    """Return the ``Action`` that contains an action of a game; a text as it is."""
    if isinstance(choice, str):
        return choice
    if type(choice) not in _KINDS:
        raise TypeError(
            'return one of turn.legal, another action of the game, or (action, "a note"), '
            f"not {type(choice).__name__}"
        )
    game, kind = _KINDS[type(choice)]
    return Action(**{game: {kind: choice}})


def _unanswered(game: str) -> NotImplementedError:
    return NotImplementedError(
        f'no function answers the questions of "{game}": define one, or remove the game from '
        "`games` in bot.toml"
    )


def by_game(**functions: Any) -> Choose:
    """Return a function that answers each question with the function of its game."""
    bot = Bot()
    for game, function in functions.items():
        if function is not None:
            setattr(bot, game, function)
    return bot.act


def run(
    bot: Choose | Player | type[Player] | None = None,
    games_in_flight: int | None = None,
    *,
    poke: Callable[[PokeTurn], Answer[PokeChoice]] | None = None,
    saint_poker: Callable[[SaintPokerTurn], Answer[SaintPokerChoice]] | None = None,
    pokex: Callable[[PokexTurn], Answer[PokexChoice]] | None = None,
    pouku: Callable[[PoukuTurn], Answer[PoukuChoice]] | None = None,
    pokino: Callable[[PokinoTurn], Answer[PokinoChoice]] | None = None,
) -> None:
    """Serve a bot at POKEARENA_ADDRESS until the arena ends it (SIGTERM).

    Args:
        poke, saint_poker, pokex, pouku, pokino: functions of one question of the game, instead of
            ``bot``.
        bot: a function of one question, or an object with ``act``, or a class of such objects,
            which is instantiated once.
        games_in_flight: the number of games of a table that the bot plays concurrently; by default
            16 for a function and 1 for an object. An attribute with this name, and the
            ``StartResponse`` that ``start`` may return, set it too. Set more than 1 for an object
            that keeps its memory by ``turn.game``, and 1 for a function with memory.
    """
    bot = bot or by_game(
        poke=poke, saint_poker=saint_poker, pokex=pokex, pouku=pouku, pokino=pokino
    )
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
    if pokearena_server is not None and address.startswith("unix:"):
        pokearena_server.serve(address.removeprefix("unix:"), service)
    else:
        _serve_by_grpcio(address, service)


def _serve_by_grpcio(address: str, service: Any) -> None:
    """Serve a bot forever, at any address of gRPC."""
    # Imported here, because most bots do not need grpcio and it takes 40 ms.
    import grpc
    from pokearena.v1 import bot_pb2_grpc

    pool = ThreadPoolExecutor(_CALLS)
    server = grpc.server(pool, options=_OPTIONS, maximum_concurrent_rpcs=_CALLS)
    bot_pb2_grpc.add_BotServiceServicer_to_server(service, server)
    server.add_insecure_port(address)
    server.start()
    server.wait_for_termination()


class _Service:
    """Implements the methods of BotService. The author's code runs on one thread at a time."""

    def __init__(self, bot: Choose | Player, games_in_flight: int | None) -> None:
        self._bot = bot
        self._choose: Choose = bot.act if isinstance(bot, Player) else bot
        usual = 1 if isinstance(bot, Player) else GAMES_IN_FLIGHT
        declared: int = getattr(bot, "games_in_flight", usual)
        self._games_in_flight = declared if games_in_flight is None else games_in_flight
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
        response = bot_pb2.ActResponse(
            game=turn.game, decision=turn.decision, attempt=turn.attempt, note=note
        )
        if isinstance(move, str):
            response.text = move
        elif isinstance(move, bot_pb2.Action):
            response.action.CopyFrom(move)
        else:
            raise TypeError(
                'return one of turn.legal, another Action, or (action, "a note"), '
                f"not {type(move).__name__}"
            )
        return response

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
