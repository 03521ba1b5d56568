"""Send a recorded question to a bot again: alone, with others, or after all earlier ones."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from threading import Event
from typing import Any

import grpc
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from pokearena.v1 import bot_pb2, bot_pb2_grpc

from arena.bots.bot import Bot
from arena.bots.bot_session import BotSession, MethodUnimplemented, SessionFailed
from arena.bots.processes import Processes
from arena.bots.sandbox import available_levels
from arena.bots.socket_probe import authority
from arena.cli.errors import USAGE, CommandError
from arena.cli.matches.record_lookup import RecordSource
from arena.errors import InfrastructureError
from arena.matches.runner import OPTIONS
from referee.faults import PROCESS_FAULTS
from referee.games.registry import find
from referee.record import GameRecord, Line
from referee.replay import Mismatch, RecordedClock, RecordedQuestion, codec_of, question, questions

_GLANCE_SECONDS = 0.01
_NOT_STARTED = "did not start"


class _StartFailed(Exception):
    """A bot did not respond to the start request. The text is a clause."""


@dataclass(frozen=True, slots=True)
class BotAnswer:
    """The answer of a bot and its evaluation."""

    action: dict[str, Any] | None
    """The action in the protocol's JSON form; None if none arrived."""
    note: str
    legal: bool
    ms: float
    """Milliseconds from question to answer."""
    limit_ms: int
    """Time limit in milliseconds: the allowance and the rest of the bank."""
    trouble: str
    """The reason for a missing action, as a clause about the bot; empty if it arrived."""
    output: str
    """The output of the bot's process."""

    @property
    def in_time(self) -> bool:
        """Whether the answer arrived within the time limit."""
        return self.ms <= self.limit_ms

    @property
    def good(self) -> bool:
        """Whether it is a legal action within the time limit."""
        return self.legal and self.in_time


def asked(source: RecordSource, game: int, decision: int) -> RecordedQuestion:
    """Return the question of a decision, identical to the original one.

    A fault line contains its question. Any other question is rebuilt: the game is dealt again and
    replayed up to the decision. The record also contains the bank sent with the question. Older
    records lack it; then the bank is computed from the time drawn in earlier games.
    """
    record = source.game(game)
    match, seed = source.record.match, source.seed()
    rights = [RecordedClock(clock) for clock in clocks(source, record)]
    rebuilt = question(match, record, seed, decision, rights)
    for fault in record.faults:
        if fault["decision"] == decision and "question" in fault:
            try:
                stored = ParseDict(fault["question"], bot_pb2.ActRequest())
            except ParseError as error:
                raise Mismatch(f"game {game}: its fault holds no question: {error}") from None
            if stored.seat == rebuilt.request.seat:
                return RecordedQuestion(stored, rebuilt.legal)
    return rebuilt


def clocks(source: RecordSource, record: GameRecord) -> list[bot_pb2.Clock]:
    """Return the clock of every seat at the start of a game, assuming sequential games."""
    return [_clock(source, record, seat) for seat in range(source.record.match["seats"])]


def _clock(source: RecordSource, record: GameRecord, seat: int) -> bot_pb2.Clock:
    clock = source.record.match["clock"]
    drawn = sum(
        game.result["bank_ms"][seat]
        for game in source.record.games
        if game.game["table"] == record.game["table"] and game.number < record.number
    )
    return bot_pb2.Clock(
        allowance_ms=clock["allowance_ms"], bank_ms=max(0, int(clock["bank_ms"] - drawn))
    )


def ask(
    source: RecordSource, recorded: RecordedQuestion, bot: Bot, patience: float, start: float
) -> BotAnswer:
    """Start a bot and send a question, limited only by `patience`.

    Args:
        source: the record of the match.
        recorded: the question.
        bot: the bot.
        patience: seconds for the answer.
        start: seconds for the start.

    Raises:
        InfrastructureError: a remote bot cannot be reached.
    """
    if bot.address is not None:
        answer = _converse(source, recorded, bot.address, min(start, patience), patience)
        if answer.trouble.startswith(_NOT_STARTED):
            raise InfrastructureError(f"{bot.label} cannot be asked: it {answer.trouble}.")
        return answer
    seat, ended = recorded.request.seat, Event()
    with Processes(lambda report: ended.set(), level=available_levels.best_level()) as processes:
        address = processes.start(seat, bot)
        answer = _converse(source, recorded, address, start, patience, ended)
        report = processes.report(seat)
    if answer.trouble and report.ended:
        answer = replace(answer, trouble=f"{answer.trouble}; its process {report.ended}")
    return replace(answer, output=report.output)


def _converse(
    source: RecordSource,
    recorded: RecordedQuestion,
    address: str,
    start_seconds: float,
    patience: float,
    ended: Event | None = None,
) -> BotAnswer:
    """Send the start request and the question; `ended` is set when the process has ended."""
    clock = recorded.request.clock
    nothing = BotAnswer(None, "", False, 0.0, clock.allowance_ms + clock.bank_ms, "", "")
    with grpc.insecure_channel(address, options=OPTIONS + authority(address)) as channel:
        stub = bot_pb2_grpc.BotServiceStub(channel)
        try:
            _start(stub, source, recorded, start_seconds, ended)
        except _StartFailed as error:
            return replace(nothing, trouble=f"{_NOT_STARTED}: {error}")
        began = time.monotonic()
        try:
            response = _act(stub, recorded.request, patience)
        except grpc.RpcError as error:
            return replace(nothing, ms=_since(began), trouble=_clause(error))
        return replace(
            nothing,
            ms=_since(began),
            action=MessageToDict(response.action),
            note=response.note,
            legal=is_legal(source, recorded, response),
        )


def _since(began: float) -> float:
    return round(1000 * (time.monotonic() - began), 3)


def start_request(source: RecordSource, recorded: RecordedQuestion) -> bot_pb2.StartRequest:
    """Return the start request for the beginning of the table."""
    match, request = source.record.match, recorded.request
    return bot_pb2.StartRequest(
        match=request.match,
        game=match["game"],
        seats=match["seats"],
        seat=request.seat,
        options={name: str(value).lower() for name, value in match["options"].items()},
        games=match["boards"],
        clock=request.clock,
    )


def _start(
    stub: Any, source: RecordSource, recorded: RecordedQuestion, seconds: float, ended: Event | None
) -> None:
    """Send the start request as at the beginning of a table, and apply its response."""
    request = recorded.request
    call = stub.Start.future(start_request(source, recorded), timeout=seconds, wait_for_ready=True)
    while not call.done():
        if ended is not None and ended.wait(_GLANCE_SECONDS):
            call.cancel()
            raise _StartFailed("it was not listening yet")
        time.sleep(_GLANCE_SECONDS)
    if call.code() is grpc.StatusCode.UNIMPLEMENTED:
        return
    if call.code() is not grpc.StatusCode.OK:
        raise _StartFailed(_clause(call))
    if call.result().without_legal:
        request.ClearField("legal")
        request.complete = False


def _act(stub: Any, request: bot_pb2.ActRequest, patience: float) -> bot_pb2.ActResponse:
    """Return the answer by `Act`, or by `Play` from a bot that implements only that."""
    try:
        answer: bot_pb2.ActResponse = stub.Act(request, timeout=patience)
        return answer
    except grpc.RpcError as error:
        if error.code() is not grpc.StatusCode.UNIMPLEMENTED:
            raise
    messages = stub.Play(iter([bot_pb2.PlayRequest(questions=[request])]), timeout=patience)
    for message in messages:
        for response in message.answers:
            messages.cancel()
            return response  # type: ignore[no-any-return]
    return bot_pb2.ActResponse()


def is_legal(
    source: RecordSource, recorded: RecordedQuestion, response: bot_pb2.ActResponse
) -> bool:
    """Return whether an answer is a legal action of its question."""
    codec = codec_of(find(source.record.match["game"]))
    try:
        return codec.decode(response.action) in recorded.legal
    except ValueError:
        return False


def _clause(error: Any) -> str:
    """Return a failed call as a clause about the bot."""
    code = error.code()
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return "it did not answer in the time it was given"
    if code is grpc.StatusCode.UNAVAILABLE:
        return "its connection was lost"
    details = " ".join((error.details() or "").split())[:300]
    return f"it answered with the error {code.name}: {details}"


def ask_together(
    source: RecordSource,
    recorded_questions: Sequence[RecordedQuestion],
    bot: Bot,
    patience: float,
    start: float,
) -> list[BotAnswer]:
    """Start a bot and send the questions in one message; return the answers in their order.

    Args:
        source: the record of the match.
        recorded_questions: the questions.
        bot: the bot.
        patience: seconds for the answers.
        start: seconds for the start.

    Raises:
        InfrastructureError: a remote bot cannot be reached.
        CommandError: these questions cannot be in one message.
    """
    _check(recorded_questions)
    session = BotSession(bot, start_request(source, recorded_questions[0]), start, patience)
    try:
        with session:
            began = time.monotonic()
            try:
                answers = session.play(*(recorded.request for recorded in recorded_questions))
            except MethodUnimplemented:
                return [
                    _no(recorded, "it has no Play, or broke at its first message")
                    for recorded in recorded_questions
                ]
            ms = round(1000 * (time.monotonic() - began), 3)
            output = session.report().output
    except SessionFailed as error:
        if bot.remote and not session.seconds:
            raise InfrastructureError(f"{bot.label} cannot be asked: {error}.") from None
        clause = str(error) if session.seconds else f"did not start: {error}"
        return [_no(recorded, clause, error.output) for recorded in recorded_questions]
    return [
        BotAnswer(
            action=MessageToDict(answer.action),
            note=answer.note,
            legal=is_legal(source, recorded, answer),
            ms=ms,
            limit_ms=len(recorded_questions) * recorded.request.clock.allowance_ms
            + recorded.request.clock.bank_ms,
            trouble="",
            output=output,
        )
        for recorded, answer in zip(recorded_questions, answers, strict=True)
    ]


def _check(recorded_questions: Sequence[RecordedQuestion]) -> None:
    if len({recorded.request.seat for recorded in recorded_questions}) > 1:
        raise CommandError("these are questions to different seats; one message has one.", USAGE)
    if len({recorded.request.game for recorded in recorded_questions}) < len(recorded_questions):
        raise CommandError("one message has one question of a game at the most.", USAGE)


def _no(recorded: RecordedQuestion, trouble: str, output: str = "") -> BotAnswer:
    limit = recorded.request.clock.allowance_ms + recorded.request.clock.bank_ms
    return BotAnswer(None, "", False, 0.0, limit, trouble, output)


MessageKey = tuple[int, int, int]
"""Sort key of a message to a seat; all questions of one message have the same key."""


@dataclass(frozen=True, slots=True)
class PastQuestion:
    """A recorded question and its position in time."""

    question: RecordedQuestion
    key: MessageKey
    within: int
    """Its index in its message."""
    action: dict[str, Any] | None
    """The answer in the protocol's JSON form; None if it is missing."""

    @property
    def place(self) -> tuple[int, int]:
        """Its game and decision."""
        return self.question.request.game, self.question.request.decision


def messages(source: RecordSource, game: int, decision: int) -> list[list[PastQuestion]]:
    """Return all messages to a process up to the one with a question, included.

    A seat whose process was lost has a new process from then on, which starts without earlier
    questions. Questions that were open when another seat's fault ended the game are not recorded,
    and so omitted.

    Raises:
        CommandError: the game does not exist, or the seed is secret.
        Mismatch: the decision does not exist.
    """
    recorded = asked(source, game, decision)
    seat, table = recorded.request.seat, source.game(game).game["table"]
    games = [record for record in source.record.games if record.game["table"] == table]
    past = [question for record in games for question in _of_game(source, record, seat)]
    target = next((question for question in past if question.place == (game, decision)), None)
    if target is None:
        keys = (question.key for question in past if question.place[0] == game)
        target = PastQuestion(
            recorded, (max(keys, default=(-1, game, 0))[0], game, decision), 0, None
        )
        past.append(target)
    lost = [
        _message_key(fault, fault.get("clock", {}))[0]
        for record in games
        for fault in record.faults
        if fault["seat"] == seat and fault["verdict"] in PROCESS_FAULTS
    ]
    since = max((key for key in lost if key < target.key), default=(-2, 0, 0))
    kept = sorted((question for question in past if since < question.key <= target.key), key=_order)
    return [list(message) for _, message in groupby(kept, key=lambda question: question.key)]


def _of_game(source: RecordSource, record: GameRecord, seat: int) -> Iterator[PastQuestion]:
    """Yield the questions to a seat in a game."""
    actions = {line["decision"]: line for line in record.actions if line["seat"] == seat}
    faults = {
        line["decision"]: line
        for line in record.faults
        if line["seat"] == seat and "question" in line
    }
    rights = [RecordedClock(clock) for clock in clocks(source, record)]
    match, seed = source.record.match, source.seed()
    for recorded in questions(match, record, seed, rights):
        decision = recorded.request.decision
        if recorded.request.seat != seat:
            continue
        if decision in faults:
            fault = faults[decision]
            recorded = asked(source, record.number, decision)
            yield PastQuestion(recorded, *_message_key(fault, fault.get("clock", {})), None)
        elif decision in actions and actions[decision].get("by") != "referee":
            line = actions[decision]
            yield PastQuestion(recorded, *_message_key(line, line), line["action"])


def _message_key(line: Line, clock: Line) -> tuple[MessageKey, int]:
    """Return the message key of a line and its index in the message, from ``clock`` if recorded."""
    if "message" not in clock:
        return (-1, line["game"], line["decision"]), 0
    message, within = clock["message"]
    return (message, 0, 0), within


def _order(past: PastQuestion) -> tuple[MessageKey, int]:
    return past.key, past.within


@dataclass(frozen=True, slots=True)
class Difference:
    """The first earlier question whose answer now differs."""

    game: int
    decision: int
    recorded: dict[str, Any]
    answer: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {
            "game": self.game,
            "decision": self.decision,
            "recorded": self.recorded,
            "answer": self.answer,
        }


@dataclass(frozen=True, slots=True)
class HistoryAnswer:
    """The result of a question sent after all that preceded it."""

    question: RecordedQuestion
    answer: BotAnswer
    before: int
    """Number of questions sent before it."""
    differs: Difference | None


def ask_in_order(
    source: RecordSource, game: int, decision: int, bot: Bot, patience: float, start: float
) -> HistoryAnswer:
    """Start a bot and send, message by message, all questions up to the given one.

    Args:
        source: the record of the match.
        game: the game's number.
        decision: the decision of the question.
        bot: the bot.
        patience: seconds for every answer.
        start: seconds for the start.

    Raises:
        InfrastructureError: a remote bot cannot be reached.
        CommandError: the game does not exist, or the seed is secret.
        Mismatch: the decision does not exist.
    """
    history = messages(source, game, decision)
    (recorded,) = (past.question for past in history[-1] if past.place == (game, decision))
    before = sum(map(len, history)) - 1
    session = BotSession(bot, start_request(source, history[0][0].question), start, patience)
    differs: Difference | None = None
    at = ""
    try:
        with session:
            for message in history[:-1]:
                at = f"before it, at {_where(message[0])}: "
                answers = session.ask(*(past.question.request for past in message))
                for past, response in zip(message, answers, strict=True):
                    differs = differs or _difference(past, response)
            at, began = "", time.monotonic()
            answers = session.ask(*(past.question.request for past in history[-1]))
            ms = round(1000 * (time.monotonic() - began), 3)
            output = session.report().output
    except SessionFailed as error:
        if bot.remote and not session.seconds:
            raise InfrastructureError(f"{bot.label} cannot be asked: {error}.") from None
        clause = f"{at}{error}" if session.seconds else f"did not start: {error}"
        nothing = BotAnswer(
            None, "", False, 0.0, _limit(recorded, len(history[-1])), clause, error.output
        )
        return HistoryAnswer(recorded, nothing, before, differs)
    for past, response in zip(history[-1], answers, strict=True):
        if past.question is recorded:
            answer = BotAnswer(
                action=MessageToDict(response.action),
                note=response.note,
                legal=is_legal(source, recorded, response),
                ms=ms,
                limit_ms=_limit(recorded, len(history[-1])),
                trouble="",
                output=output,
            )
    return HistoryAnswer(recorded, answer, before, differs)


def _where(past: PastQuestion) -> str:
    return f"game {past.place[0]}, decision {past.place[1]}"


def _limit(recorded: RecordedQuestion, questions: int) -> int:
    clock = recorded.request.clock
    return int(questions * clock.allowance_ms + clock.bank_ms)


def _difference(past: PastQuestion, response: bot_pb2.ActResponse) -> Difference | None:
    if past.action is None or ParseDict(past.action, bot_pb2.Action()) == response.action:
        return None
    return Difference(*past.place, past.action, MessageToDict(response.action))
