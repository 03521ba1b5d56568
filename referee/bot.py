"""A bot as the referee meets it: an address that is asked questions.

Whether it is asked by the stream ``Play`` or by ``Act`` is hidden here.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, TypeVar

import grpc
import grpc.aio
from google.protobuf.message import DecodeError
from pokearena.v1 import bot_pb2

from referee.alarm import Alarm
from referee.quote import quote
from referee.wire import field

ANSWER_BYTES = 1 << 20
"""The largest message a bot may send."""

_OPTIONS: list[tuple[str, Any]] = [
    ("grpc.max_receive_message_length", ANSWER_BYTES),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_metadata_size", 16 << 10),
    ("grpc.absolute_max_metadata_size", 16 << 10),
    ("grpc.initial_reconnect_backoff_ms", 20),
    ("grpc.min_reconnect_backoff_ms", 20),
    ("grpc.max_reconnect_backoff_ms", 200),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_retries", 0),
    ("grpc.enable_http_proxy", 0),
]
_AT_A_SOCKET = [("grpc.default_authority", "localhost")]
"""Otherwise gRPC names the path of the socket as the host, and strict servers (Rust's tonic, .NET's
Kestrel) refuse a host with a "%" in it."""


_Message = TypeVar("_Message", bot_pb2.StartResponse, bot_pb2.ActResponse, bot_pb2.PlayResponse)

_SERVICE = bot_pb2.DESCRIPTOR.services_by_name["BotService"].full_name
_QUESTIONS = bot_pb2.PlayRequest.QUESTIONS_FIELD_NUMBER


class Question(Protocol):
    """A question as it is sent."""

    @property
    def game(self) -> int:
        """The game within the match."""

    @property
    def decision(self) -> int:
        """The decision within the game."""

    @property
    def data(self) -> bytes:
        """The bytes of its ``ActRequest``."""


class How(Enum):
    """The ways an answer can fail to come."""

    SILENT = "silent"
    """Time ran out."""
    BROKEN = "broken"
    """The connection was lost."""
    WRONG = "wrong"
    """Something came that is no answer."""


@dataclass(slots=True)
class NoAnswer(Exception):
    """A bot did not answer as it should."""

    how: How
    clause: str
    """What happened, as a clause about the bot."""


class Bot:
    """One bot process, or whatever listens at its address."""

    def __init__(self, address: str) -> None:
        self.address = address.removeprefix("grpc://")
        options = _OPTIONS + _AT_A_SOCKET if self.address.startswith("unix:") else _OPTIONS
        self._channel = grpc.aio.insecure_channel(self.address, options=options)
        # The questions come as bytes; and answers are read by us, for gRPC makes nothing of what
        # is no message.
        self._play: Any = self._channel.stream_stream(f"/{_SERVICE}/Play")
        self._act: Any = self._channel.unary_unary(f"/{_SERVICE}/Act")
        self._start: Any = self._channel.unary_unary(f"/{_SERVICE}/Start")
        self._end: Any = self._channel.unary_unary(f"/{_SERVICE}/End")
        self._alarm = Alarm()
        self._streams = True
        self._stream_answered = False
        self._call: Any = None

    async def start(self, request: bot_pb2.StartRequest, seconds: float) -> bot_pb2.StartResponse:
        """Waits until the bot listens and has heard what will be played.

        Raises:
            NoAnswer: it did not within the time.
        """
        try:
            async with asyncio.timeout(seconds):
                said = await self._start(request.SerializeToString(), wait_for_ready=True)
                return _read(bot_pb2.StartResponse, said)
        except TimeoutError:
            state = self._channel.get_state()
            met = "its Start did not return" if _ready(state) else "it did not listen"
            raise NoAnswer(How.SILENT, f"{met} within {seconds:g} s") from None
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.UNIMPLEMENTED:
                return bot_pb2.StartResponse()
            raise _no_answer(error) from None

    async def ask(
        self,
        questions: Sequence[Question],
        answers: list[bot_pb2.ActResponse],
        seconds: float,
    ) -> None:
        """Asks questions and appends the answers, in the order they come, until all are there.

        Raises:
            NoAnswer: not all came within the time; those that came are in ``answers``.
        """
        try:
            with self._alarm.set(seconds):
                if not (self._streams and await self._by_stream(questions, answers)):
                    await self._one_by_one(questions, answers)
        except TimeoutError:
            # The call was cancelled with the wait: what comes late is never read.
            self._call = None
            raise NoAnswer(
                How.SILENT, f"it did not answer within {1000 * seconds:.0f} ms"
            ) from None
        except grpc.aio.AioRpcError as error:
            raise _no_answer(error) from None

    async def _by_stream(
        self, questions: Sequence[Question], answers: list[bot_pb2.ActResponse]
    ) -> bool:
        """Asks by the stream; False if the bot seems to have none.

        The way a stream ends does not tell reliably whether there was one (grpc.aio forgets the
        status when a write meets the end), so a bot from whose stream nothing has ever come is
        asked by ``Act`` instead, and shows there what is the matter with it.
        """
        try:
            await self._write_and_read(questions, answers)
        except (NoAnswer, grpc.aio.AioRpcError):
            if self._call is not None:
                self._call.cancel()
            self._call = None
            if self._stream_answered:
                raise
            self._streams = False
            return False
        return True

    async def _write_and_read(
        self, questions: Sequence[Question], answers: list[bot_pb2.ActResponse]
    ) -> None:
        if self._call is None:
            self._call = self._play()
        call = self._call
        try:
            await call.write(b"".join([field(_QUESTIONS, q.data) for q in questions]))
        except (asyncio.InvalidStateError, grpc.aio.AioRpcError):
            raise NoAnswer(How.BROKEN, "its stream was lost") from None
        open_ones = {(q.game, q.decision) for q in questions}
        while open_ones:
            message = await call.read()
            if message is grpc.aio.EOF:
                raise _by_status(await call.code(), await call.details())
            self._stream_answered = True
            response = _read(bot_pb2.PlayResponse, message)
            # Before any of them is taken: in a message that is wrong nothing is right.
            for key in [(answer.game, answer.decision) for answer in response.answers]:
                if key not in open_ones:
                    raise NoAnswer(
                        How.WRONG,
                        f"it answered game {key[0]}, decision {key[1]}, which was not asked; "
                        "every question is answered once, with its game and decision copied",
                    )
                open_ones.remove(key)
            answers.extend(response.answers)

    async def _one_by_one(
        self, questions: Sequence[Question], answers: list[bot_pb2.ActResponse]
    ) -> None:
        for question in questions:
            answer = _read(bot_pb2.ActResponse, await self._act(question.data))
            answer.game, answer.decision = question.game, question.decision
            answers.append(answer)

    async def end(self, match: str) -> None:
        """Tells the bot that the table is over; what it makes of it is its own affair."""
        try:
            async with asyncio.timeout(0.5):
                if self._call is not None:
                    await self._call.done_writing()
                await self._end(bot_pb2.EndRequest(match=match).SerializeToString())
        except (TimeoutError, grpc.aio.AioRpcError, asyncio.InvalidStateError):
            pass

    async def close(self) -> None:
        """Ends the connection."""
        self._alarm.close()
        if self._call is not None:
            self._call.cancel()
        await self._channel.close()


def _read(kind: type[_Message], data: bytes) -> _Message:
    """What a bot has said; raises NoAnswer if it is no such message."""
    try:
        return kind.FromString(data)
    except DecodeError:
        raise NoAnswer(
            How.WRONG, f"it answered {len(data)} bytes that are no {kind.DESCRIPTOR.name}"
        ) from None


def _ready(state: grpc.ChannelConnectivity) -> bool:
    return state is grpc.ChannelConnectivity.READY


def _no_answer(error: grpc.aio.AioRpcError) -> NoAnswer:
    return _by_status(error.code(), error.details())


def _by_status(code: grpc.StatusCode, details: str | None) -> NoAnswer:
    """What a status other than OK means."""
    if code is grpc.StatusCode.OK:
        return NoAnswer(How.WRONG, "it ended the stream before it had answered")
    said = quote(" ".join((details or "").split()))
    if code is grpc.StatusCode.UNAVAILABLE:
        return NoAnswer(How.BROKEN, "its connection was lost")
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return NoAnswer(How.WRONG, f"it sent more than {ANSWER_BYTES} bytes in one message")
    return NoAnswer(How.WRONG, f"it answered with the error {code.name}: {said}")
