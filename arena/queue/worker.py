"""Worker that takes jobs from the match queue and tries their matches, one at a time.

It is RQ's worker with all features disabled that the arena does not use. Each match is tried in a
separate process, forked after all necessary imports, which dies with the worker.
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


# Reading a job from Redis.
#
# Anyone who can write to Redis can put the name of any function into a job or its callbacks, and
# plain RQ would import and call it. Here only the id of the match is read from a job.


class Refused(Exception):
    """The job is not a valid match job."""


class MatchJob(Job):
    """An RQ job from which only the id of the match is used."""

    play: Callable[[str], None]

    def restore(self, raw_data: Any) -> None:
        """Read the job from Redis, and clear all names that RQ would import, call or fetch."""
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
        """Return the id of the job's match.

        Raises:
            Refused: the job does not name the function and id of a match job.
            DeserializationError: RQ cannot decode the job.
        """
        asked = (self.func_name, self.instance, list(self.args or ()), dict(self.kwargs or {}))
        if asked != (FUNCTION, None, [self.id], {}) or not MATCH_ID.fullmatch(self.id):
            raise Refused(f"job {self.id!r} is no hint of this arena: workers only play matches")
        return self.id

    @property
    def func(self) -> None:
        """Return None; RQ would import the function by its name in Redis."""

    def perform(self) -> None:
        """Try the match after validating the job."""
        self.play(self.match())


_LONGEST_RECONNECT_SECONDS = 2.0
_REFUSED_SECONDS = 1.0
_CLEANING_SECONDS = 60.0
# Checks are one heartbeat apart; the lease of a match lapses after three.
_FROZEN_LOOKS = 3
# RQ waits for a job 15 s less than the worker's time to live.
_RQ_MARGIN_SECONDS = 15

log = logging.getLogger("arena.worker")


class Drain(threading.Event):
    """Set when the worker must stop: finish the current game and release the match."""


Play = Callable[[str, Drain], None]


class MatchWorker(Worker):
    """A worker that listens to the match queue.

    Args:
        connection: connection to the Redis of the match queue.
        play: plays the match with the given id in the worker process until the given event is set.
            An exception it raises is logged; the job is removed in either case.
        name: unique name of the worker; by default a fresh one.
        fallen: called after a worker process has crashed or was killed.
        sandbox: sandbox level of its bots, shown in the list of workers.
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

    # --- in the parent process ---------------------------------------------------------

    def serialize(self) -> dict[Any, Any]:
        """Return the fields that are registered in Redis."""
        return {**super().serialize(), SANDBOX: self._sandbox}

    def subscribe(self) -> None:
        """Disable RQ's commands over Redis: signals suffice.

        A subscription would also need a thread, which must not exist when worker processes are
        forked.
        """

    def check_for_suspension(self, burst: bool) -> None:
        """Ignore RQ's suspension of workers."""

    def set_state(self, state: str, pipeline: Pipeline | None = None) -> None:
        """Store the state locally and register it in Redis."""
        self._state = state
        with _without_redis():
            super().set_state(state, pipeline=pipeline)

    def heartbeat(self, timeout: int | None = None, pipeline: Pipeline | None = None) -> None:
        """Send a heartbeat. Redis drops a worker after FORGOTTEN_SECONDS without one."""
        with _without_redis():
            if pipeline is None:
                self._sign_on_again()
            super().heartbeat(FORGOTTEN_SECONDS, pipeline=pipeline)

    def maintain_heartbeats(self, job: Job) -> None:
        """Send heartbeats while a match is played; kill a worker process that stays frozen."""
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
        """Register the time for which the match has been played."""
        with _without_redis():
            super().set_current_job_working_time(current_job_working_time, pipeline=pipeline)

    def run_maintenance_tasks(self) -> None:
        """Remove the data of dead workers. RQ's own method would call functions named in jobs."""
        with _without_redis():
            for queue in self.queues:
                clean_worker_registry(queue)
                self._hints.sweep()
        self._cleaned = time.monotonic()

    @property
    def should_run_maintenance_tasks(self) -> bool:
        """Whether maintenance is due: at the start and once a minute."""
        return time.monotonic() > self._cleaned + _CLEANING_SECONDS

    def dequeue_job_and_maintain_ttl(
        self, timeout: int | None, max_idle_time: int | None = None
    ) -> tuple[Job, Queue] | None:
        """Wait for the next job, also while a full Redis rejects commands."""
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
        """Try the match in a worker process. Tolerates a lost connection to Redis."""
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
        """Wait for the worker process to exit, and note whether it failed."""
        ended = super().wait_for_horse()
        self._horse_fell = bool(ended[1])
        return ended

    def monitor_work_horse(self, job: Job, queue: Queue) -> None:
        """Wait for the worker process; forward a stop request received during the fork."""
        if self._stop_requested:
            self._tell_horse()
        super().monitor_work_horse(job, queue)

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        """Handle SIGTERM and SIGINT: release the current match after its current game."""
        if self._stop_requested:
            return
        self._stop_requested = True
        self._drain.set()
        log.info("worker %s: stopping", self.name)
        if self.get_state() != WorkerStatus.BUSY:
            raise StopRequested
        self._tell_horse()

    def teardown(self) -> None:
        """Remove the worker from the list, if Redis answers."""
        with _without_redis():
            super().teardown()  # type: ignore[no-untyped-call]

    def _tell_horse(self) -> None:
        if self.horse_pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.horse_pid, signal.SIGTERM)

    # --- in the worker process ---------------------------------------------------------

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        """Run one match in the forked worker process."""
        parent_death_signal.hold(self._own_pid)
        if isinstance(job, MatchJob):
            job.play = lambda match: self._play(match, self._drain)
        failpoint.reach("hint.followed")
        super().main_work_horse(job, queue)

    def setup_work_horse_signals(self) -> None:
        """Ignore SIGINT, which the parent handles; let SIGTERM set the drain event."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda number, frame: self._drain.set())

    def handle_job_success(
        self, job: Job, queue: Queue, started_job_registry: StartedJobRegistry
    ) -> None:
        """Remove the completed job."""
        self._forget(job)

    def handle_job_failure(
        self,
        job: Job,
        queue: Queue,
        started_job_registry: StartedJobRegistry | None = None,
        exc_string: str = "",
    ) -> None:
        """Remove the failed job. The sweeper enqueues the match again if it is due."""
        self._forget(job)

    def handle_execution_ended(self, job: Job, queue: Queue, heartbeat_ttl: int) -> None:
        """Register the end of the attempt."""
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
    """Log Redis errors and continue: Redis carries only jobs and events, which may be lost."""
    try:
        yield
    except redis.exceptions.RedisError as error:
        log.warning("Redis is away: %s", error)
