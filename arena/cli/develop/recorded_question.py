"""Send one recorded question to a bot again."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from threading import Event
from typing import Any

import grpc
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from pokearena.v1 import bot_pb2, bot_pb2_grpc

from arena.bots.bot import Bot
from arena.bots.processes import Processes
from arena.bots.sandbox import available_levels
from arena.bots.socket_probe import authority
from arena.cli.matches.record_lookup import RecordSource
from arena.errors import InfrastructureError
from arena.matches.runner import OPTIONS
from referee.games.registry import find
from referee.record import GameRecord
from referee.replay import Mismatch, RecordedClock, RecordedQuestion, codec_of, question

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
    source: RecordSource, put: RecordedQuestion, bot: Bot, patience: float, start: float
) -> BotAnswer:
    """Start a bot and send a question, limited only by `patience`.

    Args:
        source: the record of the match.
        put: the question.
        bot: the bot.
        patience: seconds for the answer.
        start: seconds for the start.

    Raises:
        InfrastructureError: a remote bot cannot be reached.
    """
    if bot.address is not None:
        answer = _converse(source, put, bot.address, min(start, patience), patience)
        if answer.trouble.startswith(_NOT_STARTED):
            raise InfrastructureError(f"{bot.label} cannot be asked: it {answer.trouble}.")
        return answer
    seat, ended = put.request.seat, Event()
    with Processes(lambda report: ended.set(), level=available_levels.best()) as processes:
        address = processes.start(seat, bot)
        answer = _converse(source, put, address, start, patience, ended)
        report = processes.report(seat)
    if answer.trouble and report.ended:
        answer = replace(answer, trouble=f"{answer.trouble}; its process {report.ended}")
    return replace(answer, output=report.output)


def _converse(
    source: RecordSource,
    put: RecordedQuestion,
    address: str,
    start_seconds: float,
    patience: float,
    ended: Event | None = None,
) -> BotAnswer:
    """Send the start request and the question; `ended` is set when the process has ended."""
    clock = put.request.clock
    nothing = BotAnswer(None, "", False, 0.0, clock.allowance_ms + clock.bank_ms, "", "")
    with grpc.insecure_channel(address, options=OPTIONS + authority(address)) as channel:
        stub = bot_pb2_grpc.BotServiceStub(channel)
        try:
            _start(stub, source, put, start_seconds, ended)
        except _StartFailed as error:
            return replace(nothing, trouble=f"{_NOT_STARTED}: {error}")
        began = time.monotonic()
        try:
            response = _act(stub, put.request, patience)
        except grpc.RpcError as error:
            return replace(nothing, ms=_since(began), trouble=_clause(error))
        return replace(
            nothing,
            ms=_since(began),
            action=MessageToDict(response.action),
            note=response.note,
            legal=is_legal(source, put, response),
        )


def _since(began: float) -> float:
    return round(1000 * (time.monotonic() - began), 3)


def told(source: RecordSource, put: RecordedQuestion) -> bot_pb2.StartRequest:
    """Return the start request for the beginning of the table."""
    match, request = source.record.match, put.request
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
    stub: Any, source: RecordSource, put: RecordedQuestion, seconds: float, ended: Event | None
) -> None:
    """Send the start request as at the beginning of a table, and apply its response."""
    request = put.request
    call = stub.Start.future(told(source, put), timeout=seconds, wait_for_ready=True)
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


def is_legal(source: RecordSource, put: RecordedQuestion, response: bot_pb2.ActResponse) -> bool:
    """Return whether an answer is a legal action of its question."""
    codec = codec_of(find(source.record.match["game"]))
    try:
        return codec.decode(response.action) in put.legal
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
