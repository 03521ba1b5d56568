"""How a worker works: takes hints from the queue and tries the matches they name, one by one.

It is RQ's worker with everything closed that the arena has no use for. Each match is tried in a
process of its own, forked when all that is needed has been imported, which dies with the
worker.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

import redis
from rq import Queue, Worker
from rq.exceptions import NoSuchJobError, StopRequested
from rq.job import Job
from rq.registry import StartedJobRegistry
from rq.serializers import JSONSerializer
from rq.worker.base import WorkerStatus
from rq.worker_registration import REDIS_WORKER_KEYS, clean_worker_registry, register

from arena.queue.match_queue import (
    FORGOTTEN_SECONDS,
    FUNCTION,
    HEARTBEAT_SECONDS,
    MATCH_ID,
    QUEUE,
    SANDBOX,
    UNKNOWN,
    MatchQueue,
    fresh_name,
)
from arena.system import failpoint, parent_death_signal
from arena.system.process_info import is_frozen

if TYPE_CHECKING:
    from resource import struct_rusage

    from redis import Redis
    from redis.client import Pipeline


# A hint as a worker reads it out of Redis.
#
# Whoever can write to Redis can put any function's name into a job, or into its callbacks, and
# plain RQ would import and call it. Here a job is only ever read for the id of a match.


class Refused(Exception):
    """A job that is no hint of ours."""


class MatchJob(Job):
    """A job as a worker of ours reads it: for the id of a match, and for nothing else."""

    play: Callable[[str], None]

    def restore(self, raw_data: Any) -> None:
        """Reads it from Redis, and forgets whatever RQ would import, call or fetch for it."""
        try:
            super().restore(raw_data)
        except Exception as error:
            raise NoSuchJobError(f"what Redis holds as job {self.id!r} is none") from error
        self._success_callback_name = None
        self._failure_callback_name = None
        self._stopped_callback_name = None
        self.webhooks = []
        self._dependency_ids = []
        self.group_id = None
        self.retries_left = None
        self.repeats_left = None
        self.timeout = -1
        self.result_ttl = 0
        self.failure_ttl = 0

    def match(self) -> str:
        """The id of the match it hints at. Raises Refused, or RQ's DeserializationError."""
        asked = (self.func_name, self.instance, list(self.args or ()), dict(self.kwargs or {}))
        if asked != (FUNCTION, None, [self.id], {}) or not MATCH_ID.fullmatch(self.id):
            raise Refused(f"job {self.id!r} is no hint of this arena: workers only play matches")
        return self.id

    @property
    def func(self) -> None:
        """Nothing: RQ would import it by the name that stands in Redis."""

    def perform(self) -> None:
        """Tries the match, once it is sure that this is what the job asks for."""
        self.play(self.match())


_LONGEST_RECONNECT_SECONDS = 2.0
_REFUSED_SECONDS = 1.0
_CLEANING_SECONDS = 60.0
# Looks are a heartbeat apart; the lease of a match lapses after three.
_FROZEN_LOOKS = 3
# RQ waits for a hint 15 s less than its time to live.
_RQ_MARGIN_SECONDS = 15

log = logging.getLogger("arena.worker")


class Drain(threading.Event):
    """Set when the worker has been asked to stop: finish the game at hand, give the rest back."""


Play = Callable[[str, Drain], None]


class MatchWorker(Worker):
    """A worker of the one queue.

    play: tries the match of the id it is given, in the work horse, until the event it is given
        is set. What it raises is logged; the hint is gone either way.
    fallen: called in the worker after a work horse has died of itself or was killed.
    sandbox: how it locks bots in, for those who watch over workers.
    """

    max_connection_wait_time = _LONGEST_RECONNECT_SECONDS

    def __init__(
        self,
        connection: Redis,
        play: Play,
        name: str | None = None,
        fallen: Callable[[], object] = lambda: None,
        sandbox: str = UNKNOWN,
    ) -> None:
        super().__init__(
            [Queue(QUEUE, connection=connection, serializer=JSONSerializer, job_class=MatchJob)],
            name=name or fresh_name(),
            connection=connection,
            job_class=MatchJob,
            serializer=JSONSerializer,
            default_result_ttl=0,
            worker_ttl=_RQ_MARGIN_SECONDS + HEARTBEAT_SECONDS,
            job_monitoring_interval=HEARTBEAT_SECONDS,
            log_job_description=False,
        )
        self._cleaned = -math.inf
        self._own_pid = os.getpid()
        self._play = play
        self._fallen = fallen
        self._sandbox = sandbox
        self._horse_fell = False
        self._frozen = 0
        self._drain = Drain()
        self._hints = MatchQueue(connection)

    # --- in the worker -----------------------------------------------------------------

    def serialize(self) -> dict[Any, Any]:
        """What Redis knows of it."""
        return {**super().serialize(), SANDBOX: self._sandbox}

    def subscribe(self) -> None:
        """Listens to no commands from Redis: signals are enough, and a thread would be forked."""

    def check_for_suspension(self, burst: bool) -> None:
        """Is never suspended."""

    def set_state(self, state: str, pipeline: Pipeline | None = None) -> None:
        """Writes down what it does."""
        self._state = state
        with _without_redis():
            super().set_state(state, pipeline=pipeline)

    def heartbeat(self, timeout: int | None = None, pipeline: Pipeline | None = None) -> None:
        """Shows itself. A worker that does not for a while is forgotten by Redis."""
        with _without_redis():
            if pipeline is None:
                self._sign_on_again()
            super().heartbeat(FORGOTTEN_SECONDS, pipeline=pipeline)

    def maintain_heartbeats(self, job: Job) -> None:
        """Shows itself while a match is played; kills a work horse that stays frozen."""
        self._frozen = self._frozen + 1 if is_frozen(self.horse_pid) else 0
        if self._frozen > _FROZEN_LOOKS:
            log.warning("worker %s: its work horse is frozen, and is killed", self.name)
            self.kill_horse()
        with _without_redis():
            self._sign_on_again()
            super().maintain_heartbeats(job)

    def set_current_job_working_time(
        self, current_job_working_time: float, pipeline: Pipeline | None = None
    ) -> None:
        """Writes down how long the match has been played."""
        with _without_redis():
            super().set_current_job_working_time(current_job_working_time, pipeline=pipeline)

    def run_maintenance_tasks(self) -> None:
        """Forgets what dead workers left in Redis. RQ's own way would call what jobs name."""
        with _without_redis():
            for queue in self.queues:
                clean_worker_registry(queue)
                self._hints.sweep()
        self._cleaned = time.monotonic()

    @property
    def should_run_maintenance_tasks(self) -> bool:
        """Once a minute, and at the start."""
        return time.monotonic() > self._cleaned + _CLEANING_SECONDS

    def dequeue_job_and_maintain_ttl(
        self, timeout: int | None, max_idle_time: int | None = None
    ) -> tuple[Job, Queue] | None:
        """Waits for the next hint, also while Redis takes nothing because it is full."""
        while True:
            try:
                return super().dequeue_job_and_maintain_ttl(timeout, max_idle_time)
            except redis.exceptions.ResponseError as error:
                log.warning("worker %s: Redis refuses: %s", self.name, error)
                time.sleep(_REFUSED_SECONDS)

    def _sign_on_again(self) -> None:
        known = self.connection.sismember(REDIS_WORKER_KEYS, self.key)
        if self.birth_date is None or (known and self.connection.hexists(self.key, "pid")):
            return
        with self.connection.pipeline() as pipeline:
            pipeline.hset(self.key, mapping={**self.serialize(), "state": self.get_state()})
            register(self, pipeline)
            pipeline.execute()

    def execute_job(self, job: Job, queue: Queue) -> None:
        """Has the match tried by a work horse. Redis may go away meanwhile."""
        failpoint.reach("hint.taken")
        try:
            super().execute_job(job, queue)
        except redis.exceptions.RedisError as error:
            log.warning("worker %s: Redis is away (%s)", self.name, error)
            if self.horse_pid:
                self.wait_for_horse()
                self._horse_pid = 0
        finally:
            if self._horse_fell:
                self._horse_fell = False
                self._fallen()

    def wait_for_horse(self) -> tuple[int | None, int | None, struct_rusage | None]:
        """Waits for the end of the work horse."""
        ended = super().wait_for_horse()
        self._horse_fell = bool(ended[1])
        return ended

    def monitor_work_horse(self, job: Job, queue: Queue) -> None:
        """Waits for the work horse; passes on a request to stop that came while it was forked."""
        if self._stop_requested:
            self._tell_horse()
        super().monitor_work_horse(job, queue)

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        """SIGTERM and SIGINT: the match at hand is given back after its current game."""
        if self._stop_requested:
            return
        self._stop_requested = True
        self._drain.set()
        log.info("worker %s: stopping", self.name)
        if self.get_state() != WorkerStatus.BUSY:
            raise StopRequested
        self._tell_horse()

    def teardown(self) -> None:
        """Signs off. Redis may be away."""
        with _without_redis():
            super().teardown()  # type: ignore[no-untyped-call]

    def _tell_horse(self) -> None:
        if self.horse_pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.horse_pid, signal.SIGTERM)

    # --- in the work horse -------------------------------------------------------------

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        """The whole life of a work horse."""
        parent_death_signal.hold(self._own_pid)
        if isinstance(job, MatchJob):
            job.play = lambda match: self._play(match, self._drain)
        failpoint.reach("hint.followed")
        super().main_work_horse(job, queue)

    def setup_work_horse_signals(self) -> None:
        """Ctrl-C is the worker's business; SIGTERM asks to give the match back."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda number, frame: self._drain.set())

    def handle_job_success(
        self, job: Job, queue: Queue, started_job_registry: StartedJobRegistry
    ) -> None:
        """The hint has been followed: forgets it."""
        self._forget(job)

    def handle_job_failure(
        self,
        job: Job,
        queue: Queue,
        started_job_registry: StartedJobRegistry | None = None,
        exc_string: str = "",
    ) -> None:
        """The hint could not be followed: forgets it. What is due will be put back."""
        self._forget(job)

    def handle_execution_ended(self, job: Job, queue: Queue, heartbeat_ttl: int) -> None:
        """Writes down when the attempt ended."""
        with _without_redis():
            super().handle_execution_ended(job, queue, heartbeat_ttl)

    def _forget(self, job: Job) -> None:
        failpoint.reach("hint.dropped")
        with _without_redis():
            with self.connection.pipeline() as pipeline:
                self.cleanup_execution(job, pipeline)
                pipeline.execute()
            self._hints.drop(job.id)


@contextlib.contextmanager
def _without_redis() -> Iterator[None]:
    """Redis carries only hints and news: that it is away, or full, is no reason to stop."""
    try:
        yield
    except redis.exceptions.RedisError as error:
        log.warning("Redis is away: %s", error)
