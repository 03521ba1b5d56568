"""The tables at which people play against bots in the browser."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from arena.config import Folder
from arena.errors import TooMany
from arena.matches.local_match import LocalMatch
from arena.matches.play_table import PlayTable
from arena.web.data.changes import Changes

IDLE_SECONDS: Final = 900.0
"""Seconds after the last request of a person after which a table is abandoned."""
KEPT_SECONDS: Final = 3600.0
"""Seconds for which the page of a finished match stays."""
_LOOK_SECONDS: Final = 5.0
_CLOSING_SECONDS: Final = 5.0
_KEPT_TABLES: Final = 50
"""Maximum number of finished tables whose pages stay."""


@dataclass(slots=True)
class PlayTables:
    """The tables of a server.

    Args:
        folder: the data folder, which keeps the records; None: nobody can be seated.
        changes: records the changes of the tables.
        most: maximum number of matches at the same time; one client can have half of them.
    """

    folder: Folder | None
    changes: Changes
    most: int
    _tables: dict[str, PlayTable] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    _loop: asyncio.AbstractEventLoop | None = None

    def open(self, match: LocalMatch, client: str, form: Mapping[str, str]) -> PlayTable:
        """Begin a match and return its table.

        Args:
            match: the match.
            client: the person's address, for the limits.
            form: the form that describes the match.

        Raises:
            TooMany: the server or the client has too many tables.
        """
        assert self.folder is not None
        with self._lock:
            self._forget_old()
            self.check_room(client)
            table = PlayTable(match, self.folder, client, self._changed, form)
            self._tables[table.id] = table
        table.start()
        return table

    def check_room(self, client: str) -> None:
        """Check the limits for one more table.

        Raises:
            TooMany: a limit is reached.
        """
        running = [table for table in self._tables.values() if not table.is_over]
        of_client = [table for table in running if table.client == client]
        if len(of_client) >= max(self.most // 2, 1):
            number = f"{len(of_client)} table{'s' if len(of_client) != 1 else ''}"
            raise TooMany(
                f'you already play at {number}, the most for one visitor; press "Leave the table" '
                "at one of them, and begin again.",
                60,
            )
        if len(running) >= self.most:
            raise TooMany(
                f"all {self.most} tables of this arena are in use; try again in a minute.", 60
            )

    def find(self, table: str) -> PlayTable | None:
        """Return the table with this id, or None."""
        return self._tables.get(table)

    def delete(self, table: PlayTable) -> None:
        """Delete a table whose match is over, and the record of the match.

        Raises:
            OSError: the record cannot be deleted.
        """
        table.delete_record()
        with self._lock:
            if self._tables.pop(table.id, None) is not None:
                self.changes.forget(table.topic)

    async def run(self) -> None:
        """End abandoned tables, forever."""
        self._loop = asyncio.get_running_loop()
        while True:
            self.end_abandoned(time.monotonic())
            await asyncio.sleep(_LOOK_SECONDS)

    def end_abandoned(self, now: float) -> None:
        """End the tables without requests for `IDLE_SECONDS`.

        Args:
            now: the time of the monotonic clock.
        """
        for table in list(self._tables.values()):
            if not table.is_over and now - table.touched > IDLE_SECONDS:
                table.leave()

    def close(self) -> None:
        """End all tables and wait for their records."""
        self._loop = None
        tables = list(self._tables.values())
        for table in tables:
            table.leave()
        until = time.monotonic() + _CLOSING_SECONDS
        for table in tables:
            table.join(max(until - time.monotonic(), 0))

    def _forget_old(self) -> None:
        over = [table for table in self._tables.values() if table.is_over]
        oldest = sorted(over, key=lambda table: table.touched)
        for number, table in enumerate(oldest):
            is_old = time.monotonic() - table.touched > KEPT_SECONDS
            if is_old or len(oldest) - number > _KEPT_TABLES:
                del self._tables[table.id]
                self.changes.forget(table.topic)

    def _changed(self, topic: str) -> None:
        loop = self._loop
        # A closed loop has nobody to notify.
        if loop is not None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self.changes.record, topic)
