"""Bot client: connect to a bot's address and send it questions.

The client hides whether questions go through the stream ``Play`` or through ``Act``.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from google.protobuf.message import DecodeError
from grpc import StatusCode
from pokearena.v1 import bot_pb2, referee_pb2

from referee.game_codec import field
from referee.rpc.call import MESSAGE_BYTES, Call, CallFailed, Status
from referee.rpc.channel import Channel
from referee.rpc.http2 import HEADERS_BYTES
from referee.rpc.trace import RECEIVED, SeatTrace, clause_of
from referee.rpc.work_budget import MESSAGE, MESSAGE_BYTE, BudgetExceeded, WorkBudget
from referee.running_game import OpenQuestion
from referee.sanitizing import quote
from referee.tables.deadline import Deadline
from referee.tables.stall_detector import ProcessStalled

_SERVICE = bot_pb2.DESCRIPTOR.services_by_name["BotService"].full_name
ANSWER_BYTES = 16 << 10
"""Size limit in bytes of a message of answers, per open question, plus the same amount once.

An answer with its note has some hundred bytes. Bytes that hold many empty answers take a parser a
hundred times as long.
"""
REASONING_BYTES = 64 << 10
"""Additional bytes per answer for `ActResponse.reasoning`, of which a part is kept."""
TRACE_BYTES = 64 << 10
"""Additional bytes per answer while messages are traced, for `ActResponse.trace`."""
TRACED_GRANT = 8
"""Factor of the work budget of a question while messages are traced: it allows `TRACE_BYTES`."""
_QUESTIONS = bot_pb2.PlayRequest.QUESTIONS_FIELD_NUMBER
_UNTRACED = nullcontext()
_Message = TypeVar("_Message", bot_pb2.StartResponse, bot_pb2.ActResponse, bot_pb2.PlayResponse)


class FailureKind(Enum):
    """Reasons for a missing answer."""

    SILENT = "silent"
    """The time limit passed."""
    BROKEN = "broken"
    """The connection was lost."""
    WRONG = "wrong"
    """The message received is not a valid answer."""
    UNREADABLE = "unreadable"
    """The bot, or the bridge of its lines, returned the status INVALID_ARGUMENT for a question."""


@dataclass(slots=True)
class NoAnswer(Exception):
    """A bot did not answer as required."""

    kind: FailureKind
    clause: str
    """Description of the failure, as a clause about the bot."""


class BotClient:
    """Client of one bot: a process of the arena, or another server at its address."""

    def __init__(
        self, address: str, budget: WorkBudget | None = None, trace: SeatTrace | None = None
    ) -> None:
        """Prepare a client for the bot at an address.

        Args:
            address: ``grpc://host:port``, ``host:port`` or ``unix:/path``.
            budget: the work budget charged for data of the bot. It belongs to the bot's seat and
                persists across processes.
            trace: the trace of the seat's messages, if any.
        """
        self.address = address.removeprefix("grpc://")
        self.budget = budget or WorkBudget()
        self.trace = trace
        self._channel = Channel(self.address, _SERVICE, self.budget)
        self._deadline = Deadline()
        self._streams = True
        self._stream_answered = False
        self._call: Call | None = None

    async def start(self, request: bot_pb2.StartRequest, seconds: float) -> bot_pb2.StartResponse:
        """Wait until the bot listens, and send it the description of the table.

        Raises:
            NoAnswer: the bot did not answer within ``seconds``, or not correctly.
        """
        try:
            with self._deadline.set(seconds):
                answer = await self._unary("Start", request.SerializeToString(), wait=True)
                self._deadline.check()
                return self._read(bot_pb2.StartResponse, answer)
        except TimeoutError:
            is_listening = self._channel.listening
            obstacle = "its Start did not return" if is_listening else "it did not listen"
            raise NoAnswer(FailureKind.SILENT, f"{obstacle} within {seconds:g} s") from None
        except BudgetExceeded as failure:
            raise NoAnswer(FailureKind.WRONG, str(failure)) from None
        except CallFailed as failure:
            if failure.status.code is StatusCode.UNIMPLEMENTED:
                return bot_pb2.StartResponse()
            raise _by_status(failure.status, self.budget) from None

    @property
    def excused_ms(self) -> float:
        """Return the excused milliseconds of the latest `start` or `ask`."""
        return 1000 * self._deadline.excused

    def excuse(self, request: referee_pb2.ExcuseTimeRequest) -> None:
        """Excuse time in which a call of the bot's model failed."""
        now = asyncio.get_running_loop().time()
        interval = now - request.excused_from_ms / 1000, now - request.excused_to_ms / 1000
        self._deadline.excuse(interval, request.hold_ms / 1000)

    async def ask(
        self,
        questions: Sequence[OpenQuestion],
        answers: list[bot_pb2.ActResponse],
        seconds: float,
    ) -> None:
        """Send questions and append the answers in the order of arrival, until all have arrived.

        Raises:
            NoAnswer: an answer is missing or invalid; the valid ones are in ``answers``.
            ProcessStalled: reading the bot's data took far longer than its cost explains.
        """
        self.budget.grant(len(questions) * (1 if self.trace is None else TRACED_GRANT))
        try:
            with self._deadline.set(seconds):
                if not (self._streams and await self._by_stream(questions, answers)):
                    await self._one_by_one(questions, answers)
        except TimeoutError:
            self._hang_up()  # late answers must not be read
            raise NoAnswer(
                FailureKind.SILENT, f"it did not answer within {1000 * seconds:.0f} ms"
            ) from None
        except BudgetExceeded as failure:
            self._hang_up()
            raise NoAnswer(FailureKind.WRONG, str(failure)) from None
        except CallFailed as failure:
            raise _by_status(failure.status, self.budget) from None
        if self.budget.overrun:
            raise ProcessStalled(
                f"reading what a bot sent took {self.budget.measured:.1f} s of the processor, and"
                f" its cost is {self.budget.spent:,.0f} units"
            )

    async def _by_stream(
        self, questions: Sequence[OpenQuestion], answers: list[bot_pb2.ActResponse]
    ) -> bool:
        """Ask through the stream; return False if the bot does not seem to implement it.

        The status of a stream does not show reliably whether the bot implements it. A bot whose
        stream has never returned a message is therefore asked by ``Act``, which reports its error.
        """
        try:
            await self._write_and_read(questions, answers)
        except (NoAnswer, CallFailed):
            self._hang_up()
            if self._stream_answered or self.budget.exceeded:
                raise
            self._streams = False
            return False
        return True

    async def _write_and_read(
        self, questions: Sequence[OpenQuestion], answers: list[bot_pb2.ActResponse]
    ) -> None:
        if self._call is None:
            with self._traced("Play"):
                self._call = await self._channel.begin("Play")
        call = self._call
        sent = b"".join([field(_QUESTIONS, q.data) for q in questions])
        try:
            with self._traced("Play", sent):
                await call.send(sent)
        except CallFailed:
            if self.budget.exceeded:
                raise NoAnswer(FailureKind.WRONG, self.budget.clause) from None
            raise NoAnswer(FailureKind.BROKEN, "its stream was lost") from None
        open_ones = {(q.game, q.decision): q.attempt for q in questions}
        corrected = {(q.game, q.decision): q.attempt for q in questions if q.attempt}
        while open_ones:
            message = await self._received(call)
            self._deadline.check()
            if message is None:
                raise _by_status(call.status, self.budget)
            self._stream_answered = True
            per_answer = ANSWER_BYTES + REASONING_BYTES
            per_answer += 0 if self.trace is None else TRACE_BYTES
            most = per_answer * (len(open_ones) + 1)
            if len(message) > most:
                raise NoAnswer(
                    FailureKind.WRONG,
                    f"it sent {len(message):,} bytes in answer to {len(open_ones)} questions; "
                    f"{most:,} are allowed",
                )
            response = self._read(bot_pb2.PlayResponse, message)
            # Check all answers first: an invalid message is rejected as a whole.
            current = [answer for answer in response.answers if not _is_late(answer, corrected)]
            for answer in current:
                key = (answer.game, answer.decision)
                if open_ones.pop(key, None) != answer.attempt:
                    raise NoAnswer(
                        FailureKind.WRONG,
                        f"it answered game {key[0]}, decision {key[1]}, which was not asked; "
                        "every question is answered once, with its game and decision copied",
                    )
            self._refund(response.answers)
            answers.extend(current)

    async def _one_by_one(
        self, questions: Sequence[OpenQuestion], answers: list[bot_pb2.ActResponse]
    ) -> None:
        for question in questions:
            message = await self._unary("Act", question.data)
            self._deadline.check()
            answer = self._read(bot_pb2.ActResponse, message)
            self._refund((answer,))
            answer.game, answer.decision = question.game, question.decision
            answer.attempt = question.attempt
            answers.append(answer)

    async def end(self, match: str) -> None:
        """Notify the bot that the table is over; errors and missing answers are ignored."""
        try:
            async with asyncio.timeout(0.5):
                if self._call is not None:
                    self._call.finish()
                request = bot_pb2.EndRequest(match=match)
                await self._unary("End", request.SerializeToString())
        except (TimeoutError, CallFailed, BudgetExceeded):
            pass

    async def close(self) -> None:
        """Close the stream and the connection."""
        self._deadline.close()
        self._hang_up()
        await self._channel.close()

    async def _unary(self, method: str, message: bytes, wait: bool = False) -> bytes:
        """Call a method with one message and return its answer; trace both."""
        with self._traced(method, message):
            answer = await self._channel.unary(method, message, wait)
        if self.trace is not None:
            self.trace.write(RECEIVED, method, answer)
        return answer

    async def _received(self, call: Call) -> bytes | None:
        """Return the next message of the stream, and trace it; None after the last one."""
        with self._traced("Play"):
            message = await call.receive()
        if self.trace is not None and message is not None:
            self.trace.write(RECEIVED, "Play", message)
        elif self.trace is not None and call.status is not None:
            self.trace.write(RECEIVED, "Play", error=clause_of(call.status))
        return message

    def _traced(self, method: str, sent: bytes | None = None) -> AbstractContextManager[None]:
        """Trace a message to send, and a failure in the block; without a trace, do nothing."""
        return _UNTRACED if self.trace is None else self.trace.attempt(method, sent)

    def _read(self, kind: type[_Message], data: bytes) -> _Message:
        """Charge the budget for a message of the bot, then parse it."""
        self.budget.charge("messages", MESSAGE + MESSAGE_BYTE * len(data))
        try:
            return kind.FromString(data)
        except DecodeError:
            raise NoAnswer(
                FailureKind.WRONG,
                f"it answered {len(data)} bytes that are not a valid {kind.DESCRIPTOR.name}",
            ) from None

    def _refund(self, answers: Iterable[bot_pb2.ActResponse]) -> None:
        """Return the cost of reasoning, which is copied and not parsed."""
        for answer in answers:
            if answer.reasoning:
                self.budget.refund("messages", MESSAGE_BYTE * len(answer.reasoning.encode()))

    def _hang_up(self) -> None:
        if self._call is not None:
            self._call.cancel()
        self._call = None


def _is_late(answer: bot_pb2.ActResponse, corrected: Mapping[tuple[int, int], int]) -> bool:
    """Return whether an answer belongs to an earlier try of a corrected question."""
    return answer.attempt < corrected.get((answer.game, answer.decision), 0)


def _by_status(status: Status | None, budget: WorkBudget) -> NoAnswer:
    """Return the fault for a failed call; an exhausted budget comes before the status."""
    if budget.exceeded:
        return NoAnswer(FailureKind.WRONG, budget.clause)
    assert status is not None
    code = status.code
    if code is StatusCode.OK:
        return NoAnswer(FailureKind.WRONG, "it ended the stream before it had answered")
    details = quote(" ".join(status.details.split()))
    if code is StatusCode.UNAVAILABLE:
        return NoAnswer(FailureKind.BROKEN, "its connection was lost")
    if code is StatusCode.RESOURCE_EXHAUSTED and "headers" in status.details:
        return NoAnswer(FailureKind.WRONG, f"it sent headers of more than {HEADERS_BYTES} bytes")
    if code is StatusCode.RESOURCE_EXHAUSTED:
        return NoAnswer(
            FailureKind.WRONG, f"it sent more than {MESSAGE_BYTES} bytes in one message"
        )
    invalid = code is StatusCode.INVALID_ARGUMENT
    kind = FailureKind.UNREADABLE if invalid else FailureKind.WRONG
    return NoAnswer(kind, f"it answered with the error {code.name}: {details}")
