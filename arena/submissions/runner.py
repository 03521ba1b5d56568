"""The loop that handles submissions: one process for each, several owners at the same time.

A process, and not a thread, handles a submission, so that it can be ended at any moment: at its
time limit and when the arena stops. Its build and its bots then end with it.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import wait as wait_for_any
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import TYPE_CHECKING, Final

from sqlalchemy.exc import SQLAlchemyError

from arena.bots import version_store
from arena.bots.sandbox import available_levels
from arena.errors import InfrastructureError, StoreError
from arena.store.bots import submissions
from arena.submissions import turns
from arena.submissions.pipeline import MOST_ATTEMPTS
from arena.system import parent_death_signal

if TYPE_CHECKING:
    from arena.store.bots.submissions import Submission
    from arena.submissions.pipeline import SubmissionPipeline

log = logging.getLogger("arena.submissions")

BUILDS: Final = 2
"""Default number of submissions that are handled at the same time."""
_PAUSE_SECONDS: Final = 0.5
_TROUBLE_SECONDS: Final = 5.0
_TIDY_SECONDS: Final = 600.0
_ENDING_SECONDS: Final = 20.0
"""Seconds in which a process ends its build and its bots before it is killed."""


@dataclass(slots=True)
class _Running:
    """A submission that a process handles; `until`: its time limit, on the monotonic clock."""

    submission: Submission
    process: BaseProcess
    until: float
    is_late: bool = False


def run(
    pipeline: SubmissionPipeline,
    continues: Callable[[], bool] = lambda: True,
    builds: int = BUILDS,
) -> None:
    """Handle submissions while `continues` returns True.

    Waits first if another process holds the lock of the directory. The processes inherit the lock,
    so that it is free only when all of them have ended.

    Args:
        continues: called several times a second.
        builds: the maximum number of submissions, of different owners, at the same time.
    """
    with pipeline.pending_uploads.create().attended():
        log.info("handling submissions")
        runner = _Runner(pipeline, builds)
        try:
            while continues():
                runner.advance()
        finally:
            runner.end()


class _Runner:
    def __init__(self, pipeline: SubmissionPipeline, builds: int) -> None:
        self._pipeline = pipeline
        self._builds = builds
        self._running: list[_Running] = []
        self._retries: dict[str, float] = {}
        """The time of the next try of each submission with which the arena failed."""
        self._tidy_at = 0.0

    def advance(self) -> None:
        """Start what is due, wait a moment, and end what is late."""
        pause = _PAUSE_SECONDS
        try:
            self._tidy()
            self._start_due()
        except InfrastructureError as error:
            log.warning("submissions wait: %s", error)
            pause = _TROUBLE_SECONDS
        except (SQLAlchemyError, StoreError) as error:
            log.warning("submissions cannot be handled: %s", error)
            pause = _TROUBLE_SECONDS
        if self._running:
            wait_for_any([each.process.sentinel for each in self._running], pause)
        else:
            time.sleep(pause)
        self._end_late()
        self._collect()

    def end(self) -> None:
        """End all processes. Their submissions stay undecided, for the next run."""
        for each in self._running:
            each.process.terminate()
        for each in self._running:
            each.process.join(_ENDING_SECONDS)
            each.process.kill()
            each.process.join()
            self._clear(each.submission.id)

    def _start_due(self) -> None:
        engine, now = self._pipeline.engine, time.monotonic()
        while len(self._running) < self._builds:
            due = [each for each in turns.due(engine) if self._retries.get(each.id, 0.0) <= now]
            last_turns = turns.last_turns(submissions.recent_runs(engine)) if due else {}
            busy = {each.submission.owner for each in self._running}
            if (chosen := turns.next_of(due, last_turns, busy)) is None:
                return
            # A submission waits for the sandbox: an attempt without it would count.
            self._pipeline.level()
            self._start(chosen)

    def _start(self, submission: Submission) -> None:
        # SQLite's locks do not survive a fork: no connection may be open.
        self._pipeline.engine.dispose()
        process = multiprocessing.get_context("fork").Process(
            target=_handle, args=(self._pipeline, submission.id, os.getpid())
        )
        # Blocked, so that no signal is handled before the process is noted here, and none in the
        # new process before it has its handler.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM,))
        try:
            process.start()
            until = time.monotonic() + self._pipeline.most_seconds
            self._running.append(_Running(submission, process, until))
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def _end_late(self) -> None:
        now = time.monotonic()
        for each in self._running:
            if each.is_late and now >= each.until + _ENDING_SECONDS:
                each.process.kill()
            elif now >= each.until and not each.is_late and each.process.is_alive():
                each.is_late = True
                each.process.terminate()

    def _collect(self) -> None:
        """Remove the processes that have ended; try a submission later if the arena failed."""
        ended = [each for each in self._running if not each.process.is_alive()]
        self._running = [each for each in self._running if each not in ended]
        for each in ended:
            number = each.submission.id
            self._retries.pop(number, None)
            if each.process.exitcode != 0 and not self._refused_late(each):
                self._retries[number] = time.monotonic() + _TROUBLE_SECONDS
            self._clear(number)
            each.process.close()

    def _clear(self, submission: str) -> None:
        """Delete the files of a decided submission, whose process may have ended before that."""
        with contextlib.suppress(SQLAlchemyError, StoreError, OSError):
            if submissions.find_submission(self._pipeline.engine, submission).is_decided:
                self._pipeline.pending_uploads.clear(submission)

    def _refused_late(self, late: _Running) -> bool:
        """Refuse a submission at its time limit; False if it is to be tried again."""
        if not late.is_late:
            return False
        try:
            return self._pipeline.refuse_late(late.submission.id).is_decided
        except (SQLAlchemyError, StoreError, OSError) as error:
            log.warning("%s is not decided: %s", late.submission.id, error)
            return False

    def _tidy(self) -> None:
        if time.monotonic() < self._tidy_at:
            return
        self._tidy_at = time.monotonic() + _TIDY_SECONDS
        pipeline = self._pipeline
        try:
            version_store.tidy(pipeline.versions)
            pipeline.pending_uploads.tidy(
                {submission.id for submission in submissions.undecided(pipeline.engine)}
            )
        except (SQLAlchemyError, StoreError, OSError) as error:
            log.warning("leftover files of submissions cannot be removed: %s", error)


def _handle(pipeline: SubmissionPipeline, submission: str, parent: int) -> None:
    """Handle a submission in a forked process; exit with status 1 if the arena failed."""
    signal.signal(signal.SIGTERM, leave)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM,))
    parent_death_signal.die_with_parent(parent)
    try:
        decided = pipeline.work(submission)
    except (SQLAlchemyError, StoreError) as error:
        log.warning("%s cannot be handled: %s", submission, error)
        raise SystemExit(1) from None
    except (OSError, InfrastructureError) as error:
        log.warning("the arena failed to handle %s: %s", submission, error)
        available_levels.doubt_level()
        if submissions.find_submission(pipeline.engine, submission).attempts >= MOST_ATTEMPTS:
            pipeline.give_up(submission, "")
        raise SystemExit(1) from None
    log.info("%s is %s: %s", submission, decided.state, decided.sentence)


def leave(number: int, _: FrameType | None) -> None:
    """Handle SIGTERM: exit, and end builds, bots and processes on the way."""
    # A second signal must not interrupt that.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(0 if multiprocessing.parent_process() is None else 1)
