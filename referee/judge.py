"""Every way a bot can fail, turned into a verdict and a sentence: here and nowhere else."""

from dataclasses import replace

from pokearena.v1 import bot_pb2, referee_pb2

from referee.bot_client import How, NoAnswer
from referee.play import Asked, Wrong
from referee.verdict import Fault, Spent, Verdict

OUTPUT_CHARACTERS = 64 << 10
ANSWER_BYTES = 4 << 10
"""A wrong answer is kept if it is no larger: the longest right one has some hundred bytes."""

Report = referee_pb2.BotReport


def not_started(seat: int, failure: NoAnswer, report: Report | None, spent: Spent) -> Fault:
    """The fault of a bot that could not be started; its game and decision are filled in later."""
    return _fault(seat, None, Verdict.INIT, f"did not start: {failure.clause}", report, spent)


def no_answer(
    seat: int,
    asked: Asked,
    verdict: Verdict,
    failure: NoAnswer,
    report: Report | None,
    spent: Spent,
) -> Fault:
    """The fault of a bot that left a question open."""
    return _fault(seat, asked, verdict, failure.clause, report, spent)


def wrong_answer(
    seat: int,
    asked: Asked,
    wrong: Wrong,
    answer: bot_pb2.Action,
    report: Report | None,
    spent: Spent,
) -> Fault:
    """The fault of a bot that answered with what is no legal action."""
    fault = _fault(seat, asked, wrong.verdict, wrong.clause, report, spent)
    return fault if answer.ByteSize() > ANSWER_BYTES else replace(fault, answer=answer)


def verdict(failure: NoAnswer, report: Report | None) -> Verdict:
    """What to call it when a bot did not answer.

    Args:
        failure: what was met at its address.
        report: what became of its process; None if nobody knows.
    """
    if report is not None and report.ended:
        return Verdict.RESOURCES if report.resources else Verdict.CRASH
    if failure.how is How.SILENT:
        return Verdict.TIMEOUT
    if failure.how is How.BROKEN and report is None:
        return Verdict.CRASH  # a bot without a process of ours: all we know is that it is gone
    return Verdict.PROTOCOL


def _fault(
    seat: int,
    asked: Asked | None,
    found: Verdict,
    clause: str,
    report: Report | None,
    spent: Spent,
) -> Fault:
    game, decision = (asked.game, asked.decision) if asked is not None else (0, 0)
    where = f"game {game}, decision {decision}: " if asked is not None else ""
    ended = report.ended if report is not None else ""
    and_ended = f"; its process {ended}" if ended else ""
    fault = Fault(
        seat=seat,
        game=game,
        decision=decision,
        verdict=found,
        sentence=f"{where}seat {seat}: {clause}{and_ended}",
        question=asked.question if asked is not None else None,
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
