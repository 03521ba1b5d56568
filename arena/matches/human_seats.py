"""Seat people at the tables of a match.

For the referee, a person is a bot at the address of a small server in this process. The server
passes each question to a :class:`Person`, the interface that a terminal or a page implements.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Protocol

import grpc
from pokearena.v1 import bot_pb2, bot_pb2_grpc

from arena import config
from arena.bots.bot import HUMAN, UNTIMED_MS, Bot
from arena.bots.plain_processes import free_address
from arena.matches.table import LEFT_TABLE, seated
from arena.presentation.narration import names_of
from arena.ratings.closed_match import PlayedGame
from arena.store.matches.spec import MatchSpec
from arena.store.matches.table_plan import plan
from arena.system import temporary_folder
from referee.games.contract import Action, Game, Legal, ListedLegal, State, View
from referee.games.registry import find_game
from referee.games.shared.dealing import Seeded
from referee.generic_codec import action_message
from referee.presentation.contract import Presentation
from referee.presentation.elements import PublicAction, TableRendering
from referee.presentation.question_text import rendered, turn_of_view
from referee.presentation.registry import presentation_of
from referee.presentation.selection import Selection, offered_selections
from referee.record import GameRecord, read_games
from referee.replay import codec_of, steps

PERSON: Final = "person:"
"""Prefix of a person's name in a record. No bot's name contains a colon."""
_LEAVE_SECONDS: Final = 1.0
"""Seconds in which the last call of a person who left may end."""
_THREADS: Final = 8
"""Number of concurrent calls of a person's server: one per seat of its side would suffice."""


class QuestionWithdrawn(Exception):
    """The question does not need an answer any more: the game or the match has ended."""


class PersonLeft(Exception):
    """The person has left the table and answers no more questions."""


@dataclass(frozen=True, eq=False)
class PersonQuestion:
    """A question to a person, with everything that the seat may see and nothing else."""

    person: str
    """The person's name at the table: "human", "human-2"."""
    seat: int
    names: tuple[str, ...]
    """Names of the players by seat."""
    game: int
    """Number of the game within the match, from 0."""
    decision: int
    """Number of the decision within the game, from 0."""
    rules: Game
    options: dict[str, Any]
    view: View
    seconds_left: float | None
    """Time limit of the answer in seconds; None without a limit."""
    legal: Legal
    """The legal actions that the question lists."""

    def position(self, luck: Seeded) -> State:
        """Return a position with this view; `luck` deals the hidden cards."""
        return self.rules.from_view(self.view, self.seat, self.options, luck)

    @cached_property
    def _turn(self) -> tuple[tuple[int, ...], Legal]:
        return turn_of_view(self.rules, self.options, self.view, self.seat, self.legal)

    @property
    def presentation(self) -> Presentation:
        """How the game is shown."""
        return presentation_of(self.rules.id)

    @cached_property
    def actions(self) -> tuple[Action, ...]:
        """The listed legal actions."""
        return tuple(self.legal)

    @property
    def complete(self) -> bool:
        """Whether `actions` contains all legal actions."""
        return self.legal.complete

    def choices(self) -> tuple[str, ...]:
        """Return the listed actions as lines of a menu."""
        return tuple(map(self.presentation.choice, self.actions))

    def continued(self, picks: Sequence[str]) -> tuple[Action, ...]:
        """Return legal actions that begin with these elements, if not all are listed."""
        return () if self.complete else tuple(self.presentation.continued(self._turn[1], picks))

    def selections(self, actions: Sequence[Action]) -> tuple[Selection, ...]:
        """Return how each of these actions is selected on the table."""
        presentation = self.presentation
        selections = tuple(map(presentation.selection, actions))
        areas = presentation.control_areas
        return offered_selections(selections, self.rendering(), areas, self.seat)

    def parse(self, text: str) -> Action | None:
        """Return the legal action that a person has typed in full, or None."""
        action = self.presentation.parse(text)
        if action is None:
            return None
        return action if action in self.legal or action in self._turn[1] else None

    def history(self) -> Sequence[PublicAction]:
        """Return the public actions of the game so far."""
        return self.presentation.history(self.view)

    def rendering(self, names: Sequence[str] = ()) -> TableRendering:
        """Return the position as the seat sees it, with other names of the players if given."""
        actors, _ = self._turn
        return rendered(self.rules, self.options, self.view, self.seat, names or self.names, actors)


@dataclass(frozen=True, slots=True)
class EndedGame:
    """The end of a game, as the only person sees it, or as the public sees it."""

    record: GameRecord
    names: tuple[str, ...]
    """Names of the players by seat."""
    viewer: str
    """Name of the only person; empty if there are several."""
    history: tuple[PublicAction, ...]
    rendered_with: Callable[[Sequence[str]], TableRendering]
    """Returns the last position with these names of the players."""

    @property
    def rendering(self) -> TableRendering:
        """The last position."""
        return self.rendered_with(self.names)


def ended_game(spec: MatchSpec, bots: Sequence[Bot], played: PlayedGame) -> EndedGame:
    """Return the end of a game of a match with people."""
    (game,) = read_games(played.record)
    rules, options = find_game(spec.game), dict(spec.options)
    (seating,) = [each.seating for each in plan(spec) if each.table == played.table]
    names = table_names(bots, seating)
    *_, last = steps(spec.line(), game, spec.seed)
    people = [seat for seat, bot in enumerate(seated(bots, seating)) if bot.person]
    seat = people[0] if len(people) == 1 else None
    view = last.state.public() if seat is None else last.state.view(seat)
    return EndedGame(
        game,
        names,
        "" if seat is None else names[seat],
        tuple(presentation_of(rules.id).history(view)),
        lambda names: rendered(rules, options, view, seat, names, ()),
    )


class Person(Protocol):
    """A user interface for the people of a match. Its methods are called on different threads."""

    def ask(self, question: PersonQuestion) -> Action:
        """Wait for the person and return a legal action.

        Raises:
            QuestionWithdrawn: `withdraw` was called for this question.
            PersonLeft: the person has left. The verdict of the seat is then `crash`, and the
                record contains the game up to this question.
        """

    def withdraw(self, question: PersonQuestion) -> None:
        """End a question that does not need an answer any more, if it is still open."""


def person(think_seconds: int | None = None, name: str = "") -> Bot:
    """Return a person as an entrant.

    Args:
        think_seconds: the person's thinking time of a table in seconds; None: unlimited.
        name: the person's name, which follows the rules for names of bots; empty: "human".
    """
    bank_ms = UNTIMED_MS if think_seconds is None else 1000 * think_seconds
    return Bot(f"{PERSON}{name}" if name else HUMAN, person=True, bank_ms=bank_ms)


def with_partner(bot: Bot, partner: Bot) -> Bot:
    """Return a person as an entrant whose other seats a bot plays: "human+greedy"."""
    return replace(bot, label=f"{bot.label}+{partner.label}", partner=partner)


def table_names(bots: Sequence[Bot], seating: Sequence[int]) -> tuple[str, ...]:
    """Return the names of the players of a table by seat; a person is named without the partner."""
    people = [number for number, bot in enumerate(bots) if bot.person]
    names = []
    for entrant, bot in zip(seating, seated(bots, seating), strict=True):
        number = people.index(entrant) if bot.person else 0
        label = person_name(bot) if bot.person else bot.label
        names.append(f"{label}-{number + 1}" if number else label)
    return tuple(names_of(names))


def person_name(bot: Bot) -> str:
    """Return the name of a person without the partner, and without a number."""
    return bot.label.partition("+")[0] if bot.label.startswith(PERSON) else HUMAN


@contextmanager
def seated_people(
    spec: MatchSpec, bots: Sequence[Bot], interface: Person | None
) -> Iterator[tuple[Bot, ...]]:
    """Serve the people among the bots; yield the bots with the addresses of the people.

    At the end of the context, open questions are withdrawn.
    """
    if interface is None:
        yield tuple(bots)
        return
    folder = config.private_directory()
    try:
        with ExitStack() as servers:
            yield tuple(
                servers.enter_context(_served(spec, bots, entrant, interface, folder))
                if bot.person
                else bot
                for entrant, bot in enumerate(bots)
            )
    finally:
        temporary_folder.remove(folder)


@contextmanager
def _served(
    spec: MatchSpec, bots: Sequence[Bot], entrant: int, interface: Person, folder: Path
) -> Iterator[Bot]:
    """Run the server of one person; yield the bot with its address."""
    socket = folder / f"person-{entrant}.sock"
    address = f"unix:{socket}" if sys.platform == "linux" else free_address()
    threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="person")
    server = grpc.server(threads)

    def stop_listening() -> None:
        if address.startswith("unix:"):
            socket.unlink(missing_ok=True)
        else:
            server.stop(_LEAVE_SECONDS)

    bot_pb2_grpc.add_BotServiceServicer_to_server(
        _PersonService(spec, bots, entrant, interface, stop_listening), server
    )
    server.add_insecure_port(address)
    server.start()
    try:
        yield replace(bots[entrant], address=address)
    finally:
        server.stop(None).wait()
        threads.shutdown()


class _PersonService(bot_pb2_grpc.BotServiceServicer):
    def __init__(
        self,
        spec: MatchSpec,
        bots: Sequence[Bot],
        entrant: int,
        interface: Person,
        stop_listening: Callable[[], None],
    ) -> None:
        self._stop_listening = stop_listening
        self._spec = spec
        self._rules = find_game(spec.game)
        self._timed = bots[entrant].bank_ms != UNTIMED_MS
        self._interface = interface
        self._entrant = entrant
        self._names = {table.table: table_names(bots, table.seating) for table in plan(spec)}

    def Start(
        self, request: bot_pb2.StartRequest, context: grpc.ServicerContext
    ) -> bot_pb2.StartResponse:
        return bot_pb2.StartResponse(games_in_flight=1)

    def Act(
        self, request: bot_pb2.ActRequest, context: grpc.ServicerContext
    ) -> bot_pb2.ActResponse:
        question = self._question(request)
        if not context.add_callback(lambda: self._interface.withdraw(question)):
            context.abort(grpc.StatusCode.CANCELLED, "the question was withdrawn")
        try:
            action = self._interface.ask(question)
        except QuestionWithdrawn:
            context.abort(grpc.StatusCode.CANCELLED, "the question was withdrawn")
        except PersonLeft:
            # The table then reports that this server has ended (`arena.matches.table`).
            self._stop_listening()
            context.abort(grpc.StatusCode.UNAVAILABLE, LEFT_TABLE)
        message = codec_of(self._rules).action_json(action)
        return bot_pb2.ActResponse(action=action_message(message))

    def Play(
        self, request_iterator: Iterator[bot_pb2.PlayRequest], context: grpc.ServicerContext
    ) -> Iterator[bot_pb2.PlayResponse]:
        # The default implementation writes a traceback to the log.
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "questions are answered by Act")

    def End(
        self, request: bot_pb2.EndRequest, context: grpc.ServicerContext
    ) -> bot_pb2.EndResponse:
        return bot_pb2.EndResponse()

    def _question(self, request: bot_pb2.ActRequest) -> PersonQuestion:
        names = self._names[request.game // self._spec.boards]
        clock, codec = request.clock, codec_of(self._rules)
        return PersonQuestion(
            person=names[request.seat],
            seat=request.seat,
            names=names,
            game=request.game,
            decision=request.decision,
            rules=self._rules,
            options=dict(self._rules.settle(self._spec.options)),
            view=codec.decode_view(request.view),
            seconds_left=(clock.allowance_ms + clock.bank_ms) / 1000 if self._timed else None,
            legal=ListedLegal(map(codec.decode, request.legal), request.complete),
        )
