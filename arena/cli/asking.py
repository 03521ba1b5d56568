"""One recorded question, put to a bot again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from pokearena.v1 import bot_pb2, bot_pb2_grpc

from arena.bots.bot import Bot
from arena.bots.build import build
from arena.bots.errors import InfrastructureError
from arena.bots.processes import Processes
from arena.bots.report import Limits
from arena.cli.records import Found
from arena.match.runner import OPTIONS
from referee.games.registry import find
from referee.record import GameRecord
from referee.replay import Mismatch, Question, Rights, codec_of, question


@dataclass(frozen=True, slots=True)
class Answer:
    """What a bot answered, and what is to be said of it."""

    action: dict[str, Any] | None
    """In the protocol's JSON form; None if none came."""
    note: str
    legal: bool
    ms: float
    """From question to answer."""
    limit_ms: int
    """What the seat had: the allowance and what was left in its bank."""
    trouble: str
    """Why no action came, as a clause about the bot; empty if one did."""
    output: str
    """What the bot wrote."""

    @property
    def in_time(self) -> bool:
        """Whether it would have counted."""
        return self.ms <= self.limit_ms

    @property
    def good(self) -> bool:
        """Whether it is a legal action, in time."""
        return self.legal and self.in_time


def asked(found: Found, game: int, decision: int) -> Question:
    """The question of a decision, exactly as it was put.

    Of a fault the record has it; of any other the deal is made again and the game replayed up to
    it, and all but what was left in the bank is exact, which is what the games before had left.
    """
    record = found.game(game)
    match, seed = found.record.match, found.seed()
    rights = [Rights(_clock(found, record, seat)) for seat in range(match["seats"])]
    rebuilt = question(match, record, seed, decision, rights)
    for fault in record.faults:
        if fault["decision"] == decision and "question" in fault:
            try:
                stored = ParseDict(fault["question"], bot_pb2.ActRequest())
            except ParseError as error:
                raise Mismatch(f"game {game}: its fault holds no question: {error}") from None
            if stored.seat == rebuilt.request.seat:
                return Question(stored, rebuilt.legal)
    return rebuilt


def _clock(found: Found, record: GameRecord, seat: int) -> bot_pb2.Clock:
    clock = found.record.match["clock"]
    drawn = sum(
        game.result["bank_ms"][seat]
        for game in found.record.games
        if game.game["table"] == record.game["table"] and game.number < record.number
    )
    return bot_pb2.Clock(
        allowance_ms=clock["allowance_ms"], bank_ms=max(0, int(clock["bank_ms"] - drawn))
    )


def ask(found: Found, put: Question, bot: Bot, patience: float) -> Answer:
    """Starts a bot and puts a question to it, with no clock but `patience`, in seconds.

    Raises InfrastructureError if a remote bot cannot be reached, BotError if it does not build.
    """
    if bot.manifest is not None and bot.folder is not None and not bot.content:
        build(bot.manifest, bot.folder)
    seat = put.request.seat
    if bot.address is not None:
        with _channel(bot.address) as channel:
            return _converse(found, put, channel, patience)
    with Processes(limits=Limits()) as processes:
        address = processes.start(seat, bot)
        with _channel(address) as channel:
            answer = _converse(found, put, channel, patience, hosted=True)
        report = processes.report(seat)
        trouble = answer.trouble
        if trouble and report.ended:
            trouble = f"{trouble}; its process {report.ended}"
        return Answer(
            answer.action,
            answer.note,
            answer.legal,
            answer.ms,
            answer.limit_ms,
            trouble,
            report.output,
        )


@contextmanager
def _channel(address: str) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(address, options=OPTIONS) as channel:
        yield channel


def _converse(
    found: Found, put: Question, channel: grpc.Channel, patience: float, hosted: bool = False
) -> Answer:
    stub = bot_pb2_grpc.BotServiceStub(channel)
    clock = put.request.clock
    limit = clock.allowance_ms + clock.bank_ms
    start_seconds = found.record.match["clock"]["start_ms"] / 1000
    try:
        _start(stub, found, put, start_seconds if hosted else min(start_seconds, patience))
    except grpc.RpcError as error:
        trouble = f"did not start: {_clause(error)}"
        if not hosted:
            raise InfrastructureError(f"The bot cannot be asked: it {trouble}.") from None
        return Answer(None, "", False, 0.0, limit, trouble, "")
    began = time.monotonic()
    try:
        response = _act(stub, put.request, patience)
    except grpc.RpcError as error:
        return Answer(None, "", False, _since(began), limit, _clause(error), "")
    ms = _since(began)
    action = MessageToDict(response.action)
    return Answer(action, response.note, _is_legal(found, put, response), ms, limit, "", "")


def _since(began: float) -> float:
    return round(1000 * (time.monotonic() - began), 3)


def _start(stub: Any, found: Found, put: Question, seconds: float) -> None:
    """Tells the bot what is played, as at the beginning of a table."""
    match, request = found.record.match, put.request
    told = bot_pb2.StartRequest(
        match=request.match,
        game=match["game"],
        seats=match["seats"],
        seat=request.seat,
        options={name: str(value).lower() for name, value in match["options"].items()},
        games=match["boards"],
        clock=request.clock,
    )
    try:
        response = stub.Start(told, timeout=seconds, wait_for_ready=True)
    except grpc.RpcError as error:
        if error.code() is not grpc.StatusCode.UNIMPLEMENTED:
            raise
        return
    if response.without_legal:
        request.ClearField("legal")
        request.complete = False


def _act(stub: Any, request: bot_pb2.ActRequest, patience: float) -> bot_pb2.ActResponse:
    """The answer by `Act`, or by `Play` from a bot that has only that."""
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


def _is_legal(found: Found, put: Question, response: bot_pb2.ActResponse) -> bool:
    codec = codec_of(find(found.record.match["game"]))
    try:
        return codec.decode(response.action) in put.legal
    except ValueError:
        return False


def _clause(error: grpc.RpcError) -> str:
    """What a failed call says of the bot."""
    code = error.code()
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return "it did not answer in the time it was given"
    if code is grpc.StatusCode.UNAVAILABLE:
        return "its connection was lost"
    said = " ".join((error.details() or "").split())[:300]
    return f"it answered with the error {code.name}: {said}"
