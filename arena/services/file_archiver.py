"""Move the records of closed matches to the object storage in the background, and sweep it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from arena.store.events.background_service import BackgroundService
from arena.store.objects import object_storage, record_archive, stored_objects

if TYPE_CHECKING:
    from sqlalchemy import Engine

WAIT_SECONDS: Final = 3600.0
"""Time from the end of a match until its records are moved: recent matches are read most often."""
_ROUND_SECONDS: Final = 30.0
_BATCH_SIZE: Final = 100

log = logging.getLogger("arena.archiver")


class FileArchiver(BackgroundService):
    """Archives records; does nothing without an object storage.

    Args:
        redis: the address of the Redis that counts failures; empty for none.
        wait: seconds from the end of a match until its records are moved.
    """

    def __init__(self, engine: Engine, redis: str = "", wait: float = WAIT_SECONDS) -> None:
        super().__init__("archiver", redis, _ROUND_SECONDS, _ROUND_SECONDS)
        self._engine = engine
        self._wait = wait
        self._after = 0

    def start(self) -> None:
        if object_storage.storage_of(self._engine) is not None:
            super().start()

    def run_round(self) -> int:
        """Archive the matches that are due, and sweep; return the number of matches.

        Raises:
            StoreError: the object storage cannot be used.
        """
        storage = object_storage.needed(self._engine)
        archived = sum(
            record_archive.archive(self._engine, storage, match) for match in self._due()
        )
        if archived:
            log.info("matches whose records were moved to object storage: %d", archived)
        if not self._stop.is_set():
            stored_objects.sweep(self._engine, storage)
        return archived

    def _due(self) -> Iterator[str]:
        """Yield the matches that are due until the service is stopped."""
        while not self._stop.is_set():
            matches, position = record_archive.due(
                self._engine, self._after, self._wait, _BATCH_SIZE
            )
            yield from takewhile(lambda match: not self._stop.is_set(), matches)
            if position == self._after:
                break
            self._after = position
