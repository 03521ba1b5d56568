"""Decision times at the played tables, compared with the clock of an ordinary match."""

from dataclasses import dataclass
from math import ceil

from arena.submissions.conformance.check import Check, CheckOutcome
from arena.submissions.conformance.examination_matches import ExaminationMatch
from arena.submissions.conformance.examination_order import ExaminationOrder
from arena.submissions.conformance.examined_forms import CLOCK
from referee.numbering import decision_text

CLOCK_CHECK = "clock"
_MUCH = 0.5
"""Share of the bank that produces a remark when used."""


@dataclass(slots=True)
class Stopwatch:
    """Collects the decision times of tables."""

    times: list[float]
    worst: tuple[float, ExaminationMatch, int, int] | None = None
    banked: float = 0.0
    late: int = 0
    """Number of tables at which the bot's clock ran out."""
    tables: int = 0

    def take(self, played: ExaminationMatch) -> None:
        """Add the times of a played table."""
        self.tables += 1
        for ms, game, decision in played.times:
            self.times.append(ms)
            if self.worst is None or ms > self.worst[0]:
                self.worst = (ms, played, game, decision)
        self.banked = max(self.banked, played.banked)
        if played.fault is not None and played.fault["verdict"] == "timeout":
            self.late += 1

    def check(self, order: ExaminationOrder) -> Check:
        """Return the check of the collected times."""
        allowed = f"{CLOCK.allowance_ms} ms a decision, {CLOCK.bank_ms} ms a table"
        if self.late:
            of = f"{self.late} of {self.tables} tables" if self.tables > 1 else "its table"
            return Check(
                CLOCK_CHECK,
                CheckOutcome.FAILED,
                f"it ran out of time at {of}, see above ({allowed})",
            )
        if self.worst is None:
            return Check(CLOCK_CHECK, CheckOutcome.UNCHECKED, "no game was played to its end")
        worst, played, game, decision = self.worst
        sentence = (
            f"median {_ms(self._quantile(0.5))} · p99 {_ms(self._quantile(0.99))} · worst "
            f"{_ms(worst)} ({played.form.form}, {decision_text(game, decision)}) · "
            f"at most {self.banked:.0f} of {CLOCK.bank_ms} ms drawn from a bank"
        )
        if self.banked < _MUCH * CLOCK.bank_ms:
            return Check(CLOCK_CHECK, CheckOutcome.PASSED, sentence)
        question = f"{played.spec.id}:{game}:{decision}"
        sentence += ": a slower machine would make it late"
        return Check(
            CLOCK_CHECK,
            CheckOutcome.REMARK,
            sentence,
            question=question,
            command=order.ask_command(question),
            record=played.record,
        )

    def _quantile(self, share: float) -> float:
        return sorted(self.times)[ceil(share * len(self.times)) - 1]


def _ms(time: float) -> str:
    return f"{time:.1f} ms"
