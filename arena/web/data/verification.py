"""Whether records are true: each is checked once, in the background, when first looked at."""

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
    """What checking a record came to.

    at: when, in seconds since 1970. problems: what is not true of it, in sentences.
    """

    at: float
    problems: tuple[str, ...] = ()


def check(record: MatchRecord) -> Verification:
    """Makes every deal again, replays every action, counts every score."""
    problems = tuple(verify(record))
    return Verification(time.time(), problems)


@dataclass(slots=True)
class Verifications:
    """The last few thousand checks; one runs at a time, so that pages go on being drawn."""

    _found: OrderedDict[str, Future[Verification]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)
    _worker: ThreadPoolExecutor | None = None

    def known(self, match: str) -> Verification | None:
        """The check of a match if it was made already; none is begun."""
        with self._lock:
            asked = self._found.get(match)
        if asked is None or not asked.done() or asked.exception() is not None:
            return None
        return asked.result()

    def of(self, match: str, record: Callable[[], MatchRecord]) -> Verification | None:
        """The check of a closed match; None if it takes longer than a reader waits.

        record: reads the record; called once, by another thread.
        """
        with self._lock:
            if self._worker is None:
                self._worker = ThreadPoolExecutor(1, thread_name_prefix="verify")
            if match not in self._found:
                self._found[match] = self._worker.submit(lambda: check(record()))
            self._found.move_to_end(match)
            while len(self._found) > _KEPT:
                self._found.popitem(last=False)
            asked = self._found[match]
        try:
            return asked.result(_PATIENCE_SECONDS)
        except NotYet:
            return None
        except Exception:
            # A record that could not be read now may be readable later.
            log.exception("%s could not be checked", match)
            with self._lock:
                self._found.pop(match, None)
            return None
