"""Send a recorded question to a bot after all earlier questions of its table."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from google.protobuf.json_format import MessageToDict, ParseDict
from pokearena.v1 import bot_pb2

from arena.bots.bot import Bot
from arena.cli.develop.recorded_question import BotAnswer, asked, clocks, is_legal, told
from arena.cli.matches.record_lookup import RecordSource
from arena.errors import InfrastructureError
from arena.submissions.conformance.bot_session import BotSession, SessionFailed
from referee.faults import PROCESS_FAULTS
from referee.record import GameRecord, Line
from referee.replay import RecordedClock, RecordedQuestion, questions

# Messages to a bot's process at its table before a question.


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
    put = asked(source, game, decision)
    seat, table = put.request.seat, source.game(game).game["table"]
    games = [record for record in source.record.games if record.game["table"] == table]
    past = [question for record in games for question in _of_game(source, record, seat)]
    target = next((question for question in past if question.place == (game, decision)), None)
    if target is None:
        keys = (question.key for question in past if question.place[0] == game)
        target = PastQuestion(put, (max(keys, default=(-1, game, 0))[0], game, decision), 0, None)
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
    for question in questions(match, record, seed, rights):
        decision = question.request.decision
        if question.request.seat != seat:
            continue
        if decision in faults:
            fault = faults[decision]
            put = asked(source, record.number, decision)
            yield PastQuestion(put, *_message_key(fault, fault.get("clock", {})), None)
        elif decision in actions and actions[decision].get("by") != "referee":
            line = actions[decision]
            yield PastQuestion(question, *_message_key(line, line), line["action"])


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


def ask(
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
    (put,) = (past.question for past in history[-1] if past.place == (game, decision))
    before = sum(map(len, history)) - 1
    talk = BotSession(bot, told(source, history[0][0].question), start, patience)
    differs: Difference | None = None
    at = ""
    try:
        with talk:
            for message in history[:-1]:
                at = f"before it, at {_where(message[0])}: "
                answers = talk.ask(*(past.question.request for past in message))
                for past, response in zip(message, answers, strict=True):
                    differs = differs or _difference(past, response)
            at, began = "", time.monotonic()
            answers = talk.ask(*(past.question.request for past in history[-1]))
            ms = round(1000 * (time.monotonic() - began), 3)
            output = talk.report().output
    except SessionFailed as error:
        if bot.remote and not talk.seconds:
            raise InfrastructureError(f"{bot.label} cannot be asked: {error}.") from None
        clause = f"{at}{error}" if talk.seconds else f"did not start: {error}"
        nothing = BotAnswer(
            None, "", False, 0.0, _limit(put, len(history[-1])), clause, error.output
        )
        return HistoryAnswer(put, nothing, before, differs)
    for past, response in zip(history[-1], answers, strict=True):
        if past.question is put:
            answer = BotAnswer(
                action=MessageToDict(response.action),
                note=response.note,
                legal=is_legal(source, put, response),
                ms=ms,
                limit_ms=_limit(put, len(history[-1])),
                trouble="",
                output=output,
            )
    return HistoryAnswer(put, answer, before, differs)


def _where(past: PastQuestion) -> str:
    return f"game {past.place[0]}, decision {past.place[1]}"


def _limit(put: RecordedQuestion, questions: int) -> int:
    clock = put.request.clock
    return int(questions * clock.allowance_ms + clock.bank_ms)


def _difference(past: PastQuestion, response: bot_pb2.ActResponse) -> Difference | None:
    if past.action is None or ParseDict(past.action, bot_pb2.Action()) == response.action:
        return None
    return Difference(*past.place, past.action, MessageToDict(response.action))
