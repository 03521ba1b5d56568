"""Turn every failure of a bot into a verdict and a sentence.

No other module creates faults. The time limit of an answer is applied by
:meth:`referee.tables.bot_client.BotClient.ask`.
"""

from pokearena.v1 import bot_pb2, referee_pb2

from referee.faults import Fault, TimeSpent, Verdict
from referee.running_game import OpenQuestion
from referee.tables.bot_client import FailureKind, NoAnswer

OUTPUT_CHARACTERS = 64 << 10
STORED_ANSWER_BYTES = 4 << 10
"""Size limit in bytes of a stored illegal answer; the longest legal one has some hundred bytes."""

Report = referee_pb2.BotReport


def verdict(failure: NoAnswer, report: Report | None) -> Verdict:
    """Return the verdict for a missing answer."""
    if report is not None and report.ended:
        return Verdict.RESOURCES if report.resources else Verdict.CRASH
    if failure.kind is FailureKind.SILENT:
        return Verdict.TIMEOUT
    if failure.kind is FailureKind.BROKEN and report is None:
        return Verdict.CRASH  # not a local process, so the lost connection is the only evidence
    return Verdict.PROTOCOL


def fault(
    seat: int,
    question: OpenQuestion | None,
    verdict: Verdict,
    clause: str,
    report: Report | None,
    spent: TimeSpent,
    answer: bot_pb2.Action | None = None,
) -> Fault:
    """Create a fault.

    Args:
        seat: the seat of the bot.
        question: the question; None for a bot that did not start: the caller fills in its game.
        verdict: the verdict.
        clause: what the bot did, as a clause about it.
        report: the report on its process; None if unavailable.
        spent: the time of the message.
        answer: the bot's answer, if it is not a legal action.
    """
    report = Report() if report is None else report
    game, decision = (question.game, question.decision) if question is not None else (0, 0)
    where = f"game {game}, decision {decision}: " if question is not None else ""
    and_ended = f"; its process {report.ended}" if report.ended else ""
    is_stored = answer is not None and answer.ByteSize() <= STORED_ANSWER_BYTES
    return Fault(
        seat=seat,
        game=game,
        decision=decision,
        verdict=verdict,
        sentence=f"{where}seat {seat}: {clause}{and_ended}",
        question=_without_text(question) if question is not None else None,
        spent=spent,
        answer=answer if is_stored else None,
        ended=report.ended,
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
