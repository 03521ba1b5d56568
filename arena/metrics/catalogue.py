"""Every metric of the arena: its name, what it says, by what it is told apart.

Labels are bounded: forms of games are the organiser's, and so many bots and no more have a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Kind(StrEnum):
    """What the figures of a metric do."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric. Its samples are called as it is; those of a histogram end in `_bucket`, `_count`
    and `_sum`."""

    name: str
    kind: Kind
    says: str
    labels: tuple[str, ...] = ()

    @property
    def samples(self) -> tuple[str, ...]:
        """What its samples are called."""
        if self.kind is not Kind.HISTOGRAM:
            return (self.name,)
        return tuple(f"{self.name}_{part}" for part in ("bucket", "count", "sum"))


def _counter(name: str, says: str, *labels: str) -> Metric:
    return Metric(f"pokearena_{name}_total", Kind.COUNTER, says, labels)


def _gauge(name: str, says: str, *labels: str) -> Metric:
    return Metric(f"pokearena_{name}", Kind.GAUGE, says, labels)


def _histogram(name: str, says: str, *labels: str) -> Metric:
    return Metric(f"pokearena_{name}_seconds", Kind.HISTOGRAM, says, labels)


BUILD: Final = _gauge("build_info", "1: which pokearena tells this.", "version", "python")
UP: Final = _gauge(
    "up", "1 if what the arena stands on answers: database, redis, referee; else 0.", "service"
)
READ: Final = _gauge("read_seconds", "How long reading it took for these figures.", "source")

MATCHES: Final = _counter(
    "matches", "Matches that are over, ever: closed, void or cancelled.", "form", "state"
)
GAMES: Final = _counter("games", "Games of the matches that closed since counting began.", "form")
VERDICTS: Final = _counter(
    "verdicts", "How those games ended for each of their entrants.", "form", "verdict"
)
FAILURES: Final = _counter("failures", "Attempts at a match that the arena itself ended, ever.")
MATCH: Final = _histogram("match", "How long the last attempts of those matches took.", "form")
DECISION: Final = _histogram(
    "decision",
    "How long bots took for a decision in those matches; the sum is right to a tenth.",
    "form",
    "language",
)
BOT_DECISION: Final = _histogram(
    "bot_decision", "The same by bot, for the first bots that were met; the rest: others.", "bot"
)

OPEN: Final = _gauge(
    "open_matches",
    "Matches that are not over: pending, held (of a paused tournament), running, or lapsed.",
    "state",
)
LEASE_AGE: Final = _gauge(
    "lease_age_seconds", "Since the lease that was renewed longest ago was renewed; they hold 15 s."
)
ATTEMPT_AGE: Final = _gauge(
    "attempt_age_seconds", "Since the oldest attempt that is being played began."
)
TOURNAMENTS: Final = _gauge("tournaments", "Tournaments that are not over.", "state")
SUBMISSIONS: Final = _gauge("submissions", "Pushed bots that are not decided about.", "state")
SUBMISSION_AGE: Final = _gauge(
    "submission_age_seconds", "Since what waits longest to be taken up was pushed."
)
REMOTES: Final = _gauge("remote_bots", "Remote bots that are here or away.", "state")
QUARANTINED: Final = _gauge("quarantined_versions", "Versions that are kept out of play.")

HINTS: Final = _gauge("queue_hints", "Hints in the queue; at most 256 are put.")
WORKERS: Final = _gauge(
    "workers",
    "Workers: busy, idle, or silent for 15 s; and how they lock bots in.",
    "state",
    "sandbox",
)
TRANSACTION: Final = _histogram(
    "transaction", "How long workers and the sweeper took to write to the store.", "transaction"
)
LAG: Final = _histogram(
    "worker_lag", "By how much workers woke later than they wanted while they played."
)

SERVICE_UP: Final = _gauge(
    "service_up", "1 if a process of `pokearena serve` is at work, else 0.", "service"
)
RESTARTS: Final = _counter("service_restarts", "How often it was started again.", "service")

DISCARDED: Final = _counter(
    "discarded_items", "Malformed items that were removed from the queue since Redis started."
)
SERVICE_FAILURES: Final = _counter(
    "service_failures", "Unexpected failures inside a service since Redis started.", "service"
)

ALL: Final = (
    *(BUILD, UP, READ),
    *(MATCHES, GAMES, VERDICTS, FAILURES, MATCH, DECISION, BOT_DECISION),
    *(OPEN, LEASE_AGE, ATTEMPT_AGE, TOURNAMENTS, SUBMISSIONS, SUBMISSION_AGE, REMOTES, QUARANTINED),
    *(HINTS, WORKERS, TRANSACTION, LAG),
    *(SERVICE_UP, RESTARTS, DISCARDED, SERVICE_FAILURES),
)
