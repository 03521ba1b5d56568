"""Sweeper: let formats schedule their next matches, and keep a short queue of due matches.

The store lists the due matches in their order: those not begun, and those whose lease lapsed
because their worker died. Jobs may be lost at any time; the sweeper enqueues them again. Several
sweepers may run at once.

Scheduling can take seconds, and the short queue would run empty meanwhile, so a second thread fills
it. Each of the two threads wakes the other when there may be work for it.

Matches of the clock class `model` wait for networks, so they have a queue and workers of their own.
Without such workers, all matches are in one queue.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError

from arena.config import REMOTE_WAIT_SECONDS
from arena.errors import StoreError
from arena.services.queue import worker_games, worker_sandboxes
from arena.services.queue.match_queue import MatchQueue
from arena.services.queue.worker_registrations import (
    HEARTBEAT_SECONDS,
    MODELS_QUEUE,
    QUEUE,
    WorkerInfo,
    forget_worker,
    workers,
)
from arena.store import database
from arena.store.bots import remote_bots
from arena.store.database import NEWER_VERSION
from arena.store.events import incidents
from arena.store.events.messages import TournamentChanged
from arena.store.events.publisher import send
from arena.store.matches import match_leases, offline_bot_waits
from arena.store.schema import TournamentState
from arena.system import grpc_probe, timings
from arena.system.backoff import Backoff
from arena.tournaments.scheduler import Scheduler

if TYPE_CHECKING:
    from redis import Redis
    from sqlalchemy import Engine


SHORTEST_QUEUE: Final = 8
"""Number of waiting jobs with up to four workers, and without any."""
_JOBS_PER_WORKER: Final = 2
PAUSE_SECONDS = 1.0
"""Seconds between two sweeps; a queue that is half empty triggers a sweep at once."""
_SHORTEST_PAUSE_SECONDS: Final = 0.02
_LONGEST_PAUSE_SECONDS = 10.0
_LONGEST_WAIT_SECONDS: Final = 1.0
"""Redis clients give up a connection that is silent for 5 s."""

SERVICE = "sweeper"
"""Name under which the sweeper's failures are counted."""

PROBE_SECONDS = 3.0
_PARALLEL_PROBES = 8

log = logging.getLogger("arena.sweeper")


class OfflineBots:
    """Probes the remote bots that matches wait for, every few seconds.

    Only bots with their own address are probed; the others reconnect by themselves.

    Args:
        wait: maximum time, in seconds, that matches wait for an offline bot.
        clock: returns the time in seconds that intervals are measured with.
    """

    def __init__(
        self, engine: Engine, wait: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._engine = engine
        self._wait = wait
        self._clock = clock
        self._since: float | None = None
        self._next = 0.0

    def probe(self) -> None:
        """Probe the offline bots if the interval has passed. Propagates errors of the store."""
        if self._clock() < self._next:
            return
        if self._since is None:
            # Bots that went offline before the first probe may return in a moment.
            self._since = database.current_time(self._engine)
        if offline_bot_waits.has_remote_bots(self._engine):
            self._probe_addresses()
            given_up = offline_bot_waits.give_up(self._engine, self._wait, self._since)
            if given_up:
                log.warning("%d matches no longer wait for an offline bot", given_up)
        self._next = self._clock() + min(PROBE_SECONDS, max(self._wait / 4, 0.25))

    def _probe_addresses(self) -> None:
        addresses = offline_bot_waits.addresses(self._engine)
        if not addresses:
            return
        with ThreadPoolExecutor(_PARALLEL_PROBES) as pool:
            responses = pool.map(grpc_probe.answers, addresses.values())
        for version, answers_again in zip(addresses, responses, strict=True):
            if answers_again:
                log.info("%s: online again", version)
                remote_bots.record_reachable(self._engine, version)


class _ShortQueue:
    """A queue of due matches that is kept short. Propagates errors of the store and of Redis."""

    def __init__(
        self, engine: Engine, connection: Redis, name: str, clock: Callable[[], float]
    ) -> None:
        self.jobs = MatchQueue(connection, name)
        self.has_few_due = False
        self._engine = engine
        self._clock = clock
        self._length = SHORTEST_QUEUE
        self._enqueued_at: dict[str, float] = {}
        self._pushed_wait = False
        self._games_wait: tuple[str, ...] = ()

    @property
    def is_half_empty(self) -> bool:
        """Whether half of the jobs have been taken."""
        return len(self.jobs) <= self._length / 2

    def clear(self) -> None:
        """Remove all jobs. Those of due matches are enqueued at the next call of `fill`."""
        self.jobs.clear()
        self._enqueued_at.clear()

    def fill(self, listeners: Sequence[WorkerInfo], taken: set[str], models: bool | None) -> int:
        """Enqueue due matches until the queue has its length; urgent ones precede the others.

        Args:
            listeners: the live workers that listen to the queue.
            taken: matches that a worker has taken.
            models: whether it has matches of the clock class `model` only, or others only.

        Returns:
            The number of jobs enqueued.
        """
        self._length = queue_length(len(listeners))
        urgent, others = self._missing(listeners, taken, models)
        room = max(0, self._length - len(self.jobs) - len(urgent))
        chosen = [*urgent, *others[:room]]
        if not chosen:
            return 0
        self._enqueued_at |= dict.fromkeys(chosen, self._clock())
        return self.jobs.enqueue(*chosen, first=urgent)

    def _missing(
        self, listeners: Sequence[WorkerInfo], taken: set[str], models: bool | None
    ) -> tuple[list[str], list[str]]:
        """Return the due matches without a job in the queue: urgent ones, and others."""
        enqueued = self._enqueued_lately() | set(self.jobs.waiting())
        due = match_leases.due_by_urgency(
            self._engine,
            self._length + len(taken | enqueued),
            pushed=not self._pushed_versions_wait(listeners),
            without=self._waiting_games(listeners),
            models=models,
        )
        self.has_few_due = len(due.urgent) + len(due.others) < self._length
        # An urgent one may be held by the frozen process of a match, so it counts as missing.
        urgent = [match for match in due.urgent[: self._length] if match not in enqueued]
        return urgent, [match for match in due.others if match not in enqueued | taken]

    def _enqueued_lately(self) -> set[str]:
        """Return the matches that were enqueued since `PAUSE_SECONDS` ago.

        A match that workers refuse, for example because their sandbox does not suffice, stays due.
        Without this pause, it would be enqueued and refused without end.
        """
        since = self._clock() - PAUSE_SECONDS
        self._enqueued_at = {match: at for match, at in self._enqueued_at.items() if at > since}
        return set(self._enqueued_at)

    def _pushed_versions_wait(self, alive: Sequence[WorkerInfo]) -> bool:
        """Return whether no worker may play pushed versions."""
        before, self._pushed_wait = self._pushed_wait, worker_sandboxes.pushed_versions_wait(alive)
        if self._pushed_wait and not before:
            log.warning("%s", worker_sandboxes.waiting_reason(alive))
        return self._pushed_wait

    def _waiting_games(self, alive: Sequence[WorkerInfo]) -> tuple[str, ...]:
        """Return the games of packages that no worker may play."""
        packages = worker_games.own_packages()
        before = self._games_wait
        self._games_wait = worker_games.games_without_workers(packages, alive)
        for game in set(self._games_wait) - set(before):
            log.warning("%s", worker_games.waiting_reason(game, packages, alive))
        return self._games_wait


class Sweeper:
    """Schedules matches and fills the queue, in two threads between `start` and `stop`.

    Args:
        connection: connection to the Redis of the match queue.
        wait: seconds that matches wait for an offline remote bot.
        clock: returns the time in seconds that intervals are measured with.
        model_workers: whether this process starts workers for the queue `models`, so that its
            matches wait for them while they start.
    """

    def __init__(
        self,
        engine: Engine,
        connection: Redis,
        wait: float = REMOTE_WAIT_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        *,
        model_workers: bool = False,
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._offline_bots = OfflineBots(engine, wait, clock)
        self._connection = connection
        self._fast = _ShortQueue(engine, connection, QUEUE, clock)
        self._models = _ShortQueue(engine, connection, MODELS_QUEUE, clock)
        self._has_model_workers = self._models_apart = model_workers
        self._scheduler = Scheduler(engine, self._publish)
        self._exited_workers: deque[str] = deque()
        self._stopping = threading.Event()
        self._schedule_now = threading.Event()
        self._version_at = 0.0
        self._published_at = 0.0
        self._outdated: StoreError | None = None
        self._failures = 0
        self._failing: set[str] = set()
        self._threads = [
            threading.Thread(target=self._run, args=arguments, name=arguments[0], daemon=True)
            for arguments in (
                ("sweeper: schedule", self._schedule, self._await_schedule_time),
                ("sweeper: fill", self._fill_queue, self._await_wake),
            )
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop the threads; return when what they do is finished."""
        self._stopping.set()
        self._schedule_now.set()
        self.wake()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()

    def wake(self) -> None:
        """Fill the queue now; without Redis it is filled a second later."""
        with contextlib.suppress(RedisError):
            self._fast.jobs.wake_sweeper()

    def forget_worker(self, worker: str) -> None:
        """Remove a dead worker, and make its matches due, now."""
        self._exited_workers.append(worker)
        self.wake()

    @property
    def failures(self) -> int:
        """Number of unexpected errors."""
        return self._failures

    @property
    def failing(self) -> bool:
        """Whether the latest attempt to schedule or to fill the queue failed."""
        return bool(self._failing)

    @property
    def outdated(self) -> StoreError | None:
        """The error that ended the sweeps: a newer release has upgraded the database."""
        return self._outdated

    def sweep(self) -> int:
        """Schedule matches, then fill the queue; return the number of jobs enqueued.

        Raises:
            RedisError: Redis does not answer.
            SQLAlchemyError: the database does not answer.
            StoreError: the store rejected an operation, or a newer release has upgraded it.
        """
        self._schedule()
        return self._fill_queue()

    def _schedule(self) -> None:
        self._refuse_newer()
        self._offline_bots.probe()
        scheduled = self._scheduler.advance()
        timings.HERE.send(self._connection)
        if scheduled:
            self.wake()

    def _fill_queue(self) -> int:
        """Enqueue due matches until each queue has its length."""
        self._refuse_newer()
        if removed := self._fast.jobs.discard_malformed():
            incidents.note_discarded(self._connection, removed)
        self._publish_packages()
        self._end_leases()
        alive = self.live_workers()
        # A worker has taken these matches and leases them in a moment; later they are not due.
        taken = {info.match for info in alive if info.match}
        model_workers = [info for info in alive if info.plays_models]
        has_models = self._has_model_workers or bool(model_workers)
        if has_models and not self._models_apart:
            # Its jobs may be those of matches that belong to the other queue now.
            self._fast.clear()
        if not has_models:
            self._models.clear()
        self._models_apart = has_models
        others = [info for info in alive if not info.plays_models]
        enqueued = self._fast.fill(others, taken, False if has_models else None)
        if has_models:
            enqueued += self._models.fill(model_workers, taken, True)
        return enqueued

    def live_workers(self) -> Sequence[WorkerInfo]:
        return [info for info in workers(self._connection) if info.alive]

    def _end_leases(self) -> None:
        """Make the matches of exited workers due."""
        while self._exited_workers:
            match_leases.end_leases(self._engine, self._exited_workers[0])
            forget_worker(self._connection, self._exited_workers[0])
            self._exited_workers.popleft()

    def _refuse_newer(self) -> None:
        """Check the release of the database every `HEARTBEAT_SECONDS`."""
        if self._clock() >= self._version_at:
            database.refuse_newer(self._engine)
            self._version_at = self._clock() + HEARTBEAT_SECONDS

    def _publish_packages(self) -> None:
        """Publish the packages of games every `HEARTBEAT_SECONDS`: Redis may lose its data."""
        if self._clock() >= self._published_at:
            worker_games.publish_packages(self._connection)
            self._published_at = self._clock() + HEARTBEAT_SECONDS

    def _publish(self, tournament: str, state: TournamentState) -> None:
        with contextlib.suppress(RedisError):
            send(self._connection, TournamentChanged(tournament, state))

    def _run(self, name: str, work: Callable[[], object], wait: Callable[[], None]) -> None:
        backoff = Backoff(2 * PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)
        while not self._stopping.is_set() and self._outdated is None:
            try:
                work()
                self._failing.discard(name)
                wait()
            except (RedisError, SQLAlchemyError, StoreError) as error:
                if isinstance(error, StoreError) and error.code == NEWER_VERSION:
                    self._outdated = error
                    return
                self._pause_after(name, backoff, error)
            except Exception as error:
                # Without a sweeper no match is played, so an error must not end the thread.
                self._failures += 1
                log.exception("%s failed unexpectedly", name)
                with contextlib.suppress(RedisError):
                    incidents.note_failure(self._connection, SERVICE, error)
                self._pause_after(name, backoff, error)
            else:
                backoff.reset()

    def _pause_after(self, name: str, backoff: Backoff, error: Exception) -> None:
        self._failing.add(name)
        pause = backoff.after()
        log.warning("%s: cannot sweep, next try in %.0f s: %s", name, pause, error)
        self._stopping.wait(pause)

    def _await_schedule_time(self) -> None:
        """Wait for a second, or until a match begins or ends while few are due."""
        self._stopping.wait(_SHORTEST_PAUSE_SECONDS)
        self._schedule_now.wait(PAUSE_SECONDS)
        self._schedule_now.clear()

    def _await_wake(self) -> None:
        """Wait for a second, or until a sweeper is woken and the queue is half empty."""
        until = time.monotonic() + PAUSE_SECONDS
        self._stopping.wait(_SHORTEST_PAUSE_SECONDS)
        while (left := until - time.monotonic()) > 0 and not self._stopping.is_set():
            woken = self._fast.jobs.await_wake(min(left, _LONGEST_WAIT_SECONDS))
            queues = [self._fast, self._models] if self._models_apart else [self._fast]
            if woken and (self._exited_workers or any(queue.is_half_empty for queue in queues)):
                if any(queue.has_few_due for queue in queues):
                    self._schedule_now.set()
                return


def queue_length(workers: int) -> int:
    """Return the number of jobs that wait for this number of workers.

    A multiple of four, so that a quarter of the jobs can be those of ladders.
    """
    turn = match_leases.LADDER_TURN + 1
    return max(SHORTEST_QUEUE, -(-_JOBS_PER_WORKER * workers // turn) * turn)
