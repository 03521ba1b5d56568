"""Prometheus collector: reads counts and metrics from the store and Redis at each scrape."""

from __future__ import annotations

import platform
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import cast

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector, CollectorRegistry
from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from arena.errors import StoreError
from arena.services import metric_definitions as metrics
from arena.services.closed_match_counts import Counts, Spread, cumulated
from arena.services.metric_definitions import Kind, Metric
from arena.services.queue import worker_games, worker_registrations, worker_sandboxes
from arena.services.queue.match_queue import MatchQueue
from arena.services.queue.worker_registrations import QUEUES, WorkerInfo
from arena.services.service import ServiceState
from arena.services.store_gauges import Values, read_gauges
from arena.store.events import incidents
from arena.system import grpc_probe, timings
from arena.system.redis_connection import connect_briefly
from arena.system.timings import DurationSum

Labels = tuple[str, ...]
DATABASE, REDIS, REFEREE = "database", "redis", "referee"
_REDIS_SECONDS = 5.0


class ArenaCollector(Collector):
    """The metrics of one arena.

    Args:
        connection: a client of the arena's Redis; None: its metrics are omitted.
        referee: address of the referee; empty if unknown, as with workers that start their own.
        children: returns the states of the supervisor's child processes, if there is a supervisor.
        folder: the data folder, the free space of whose disk is reported; None: omitted.
    """

    def __init__(
        self,
        engine: Engine,
        connection: Redis | None,
        referee: str = "",
        children: Callable[[], Sequence[ServiceState]] = tuple,
        folder: Path | None = None,
    ) -> None:
        self._engine = engine
        self._connection = connection
        self._folder = folder
        self._pushed = True
        self._without: tuple[str, ...] = ()
        self._has_model_workers = False
        self._referee = referee
        self._children = children
        self._counts: Counts | None = None
        # Simultaneous scrapes are processed one after the other.
        self._lock = threading.Lock()

    def describe(self) -> Iterable[Family]:
        """Return the metrics without samples; does not read the store or Redis."""
        return [_family(metric) for metric in metrics.ALL]

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
        yield _valued(metrics.BUILD, {(version("pokearena"), platform.python_version()): 1.0})
        up: dict[Labels, float] = {}
        took: dict[Labels, float] = {}
        # First, because the workers determine which matches are due.
        if self._connection is not None:
            began = time.monotonic()
            redis_families = self._of_redis(self._connection)
            up[REDIS,] = float(redis_families is not None)
            took[REDIS,] = time.monotonic() - began
            yield from redis_families or ()
        began = time.monotonic()
        gauges = self._catch_up()
        up[DATABASE,] = float(gauges is not None)
        took[DATABASE,] = time.monotonic() - began
        if self._counts is not None:
            yield from _played(self._counts)
        if gauges is not None:
            for metric, values in gauges.items():
                yield _valued(metric, values)
            # Those that workers of models do not play.
            of_models = gauges[metrics.DUE_MODELS][()] if self._has_model_workers else 0.0
            yield _valued(metrics.DUE_USUAL, {(): gauges[metrics.DUE][()] - of_models})
        yield from self._disk()
        if self._referee:
            up[REFEREE,] = float(grpc_probe.answers(self._referee))
        yield _valued(metrics.UP, up)
        yield _valued(metrics.READ, took)
        children = self._children()
        yield _valued(
            metrics.SERVICE_UP, {(child.name,): float(child.state == "ready") for child in children}
        )
        yield _valued(
            metrics.RESTARTS, {(child.name,): float(child.restarts) for child in children}
        )

    def _catch_up(self) -> dict[Metric, Values] | None:
        """Read the store; None if it does not answer."""
        try:
            if self._counts is None:
                self._counts = Counts(self._engine)
            self._counts.catch_up()
            return read_gauges(self._engine, pushed=self._pushed, without=self._without)
        except (SQLAlchemyError, StoreError, OSError):
            return None

    def _disk(self) -> Iterator[Family]:
        if self._folder is None:
            return
        try:
            usage = shutil.disk_usage(self._folder)
        except OSError:
            return
        yield _valued(metrics.DISK_FREE, {(): float(usage.free)})
        yield _valued(metrics.DISK_SIZE, {(): float(usage.total)})

    def _of_redis(self, connection: Redis) -> list[Family] | None:
        """Read the metrics in Redis; None if it does not answer."""
        try:
            jobs = sum(len(MatchQueue(connection, name)) for name in QUEUES)
            workers = worker_registrations.workers(connection)
            packages = worker_games.published_packages(connection)
            times = timings.read(connection)
            troubles = incidents.read(connection)
            lost = worker_registrations.lost_hosts(connection, workers)
        except RedisError:
            return None
        by_state: Counter[Labels] = Counter()
        for worker in workers:
            by_state[_state(worker), worker.sandbox.level] += 1
        self._pushed = not worker_sandboxes.pushed_versions_wait(workers)
        self._has_model_workers = any(each.alive and each.plays_models for each in workers)
        self._without = worker_games.games_without_workers(packages, workers)
        alive = worker_registrations.live_hosts(workers)
        below = sum(worker.alive and worker.sandbox.is_below_stored for worker in workers)
        return [
            _valued(metrics.QUEUE_JOBS, {(): float(jobs)}),
            _valued(metrics.WORKERS, by_state),
            _valued(metrics.LOWERED_WORKERS, {(): float(below)}),
            _valued(metrics.WORKER_HOSTS, {("alive",): len(alive), ("lost",): len(lost)}),
            _timed(metrics.TRANSACTION, times.get(timings.TRANSACTION, {})),
            _timed(metrics.LAG, times.get(timings.LAG, {})),
            _valued(metrics.DISCARDED, {(): float(troubles.discarded)}),
            _valued(
                metrics.SERVICE_FAILURES,
                {(name,): float(number) for name, number in troubles.failures.items()},
            ),
        ]


def _state(worker: WorkerInfo) -> str:
    if not worker.alive:
        return "silent"
    if worker.paused:
        return "paused"
    return "busy" if worker.match else "idle"


def connect(url: str) -> Redis | None:
    """Return a client with timeouts of 5 s and one retry; None for an empty URL."""
    return connect_briefly(url, _REDIS_SECONDS, retries=1) if url else None


def registry(collector: ArenaCollector) -> CollectorRegistry:
    """Return a registry with only this collector, without metrics of the exporter's own process."""
    collectors = CollectorRegistry(auto_describe=False)
    collectors.register(collector)
    return collectors


def _played(counts: Counts) -> Iterator[Family]:
    yield _valued(metrics.MATCHES, {key: float(n) for key, n in counts.matches.items()})
    yield _valued(metrics.GAMES, {(form,): float(n) for form, n in counts.games.items()})
    yield _valued(metrics.VERDICTS, {key: float(n) for key, n in counts.verdicts.items()})
    yield _histogram(metrics.MATCH, {(form,): spread for form, spread in counts.took.items()})
    yield _histogram(metrics.DECISION, dict(counts.decisions.items()))
    yield _histogram(metrics.BOT_DECISION, {(bot,): spread for bot, spread in counts.bots.items()})


def _family(metric: Metric) -> Family:
    kinds: dict[Kind, Callable[..., Family]] = {
        Kind.COUNTER: CounterMetricFamily,
        Kind.GAUGE: GaugeMetricFamily,
        Kind.HISTOGRAM: HistogramMetricFamily,
    }
    return kinds[metric.kind](metric.name, metric.description, labels=metric.labels)


def _valued(metric: Metric, values: Mapping[Labels, float]) -> Family:
    """Return a counter or a gauge with its values."""
    family = cast("CounterMetricFamily | GaugeMetricFamily", _family(metric))
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
