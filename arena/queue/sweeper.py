"""Sweeper: let formats schedule their next matches, and keep a short queue of due matches.

The store lists the due matches in their order: those not begun, and those whose lease lapsed
because their worker died. Jobs may be lost at any time; the sweeper enqueues them again. Several
sweepers may run at once.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError

from arena.config import REMOTE_WAIT_SECONDS
from arena.errors import StoreError
from arena.events import incidents
from arena.events.messages import TournamentChanged
from arena.events.publisher import send
from arena.queue import worker_sandboxes
from arena.queue.match_queue import MatchQueue
from arena.queue.offline_bots import OfflineBots
from arena.queue.worker_registrations import (
    HEARTBEAT_SECONDS,
    WorkerInfo,
    forget_worker,
    workers,
)
from arena.store import database
from arena.store.database import NEWER_VERSION
from arena.store.matches import transitions
from arena.store.schema import TournamentState
from arena.system import timings
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

SERVICE = "sweeper"
"""Name under which the sweeper's failures are counted."""

log = logging.getLogger("arena.sweeper")


class Sweeper:
    """Sweeps in its own thread between `start` and `stop`.

    Args:
        engine: database engine of the store.
        connection: connection to the Redis of the match queue.
        wait: seconds that matches wait for an offline remote bot.
        clock: returns the time in seconds that intervals are measured with.
    """

    def __init__(
        self,
        engine: Engine,
        connection: Redis,
        wait: float = REMOTE_WAIT_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._offline_bots = OfflineBots(engine, wait, clock)
        self._connection = connection
        self._match_queue = MatchQueue(connection)
        self._scheduler = Scheduler(engine, self._publish)
        self._exited_workers: deque[str] = deque()
        self._enqueued_at: dict[str, float] = {}
        self._length = SHORTEST_QUEUE
        self._stopping = threading.Event()
        self._version_at = 0.0
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
        self._stopping.set()
        self.wake()
        if self._thread.ident is not None:
            self._thread.join()

    def wake(self) -> None:
        """Trigger a sweep; without Redis the next one follows by itself."""
        with contextlib.suppress(RedisError):
            self._match_queue.wake_sweeper()

    def forget_worker(self, worker: str) -> None:
        """Trigger a sweep that removes a dead worker and makes its matches due."""
        self._exited_workers.append(worker)
        self.wake()

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
        timings.HERE.send(self._connection)
        return self._fill_queue(self.live_workers())

    def live_workers(self) -> Sequence[WorkerInfo]:
        """Return the workers that are alive."""
        return [info for info in workers(self._connection) if info.alive]

    def _fill_queue(self, alive: Sequence[WorkerInfo]) -> int:
        """Enqueue due matches until the queue has its length; urgent ones precede the others."""
        self._length = queue_length(len(alive))
        # Workers have taken these matches and lease them in a moment; later they are not due.
        taken = {info.match for info in alive if info.match} | self._enqueued_lately()
        due = transitions.due_by_urgency(
            self._engine, self._length + len(taken), pushed=not self._pushed_versions_wait(alive)
        )
        waiting = set(self._match_queue.waiting())
        urgent, others = (
            [match for match in matches if match not in taken and match not in waiting]
            for matches in (due.urgent[: self._length], due.others)
        )
        room = max(0, self._length - len(waiting) - len(urgent))
        # The ratio of ladders holds for the selection, so what waits already counts in it.
        chosen = [*urgent, *others[:room]]
        if not chosen:
            return 0
        enqueued = self._match_queue.enqueue(*chosen, first=urgent)
        self._enqueued_at |= dict.fromkeys(chosen, self._clock())
        return enqueued

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

    def _refuse_newer(self) -> None:
        """Check the release of the database every `HEARTBEAT_SECONDS`."""
        if self._clock() >= self._version_at:
            database.refuse_newer(self._engine)
            self._version_at = self._clock() + HEARTBEAT_SECONDS

    def _publish(self, tournament: str, state: TournamentState) -> None:
        with contextlib.suppress(RedisError):
            send(self._connection, TournamentChanged(tournament, state))

    def _run(self) -> None:
        backoff = Backoff(2 * PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)
        while not self._stopping.is_set():
            try:
                self.sweep()
                self._failing = False
                self._await_wake()
            except (RedisError, SQLAlchemyError, StoreError) as error:
                if isinstance(error, StoreError) and error.code == NEWER_VERSION:
                    self._failing, self._outdated = True, error
                    return
                self._pause_after(backoff, "cannot sweep", error)
            except Exception as error:
                # Without a sweeper no match is played, so an error must not end the thread.
                self._failures += 1
                log.exception("a sweep failed unexpectedly")
                with contextlib.suppress(RedisError):
                    incidents.note_failure(self._connection, SERVICE, error)
                self._pause_after(backoff, "will sweep again", error)
            else:
                backoff.reset()

    def _pause_after(self, backoff: Backoff, what: str, error: Exception) -> None:
        self._failing = True
        pause = backoff.after()
        log.warning("%s, next try in %.0f s: %s", what, pause, error)
        self._stopping.wait(pause)

    def _await_wake(self) -> None:
        """Wait until the next sweep is due, or the queue is half empty and a sweeper was woken."""
        until = time.monotonic() + PAUSE_SECONDS
        self._stopping.wait(_SHORTEST_PAUSE_SECONDS)
        while (left := until - time.monotonic()) > 0 and not self._stopping.is_set():
            woken = self._match_queue.await_wake(left)
            if woken and (self._exited_workers or len(self._match_queue) <= self._length / 2):
                return


def queue_length(workers: int) -> int:
    """Return the number of jobs that wait for this number of workers.

    A multiple of four, so that a quarter of the jobs can be those of ladders.
    """
    turn = transitions.LADDER_TURN + 1
    return max(SHORTEST_QUEUE, -(-_JOBS_PER_WORKER * workers // turn) * turn)
