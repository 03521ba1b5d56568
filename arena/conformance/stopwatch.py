"""How long a bot thought at the tables it played, beside the clock of an ordinary match."""

from dataclasses import dataclass
from math import ceil

from arena.conformance.check import Check, Outcome
from arena.conformance.errand import Errand
from arena.conformance.forms import CLOCK
from arena.conformance.plays import Played

CLOCK_CHECK = "clock"
_MUCH = 0.5
"""The share of the bank that, once drawn, is worth a remark."""


@dataclass(slots=True)
class Stopwatch:
    """Collects the times of tables."""

    times: list[float]
    worst: tuple[float, Played, int, int] | None = None
    banked: float = 0.0
    late: int = 0
    """Tables at which its clock ran out."""
    tables: int = 0

    def take(self, played: Played) -> None:
        """A table that has been played."""
        self.tables += 1
        for ms, game, decision in played.times:
            self.times.append(ms)
            if self.worst is None or ms > self.worst[0]:
                self.worst = (ms, played, game, decision)
        self.banked = max(self.banked, played.banked)
        if played.fault is not None and played.fault["verdict"] == "timeout":
            self.late += 1

    def check(self, errand: Errand) -> Check:
        """What is to be said of its times."""
        allowed = f"{CLOCK.allowance_ms} ms a decision, {CLOCK.bank_ms} ms a table"
        if self.late:
            of = f"{self.late} of {self.tables} tables" if self.tables > 1 else "its table"
            return Check(
                CLOCK_CHECK, Outcome.FAILED, f"it ran out of time at {of}, see above ({allowed})"
            )
        if self.worst is None:
            return Check(CLOCK_CHECK, Outcome.SKIPPED, "no decision was timed")
        worst, played, game, decision = self.worst
        told = (
            f"median {_ms(self._quantile(0.5))} · p99 {_ms(self._quantile(0.99))} · worst "
            f"{_ms(worst)} ({played.form.name}, game {game}, decision {decision}) · "
            f"at most {self.banked:.0f} of {CLOCK.bank_ms} ms drawn from a bank"
        )
        if self.banked < _MUCH * CLOCK.bank_ms:
            return Check(CLOCK_CHECK, Outcome.PASSED, told)
        question = f"{played.spec.id}:{game}:{decision}"
        told += ": a slower machine would make it late"
        return Check(
            CLOCK_CHECK,
            Outcome.REMARK,
            told,
            question=question,
            command=errand.ask(question),
            record=played.record,
        )

    def _quantile(self, share: float) -> float:
        return sorted(self.times)[ceil(share * len(self.times)) - 1]


def _ms(time: float) -> str:
    return f"{time:.1f} ms"
