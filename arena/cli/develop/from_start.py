"""Send a recorded question to a bot after all questions that preceded it at its table."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from google.protobuf.json_format import MessageToDict, ParseDict
from pokearena.v1 import bot_pb2

from arena.bots.bot import Bot
from arena.cli.develop.recorded_question import Answer, asked, clocks, is_legal, told
from arena.cli.matches.record_lookup import RecordSource
from arena.errors import InfrastructureError
from arena.submissions.conformance.bot_session import BotSession, SessionFailed
from referee.faults import PROCESS_FAULTS
from referee.record import GameRecord, Line
from referee.replay import RecordedClock, RecordedQuestion, questions

# Messages to a bot's process at its table before a question.


Turn = tuple[int, int, int]
"""Sort key of a message to a seat; all questions of one message have the same key."""


@dataclass(frozen=True, slots=True)
class Past:
    """A recorded question and its position in time."""

    question: RecordedQuestion
    turn: Turn
    within: int
    """Its index in its message."""
    action: dict[str, Any] | None
    """The answer in the protocol's JSON form; None if it is missing."""

    @property
    def place(self) -> tuple[int, int]:
        """Its game and decision."""
        return self.question.request.game, self.question.request.decision


def messages(found: RecordSource, game: int, decision: int) -> list[list[Past]]:
    """Return all messages to a process up to the one with a question, included.

    A seat whose process was lost has a new process from then on, which starts without earlier
    questions. Questions that were open when another seat's fault ended the game are not recorded,
    and so omitted.

    Raises:
        CommandError: the game does not exist, or the seed is secret.
        Mismatch: the decision does not exist.
    """
    put = asked(found, game, decision)
    seat, table = put.request.seat, found.game(game).game["table"]
    games = [one for one in found.record.games if one.game["table"] == table]
    past = [one for each in games for one in _of_game(found, each, seat)]
    meant = next((one for one in past if one.place == (game, decision)), None)
    if meant is None:
        last = max((one.turn for one in past if one.place[0] == game), default=(-1, game, 0))
        meant = Past(put, (last[0], game, decision), 0, None)
        past.append(meant)
    lost = [
        _turn(fault, fault.get("clock", {}))[0]
        for each in games
        for fault in each.faults
        if fault["seat"] == seat and fault["verdict"] in PROCESS_FAULTS
    ]
    since = max((turn for turn in lost if turn < meant.turn), default=(-2, 0, 0))
    kept = sorted((one for one in past if since < one.turn <= meant.turn), key=_order)
    return [list(message) for _, message in groupby(kept, key=lambda one: one.turn)]


def _of_game(found: RecordSource, record: GameRecord, seat: int) -> Iterator[Past]:
    """Yield the questions to a seat in a game."""
    actions = {line["decision"]: line for line in record.actions if line["seat"] == seat}
    faults = {
        line["decision"]: line
        for line in record.faults
        if line["seat"] == seat and "question" in line
    }
    rights = [RecordedClock(clock) for clock in clocks(found, record)]
    match, seed = found.record.match, found.seed()
    for one in questions(match, record, seed, rights):
        decision = one.request.decision
        if one.request.seat != seat:
            continue
        if decision in faults:
            fault = faults[decision]
            put = asked(found, record.number, decision)
            yield Past(put, *_turn(fault, fault.get("clock", {})), None)
        elif decision in actions and actions[decision].get("by") != "referee":
            line = actions[decision]
            yield Past(one, *_turn(line, line), line["action"])


def _turn(line: Line, said: Line) -> tuple[Turn, int]:
    """Return the turn of a line and its index in the message, which ``said`` may contain."""
    if "message" not in said:
        return (-1, line["game"], line["decision"]), 0
    message, within = said["message"]
    return (message, 0, 0), within


def _order(one: Past) -> tuple[Turn, int]:
    return one.turn, one.within


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
class Recalled:
    """The result of a question sent after all that preceded it."""

    question: RecordedQuestion
    answer: Answer
    before: int
    """Number of questions sent before it."""
    differs: Difference | None


def ask(
    found: RecordSource, game: int, decision: int, bot: Bot, patience: float, start: float
) -> Recalled:
    """Start a bot and send, message by message, all questions up to the given one.

    Args:
        found: the record of the match.
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
    asked = messages(found, game, decision)
    (put,) = (one.question for one in asked[-1] if one.place == (game, decision))
    before = sum(map(len, asked)) - 1
    talk = BotSession(bot, told(found, asked[0][0].question), start, patience)
    differs: Difference | None = None
    at = ""
    try:
        with talk:
            for message in asked[:-1]:
                at = f"before it, at {_where(message[0])}: "
                answers = talk.ask(*(one.question.request for one in message))
                for one, response in zip(message, answers, strict=True):
                    differs = differs or _difference(one, response)
            at, began = "", time.monotonic()
            answers = talk.ask(*(one.question.request for one in asked[-1]))
            ms = round(1000 * (time.monotonic() - began), 3)
            output = talk.report().output
    except SessionFailed as error:
        if bot.remote and not talk.seconds:
            raise InfrastructureError(f"{bot.label} cannot be asked: {error}.") from None
        clause = f"{at}{error}" if talk.seconds else f"did not start: {error}"
        nothing = Answer(None, "", False, 0.0, _limit(put, len(asked[-1])), clause, error.output)
        return Recalled(put, nothing, before, differs)
    for one, response in zip(asked[-1], answers, strict=True):
        if one.question is put:
            answer = Answer(
                action=MessageToDict(response.action),
                note=response.note,
                legal=is_legal(found, put, response),
                ms=ms,
                limit_ms=_limit(put, len(asked[-1])),
                trouble="",
                output=output,
            )
    return Recalled(put, answer, before, differs)


def _where(one: Past) -> str:
    return f"game {one.place[0]}, decision {one.place[1]}"


def _limit(put: RecordedQuestion, questions: int) -> int:
    clock = put.request.clock
    return int(questions * clock.allowance_ms + clock.bank_ms)


def _difference(one: Past, response: bot_pb2.ActResponse) -> Difference | None:
    if one.action is None or ParseDict(one.action, bot_pb2.Action()) == response.action:
        return None
    return Difference(*one.place, one.action, MessageToDict(response.action))
