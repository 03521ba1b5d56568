"""Analyse a fault at a table of the examination."""

from dataclasses import replace
from typing import Final

from arena.submissions.conformance.check import Check, CheckOutcome
from arena.submissions.conformance.examination_matches import ExaminationMatch
from arena.submissions.conformance.examination_order import ExaminationOrder
from arena.submissions.conformance.question_rounds import (
    fails_alone,
)
from arena.submissions.conformance.question_sheet import (
    recorded_clocks,
)
from referee.generic_codec import question_message
from referee.numbering import counted_from_one
from referee.record import Line, read_games
from referee.replay import RecordedQuestion, question

_LATE: Final = "timeout"


def fault_check(order: ExaminationOrder, name: str, played: ExaminationMatch) -> Check:
    """Return the check of a table with a fault of the bot.

    Repeats the question to a newly started bot. If that bot answers correctly, earlier or
    simultaneous questions caused the fault; the check's command then repeats those too.
    """
    fault = played.fault
    assert fault is not None
    clause = counted_from_one(str(fault["sentence"]))
    sentence = f"{played.form.form}: {fault['verdict']}: {clause}"
    check = Check(
        name,
        CheckOutcome.FAILED,
        sentence,
        played.form.game,
        record=played.record,
        output=str(fault.get("output", "")),
        command=order.test_command(played.form.game),
    )
    if "question" not in fault:
        return check
    place = f"{played.spec.id}:{fault['game']}:{fault['decision']}"
    check = replace(check, question=place, command=order.ask_command(place))
    question = _question(played, fault)
    if fault["verdict"] == _LATE or fails_alone(order, played.spec, question):
        return check
    if fails_alone(order, played.spec, question, by_stream=True):
        summary = f"{sentence}; by Act it answers well"
        return replace(check, sentence=summary, command=order.ask_command(place, "--play"))
    summary = (
        f"{sentence}; asked alone it answers well, so the cause is an earlier or a "
        "simultaneous question"
    )
    if order.at_once > 1:
        # The record lacks simultaneous questions of games that the fault left unfinished.
        return replace(check, sentence=summary, command=order.test_command(played.form.game))
    return replace(check, sentence=summary, command=order.ask_command(place, "--from-start"))


def _question(played: ExaminationMatch, fault: Line) -> RecordedQuestion:
    """Rebuild the question at which the fault occurred."""
    game = next(game for game in played.games if game.game == fault["game"])
    (record,) = read_games(game.record)
    seats = recorded_clocks(played.spec, fault["seat"])
    rebuilt = question(played.spec.line(), record, played.spec.seed, fault["decision"], seats)
    return RecordedQuestion(question_message(fault["question"]), rebuilt.legal)
