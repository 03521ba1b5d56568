"""Sweeper: let formats schedule their next matches, and enqueue every due match.

The store lists the due matches: those not begun, and those whose lease lapsed because their worker
died. Jobs may be lost at any time; the sweeper enqueues them again. Several sweepers may run at
once.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError

from arena.config import REMOTE_WAIT_SECONDS
from arena.errors import StoreError
from arena.events import incidents
from arena.events.messages import TournamentChanged
from arena.events.publisher import send
from arena.queue import match_queue, worker_sandboxes
from arena.queue.match_queue import HEARTBEAT_SECONDS, MatchQueue, forget_worker
from arena.queue.offline_bots import OfflineBots
from arena.queue.waiting_order import WaitingOrder
from arena.store import database
from arena.store.database import NEWER_VERSION
from arena.store.matches import listing, transitions
from arena.store.schema import TournamentState
from arena.system import timings
from arena.system.backoff import Backoff
from arena.tournaments.scheduler import Scheduler

if TYPE_CHECKING:
    from redis import Redis
    from sqlalchemy import Engine


# Maximum number of waiting jobs: enough that a worker never waits for the next sweep.
LONGEST_QUEUE = 256
PAUSE_SECONDS = 1.0
"""Seconds between two sweeps."""
_LONGEST_PAUSE_SECONDS = 10.0
_REMOVAL_SECONDS = 10.0

SERVICE = "sweeper"
"""Name under which the sweeper's failures are counted."""

log = logging.getLogger("arena.sweeper")


class Sweeper:
    """Sweeps in its own thread between `start` and `stop`.

    Args:
        engine: database engine of the store.
        connection: connection to the Redis of the match queue.
        wake: set by other threads to trigger a sweep at once.
        wait: seconds that matches wait for an offline remote bot.
        clock: returns the time in seconds that intervals are measured with.
    """

    def __init__(
        self,
        engine: Engine,
        connection: Redis,
        wake: threading.Event,
        wait: float = REMOTE_WAIT_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._offline_bots = OfflineBots(engine, wait, clock)
        self._connection = connection
        self._match_queue = MatchQueue(connection)
        self._order = WaitingOrder()
        self._scheduler = Scheduler(engine, self._publish)
        self._exited_workers: deque[str] = deque()
        self._wake = wake
        self._stopping = False
        self._removal_at = 0.0
        self._workers_at = self._version_at = 0.0
        self._outdated: StoreError | None = None
        self._pushed_wait = False
        self._failures = 0
        self._failing = False
        self._thread = threading.Thread(target=self._run, name="sweeper", daemon=True)

    def start(self) -> None:
        """Start the sweeper thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the sweeper thread; return when the current sweep is over."""
        self._stopping = True
        self._wake.set()
        if self._thread.ident is not None:
            self._thread.join()

    def forget_worker(self, worker: str) -> None:
        """Trigger a sweep that removes a dead worker and makes its matches due."""
        self._exited_workers.append(worker)
        self._wake.set()

    @property
    def failures(self) -> int:
        """Number of sweeps that ended with an unexpected error."""
        return self._failures

    @property
    def failing(self) -> bool:
        """Whether the latest sweep ended with an error."""
        return self._failing

    @property
    def outdated(self) -> StoreError | None:
        """The error that ended the sweeps: a newer release has upgraded the database."""
        return self._outdated

    def sweep(self) -> int:
        """Sweep once.

        Returns:
            The number of jobs enqueued.

        Raises:
            RedisError: Redis does not answer.
            SQLAlchemyError: the database does not answer.
            StoreError: the store rejected an operation, or a newer release has upgraded it.
        """
        self._refuse_newer()
        if removed := self._match_queue.discard_malformed():
            incidents.note_discarded(self._connection, removed)
        while self._exited_workers:
            transitions.end_leases(self._engine, self._exited_workers[0])
            forget_worker(self._connection, self._exited_workers[0])
            self._exited_workers.popleft()
        self._offline_bots.probe()
        self._scheduler.advance()
        self._remove_closed_jobs()
        timings.HERE.send(self._connection)
        due = transitions.due_by_urgency(
            self._engine, LONGEST_QUEUE, pushed=not self._pushed_versions_wait()
        )
        waiting = self._match_queue.waiting()
        self._order.count_taken(waiting)
        self._order.note(due)
        enqueued = self._match_queue.enqueue_due(due.others, due.urgent, waiting)
        if enqueued:
            waiting = self._match_queue.waiting()
        order = self._order.arrange(waiting)
        if order != waiting:
            self._match_queue.arrange(order)
        return enqueued

    def _pushed_versions_wait(self) -> bool:
        """Return whether no worker may play pushed versions; workers are read at each heartbeat."""
        if self._clock() >= self._workers_at:
            self._workers_at = self._clock() + HEARTBEAT_SECONDS
            before = self._pushed_wait
            workers = match_queue.workers(self._connection)
            self._pushed_wait = worker_sandboxes.pushed_versions_wait(workers)
            if self._pushed_wait and not before:
                log.warning("%s", worker_sandboxes.waiting_reason(workers))
        return self._pushed_wait

    def _refuse_newer(self) -> None:
        """Check the release of the database every `HEARTBEAT_SECONDS`."""
        if self._clock() >= self._version_at:
            database.refuse_newer(self._engine)
            self._version_at = self._clock() + HEARTBEAT_SECONDS

    def _publish(self, tournament: str, state: TournamentState) -> None:
        with contextlib.suppress(RedisError):
            send(self._connection, TournamentChanged(tournament, state))

    def _remove_closed_jobs(self) -> None:
        """Drop the jobs of closed matches that killed workers left, every `_REMOVAL_SECONDS`."""
        if self._clock() < self._removal_at:
            return
        self._removal_at = self._clock() + _REMOVAL_SECONDS
        match_ids = self._match_queue.job_ids()
        still_open = listing.open_among(self._engine, match_ids)
        for match in match_ids:
            if match not in still_open:
                self._match_queue.remove(match)

    def _run(self) -> None:
        backoff = Backoff(2 * PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)
        while not self._stopping:
            pause = PAUSE_SECONDS
            try:
                self.sweep()
            except (RedisError, SQLAlchemyError, StoreError) as error:
                self._failing, pause = True, backoff.after()
                if isinstance(error, StoreError) and error.code == NEWER_VERSION:
                    self._outdated = error
                    return
                log.warning("cannot sweep, next try in %.0f s: %s", pause, error)
            except Exception as error:
                # Without a sweeper no match is played, so an error must not end the thread.
                self._failing, pause = True, backoff.after()
                self._failures += 1
                log.exception("a sweep failed unexpectedly, next try in %.0f s", pause)
                with contextlib.suppress(RedisError):
                    incidents.note_failure(self._connection, SERVICE, error)
            else:
                self._failing = False
                backoff.reset()
            self._wake.wait(pause)
            self._wake.clear()
