"""Worker that takes jobs from the match queue and plays each match in a forked process.

It uses RQ's `SimpleWorker` unchanged (docs/decisions/2026-11-23-plain-queue.md). RQ takes a job,
calls its function, which calls `MatchWorker._play_match`, and removes the job.
"""

from __future__ import annotations

import itertools
import logging
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from types import FrameType
from typing import TYPE_CHECKING, Final

from redis.exceptions import RedisError
from rq import Queue, SimpleWorker
from rq.exceptions import StopRequested
from rq.serializers import JSONSerializer

from arena.errors import InfrastructureError
from arena.services.queue.forked_process import STOP_SIGNALS, Drain, ForkedProcess
from arena.services.queue.match_job import MatchJob, set_player
from arena.services.queue.match_queue import MatchQueue
from arena.services.queue.worker_games import own_packages
from arena.services.queue.worker_registrations import (
    HEARTBEAT_SECONDS,
    QUEUE,
    SandboxState,
    WorkerInfo,
    fresh_name,
    register_worker,
    unregister_worker,
)
from arena.system import failpoint
from arena.system.backoff import Backoff
from arena.system.process_info import is_frozen
from arena.system.start_breaker import StartBreaker

if TYPE_CHECKING:
    from redis import Redis
    from rq.job import Job

    from arena.services.queue.idle_work import IdleWork

log = logging.getLogger("arena.worker")

_MAINTENANCE_SECONDS: Final = 60
# RQ doubles its pauses while Redis is away. A match must continue within 20 s of its return.
_LONGEST_RECONNECT_SECONDS: Final = 2.0
_FIRST_SANDBOX_PAUSE_SECONDS: Final = 0.5
_FIRST_BREAKER_PAUSE_SECONDS: Final = 2.0
_LONGEST_BREAKER_PAUSE_SECONDS: Final = 60.0
# A terminal and a supervisor may send the same signal.
_SECOND_SIGNAL_SECONDS: Final = 1.0
# Checks are one heartbeat apart; the lease of a match lapses after three.
_FROZEN_CHECKS: Final = 3
# RQ waits for a job 15 s less than the worker's time to live.
_RQ_MARGIN_SECONDS: Final = 15

Play = Callable[[str, Drain], None]


class WorkerSandbox:
    """The sandbox of a worker's bots; this one is always available."""

    def check(self) -> None:
        """Check that bots can be run.

        Raises:
            InfrastructureError: they cannot be run now.
        """

    def doubt(self) -> None:
        """Let the next check run the self-test again."""

    def state(self) -> SandboxState:
        """Return the state for the list of workers; called at each heartbeat."""
        return SandboxState()


class MatchWorker:
    """A worker that listens to a match queue.

    While a match is played, failures of Redis are logged and have no effect. At other times they
    end the worker, and its supervisor restarts it.

    Args:
        connection: connection to the Redis of the match queue.
        play: plays the match with the given id in a forked process until the given event is set.
        name: unique name of the worker; by default a fresh one.
        on_crash: called after the process of a match has crashed or was killed.
        sandbox: the sandbox of its bots. While it is not available, the worker takes no match.
        breaker: open while matches of this worker fail. Then it pauses before each match.
    """

    def __init__(
        self,
        connection: Redis,
        play: Play,
        name: str | None = None,
        on_crash: Callable[[], object] = lambda: None,
        sandbox: WorkerSandbox | None = None,
        idle_work: IdleWork | None = None,
        breaker: StartBreaker | None = None,
        queue: str = QUEUE,
    ) -> None:
        self.name = name or fresh_name()
        self._connection = connection
        self._rq = SimpleWorker(
            [Queue(queue, connection=connection, serializer=JSONSerializer, job_class=MatchJob)],
            name=self.name,
            connection=connection,
            job_class=MatchJob,
            serializer=JSONSerializer,
            worker_ttl=_RQ_MARGIN_SECONDS + HEARTBEAT_SECONDS,
            maintenance_interval=_MAINTENANCE_SECONDS,
            log_job_description=False,
        )
        self._rq.max_connection_wait_time = _LONGEST_RECONNECT_SECONDS
        self._play = play
        self._on_crash = on_crash
        self._sandbox = sandbox or WorkerSandbox()
        self._idle_work = idle_work
        self._breaker = breaker or StartBreaker()
        self._breaker_pauses = Backoff(_FIRST_BREAKER_PAUSE_SECONDS, _LONGEST_BREAKER_PAUSE_SECONDS)
        self._queue_name = queue
        self._match_queue = MatchQueue(connection, queue)
        self._host = socket.gethostname()
        self._games = {game: package.code for game, package in own_packages().items()}
        self._job: Job | None = None
        self._registered_match: str | None = None
        self._stopped_at: float | None = None
        self._waits = False

    def run(self, *, max_idle_seconds: int | None = None, max_jobs: int | None = None) -> None:
        """Take jobs until SIGTERM or SIGINT. Must run in the main thread.

        Args:
            max_idle_seconds: the worker ends when no job has waited for this time.
            max_jobs: the worker ends after this number of jobs.

        Raises:
            redis.exceptions.RedisError: Redis failed between two matches.
        """
        for logger in ("rq.worker", "rq.job"):
            logging.getLogger(logger).setLevel(logging.WARNING)
        set_player(self._play_match)
        with self._handling_signals(), suppress(StopRequested):
            self._rq.register_birth()  # type: ignore[no-untyped-call]
            try:
                jobs = itertools.count() if max_jobs is None else range(max_jobs)
                for _ in jobs:
                    taken = self._take(max_idle_seconds)
                    if taken is None:
                        break
                    self._rq.execute_job(*taken)
                    failpoint.reach("job.removed")
                    self._job = None
            finally:
                self._waits = False
                with suppress(RedisError):
                    unregister_worker(self._connection, self.name, self._host)
                    self._rq.register_death()  # type: ignore[no-untyped-call]

    @contextmanager
    def _handling_signals(self) -> Iterator[None]:
        handlers = {number: signal.signal(number, self._stop) for number in STOP_SIGNALS}
        try:
            yield
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """Stop at once if no match is played; else after it, or at a second signal 1 s later."""
        now = time.monotonic()
        if self._stopped_at is None:
            self._stopped_at = now
        if self._waits or now - self._stopped_at >= _SECOND_SIGNAL_SECONDS:
            raise StopRequested

    def _take(self, max_idle_seconds: int | None) -> tuple[Job, Queue] | None:
        """Wait until this worker may play, then for a job; register what it plays."""
        self._waits = True
        if self._stopped_at is not None:
            raise StopRequested
        self.register()
        self._rq.check_for_suspension(burst=max_idle_seconds is not None)
        self._await_sandbox(ends_without_job=max_idle_seconds is not None)
        taken = self._await_job(max_idle_seconds)
        self._waits = False
        if taken is not None:
            self._job = taken[0]
            self.register()
        return taken

    def register(self) -> None:
        """Register the worker for the list of workers.

        The start and the end of a match wake the sweeper, so that the queue does not run empty.

        Raises:
            redis.exceptions.RedisError: Redis does not answer.
        """
        match = self._job.id if self._job is not None else ""
        info = WorkerInfo(
            name=self.name,
            host=self._host,
            pid=os.getpid(),
            match=match,
            sandbox=self._sandbox.state(),
            paused=self._breaker.is_open,
            games=self._games,
            queue=self._queue_name,
        )
        register_worker(self._connection, info)
        if match != self._registered_match:
            self._match_queue.wake_sweeper()
            self._registered_match = match

    def _await_job(self, max_idle_seconds: int | None) -> tuple[Job, Queue] | None:
        """Wait for a job with heartbeats, and do idle work meanwhile if the worker does not end."""
        if max_idle_seconds is not None:
            return self._rq.dequeue_job_and_maintain_ttl(HEARTBEAT_SECONDS, max_idle_seconds)
        idle_work = self._idle_work
        with nullcontext() if idle_work is None else idle_work.allowed():
            if idle_work is not None:
                idle_work.catch_up(self.register)
            idle_since = time.monotonic()
            while True:
                taken = self._rq.dequeue_job_and_maintain_ttl(HEARTBEAT_SECONDS, HEARTBEAT_SECONDS)
                if taken is not None:
                    return taken
                self.register()
                if idle_work is not None and time.monotonic() - idle_since >= idle_work.pause:
                    idle_work.begin()
                    idle_since = time.monotonic()

    def _await_sandbox(self, ends_without_job: bool) -> None:
        """Wait until bots can be run, so that no match fails for it."""
        self._await_breaker()
        backoff, reason = Backoff(_FIRST_SANDBOX_PAUSE_SECONDS, HEARTBEAT_SECONDS), ""
        while True:
            try:
                self._sandbox.check()
            except InfrastructureError as error:
                if str(error) != reason:
                    reason = str(error)
                    log.error("worker %s takes no match: %s", self.name, reason)
                if ends_without_job:
                    raise StopRequested from None
            else:
                if reason:
                    log.warning("worker %s takes matches again", self.name)
                return
            self.register()
            time.sleep(backoff.after())

    def _await_breaker(self) -> None:
        """Wait after failures in several matches; then the sandbox is tested again."""
        if not self._breaker.is_open:
            self._breaker_pauses.reset()
            return
        left = self._breaker_pauses.after()
        log.error("worker %s: its last matches failed; no match for %.0f s", self.name, left)
        self._sandbox.doubt()
        while left > 0:
            self.register()
            time.sleep(min(left, HEARTBEAT_SECONDS))
            left -= HEARTBEAT_SECONDS

    def _play_match(self, match: str) -> None:
        """Play a match in its own process; called by the function of the job."""
        failpoint.reach("job.taken")
        process = ForkedProcess(lambda drain: self._play_in_child(match, drain))
        with process.stopped_by_signals():
            try:
                # After a signal that arrived since the job was taken, the match is not begun.
                if self._stopped_at is None:
                    process.start()
                    self._await_exit(process, match)
            finally:
                if not process.end():
                    log.warning("worker %s: the process of match %s crashed", self.name, match)
                    self._on_crash()

    def _play_in_child(self, match: str, drain: Drain) -> None:
        failpoint.reach("job.started")
        self._play(match, drain)

    def _await_exit(self, process: ForkedProcess, match: str) -> None:
        """Send heartbeats until the process exits; kill it if it stays frozen."""
        frozen_checks = 0
        while True:
            try:
                if process.has_exited(HEARTBEAT_SECONDS):
                    return
                frozen_checks = frozen_checks + 1 if is_frozen(process.pid) else 0
                if frozen_checks > _FROZEN_CHECKS:
                    log.warning("worker %s: kills the frozen process of %s", self.name, match)
                    process.kill()
                self.register()
                if self._job is not None:
                    self._rq.maintain_heartbeats(self._job)
            except RedisError as error:
                log.warning("worker %s: Redis is not available: %s", self.name, error)
