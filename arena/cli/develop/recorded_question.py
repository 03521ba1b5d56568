"""A recorded question, rebuilt as the bot received it, and an answer to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from google.protobuf.json_format import ParseError
from pokearena.v1 import bot_pb2

from arena.cli.matches.record_lookup import RecordSource
from arena.presentation import shipped_docs
from referee.games.registry import find_game
from referee.generic_codec import question_message
from referee.numbering import game_text
from referee.presentation.question_text import TEXT_VERSION
from referee.record import GameRecord
from referee.replay import Mismatch, RecordedClock, RecordedQuestion, codec_of, question


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


def unanswered(
    recorded: RecordedQuestion, reason: str, questions: int = 1, output: str = ""
) -> BotAnswer:
    """Return that a question has no answer; `reason` is a clause about the bot.

    `questions` is the number of questions in its message, `output` that of the bot's process.
    """
    return BotAnswer(None, "", False, 0.0, time_limit_ms(recorded, questions), reason, output)


def time_limit_ms(recorded: RecordedQuestion, questions: int = 1) -> int:
    """Return the time limit of a message with this number of questions, in milliseconds."""
    clock = recorded.request.clock
    return int(questions * clock.allowance_ms + clock.bank_ms)


def question_of_decision(source: RecordSource, game: int, decision: int) -> RecordedQuestion:
    """Return the question of a decision, identical to the original one.

    A fault line contains its question. Any other question is rebuilt: the game is dealt again and
    replayed up to the decision. The record also contains the bank sent with the question. Older
    records lack it; then the bank is computed from the time drawn in earlier games.
    """
    record = source.game(game)
    match, seed = source.record.match, source.seed()
    clocks = [RecordedClock(clock) for clock in clocks_of(source, record)]
    rebuilt = question(match, record, seed, decision, clocks)
    for fault in record.faults:
        if fault["decision"] == decision and "question" in fault:
            try:
                stored = question_message(fault["question"])
            except ParseError as error:
                raise Mismatch(f"{game_text(game)}: its fault holds no question: {error}") from None
            if stored.seat == rebuilt.request.seat:
                return RecordedQuestion(stored, rebuilt.legal)
    return rebuilt


def clocks_of(source: RecordSource, record: GameRecord) -> list[bot_pb2.Clock]:
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
        rules=shipped_docs.rules(match["game"]),
        text_version=TEXT_VERSION,
        corrections=match.get("corrections", 0),
    )


def is_legal(
    source: RecordSource, recorded: RecordedQuestion, response: bot_pb2.ActResponse
) -> bool:
    """Return whether an answer is a legal action of its question."""
    codec = codec_of(find_game(source.record.match["game"]))
    try:
        return codec.decode(response.action) in recorded.legal
    except ValueError:
        return False
