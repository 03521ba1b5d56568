"""Verification of records: once per match, in the background, at the first request."""

from __future__ import annotations

import logging
import os
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, field
from multiprocessing import get_context
from threading import Lock

from arena.system import process_pool
from referee.record import read
from referee.replay import verify

log = logging.getLogger("arena.web")

_CACHE_SIZE = 5_000
_PATIENCE_SECONDS = 0.5
_LONG_CHARACTERS = 500_000
"""Length of a record from which another process verifies it, which takes 0.3 s and more."""
_NICE = 10


@dataclass(frozen=True, slots=True)
class Verification:
    """Result of a verification.

    Args:
        at: time of the verification, in seconds since 1970.
        problems: the errors found, as sentences.
    """

    at: float
    problems: tuple[str, ...] = ()


def check(record: str) -> Verification:
    """Repeat all deals, actions and scores of a record.

    Raises:
        RecordError: the text is not a record.
    """
    problems = tuple(verify(read(record)))
    return Verification(time.time(), problems)


def _checked(record: Callable[[], str]) -> Verification:
    text = record()
    return check(text) if len(text) < _LONG_CHARACTERS else _check_elsewhere(text)


def _check_elsewhere(record: str) -> Verification:
    """Verify a long record in a process of lower priority.

    A thread would compete with all requests: one event for 500 clients takes 500 turns.
    """
    processes = get_context("spawn")
    with ProcessPoolExecutor(1, processes, _lower_priority, (os.getpid(),)) as process:
        return process.submit(check, record).result()


def _lower_priority(server: int) -> None:
    os.nice(_NICE)
    process_pool.follow_parent(server)


@dataclass(slots=True)
class Verifications:
    """Cache of the last 5,000 verifications. One runs at a time, so that pages stay responsive."""

    _verifications: OrderedDict[str, Future[Verification]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)
    _worker: ThreadPoolExecutor | None = None

    def known(self, match: str) -> Verification | None:
        """Return the completed verification of a match, if any; does not start one."""
        with self._lock:
            pending = self._verifications.get(match)
        if pending is None or not pending.done() or pending.exception() is not None:
            return None
        return pending.result()

    def of(self, match: str, record: Callable[[], str]) -> Verification | None:
        """Return the verification of a closed match; None if it takes longer than 0.5 s or fails.

        Args:
            record: reads the text of the record; called once, by another thread.
        """
        try:
            return self._submitted(match, record).result(_PATIENCE_SECONDS)
        except NotYet:
            return None
        except Exception:
            # Reading the record may succeed later.
            log.exception("%s could not be checked", match)
            with self._lock:
                self._verifications.pop(match, None)
            return None

    def complete(self, match: str, record: Callable[[], str]) -> Verification:
        """Return the verification of a closed match, however long it takes.

        Raises:
            RecordError: the text is not a record.
            Exception: whatever `record` raises.
        """
        return self._submitted(match, record).result()

    def _submitted(self, match: str, record: Callable[[], str]) -> Future[Verification]:
        with self._lock:
            if self._worker is None:
                self._worker = ThreadPoolExecutor(1, thread_name_prefix="verify")
            if match not in self._verifications:
                self._verifications[match] = self._worker.submit(_checked, record)
            self._verifications.move_to_end(match)
            while len(self._verifications) > _CACHE_SIZE:
                self._verifications.popitem(last=False)
            return self._verifications[match]
