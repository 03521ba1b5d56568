"""A protocol session with a bot: starts its process and sends questions as the referee does."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from queue import Empty, Full, Queue, SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final, Self

import grpc
from google.protobuf.json_format import ParseError
from pokearena.v1 import bot_pb2, bot_pb2_grpc

from arena.bots.bot import Bot, granted_start_ms
from arena.bots.exit_report import Report
from arena.bots.plain_processes import PlainProcesses, table_processes
from arena.bots.socket_probe import ANSWER_BYTES, OPTIONS, authority, listens
from referee.game_codec import DecodeError, chosen_action

if TYPE_CHECKING:
    from arena.bots.processes import Processes
    from referee.games.contract import Game, Legal, Options, View

Request = bot_pb2.ActRequest
Response = bot_pb2.ActResponse

_OPTIONS: Final[list[tuple[str, Any]]] = [
    *OPTIONS,
    ("grpc.max_metadata_size", 16 << 10),
    ("grpc.absolute_max_metadata_size", 16 << 10),
]
_NO_MESSAGE: Final = "Exception deserializing response"
_UNREAD: Final = 16
"""Maximum number of unread messages of a stream."""
_GLANCE: Final = 0.01


class SessionFailed(Exception):
    """A bot failed to answer correctly. The exception's text is a clause about the bot."""

    def __init__(self, clause: str, output: str = "", *, late: bool = False) -> None:
        super().__init__(clause)
        self.output = output
        """The bot's output so far."""
        self.late = late
        """Whether the answer did not arrive in time."""


class MethodUnimplemented(Exception):
    """A bot does not implement this optional method."""


class BotSession:
    """A started bot that has received its Start request; use it as a context manager.

    Args:
        bot: the bot.
        opening: the Start request.
        start: seconds within which the bot must start, unless its `bot.toml` is granted more.
        patience: seconds within which each answer must arrive.

    Raises:
        SessionFailed: on entering; the bot does not start in time.
        InfrastructureError: on entering; its sandbox failed.
    """

    def __init__(
        self, bot: Bot, opening: bot_pb2.StartRequest, start: float, patience: float
    ) -> None:
        self._bot = bot
        self._opening = opening
        self._start = granted_start_ms(bot, round(1000 * start)) / 1000
        self.patience = patience
        """Seconds within which each answer must arrive; may change between questions."""
        self._ended = Event()
        self._processes: Processes | PlainProcesses | None = None
        self._channel: grpc.Channel | None = None
        self._stream: _Stream | None = None
        self.streams = True
        """Whether questions are sent by Play; False after the bot did not implement it."""
        self.start_response = bot_pb2.StartResponse()
        """The bot's answer to Start, with its capabilities and options."""
        self.seconds = 0.0
        """Duration of the start in seconds."""

    def __enter__(self) -> Self:
        began = time.monotonic()
        address = self._bot.address
        try:
            if address is None:
                self._processes = table_processes(
                    lambda report: self._ended.set(), lambda lost: self._ended.set()
                )
                address = self._processes.start(self._opening.seat, self._bot)
            self._channel = grpc.insecure_channel(address, options=_OPTIONS + authority(address))
            self._stub = bot_pb2_grpc.BotServiceStub(self._channel)
            self._begin(address)
        except BaseException:
            self.close()
            raise
        self.seconds = time.monotonic() - began
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection and end the bot's process."""
        if self._stream is not None:
            self._stream.close()
        if self._channel is not None:
            self._channel.close()
        if self._processes is not None:
            self._processes.close()

    def report(self) -> Report:
        """Return the exit status and output of the bot's process; empty for a remote bot."""
        if self._processes is None:
            return Report(self._opening.seat)
        return self._processes.report(self._opening.seat)

    def _begin(self, address: str) -> None:
        call = self._stub.Start.future(self._opening, timeout=self._start, wait_for_ready=True)
        while not call.done() and not self._ended.wait(_GLANCE):
            pass
        if not call.done():
            call.cancel()
            raise self._no_answer("it was not listening yet")
        if call.code() is grpc.StatusCode.OK:
            self.start_response = call.result()
        elif call.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
            obstacle = "its Start did not return" if listens(address) else "it did not listen"
            raise self._no_answer(f"{obstacle} within {self._start:g} s", late=True)
        elif call.code() is not grpc.StatusCode.UNIMPLEMENTED:
            raise self._no_answer(_clause(call))

    def ask(self, *requests: Request) -> list[Response]:
        """Return the answers to questions of different games, in order.

        Sends one Play message, or one Act request per question if the bot does not implement Play.

        Raises:
            SessionFailed: an answer is missing, late or invalid.
        """
        if self.streams:
            try:
                return self.play(*requests)
            except MethodUnimplemented:
                self.streams = False
        return [self.act(request) for request in requests]

    def act(self, request: Request) -> Response:
        """Return the answer to an Act request.

        Raises:
            SessionFailed: the answer is missing, late or invalid.
            MethodUnimplemented: the bot does not implement Act.
        """
        try:
            answer: Response = self._stub.Act(self._fitting(request), timeout=self.patience)
        except grpc.RpcError as error:
            if error.code() is grpc.StatusCode.UNIMPLEMENTED:
                raise MethodUnimplemented from None
            raise self._failed(error) from None
        return self.with_action(request, answer)

    def play(self, *requests: Request) -> list[Response]:
        """Return the answers to one Play message, in order.

        Raises:
            SessionFailed: an answer is missing, late or invalid.
            MethodUnimplemented: the stream ended before its first message.
        """
        if self._stream is None:
            self._stream = _Stream(self._stub)
        fitting = [self._fitting(request) for request in requests]
        answers = self._stream.ask(fitting, self.patience, self)
        return list(map(self.with_action, requests, answers))

    def _fitting(self, request: Request) -> Request:
        """Return the request without the legal actions and with the text, as requested at Start."""
        if not (self.start_response.without_legal or self.start_response.with_text):
            return request
        fitting = Request()
        fitting.CopyFrom(request)
        if self.start_response.without_legal:
            fitting.ClearField("legal")
            fitting.complete = False
        if self.start_response.with_text:
            fitting.text = self._text(request)
        return fitting

    # Few bots request texts, and these imports take longer than the start of many bots.

    def with_action(self, request: Request, response: Response) -> Response:
        """Return an answer in words, or with the number of an action, with its action.

        Raises:
            SessionFailed: the question lists no action with this number.
        """
        if response.HasField("choice"):
            try:
                action = chosen_action(response, self._fitting(request).legal)
            except DecodeError as error:
                raise self._no_answer(f"its answer {error}") from None
            response.ClearField("choice")
            response.action.CopyFrom(action)
        elif response.text and not response.HasField("action"):
            self._parse_text(request, response)
        return response

    def _parse_text(self, request: Request, response: Response) -> None:

        from referee.generic_codec import action_message
        from referee.presentation.question_text import parse_answer, turn_of_view
        from referee.replay import codec_of

        game, options, view, listed = self._position(request)
        _, legal = turn_of_view(game, options, view, request.seat, listed)
        action = parse_answer(game, response.text, legal)
        if action is not None:
            with suppress(ParseError):  # a number that fits into no message is not legal
                response.action.CopyFrom(action_message(codec_of(game).action_json(action)))

    def _text(self, request: Request) -> str:
        from referee.presentation.question_text import question_text_of_view

        game, options, view, listed = self._position(request)
        return question_text_of_view(game, options, self._opening.seats, view, request.seat, listed)

    def _position(self, request: Request) -> tuple[Game, Options, View, Legal]:
        from referee.games.contract import ListedLegal
        from referee.games.registry import find_game
        from referee.replay import codec_of

        game = find_game(self._opening.game)
        codec = codec_of(game)
        listed = ListedLegal(map(codec.decode, request.legal), request.complete)
        options = game.settle(dict(self._opening.options))
        return game, options, codec.decode_view(request.view), listed

    def _failed(self, error: Any) -> SessionFailed:
        if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
            return self.too_late()
        return self._no_answer(_clause(error))

    def too_late(self) -> SessionFailed:
        """Return the error for an answer that did not arrive within `patience`."""
        return self._no_answer(f"it did not answer within {1000 * self.patience:.0f} ms", True)

    def _no_answer(self, clause: str, late: bool = False) -> SessionFailed:
        report = self.report()
        ended = f"; its process {report.ended}" if report.ended else ""
        return SessionFailed(clause + ended, report.output, late=late)


class _Stream:
    """One Play call. A thread reads the messages, so that a reader can wait with a timeout."""

    def __init__(self, stub: Any) -> None:
        self._out: SimpleQueue[bot_pb2.PlayRequest | None] = SimpleQueue()
        self._in: Queue[bot_pb2.PlayResponse | grpc.RpcError | None] = Queue(_UNREAD)
        self._closed = False
        self._received = False
        self._call = stub.Play(iter(self._out.get, None))
        Thread(target=self._read, name="bot-stream", daemon=True).start()

    def _read(self) -> None:
        try:
            for message in self._call:
                self._hand_on(message)
            self._hand_on(None)
        except grpc.RpcError as error:
            self._hand_on(error)

    def _hand_on(self, message: bot_pb2.PlayResponse | grpc.RpcError | None) -> None:
        """Queue a message. Block while the queue is full, to bound the memory a bot can use."""
        while not self._closed:
            try:
                self._in.put(message, timeout=_GLANCE)
            except Full:
                continue
            return

    def close(self) -> None:
        self._closed = True
        self._out.put(None)
        self._call.cancel()

    def ask(
        self, requests: Sequence[Request], patience: float, session: BotSession
    ) -> list[Response]:
        until = time.monotonic() + patience
        self._out.put(bot_pb2.PlayRequest(questions=requests))
        answers: dict[tuple[int, int], Response] = {}
        keys = [(request.game, request.decision) for request in requests]
        while len(answers) < len(keys):
            for answer in self._next(until, session).answers:
                key = (answer.game, answer.decision)
                if key not in keys or key in answers:
                    raise session._no_answer(
                        f"it answered game {key[0]}, decision {key[1]}, which was not asked; "
                        "every question is answered once, with its game and decision copied"
                    )
                answers[key] = answer
        return [
            session.with_action(request, answers[key])
            for key, request in zip(keys, requests, strict=True)
        ]

    def _next(self, until: float, session: BotSession) -> bot_pb2.PlayResponse:
        left = until - time.monotonic()
        if left <= 0:  # a bot that keeps sending messages must not extend the time limit
            raise session.too_late()
        try:
            message = self._in.get(timeout=left)
        except Empty:
            raise session.too_late() from None
        if isinstance(message, bot_pb2.PlayResponse):
            self._received = True
            return message
        if not self._received:
            # The referee applies the same rule: after a stream without any message it uses Act.
            raise MethodUnimplemented
        if message is None:
            raise session._no_answer("it ended the stream before it had answered")
        raise session._failed(message)


def _clause(error: Any) -> str:
    code = error.code()
    if code is grpc.StatusCode.UNAVAILABLE:
        return "its connection was lost"
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return f"it sent more than {ANSWER_BYTES} bytes in one message"
    details = " ".join((error.details() or "").split())[:300]
    if code is grpc.StatusCode.INTERNAL and details.startswith(_NO_MESSAGE):
        return "it answered with bytes that are not a message of the protocol"
    return f"it answered with the error {code.name}: {details}"
