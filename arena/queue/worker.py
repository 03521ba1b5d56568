"""Worker that takes jobs from the match queue and plays each match in a forked process.

It extends RQ's worker at three points (docs/decisions/2026-11-23-plain-queue.md): the
execution of a job, the data that a heartbeat registers, and no thread that listens for commands.
"""

from __future__ import annotations

import logging
import os
import random
import select
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from redis.exceptions import RedisError
from rq import Queue
from rq.exceptions import NoSuchJobError, StopRequested
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.worker.base import BaseWorker, WorkerStatus
from rq.worker_registration import register

from arena.errors import InfrastructureError
from arena.queue import worker_hosts
from arena.queue.match_queue import (
    FORGOTTEN_SECONDS,
    FUNCTION,
    HEARTBEAT_SECONDS,
    MATCH_ID,
    PAUSED,
    QUEUE,
    MatchQueue,
    SandboxState,
    fresh_name,
)
from arena.system import failpoint, parent_death_signal
from arena.system.backoff import Backoff
from arena.system.process_info import is_frozen
from arena.system.start_breaker import StartBreaker
from arena.system.stop_event import StopEvent

if TYPE_CHECKING:
    from redis import Redis
    from redis.client import Pipeline


_STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)

log = logging.getLogger("arena.worker")
# RQ doubles its pauses while Redis is away. A match must continue within 20 s of its return.
_LONGEST_RECONNECT_SECONDS: Final = 2.0
_MAINTENANCE_SECONDS: Final = 60
_FIRST_SANDBOX_PAUSE_SECONDS: Final = 0.5
_FIRST_BREAKER_PAUSE_SECONDS: Final = 2.0
_LONGEST_BREAKER_PAUSE_SECONDS: Final = 60.0
# Checks are one heartbeat apart; the lease of a match lapses after three.
_FROZEN_CHECKS: Final = 3
# RQ waits for a job 15 s less than the worker's time to live.
_RQ_MARGIN_SECONDS: Final = 15


class Drain(StopEvent):
    """Set when the worker must stop: finish the current game and release the match."""


class ForkedProcess:
    """A child process for one match or one piece of idle work; it dies with this process.

    Args:
        work: runs in the child until it is done or the given event is set.
    """

    def __init__(self, work: Callable[[Drain], None]) -> None:
        self._work = work
        self._drain = Drain()
        self._pid = 0
        self._end_of_life = -1

    @property
    def pid(self) -> int:
        """Process id; 0 unless the process runs."""
        return self._pid

    def start(self) -> None:
        """Fork the process.

        Stop signals are blocked meanwhile: the child must not run the handlers of this process, and
        the handlers of this process need the child's process id.
        """
        # Only the child holds the write end, so the read end reports its exit.
        self._end_of_life, write_end = os.pipe()
        parent = os.getpid()
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS)
        try:
            pid = os.fork()
            if pid == 0:
                self._run(parent, mask)
            self._pid = pid
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            os.close(write_end)

    def _run(self, parent: int, mask: set[signal.Signals | int]) -> None:
        """Do the work in the child process. Does not return."""
        status = 1
        try:
            # Ctrl-C in the terminal must not reach the bots.
            os.setpgrp()
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, lambda number, frame: self._drain.set())
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            parent_death_signal.die_with_parent(parent)
            random.seed()
            self._work(self._drain)
            status = 0
        except BaseException:
            log.exception("the forked process failed unexpectedly")
        finally:
            os._exit(status)

    def stop(self) -> None:
        """Ask the process to stop after the current game."""
        self._drain.set()
        if self._pid:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGTERM)

    def kill(self) -> None:
        """Kill the process and its process group."""
        if self._pid:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, signal.SIGKILL)

    def has_exited(self, seconds: float) -> bool:
        """Wait at most this time for the exit; return whether the process has exited."""
        return bool(select.select([self._end_of_life], [], [], seconds)[0])

    def end(self) -> bool:
        """Kill the process if it still runs, and wait for it.

        Returns:
            Whether it exited normally.
        """
        if not self._pid:
            return True
        if not self.has_exited(0):
            self.kill()
        _, status = os.waitpid(self._pid, 0)
        self._pid = 0
        os.close(self._end_of_life)
        return status == 0

    @contextmanager
    def stopped_by_signals(self) -> Iterator[None]:
        """Let SIGTERM and SIGINT stop the process too, before their present handlers run."""
        handlers = {number: signal.getsignal(number) for number in _STOP_SIGNALS}

        def stop(number: int, frame: FrameType | None) -> None:
            self.stop()
            handler = handlers[signal.Signals(number)]
            if callable(handler):
                handler(number, frame)

        for number in handlers:
            signal.signal(number, stop)
        try:
            yield
        finally:
            for number, handler in handlers.items():
                # A handler may have installed another one for the next signal.
                if signal.getsignal(number) is stop:
                    signal.signal(number, handler)


class IdlePermission:
    """Permission to do idle work: given if a pipe that both processes share holds a byte."""

    def __init__(self) -> None:
        self._read_end, self._write_end = os.pipe()

    def give(self) -> None:
        """Let the idle work continue."""
        os.write(self._write_end, b"o")

    def withdraw(self) -> None:
        """Stop the idle work at its next call of `wait`."""
        os.read(self._read_end, 1)

    def wait(self) -> None:
        """Wait until the permission is given."""
        select.select([self._read_end], [], [])


class IdleWork:
    """Work in a process of its own while the worker waits for matches; it pauses during a match.

    A ladder can keep the workers busy for ever, so a busy worker pauses for a piece of work, too.

    Args:
        work: does one piece of work, and often waits for the permission.
        pause: seconds of waiting after which a piece of work begins.
        busy_seconds: seconds without a begin after which the work precedes the next match.
        longest: seconds for which the next match waits at most.
    """

    def __init__(
        self,
        work: Callable[[IdlePermission], None],
        pause: int = 10,
        busy_seconds: float = 300,
        longest: float = 60,
    ) -> None:
        self.pause = pause
        self._busy_seconds, self._longest = busy_seconds, longest
        self._begun = time.monotonic()
        self._permission = IdlePermission()
        self._process = ForkedProcess(lambda drain: work(self._permission))

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Let the work run within this context."""
        self._permission.give()
        try:
            yield
        finally:
            self._permission.withdraw()

    def __enter__(self) -> None:
        """Do nothing; the work begins when the worker waits."""

    def __exit__(self, *error: object) -> None:
        """Kill the process of a piece of work."""
        self._process.end()

    def begin(self) -> None:
        """Start a piece of work unless one runs."""
        self._begun = time.monotonic()
        if self._process.pid and not self._process.has_exited(0):
            return
        if not self._process.end():
            log.warning("the process of idle work ended unexpectedly")
        self._process.start()

    def catch_up(self, alive: Callable[[], object]) -> None:
        """Do a piece of work now, if none has begun for long; call `alive` every 5 s."""
        if time.monotonic() - self._begun < self._busy_seconds:
            return
        self.begin()
        while time.monotonic() - self._begun < self._longest and not self._process.has_exited(5):
            alive()


class MatchJob(Job):
    """An RQ job; only its match id is read.

    Anyone who can write to Redis can put the names of functions and URLs into a job, which plain RQ
    would import, call or fetch, even in its maintenance.
    """

    def restore(self, raw_data: Any) -> None:
        """Read the job from Redis.

        Raises:
            NoSuchJobError: it is not a match job. RQ continues with the next job.
        """
        try:
            # The data is deserialized here, at its first use.
            super().restore(
                {
                    b"data": raw_data[b"data"],
                    b"origin": QUEUE.encode(),
                    b"timeout": b"-1",
                    b"result_ttl": b"0",
                    b"failure_ttl": b"0",
                }
            )
            call = (self.func_name, self.instance, list(self.args), dict(self.kwargs))
        except Exception as error:
            raise NoSuchJobError(f"job {self.id!r} cannot be read") from error
        if call != (FUNCTION, None, [self.id], {}) or not MATCH_ID.fullmatch(self.id):
            log.warning("job %r in Redis is not a match job; it is ignored", self.id)
            raise NoSuchJobError(f"job {self.id!r} is not a match job")


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


class MatchWorker(BaseWorker):
    """A worker that listens to the match queue.

    While a match is played, failures of Redis are logged and have no effect. At other times they
    end the worker, and its supervisor restarts it.

    Args:
        connection: connection to the Redis of the match queue.
        play: plays the match with the given id in a forked process until the given event is set.
        name: unique name of the worker; by default a fresh one.
        on_crash: called after the process of a match has crashed or was killed.
        sandbox: the sandbox of its bots. While it is not available, the worker takes no match.
        idle_work: work to do while no match waits.
        breaker: open while matches of this worker fail. Then it pauses before each match.
    """

    max_connection_wait_time = _LONGEST_RECONNECT_SECONDS

    def __init__(
        self,
        connection: Redis,
        play: Play,
        name: str | None = None,
        on_crash: Callable[[], object] = lambda: None,
        sandbox: WorkerSandbox | None = None,
        idle_work: IdleWork | None = None,
        breaker: StartBreaker | None = None,
    ) -> None:
        super().__init__(
            [Queue(QUEUE, connection=connection, serializer=JSONSerializer, job_class=MatchJob)],
            name=name or fresh_name(),
            connection=connection,
            job_class=MatchJob,
            serializer=JSONSerializer,
            worker_ttl=_RQ_MARGIN_SECONDS + HEARTBEAT_SECONDS,
            maintenance_interval=_MAINTENANCE_SECONDS,
            job_monitoring_interval=HEARTBEAT_SECONDS,
            log_job_description=False,
        )
        self._play = play
        self._on_crash = on_crash
        self._sandbox = sandbox or WorkerSandbox()
        self._idle_work = idle_work
        self._breaker = breaker or StartBreaker()
        self._breaker_pauses = Backoff(_FIRST_BREAKER_PAUSE_SECONDS, _LONGEST_BREAKER_PAUSE_SECONDS)
        self._match_queue = MatchQueue(connection)

    def dequeue_job_and_maintain_ttl(
        self, timeout: int | None, max_idle_time: int | None = None
    ) -> tuple[Job, Queue] | None:
        """Wait for a job, and do idle work meanwhile; not in a worker that ends without a job."""
        self._await_sandbox(ends_without_job=timeout is None or max_idle_time is not None)
        idle_work = self._idle_work
        if idle_work is None or timeout is None or max_idle_time is not None:
            return super().dequeue_job_and_maintain_ttl(timeout, max_idle_time)
        with idle_work.allowed():
            idle_work.catch_up(self.heartbeat)
            while True:
                taken = super().dequeue_job_and_maintain_ttl(timeout, idle_work.pause)
                if taken is not None:
                    return taken
                idle_work.begin()

    def _await_sandbox(self, ends_without_job: bool) -> None:
        """Wait until bots can be run, so that no match fails for it.

        Raises:
            StopRequested: bots cannot be run, and this worker ends instead of waiting.
        """
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
            self.heartbeat()
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
            self.heartbeat()
            time.sleep(min(left, HEARTBEAT_SECONDS))
            left -= HEARTBEAT_SECONDS

    def execute_job(self, job: Job, queue: Queue) -> None:
        """Play the match in its own process, then remove the job."""
        failpoint.reach("job.taken")
        process = ForkedProcess(lambda drain: self._play_job(job.id, drain))
        with process.stopped_by_signals():
            try:
                self.prepare_execution(job)
                self.prepare_job_execution(job, remove_from_intermediate_queue=True)
                process.start()
                self._await_exit(process, job)
            finally:
                if not process.end():
                    log.warning("worker %s: the process of match %s crashed", self.name, job.id)
                    self._on_crash()
        failpoint.reach("job.removed")
        with self.connection.pipeline() as pipeline:
            self.cleanup_execution(job, pipeline)
            pipeline.execute()
        self._match_queue.remove(job.id)
        self.set_state(WorkerStatus.IDLE)

    def _play_job(self, match: str, drain: Drain) -> None:
        failpoint.reach("job.started")
        self._play(match, drain)

    def _await_exit(self, process: ForkedProcess, job: Job) -> None:
        """Send heartbeats until the process exits; kill it if it stays frozen."""
        frozen_checks = 0
        while True:
            try:
                if process.has_exited(HEARTBEAT_SECONDS):
                    return
                frozen_checks = frozen_checks + 1 if is_frozen(process.pid) else 0
                if frozen_checks > _FROZEN_CHECKS:
                    log.warning("worker %s: kills the frozen process of %s", self.name, job.id)
                    process.kill()
                self.maintain_heartbeats(job)
            except RedisError as error:
                log.warning("worker %s: Redis is not available: %s", self.name, error)

    def heartbeat(self, timeout: int | None = None, pipeline: Pipeline | None = None) -> None:
        """Register the worker and its sandbox for FORGOTTEN_SECONDS.

        Each heartbeat contains the whole registration, because Redis may have lost its data.
        """
        super().heartbeat(FORGOTTEN_SECONDS, pipeline)
        connection = self.connection if pipeline is None else pipeline
        fields = {**self.serialize(), "state": self.get_state(), **self._sandbox.state().fields()}
        fields[PAUSED] = str(int(self._breaker.is_open))
        connection.hset(self.key, mapping=fields)
        register(self, pipeline)
        worker_hosts.note_host(connection, self.hostname or "")

    def register_death(self) -> None:
        """Remove the registration, and that of the machine if this was its last worker."""
        super().register_death()  # type: ignore[no-untyped-call]
        worker_hosts.remove_stopped_host(self.connection, self.hostname or "")

    def subscribe(self) -> None:
        """Do not listen for RQ's commands, which needs a thread.

        No other thread may exist when the process of a match is forked.
        """
