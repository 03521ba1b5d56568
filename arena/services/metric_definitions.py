"""All metrics of the arena, with help text and labels.

Label values are bounded: the organiser defines the forms of games, and the number of bots with a
series of their own is limited.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Kind(StrEnum):
    """Prometheus type of a metric."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric with its help text and label names.

    The samples of a histogram end in `_bucket`, `_count` and `_sum`; other samples have the
    metric's name.
    """

    name: str
    kind: Kind
    description: str
    labels: tuple[str, ...] = ()

    @property
    def samples(self) -> tuple[str, ...]:
        """Names of the metric's samples."""
        if self.kind is not Kind.HISTOGRAM:
            return (self.name,)
        return tuple(f"{self.name}_{part}" for part in ("bucket", "count", "sum"))


def _new_counter(name: str, description: str, *labels: str) -> Metric:
    return Metric(f"pokearena_{name}_total", Kind.COUNTER, description, labels)


def _new_gauge(name: str, description: str, *labels: str) -> Metric:
    return Metric(f"pokearena_{name}", Kind.GAUGE, description, labels)


def _new_histogram(name: str, description: str, *labels: str) -> Metric:
    return Metric(f"pokearena_{name}_seconds", Kind.HISTOGRAM, description, labels)


BUILD: Final = _new_gauge(
    "build_info",
    "Always 1; the labels are the versions of pokearena and of Python.",
    "version",
    "python",
)
UP: Final = _new_gauge(
    "up", "1 if the service (database, redis or referee) answers; else 0.", "service"
)
READ: Final = _new_gauge("read_seconds", "How long reading it took for these figures.", "source")

MATCHES: Final = _new_counter(
    "matches", "Matches that are over, ever: closed, void or cancelled.", "form", "state"
)
GAMES: Final = _new_counter(
    "games", "Games of the matches that closed since counting began.", "form"
)
VERDICTS: Final = _new_counter(
    "verdicts", "How those games ended for each of their entrants.", "form", "verdict"
)
FAILURES: Final = _new_counter("failures", "Attempts at a match that the arena itself ended, ever.")
MATCH: Final = _new_histogram("match", "How long the last attempts of those matches took.", "form")
DECISION: Final = _new_histogram(
    "decision",
    "How long bots took for a decision in those matches; the sum is right to a tenth.",
    "form",
    "language",
)
BOT_DECISION: Final = _new_histogram(
    "bot_decision", "The same by bot, for the first bots that were met; the rest: others.", "bot"
)

OPEN: Final = _new_gauge(
    "open_matches",
    "Matches that are not over, by state: what they wait for, running, or lapsed.",
    "state",
)
DUE: Final = _new_gauge(
    "due_matches", "Open matches that a worker may take now: pending or lapsed."
)
DUE_MODELS: Final = _new_gauge(
    "due_model_matches", "Those of them that are of the clock class `model`."
)
DUE_USUAL: Final = _new_gauge(
    "due_usual_matches", "Those of them that workers of the queue `matches` play."
)
LEASE_AGE: Final = _new_gauge(
    "lease_age_seconds", "Since the lease that was renewed longest ago was renewed; they hold 15 s."
)
ATTEMPT_AGE: Final = _new_gauge(
    "attempt_age_seconds", "Since the oldest attempt that is being played began."
)
TOURNAMENTS: Final = _new_gauge("tournaments", "Tournaments that are not over.", "state")
SUBMISSIONS: Final = _new_gauge("submissions", "Pushed bots that are not decided about.", "state")
SUBMISSION_AGE: Final = _new_gauge(
    "submission_age_seconds", "Since what waits longest to be taken up was pushed."
)
REMOTES: Final = _new_gauge("remote_bots", "Remote bots that are here or away.", "state")
QUARANTINED: Final = _new_gauge("quarantined_versions", "Versions that are kept out of play.")
WEBHOOKS: Final = _new_gauge("webhooks", "Webhooks, enabled or disabled.", "state")
DELIVERIES: Final = _new_gauge(
    "webhook_deliveries", "Webhook deliveries that wait, or failed in the last 30 days.", "state"
)
DELIVERY_AGE: Final = _new_gauge(
    "webhook_delivery_age_seconds", "Time since the event of the oldest waiting delivery."
)

BACKUP_AGE: Final = _new_gauge(
    "backup_age_seconds", "Since the last `db backup`, or since the first bot if there is none."
)
DISK_FREE: Final = _new_gauge("disk_free_bytes", "Free bytes of the disk of the data folder.")
DISK_SIZE: Final = _new_gauge("disk_size_bytes", "Size of the disk of the data folder.")

QUEUE_JOBS: Final = _new_gauge(
    "queue_jobs",
    "Jobs in the match queue: up to two per worker, or eight.",
)
WORKERS: Final = _new_gauge(
    "workers",
    "Workers: busy, idle, paused, or silent for 15 s; and the sandbox level, or unavailable.",
    "state",
    "sandbox",
)
LOWERED_WORKERS: Final = _new_gauge(
    "lowered_workers",
    "Live workers below the best sandbox level that has held on their machine.",
)
WORKER_HOSTS: Final = _new_gauge(
    "worker_hosts",
    "Machines with workers: alive, or lost within the last day without stopping their workers.",
    "state",
)
TRANSACTION: Final = _new_histogram(
    "transaction", "How long workers and the sweeper took to write to the store.", "transaction"
)
LAG: Final = _new_histogram(
    "worker_lag", "By how much workers woke later than they wanted while they played."
)

SERVICE_UP: Final = _new_gauge(
    "service_up", "1 if a process of `pokearena serve` is at work, else 0.", "service"
)
RESTARTS: Final = _new_counter("service_restarts", "How often it was started again.", "service")

DISCARDED: Final = _new_counter(
    "discarded_items", "Malformed items that were removed from the queue since Redis started."
)
SERVICE_FAILURES: Final = _new_counter(
    "service_failures", "Unexpected failures inside a service since Redis started.", "service"
)

ALL: Final = (
    *(BUILD, UP, READ),
    *(MATCHES, GAMES, VERDICTS, FAILURES, MATCH, DECISION, BOT_DECISION),
    *(
        OPEN,
        DUE,
        DUE_MODELS,
        DUE_USUAL,
        LEASE_AGE,
        ATTEMPT_AGE,
        TOURNAMENTS,
        SUBMISSIONS,
        SUBMISSION_AGE,
        REMOTES,
        QUARANTINED,
    ),
    *(WEBHOOKS, DELIVERIES, DELIVERY_AGE),
    *(BACKUP_AGE, DISK_FREE, DISK_SIZE),
    *(QUEUE_JOBS, WORKERS, LOWERED_WORKERS, WORKER_HOSTS, TRANSACTION, LAG),
    *(SERVICE_UP, RESTARTS, DISCARDED, SERVICE_FAILURES),
)
