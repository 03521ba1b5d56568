"""One recorded question, put to a bot that is asked first all it had been asked before it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from google.protobuf.json_format import MessageToDict, ParseDict
from pokearena.v1 import bot_pb2

from arena.bots.bot import Bot
from arena.bots.errors import InfrastructureError
from arena.cli.asking import Answer, is_legal, told
from arena.cli.past import Past, messages
from arena.cli.records import Found
from arena.conformance.talk import NoAnswer, Talk
from referee.replay import Question


@dataclass(frozen=True, slots=True)
class Difference:
    """The first question before that is answered otherwise now."""

    game: int
    decision: int
    recorded: dict[str, Any]
    answer: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """It as plain values."""
        return {
            "game": self.game,
            "decision": self.decision,
            "recorded": self.recorded,
            "answer": self.answer,
        }


@dataclass(frozen=True, slots=True)
class Recalled:
    """A question that was put after all before it."""

    question: Question
    answer: Answer
    before: int
    """How many questions were put before it."""
    differs: Difference | None


def ask(
    found: Found, game: int, decision: int, bot: Bot, patience: float, start: float
) -> Recalled:
    """Starts a bot and puts to it, message by message, what it was asked up to a question.

    patience, start: seconds for every answer, and to start.

    Raises InfrastructureError if a remote bot cannot be reached, CommandError and Mismatch if
    there is no such question.
    """
    asked = messages(found, game, decision)
    (put,) = (one.question for one in asked[-1] if one.place == (game, decision))
    before = sum(map(len, asked)) - 1
    talk = Talk(bot, told(found, asked[0][0].question), start, patience)
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
    except NoAnswer as error:
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


def _limit(put: Question, questions: int) -> int:
    clock = put.request.clock
    return int(questions * clock.allowance_ms + clock.bank_ms)


def _difference(one: Past, response: bot_pb2.ActResponse) -> Difference | None:
    if one.action is None or ParseDict(one.action, bot_pb2.Action()) == response.action:
        return None
    return Difference(*one.place, one.action, MessageToDict(response.action))
