"""Move the records of closed matches to the object storage in the background, and sweep it."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Final

from sqlalchemy.exc import SQLAlchemyError

from arena.errors import Conflict, StoreError
from arena.events import restarts
from arena.store.objects import object_storage, record_archive, stored_objects
from arena.store.objects.record_archive import ClosedTime

if TYPE_CHECKING:
    from sqlalchemy import Engine

SERVICE: Final = "archiver"
"""Name under which failures are counted."""
WAIT_SECONDS: Final = 3600.0
"""Time from the end of a match until its records are moved: recent matches are read most often."""
_ROUND_SECONDS: Final = 30.0
_BATCH_SIZE: Final = 100

log = logging.getLogger("arena.archiver")


class FileArchiver:
    """Archives records between `start` and `stop`; does nothing without an object storage.

    Several processes may do this for one store.

    Args:
        engine: the store.
        redis: the address of the Redis that counts failures; empty for none.
        wait: seconds from the end of a match until its records are moved.
    """

    def __init__(self, engine: Engine, redis: str = "", wait: float = WAIT_SECONDS) -> None:
        self._engine = engine
        self._redis = redis
        self._wait = wait
        self._after = ClosedTime()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=SERVICE, daemon=True)

    def start(self) -> None:
        """Start to archive."""
        if object_storage.storage_of(self._engine) is not None:
            self._thread.start()

    def stop(self) -> None:
        """Stop after the current match."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()

    def run_round(self) -> int:
        """Archive the matches that are due, and sweep; return the number of matches.

        Raises:
            StoreError: the object storage cannot be used.
        """
        storage = object_storage.needed(self._engine)
        archived = 0
        while not self._stop.is_set():
            matches, position = record_archive.due(
                self._engine, self._after, self._wait, _BATCH_SIZE
            )
            for match in matches:
                if self._stop.is_set():
                    return archived
                try:
                    archived += record_archive.archive(self._engine, storage, match)
                except Conflict as error:
                    log.info("%s", error)
            if position == self._after:
                break
            self._after = position
        stored_objects.sweep(self._engine, storage)
        return archived

    def _run(self) -> None:
        restarts.keep_running(SERVICE, self._work, self._redis, self._stop)

    def _work(self) -> None:
        while not self._stop.is_set():
            try:
                if archived := self.run_round():
                    log.info("matches whose records were moved to object storage: %d", archived)
            except (SQLAlchemyError, StoreError) as error:
                log.warning("records are not moved to object storage: %s", error)
                restarts.count(SERVICE, error, self._redis)
            self._stop.wait(_ROUND_SECONDS)
