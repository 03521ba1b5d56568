"""Send recorded questions: one, several in one message, or all up to a decision in their order."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from pokearena.v1 import bot_pb2

from arena.bots.bot import Bot
from arena.bots.bot_session import BotSession, MethodUnimplemented, SessionFailed
from arena.cli.develop.recorded_question import (
    BotAnswer,
    clocks_of,
    is_legal,
    question_of_decision,
    start_request,
    time_limit_ms,
    unanswered,
)
from arena.cli.errors import usage_error
from arena.cli.matches.record_lookup import RecordSource
from arena.errors import InfrastructureError
from referee.faults import PROCESS_FAULTS
from referee.generic_codec import action_message, json_of_message
from referee.record import GameRecord, Line
from referee.replay import RecordedClock, RecordedQuestion, questions


def ask_questions(
    source: RecordSource,
    recorded_questions: Sequence[RecordedQuestion],
    bot: Bot,
    patience: float,
    start: float,
    *,
    by_play: bool,
) -> list[BotAnswer]:
    """Start a bot and send the questions; return the answers in their order.

    `patience` and `start` are the seconds for the answers and for the start. With `by_play`, the
    questions are sent in one message of Play, and not each by Act.

    Raises:
        InfrastructureError: a remote bot cannot be reached.
    """
    _check(recorded_questions)
    count = len(recorded_questions)
    seconds = start if bot.address is None else min(start, patience)
    session = BotSession(bot, start_request(source, recorded_questions[0]), seconds, patience)
    began = None
    try:
        with session:
            began = time.monotonic()
            requests = [recorded.request for recorded in recorded_questions]
            try:
                answers = _answers(session, requests, by_play=by_play)
            except MethodUnimplemented:
                reason = "it does not implement Play, or its process failed at the first message"
                return [unanswered(recorded, reason, count) for recorded in recorded_questions]
            ms = _since(began)
            output = session.report().output
    except SessionFailed as error:
        if bot.remote and began is None:
            raise InfrastructureError(f"{bot.label} cannot be asked: {error}.") from None
        clause = f"did not start: {error}" if began is None else str(error)
        ms = 0.0 if began is None else _since(began)
        return [
            replace(unanswered(recorded, clause, count, error.output), ms=ms)
            for recorded in recorded_questions
        ]
    return [
        _answered(source, recorded, answer, count, ms, output)
        for recorded, answer in zip(recorded_questions, answers, strict=True)
    ]


def _answered(
    source: RecordSource,
    recorded: RecordedQuestion,
    response: bot_pb2.ActResponse,
    questions: int,
    ms: float,
    output: str,
) -> BotAnswer:
    """Return the answer to one of the questions of a message."""
    return BotAnswer(
        action=json_of_message(response.action),
        note=response.note,
        legal=is_legal(source, recorded, response),
        ms=ms,
        limit_ms=time_limit_ms(recorded, questions),
        trouble="",
        output=output,
    )


def _answers(
    session: BotSession, requests: Sequence[bot_pb2.ActRequest], *, by_play: bool
) -> list[bot_pb2.ActResponse]:
    """Return the answers by Act, or by Play if asked for or if the bot implements only that."""
    if not by_play:
        try:
            return [session.act(request) for request in requests]
        except MethodUnimplemented:
            pass
    return session.play(*requests)


def _since(began: float) -> float:
    """Return the milliseconds since a time of the monotonic clock."""
    return round(1000 * (time.monotonic() - began), 3)


def _check(recorded_questions: Sequence[RecordedQuestion]) -> None:
    if len({recorded.request.seat for recorded in recorded_questions}) > 1:
        raise usage_error(
            "all questions of a message must be for the same seat.", "different-seats"
        )
    if len({recorded.request.game for recorded in recorded_questions}) < len(recorded_questions):
        raise usage_error("a message can contain at most one question per game.", "same-game")


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


def messages_until(source: RecordSource, game: int, decision: int) -> list[list[PastQuestion]]:
    """Return all messages to a process up to the one with a question, included.

    A seat whose process was lost has a new process from then on, which starts without earlier
    questions. Questions that were open when another seat's fault ended the game are not recorded,
    and so omitted.

    Raises:
        Mismatch: the decision does not exist.
    """
    recorded = question_of_decision(source, game, decision)
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
    clocks = [RecordedClock(clock) for clock in clocks_of(source, record)]
    match, seed = source.record.match, source.seed()
    for recorded in questions(match, record, seed, clocks):
        decision = recorded.request.decision
        if recorded.request.seat != seat:
            continue
        if decision in faults:
            fault = faults[decision]
            recorded = question_of_decision(source, record.number, decision)
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

    `patience` and `start` are the seconds for every answer and for the start.

    Raises:
        InfrastructureError: a remote bot cannot be reached.
        Mismatch: the decision does not exist.
    """
    history = messages_until(source, game, decision)
    (recorded,) = (past.question for past in history[-1] if past.place == (game, decision))
    before = sum(map(len, history)) - 1
    session = BotSession(bot, start_request(source, history[0][0].question), start, patience)
    differs: Difference | None = None
    prefix = ""
    try:
        with session:
            for message in history[:-1]:
                prefix = f"before it, at {_location_text(message[0])}: "
                answers = session.ask(*(past.question.request for past in message))
                for past, response in zip(message, answers, strict=True):
                    differs = differs or _difference(past, response)
            prefix, began = "", time.monotonic()
            answers = session.ask(*(past.question.request for past in history[-1]))
            ms = _since(began)
            output = session.report().output
    except SessionFailed as error:
        if bot.remote and not session.seconds:
            raise InfrastructureError(f"{bot.label} cannot be asked: {error}.") from None
        clause = f"{prefix}{error}" if session.seconds else f"did not start: {error}"
        nothing = unanswered(recorded, clause, len(history[-1]), error.output)
        return HistoryAnswer(recorded, nothing, before, differs)
    (response,) = (
        answer
        for past, answer in zip(history[-1], answers, strict=True)
        if past.question is recorded
    )
    answer = _answered(source, recorded, response, len(history[-1]), ms, output)
    return HistoryAnswer(recorded, answer, before, differs)


def _location_text(past: PastQuestion) -> str:
    """Return the place with the numbers of the protocol, as in all texts of a session."""
    return f"game {past.place[0]}, decision {past.place[1]}"


def _difference(past: PastQuestion, response: bot_pb2.ActResponse) -> Difference | None:
    if past.action is None or action_message(past.action) == response.action:
        return None
    return Difference(*past.place, past.action, json_of_message(response.action))
