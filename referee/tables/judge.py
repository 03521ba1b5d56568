"""Turn every failure of a bot into a verdict and a sentence.

No other module creates faults. The time limit of an answer is applied by
:meth:`referee.tables.bot_client.BotClient.ask`.
"""

from dataclasses import replace

from pokearena.v1 import bot_pb2, referee_pb2

from referee.faults import Fault, TimeSpent, Verdict
from referee.running_game import OpenQuestion, WrongAnswer
from referee.tables.bot_client import FailureKind, NoAnswer

OUTPUT_CHARACTERS = 64 << 10
STORED_ANSWER_BYTES = 4 << 10
"""Size limit in bytes of a stored illegal answer; the longest legal one has some hundred bytes."""

Report = referee_pb2.BotReport


def not_started(seat: int, failure: NoAnswer, report: Report | None, spent: TimeSpent) -> Fault:
    """Create the fault of a bot that did not start; the caller fills in its game and decision."""
    return _fault(seat, None, Verdict.INIT, f"did not start: {failure.clause}", report, spent)


def no_answer(
    seat: int,
    question: OpenQuestion,
    verdict: Verdict,
    failure: NoAnswer,
    report: Report | None,
    spent: TimeSpent,
) -> Fault:
    """Create the fault of a bot that did not answer a question."""
    return _fault(seat, question, verdict, failure.clause, report, spent)


def wrong_answer(
    seat: int,
    question: OpenQuestion,
    wrong: WrongAnswer,
    answer: bot_pb2.Action,
    report: Report | None,
    spent: TimeSpent,
) -> Fault:
    """Create the fault of a bot whose answer is not a legal action."""
    fault = _fault(seat, question, wrong.verdict, wrong.clause, report, spent)
    return fault if answer.ByteSize() > STORED_ANSWER_BYTES else replace(fault, answer=answer)


def verdict(failure: NoAnswer, report: Report | None) -> Verdict:
    """Return the verdict for a missing answer.

    Args:
        failure: the failure of the call to the bot.
        report: the report on its process; None if unavailable.
    """
    if report is not None and report.ended:
        return Verdict.RESOURCES if report.resources else Verdict.CRASH
    if failure.kind is FailureKind.SILENT:
        return Verdict.TIMEOUT
    if failure.kind is FailureKind.BROKEN and report is None:
        return Verdict.CRASH  # not a local process, so the lost connection is the only evidence
    return Verdict.PROTOCOL


def _fault(
    seat: int,
    question: OpenQuestion | None,
    verdict: Verdict,
    clause: str,
    report: Report | None,
    spent: TimeSpent,
) -> Fault:
    game, decision = (question.game, question.decision) if question is not None else (0, 0)
    where = f"game {game}, decision {decision}: " if question is not None else ""
    ended = report.ended if report is not None else ""
    and_ended = f"; its process {ended}" if ended else ""
    fault = Fault(
        seat=seat,
        game=game,
        decision=decision,
        verdict=verdict,
        sentence=f"{where}seat {seat}: {clause}{and_ended}",
        question=_without_text(question) if question is not None else None,
        spent=spent,
    )
    if report is None:
        return fault
    return replace(
        fault,
        ended=ended,
        exit_status=report.exit_status if report.HasField("exit_status") else None,
        signal=report.signal,
        peak_memory=report.peak_memory,
        output=report.output[-OUTPUT_CHARACTERS:],
    )


def _without_text(question: OpenQuestion) -> bot_pb2.ActRequest:
    """Return a question for the record; its text follows from its view."""
    message = question.question
    message.ClearField("text")
    return message
