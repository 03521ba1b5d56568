"""Send one recorded question to a bot that is started for it."""

from __future__ import annotations

import time
from dataclasses import replace
from threading import Event
from typing import Any

import grpc
from google.protobuf.json_format import MessageToDict
from pokearena.v1 import bot_pb2, bot_pb2_grpc

from arena.bots.bot import Bot
from arena.bots.plain_processes import table_processes
from arena.bots.socket_probe import authority
from arena.cli.develop.recorded_question import BotAnswer, is_legal, start_request, unanswered
from arena.cli.matches.record_lookup import RecordSource
from arena.errors import InfrastructureError
from arena.matches.runner import OPTIONS
from referee.replay import RecordedQuestion

_POLL_SECONDS = 0.01
_NOT_STARTED = "did not start"


class _StartFailed(Exception):
    """A bot did not respond to the start request. The text is a clause."""


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
        InfrastructureError: a remote bot cannot be reached, or a sandbox failed.
    """
    if bot.address is not None:
        answer = _converse(source, recorded, bot.address, min(start, patience), patience)
        if answer.trouble.startswith(_NOT_STARTED):
            raise InfrastructureError(f"{bot.label} cannot be asked: it {answer.trouble}.")
        return answer
    seat, ended = recorded.request.seat, Event()
    with table_processes(lambda report: ended.set(), lambda lost: ended.set()) as processes:
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
    nothing = unanswered(recorded, "")
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
            return replace(nothing, ms=_since(began), trouble=_clause(error, patience))
        return replace(
            nothing,
            ms=_since(began),
            action=MessageToDict(response.action),
            note=response.note,
            legal=is_legal(source, recorded, response),
        )


def _since(began: float) -> float:
    return round(1000 * (time.monotonic() - began), 3)


def _start(
    stub: Any, source: RecordSource, recorded: RecordedQuestion, seconds: float, ended: Event | None
) -> None:
    """Send the start request as at the beginning of a table, and apply its response."""
    request = recorded.request
    call = stub.Start.future(start_request(source, recorded), timeout=seconds, wait_for_ready=True)
    while not call.done():
        if ended is not None and ended.wait(_POLL_SECONDS):
            call.cancel()
            raise _StartFailed("it was not listening yet")
        time.sleep(_POLL_SECONDS)
    if call.code() is grpc.StatusCode.UNIMPLEMENTED:
        return
    if call.code() is not grpc.StatusCode.OK:
        raise _StartFailed(_clause(call, seconds))
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


def _clause(error: Any, seconds: float) -> str:
    """Return a failed call with this time limit as a clause about the bot."""
    code = error.code()
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return f"it did not answer within {seconds:g} s"
    if code is grpc.StatusCode.UNAVAILABLE:
        return "its connection was lost"
    details = " ".join((error.details() or "").split())[:300]
    return f"it answered with the error {code.name}: {details}"
