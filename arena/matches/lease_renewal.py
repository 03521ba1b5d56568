"""Renew the lease of a match while it is played; interrupt the play when the match must stop."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from contextvars import copy_context
from types import FrameType
from typing import TYPE_CHECKING, Self

from sqlalchemy.exc import SQLAlchemyError

from arena.errors import StoreError
from arena.store.matches import match_leases
from arena.store.matches.match_leases import Lease
from arena.system import timings
from arena.system.stop_event import StopEvent

if TYPE_CHECKING:
    from sqlalchemy import Engine

RENEW_SECONDS = 5.0
GRACE_SECONDS = 3.0
"""Maximum time in seconds for the current game after a stop request."""

_POLL_SECONDS = 0.1
_RETRY_SECONDS = 1.0
_ATTEMPTS = 5

log = logging.getLogger("arena.worker")


class Interrupted(BaseException):
    """Raised in the main thread, at any point, when the match must stop.

    Derives from BaseException, so that handlers of `Exception` do not treat it as a failure of
    their own.
    """


class LeaseRenewal:
    """Renews a lease in a thread while the `with` block in the main thread plays the match.

    Interrupted ends the block at once if the lease is lost, and GRACE_SECONDS after `drain` is set.
    Use it only in a process that ends soon afterwards: interrupted objects may be left in an
    inconsistent state.
    """

    def __init__(self, engine: Engine, lease: Lease, drain: StopEvent) -> None:
        self._engine = engine
        self._lease = lease
        self._drain = drain
        self._armed = False
        self._ended = threading.Event()
        self._thread = threading.Thread(
            target=copy_context().run, args=(self._run,), name="lease", daemon=True
        )

    def end(self) -> None:
        """Stop renewing the lease because the match is closed."""
        self._ended.set()

    def __enter__(self) -> Self:
        signal.signal(signal.SIGUSR1, self._interrupt)
        self._armed = True
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._armed = False
        self._ended.set()
        self._thread.join()

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._armed:
            raise Interrupted

    def _run(self) -> None:
        try:
            self._watch()
        except Exception:
            # If the lease is not renewed, another worker leases the match: this one must stop.
            log.exception("%s: the renewal of the lease failed unexpectedly", self._lease.match)
            self._end_play("its lease cannot be renewed")

    def _watch(self) -> None:
        renewed = time.monotonic()
        next_renewal = renewed + RENEW_SECONDS
        stop_at: float | None = None
        expected = renewed + _POLL_SECONDS
        while not self._ended.wait(_POLL_SECONDS):
            now = time.monotonic()
            timings.HERE.note(timings.LAG, "", max(0.0, now - expected))
            if self._drain.is_set():
                stop_at = now + GRACE_SECONDS if stop_at is None else stop_at
                if now >= stop_at:
                    return self._end_play("the worker must stop")
            if now >= next_renewal:
                is_held = self._renew()
                if is_held:
                    renewed = now
                if is_held is False or now - renewed > self._lease.seconds:
                    return self._end_play("its lease is lost")
                next_renewal = now + (RENEW_SECONDS if is_held else _RETRY_SECONDS)
            expected = time.monotonic() + _POLL_SECONDS
        return None

    def _renew(self) -> bool | None:
        """Return whether the lease still holds; None if the store did not respond."""
        try:
            return match_leases.renew(self._engine, self._lease)
        except (SQLAlchemyError, StoreError) as error:
            log.warning("%s: the lease cannot be renewed: %s", self._lease.match, error)
            return None

    def _end_play(self, reason: str) -> None:
        log.warning("%s: interrupted: %s", self._lease.match, reason)
        main = threading.main_thread().ident
        assert main is not None
        for _ in range(_ATTEMPTS):
            signal.pthread_kill(main, signal.SIGUSR1)
            if self._ended.wait(_RETRY_SECONDS):
                return
        log.error("%s: cannot be interrupted; the process exits", self._lease.match)
        os._exit(1)
