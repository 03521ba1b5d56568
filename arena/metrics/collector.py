"""What Prometheus is told: read from the store and from Redis whenever it asks."""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector, CollectorRegistry
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from arena import incidents, queue, reach, timings
from arena.child import ChildState
from arena.metrics import catalogue
from arena.metrics.catalogue import Kind, Metric
from arena.metrics.counts import Counts, Spread, cumulated
from arena.queue import Hints
from arena.store import standing
from arena.store.errors import StoreError
from arena.store.standing import Standing
from arena.timings import Times

Labels = tuple[str, ...]
DATABASE, REDIS, REFEREE = "database", "redis", "referee"
_REDIS_SECONDS = 5.0


class ArenaCollector(Collector):
    """The figures of one arena.

    connection: to its Redis. referee: the address of its referee; empty if it is not known, as
    with workers that bring their own. children: the processes of the supervisor, where there is
    one.
    """

    def __init__(
        self,
        engine: Engine,
        connection: Redis | None,
        referee: str = "",
        children: Callable[[], Sequence[ChildState]] = tuple,
    ) -> None:
        self._engine = engine
        self._connection = connection
        self._referee = referee
        self._children = children
        self._counts: Counts | None = None
        # Two who ask at once: the second one waits.
        self._lock = threading.Lock()

    def describe(self) -> Iterable[Family]:
        """The metrics, without reading anything."""
        return [_family(metric) for metric in catalogue.ALL]

    def collect(self) -> Iterator[Family]:
        """The figures as they are now. Of what does not answer, only that."""
        with self._lock:
            return iter(list(self._read()))

    def count(self) -> None:
        """Begins to count what closes, if the store answers."""
        with self._lock:
            self._catch_up()

    def _read(self) -> Iterator[Family]:
        yield _gauge(catalogue.BUILD, {(version("pokearena"), platform.python_version()): 1.0})
        up: dict[Labels, float] = {}
        took: dict[Labels, float] = {}
        began = time.monotonic()
        found = self._catch_up()
        up[DATABASE,] = float(found is not None)
        took[DATABASE,] = time.monotonic() - began
        if self._counts is not None:
            yield from _played(self._counts)
        if found is not None:
            yield from _standing(found)
        if self._connection is not None:
            began = time.monotonic()
            told = self._of_redis(self._connection)
            up[REDIS,] = float(told is not None)
            took[REDIS,] = time.monotonic() - began
            yield from told or ()
        if self._referee:
            up[REFEREE,] = float(reach.answers(self._referee))
        yield _gauge(catalogue.UP, up)
        yield _gauge(catalogue.READ, took)
        children = self._children()
        yield _gauge(
            catalogue.SERVICE_UP, {(one.name,): float(one.state == "ready") for one in children}
        )
        yield _counter(catalogue.RESTARTS, {(one.name,): float(one.restarts) for one in children})

    def _catch_up(self) -> Standing | None:
        """Reads the store; None if it does not answer."""
        try:
            if self._counts is None:
                self._counts = Counts(self._engine)
            self._counts.catch_up()
            return standing.look(self._engine)
        except (SQLAlchemyError, StoreError, OSError):
            return None

    def _of_redis(self, connection: Redis) -> list[Family] | None:
        """What Redis knows; None if it does not answer."""
        try:
            hints = len(Hints(connection).waiting())
            workers = queue.workers(connection)
            times = timings.read(connection)
            troubles = incidents.read(connection)
        except RedisError:
            return None
        by_state: dict[Labels, float] = {}
        for one in workers:
            state = "silent" if not one.alive else "busy" if one.match else "idle"
            by_state[state, one.sandbox] = by_state.get((state, one.sandbox), 0.0) + 1
        return [
            _gauge(catalogue.HINTS, {(): float(hints)}),
            _gauge(catalogue.WORKERS, by_state),
            _timed(catalogue.TRANSACTION, times.get(timings.TRANSACTION, {})),
            _timed(catalogue.LAG, times.get(timings.LAG, {})),
            _counter(catalogue.DISCARDED, {(): float(troubles.discarded)}),
            _counter(
                catalogue.SERVICE_FAILURES,
                {(name,): float(number) for name, number in troubles.failures.items()},
            ),
        ]


def connect(url: str) -> Redis | None:
    """A client that waits for nobody for long; None for an empty address."""
    if not url:
        return None
    return Redis.from_url(
        url,
        socket_timeout=_REDIS_SECONDS,
        socket_connect_timeout=_REDIS_SECONDS,
        retry=Retry(NoBackoff(), 1),
    )


def registry(collector: ArenaCollector) -> CollectorRegistry:
    """A registry with this collector alone: what the exporter itself costs is of no interest."""
    made = CollectorRegistry(auto_describe=False)
    made.register(collector)
    return made


def _played(counts: Counts) -> Iterator[Family]:
    yield _counter(catalogue.MATCHES, {key: float(n) for key, n in counts.matches.items()})
    yield _counter(catalogue.GAMES, {(form,): float(n) for form, n in counts.games.items()})
    yield _counter(catalogue.VERDICTS, {key: float(n) for key, n in counts.verdicts.items()})
    yield _histogram(catalogue.MATCH, {(form,): one for form, one in counts.took.items()})
    yield _histogram(catalogue.DECISION, dict(counts.decisions.items()))
    yield _histogram(catalogue.BOT_DECISION, {(bot,): one for bot, one in counts.bots.items()})


def _standing(found: Standing) -> Iterator[Family]:
    yield _counter(catalogue.FAILURES, {(): float(found.failures)})
    for metric, by_state in (
        (catalogue.OPEN, found.open),
        (catalogue.TOURNAMENTS, found.tournaments),
        (catalogue.SUBMISSIONS, found.submissions),
        (catalogue.REMOTES, found.remotes),
    ):
        yield _gauge(metric, {(state,): float(number) for state, number in by_state.items()})
    for metric, value in (
        (catalogue.LEASE_AGE, found.lease_age),
        (catalogue.ATTEMPT_AGE, found.attempt_age),
        (catalogue.SUBMISSION_AGE, found.submission_age),
        (catalogue.QUARANTINED, float(found.quarantined)),
    ):
        yield _gauge(metric, {(): value})


def _family(metric: Metric) -> Family:
    kinds: dict[Kind, Callable[..., Family]] = {
        Kind.COUNTER: CounterMetricFamily,
        Kind.GAUGE: GaugeMetricFamily,
        Kind.HISTOGRAM: HistogramMetricFamily,
    }
    return kinds[metric.kind](metric.name, metric.says, labels=metric.labels)


def _counter(metric: Metric, values: Mapping[Labels, float]) -> Family:
    family = CounterMetricFamily(metric.name, metric.says, labels=metric.labels)
    for labels, value in sorted(values.items()):
        family.add_metric(labels, value)
    return family


def _gauge(metric: Metric, values: Mapping[Labels, float]) -> Family:
    family = GaugeMetricFamily(metric.name, metric.says, labels=metric.labels)
    for labels, value in sorted(values.items()):
        family.add_metric(labels, value)
    return family


def _histogram(metric: Metric, values: Mapping[Labels, Spread]) -> Family:
    family = HistogramMetricFamily(metric.name, metric.says, labels=metric.labels)
    for labels, spread in sorted(values.items()):
        family.add_metric(labels, spread.buckets(), sum_value=spread.seconds)
    return family


def _timed(metric: Metric, values: Mapping[str, Times]) -> Family:
    family = HistogramMetricFamily(metric.name, metric.says, labels=metric.labels)
    for label, times in sorted(values.items()):
        buckets = list(cumulated(timings.BOUNDS, dict(enumerate(times.counts))))
        labels = (label,) if metric.labels else ()
        family.add_metric(labels, buckets, sum_value=times.seconds)
    return family
