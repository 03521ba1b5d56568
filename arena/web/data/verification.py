"""Verification of records: once per match, in the background, at the first request."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, field
from threading import Lock

from referee.record import MatchRecord
from referee.replay import verify

log = logging.getLogger("arena.web")

_KEPT = 5_000
_PATIENCE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Verification:
    """Result of a verification.

    Args:
        at: time of the verification, in seconds since 1970.
        problems: the errors found, as sentences.
    """

    at: float
    problems: tuple[str, ...] = ()


def check(record: MatchRecord) -> Verification:
    """Repeat all deals, actions and scores of a record."""
    problems = tuple(verify(record))
    return Verification(time.time(), problems)


@dataclass(slots=True)
class Verifications:
    """Cache of the last 5,000 verifications. One runs at a time, so that pages stay responsive."""

    _found: OrderedDict[str, Future[Verification]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)
    _worker: ThreadPoolExecutor | None = None

    def known(self, match: str) -> Verification | None:
        """Return the completed verification of a match, if any; does not start one."""
        with self._lock:
            pending = self._found.get(match)
        if pending is None or not pending.done() or pending.exception() is not None:
            return None
        return pending.result()

    def of(self, match: str, record: Callable[[], MatchRecord]) -> Verification | None:
        """Return the verification of a closed match; None if it takes longer than 0.5 s or fails.

        Args:
            match: the match ID.
            record: reads the record; called once, by another thread.
        """
        try:
            return self._submitted(match, record).result(_PATIENCE_SECONDS)
        except NotYet:
            return None
        except Exception:
            # Reading the record may succeed later.
            log.exception("%s could not be checked", match)
            with self._lock:
                self._found.pop(match, None)
            return None

    def complete(self, match: str, record: Callable[[], MatchRecord]) -> Verification:
        """Return the verification of a closed match, however long it takes.

        Raises:
            Exception: whatever `record` raises.
        """
        return self._submitted(match, record).result()

    def _submitted(self, match: str, record: Callable[[], MatchRecord]) -> Future[Verification]:
        with self._lock:
            if self._worker is None:
                self._worker = ThreadPoolExecutor(1, thread_name_prefix="verify")
            if match not in self._found:
                self._found[match] = self._worker.submit(lambda: check(record()))
            self._found.move_to_end(match)
            while len(self._found) > _KEPT:
                self._found.popitem(last=False)
            return self._found[match]
