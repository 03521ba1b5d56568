"""Prometheus collector: reads counts and metrics from the store and Redis at each scrape."""

from __future__ import annotations

import math
import platform
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.metadata import version
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector, CollectorRegistry
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from arena.errors import StoreError
from arena.events import incidents
from arena.queue import match_queue
from arena.queue.match_queue import MatchQueue
from arena.ratings.decision_histogram import BINS
from arena.services.service import ServiceState
from arena.store import gauges
from arena.store.closed_counts import ENDED, REMOTE, ClosingReader, EndedCounts, Forms, MatchClosing
from arena.store.gauges import StoreGauges
from arena.system import grpc_probe, timings
from arena.system.timings import DurationSum

DECISION_BOUNDS: Final = tuple(2.0**n / 1000 for n in range(-1, 15))
"""Upper bounds in seconds, 0.5 ms to 16.384 s; they coincide with bin edges of decision times."""
MATCH_BOUNDS: Final = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)
LANGUAGES: Final = frozenset(
    (
        "c",
        "cpp",
        "go",
        "java",
        "javascript",
        "kotlin",
        "python",
        "ruby",
        "rust",
        "shell",
        "typescript",
        REMOTE,
    )
)
"""Languages with a label of their own. Others become `OTHER`: authors may write any text."""
UNKNOWN, OTHER = "unknown", "other"
MOST_BOTS: Final = 50
OTHERS: Final = "others"

Buckets = list[tuple[str, float]]


@dataclass
class Spread:
    """Histogram of durations: counts per bucket and the sum in seconds."""

    bounds: tuple[float, ...]
    seconds: float = 0.0
    counts: Counter[int] = field(default_factory=Counter)
    """Counts by the index of the first bound >= the duration; index len(bounds) is +Inf."""

    def add(self, place: int, seconds: float, times: int = 1) -> None:
        """Count `times` durations of about `seconds` each in the bucket with index `place`."""
        self.counts[min(place, len(self.bounds))] += times
        self.seconds += seconds * times

    def buckets(self) -> Buckets:
        """Return the cumulative Prometheus buckets."""
        return list(cumulated(self.bounds, self.counts))


def cumulated(bounds: tuple[float, ...], counts: Mapping[int, int]) -> Iterator[tuple[str, float]]:
    """Yield (upper bound, cumulative count) pairs from the counts per bucket, the last for +Inf."""
    total = 0
    for place, bound in enumerate((*map(repr, bounds), "+Inf")):
        total += counts.get(place, 0)
        yield bound, float(total)


class Counts:
    """Counts of played matches.

    `matches` covers all matches in the store, the others only those closed after the creation.
    """

    def __init__(self, engine: Engine) -> None:
        self._forms = Forms(engine)
        self._closings = ClosingReader(engine)
        self._endings = EndedCounts(engine)
        self.matches: Counter[tuple[str, str]] = Counter()
        self.games: Counter[str] = Counter()
        self.verdicts: Counter[tuple[str, str]] = Counter()
        self.took: dict[str, Spread] = {}
        self.decisions: dict[tuple[str, str], Spread] = {}
        self.bots: dict[str, Spread] = {}

    def catch_up(self) -> None:
        """Add the matches closed since the last call.

        Raises:
            SQLAlchemyError: the store does not answer.
            StoreError: the store cannot be used.
        """
        for closing in self._closings.new():
            self._add(closing)
        ended = Counter[tuple[str, str]]()
        for tournament, states in self._endings.now().items():
            for state in ENDED:
                # Zeros are exported too, so that Prometheus can compute the increase of a new
                # series.
                ended[self._forms.of(tournament), state.lower()] += states.get(state, 0)
        self.matches = ended

    def _add(self, closing: MatchClosing) -> None:
        self.games[closing.form] += closing.games
        place = sum(bound < closing.seconds for bound in MATCH_BOUNDS)
        self.took.setdefault(closing.form, Spread(MATCH_BOUNDS)).add(place, closing.seconds)
        for player in closing.players:
            for verdict in player.verdicts:
                self.verdicts[closing.form, verdict] += 1
            bot = self._bot(player.version)
            for spread in (
                self.decisions.setdefault((closing.form, language(player.language)), _decisions()),
                self.bots.setdefault(bot, _decisions()),
            ):
                bins: dict[int, int] = {}
                player.thinking.add_to(bins)
                for bin_, times in bins.items():
                    count_bin(spread, bin_, times)

    def _bot(self, version: str) -> str:
        return version if version in self.bots or len(self.bots) < MOST_BOTS else OTHERS


def count_bin(spread: Spread, bin_: int, times: int) -> None:
    """Add decisions of one bin to a spread over DECISION_BOUNDS.

    Args:
        spread: the histogram.
        bin_: index of the bin, defined in arena.ratings.decision_histogram.
        times: the number of decisions.
    """
    first = 1 - round(math.log2(1000 * DECISION_BOUNDS[0]))
    spread.add(max(0, bin_ // BINS + first), 2 ** ((bin_ + 0.5) / BINS) / 1000, times)


def language(word: str) -> str:
    """Return the label value for an author's language: lower case, OTHER or UNKNOWN."""
    if not word:
        return UNKNOWN
    return word.lower() if word.lower() in LANGUAGES else OTHER


def _decisions() -> Spread:
    return Spread(DECISION_BOUNDS)


# All metrics of the arena, with help text and labels.
#
# Label values are bounded: the organiser defines the forms of games, and the number of bots with a
# series of their own is limited.


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
    "Matches that are not over: pending, held (of a paused tournament), running, or lapsed.",
    "state",
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

QUEUE_JOBS: Final = _new_gauge("queue_jobs", "Jobs in the match queue; at most 256.")
WORKERS: Final = _new_gauge(
    "workers",
    "Workers: busy, idle, or silent for 15 s; and how they lock bots in.",
    "state",
    "sandbox",
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
    *(OPEN, LEASE_AGE, ATTEMPT_AGE, TOURNAMENTS, SUBMISSIONS, SUBMISSION_AGE, REMOTES, QUARANTINED),
    *(WEBHOOKS, DELIVERIES, DELIVERY_AGE),
    *(QUEUE_JOBS, WORKERS, TRANSACTION, LAG),
    *(SERVICE_UP, RESTARTS, DISCARDED, SERVICE_FAILURES),
)


Labels = tuple[str, ...]
DATABASE, REDIS, REFEREE = "database", "redis", "referee"
_REDIS_SECONDS = 5.0


class ArenaCollector(Collector):
    """The metrics of one arena.

    Args:
        engine: the store.
        connection: a client of the arena's Redis; None: its metrics are omitted.
        referee: address of the referee; empty if unknown, as with workers that start their own.
        children: returns the states of the supervisor's child processes, if there is a supervisor.
    """

    def __init__(
        self,
        engine: Engine,
        connection: Redis | None,
        referee: str = "",
        children: Callable[[], Sequence[ServiceState]] = tuple,
    ) -> None:
        self._engine = engine
        self._connection = connection
        self._referee = referee
        self._children = children
        self._counts: Counts | None = None
        # Simultaneous scrapes are processed one after the other.
        self._lock = threading.Lock()

    def describe(self) -> Iterable[Family]:
        """Return the metrics without samples; does not read the store or Redis."""
        return [_family(metric) for metric in ALL]

    def collect(self) -> Iterator[Family]:
        """Return the current metrics.

        A source that does not answer is reported as down and omitted.
        """
        with self._lock:
            return iter(list(self._read()))

    def count(self) -> None:
        """Start to count closed matches, if the store answers."""
        with self._lock:
            self._catch_up()

    def _read(self) -> Iterator[Family]:
        yield _gauge(BUILD, {(version("pokearena"), platform.python_version()): 1.0})
        up: dict[Labels, float] = {}
        took: dict[Labels, float] = {}
        began = time.monotonic()
        store_gauges = self._catch_up()
        up[DATABASE,] = float(store_gauges is not None)
        took[DATABASE,] = time.monotonic() - began
        if self._counts is not None:
            yield from _played(self._counts)
        if store_gauges is not None:
            yield from _standing(store_gauges)
        if self._connection is not None:
            began = time.monotonic()
            redis_families = self._of_redis(self._connection)
            up[REDIS,] = float(redis_families is not None)
            took[REDIS,] = time.monotonic() - began
            yield from redis_families or ()
        if self._referee:
            up[REFEREE,] = float(grpc_probe.answers(self._referee))
        yield _gauge(UP, up)
        yield _gauge(READ, took)
        children = self._children()
        yield _gauge(
            SERVICE_UP, {(child.name,): float(child.state == "ready") for child in children}
        )
        yield _counter(RESTARTS, {(child.name,): float(child.restarts) for child in children})

    def _catch_up(self) -> StoreGauges | None:
        """Read the store; None if it does not answer."""
        try:
            if self._counts is None:
                self._counts = Counts(self._engine)
            self._counts.catch_up()
            return gauges.read_gauges(self._engine)
        except (SQLAlchemyError, StoreError, OSError):
            return None

    def _of_redis(self, connection: Redis) -> list[Family] | None:
        """Read the metrics in Redis; None if it does not answer."""
        try:
            jobs = len(MatchQueue(connection).waiting())
            workers = match_queue.workers(connection)
            times = timings.read(connection)
            troubles = incidents.read(connection)
        except RedisError:
            return None
        by_state: dict[Labels, float] = {}
        for worker in workers:
            state = "silent" if not worker.alive else "busy" if worker.match else "idle"
            by_state[state, worker.sandbox] = by_state.get((state, worker.sandbox), 0.0) + 1
        return [
            _gauge(QUEUE_JOBS, {(): float(jobs)}),
            _gauge(WORKERS, by_state),
            _timed(TRANSACTION, times.get(timings.TRANSACTION, {})),
            _timed(LAG, times.get(timings.LAG, {})),
            _counter(DISCARDED, {(): float(troubles.discarded)}),
            _counter(
                SERVICE_FAILURES,
                {(name,): float(number) for name, number in troubles.failures.items()},
            ),
        ]


def connect(url: str) -> Redis | None:
    """Return a client with timeouts of 5 s and one retry; None for an empty URL."""
    if not url:
        return None
    return Redis.from_url(
        url,
        socket_timeout=_REDIS_SECONDS,
        socket_connect_timeout=_REDIS_SECONDS,
        retry=Retry(NoBackoff(), 1),
    )


def registry(collector: ArenaCollector) -> CollectorRegistry:
    """Return a registry with only this collector, without metrics of the exporter's own process."""
    collectors = CollectorRegistry(auto_describe=False)
    collectors.register(collector)
    return collectors


def _played(counts: Counts) -> Iterator[Family]:
    yield _counter(MATCHES, {key: float(n) for key, n in counts.matches.items()})
    yield _counter(GAMES, {(form,): float(n) for form, n in counts.games.items()})
    yield _counter(VERDICTS, {key: float(n) for key, n in counts.verdicts.items()})
    yield _histogram(MATCH, {(form,): spread for form, spread in counts.took.items()})
    yield _histogram(DECISION, dict(counts.decisions.items()))
    yield _histogram(BOT_DECISION, {(bot,): spread for bot, spread in counts.bots.items()})


def _standing(store_gauges: StoreGauges) -> Iterator[Family]:
    yield _counter(FAILURES, {(): float(store_gauges.failures)})
    for metric, by_state in (
        (OPEN, store_gauges.open),
        (TOURNAMENTS, store_gauges.tournaments),
        (SUBMISSIONS, store_gauges.submissions),
        (REMOTES, store_gauges.remotes),
        (WEBHOOKS, store_gauges.webhooks),
        (DELIVERIES, store_gauges.deliveries),
    ):
        yield _gauge(metric, {(state,): float(number) for state, number in by_state.items()})
    for metric, value in (
        (LEASE_AGE, store_gauges.lease_age),
        (ATTEMPT_AGE, store_gauges.attempt_age),
        (SUBMISSION_AGE, store_gauges.submission_age),
        (QUARANTINED, float(store_gauges.quarantined)),
        (DELIVERY_AGE, store_gauges.delivery_age),
    ):
        yield _gauge(metric, {(): value})


def _family(metric: Metric) -> Family:
    kinds: dict[Kind, Callable[..., Family]] = {
        Kind.COUNTER: CounterMetricFamily,
        Kind.GAUGE: GaugeMetricFamily,
        Kind.HISTOGRAM: HistogramMetricFamily,
    }
    return kinds[metric.kind](metric.name, metric.description, labels=metric.labels)


def _counter(metric: Metric, values: Mapping[Labels, float]) -> Family:
    family = CounterMetricFamily(metric.name, metric.description, labels=metric.labels)
    for labels, value in sorted(values.items()):
        family.add_metric(labels, value)
    return family


def _gauge(metric: Metric, values: Mapping[Labels, float]) -> Family:
    family = GaugeMetricFamily(metric.name, metric.description, labels=metric.labels)
    for labels, value in sorted(values.items()):
        family.add_metric(labels, value)
    return family


def _histogram(metric: Metric, values: Mapping[Labels, Spread]) -> Family:
    family = HistogramMetricFamily(metric.name, metric.description, labels=metric.labels)
    for labels, spread in sorted(values.items()):
        family.add_metric(labels, spread.buckets(), sum_value=spread.seconds)
    return family


def _timed(metric: Metric, values: Mapping[str, DurationSum]) -> Family:
    family = HistogramMetricFamily(metric.name, metric.description, labels=metric.labels)
    for label, times in sorted(values.items()):
        buckets = list(cumulated(timings.BOUNDS, dict(enumerate(times.counts))))
        labels = (label,) if metric.labels else ()
        family.add_metric(labels, buckets, sum_value=times.seconds)
    return family
