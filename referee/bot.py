"""A bot as the referee meets it: an address that is asked questions.

Whether it is asked by the stream ``Play`` or by ``Act`` is hidden here.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeVar

from google.protobuf.message import DecodeError
from grpc import StatusCode
from pokearena.v1 import bot_pb2

from referee.alarm import Alarm
from referee.call import MESSAGE_BYTES, Call
from referee.channel import Channel
from referee.quote import quote
from referee.status import CallFailed, Status
from referee.wire import field

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
        self._channel = Channel(self.address, _SERVICE)
        self._alarm = Alarm()
        self._streams = True
        self._stream_answered = False
        self._call: Call | None = None

    async def start(self, request: bot_pb2.StartRequest, seconds: float) -> bot_pb2.StartResponse:
        """Waits until the bot listens and has heard what will be played.

        Raises:
            NoAnswer: it did not within the time.
        """
        try:
            async with asyncio.timeout(seconds):
                said = await self._channel.unary("Start", request.SerializeToString(), wait=True)
                return _read(bot_pb2.StartResponse, said)
        except TimeoutError:
            there = self._channel.listening
            met = "its Start did not return" if there else "it did not listen"
            raise NoAnswer(How.SILENT, f"{met} within {seconds:g} s") from None
        except CallFailed as failure:
            if failure.status.code is StatusCode.UNIMPLEMENTED:
                return bot_pb2.StartResponse()
            raise _by_status(failure.status) from None

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
            self._hang_up()  # what comes late is never read
            raise NoAnswer(
                How.SILENT, f"it did not answer within {1000 * seconds:.0f} ms"
            ) from None
        except CallFailed as failure:
            raise _by_status(failure.status) from None

    async def _by_stream(
        self, questions: Sequence[Question], answers: list[bot_pb2.ActResponse]
    ) -> bool:
        """Asks by the stream; False if the bot seems to have none.

        The way a stream ends does not tell reliably whether there was one, so a bot from whose
        stream nothing has ever come is asked by ``Act`` instead, and shows there what is the
        matter with it.
        """
        try:
            await self._write_and_read(questions, answers)
        except (NoAnswer, CallFailed):
            self._hang_up()
            if self._stream_answered:
                raise
            self._streams = False
            return False
        return True

    async def _write_and_read(
        self, questions: Sequence[Question], answers: list[bot_pb2.ActResponse]
    ) -> None:
        if self._call is None:
            self._call = await self._channel.begin("Play")
        call = self._call
        try:
            await call.send(b"".join([field(_QUESTIONS, q.data) for q in questions]))
        except CallFailed:
            raise NoAnswer(How.BROKEN, "its stream was lost") from None
        open_ones = {(q.game, q.decision) for q in questions}
        while open_ones:
            message = await call.receive()
            if message is None:
                raise _by_status(call.status)
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
            answer = _read(bot_pb2.ActResponse, await self._channel.unary("Act", question.data))
            answer.game, answer.decision = question.game, question.decision
            answers.append(answer)

    async def end(self, match: str) -> None:
        """Tells the bot that the table is over; what it makes of it is its own affair."""
        try:
            async with asyncio.timeout(0.5):
                if self._call is not None:
                    self._call.finish()
                request = bot_pb2.EndRequest(match=match)
                await self._channel.unary("End", request.SerializeToString())
        except (TimeoutError, CallFailed):
            pass

    async def close(self) -> None:
        """Ends the connection."""
        self._alarm.close()
        self._hang_up()
        await self._channel.close()

    def _hang_up(self) -> None:
        """Ends the stream, if there is one."""
        if self._call is not None:
            self._call.cancel()
        self._call = None


def _read(kind: type[_Message], data: bytes) -> _Message:
    """What a bot has said; raises NoAnswer if it is no such message."""
    try:
        return kind.FromString(data)
    except DecodeError:
        raise NoAnswer(
            How.WRONG, f"it answered {len(data)} bytes that are no {kind.DESCRIPTOR.name}"
        ) from None


def _by_status(status: Status | None) -> NoAnswer:
    """What it means that a call ended so, before all was said."""
    assert status is not None
    code = status.code
    if code is StatusCode.OK:
        return NoAnswer(How.WRONG, "it ended the stream before it had answered")
    said = quote(" ".join(status.details.split()))
    if code is StatusCode.UNAVAILABLE:
        return NoAnswer(How.BROKEN, "its connection was lost")
    if code is StatusCode.RESOURCE_EXHAUSTED:
        return NoAnswer(How.WRONG, f"it sent more than {MESSAGE_BYTES} bytes in one message")
    return NoAnswer(How.WRONG, f"it answered with the error {code.name}: {said}")
