"""The workspace of a command: the data folder, its store, and the stored bots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from arena.bots.sandbox import stored_level
from arena.cli.errors import FAILED, CommandError, usage_error
from arena.config import DATABASE, Folder, locate, setting
from arena.errors import BotError

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.bots.bot import Bot


class Workspace:
    """A data folder for commands. Creates nothing until the store is accessed."""

    def __init__(self, data: Path | None = None) -> None:
        self.folder: Folder = locate(data)
        stored_level.use_folder(self.folder.root)

    @property
    def has_store(self) -> bool:
        """Whether a store exists. An empty file does not count as one."""
        file = self.folder.database
        return setting(DATABASE) is not None or (file.exists() and file.stat().st_size > 0)

    @cached_property
    def store(self) -> Engine:
        """The store; created if it is missing. In a read-only folder it can only be read."""
        from arena.store import database, sqlite

        self.expect_content()
        if not sqlite.is_read_only(self.folder.database):
            self.folder.create()
        engine = database.open(self.folder.database_url())
        database.prepare(engine)
        return engine

    @property
    def existing_store(self) -> Engine:
        """The store."""
        self.expect_store()
        return self.store

    @contextmanager
    def audited(
        self, action: str, subject: str, reason: str = "", *, made: bool = False, **details: str
    ) -> Iterator[Engine]:
        """Yield the store, and add the change that the block makes to the audit log.

        `action` is, for example, "owner.renew", and `subject` the object that is changed. A missing
        store is created if it may be `made`. `details` are the other inputs of the change.
        """
        from arena.store.access.audit_log import COMMAND_LINE, AuditEntry, audited

        engine = self.store if made else self.existing_store
        with audited(engine, AuditEntry(COMMAND_LINE, action, subject, reason, details)):
            yield engine

    def expect_store(self) -> None:
        """Raise CommandError if nothing has been stored here yet, or the content is lost."""
        self.expect_content()
        if not self.has_store:
            raise CommandError(
                f"no arena found in {self.folder.root}. Choose its folder "
                f"with --data, or its database with {DATABASE[0]}.",
                FAILED,
                "pokearena demo",
                code="no-arena",
            )

    def expect_content(self) -> None:
        """Raise CommandError if the file of the database has lost its content.

        SQLite would treat an empty file as a new database.
        """
        file = self.folder.database
        if setting(DATABASE) is None and file.exists() and file.stat().st_size == 0:
            raise CommandError(
                f"the database {file} is empty (0 bytes). Delete it, then restore a backup or "
                "begin a new arena.",
                FAILED,
                "pokearena db restore BACKUP",
                code="empty-database",
            )

    def plays_matches(self) -> bool:
        """Return whether services run for this folder, or a worker anywhere has leased a match."""
        from arena.store.tournaments import tournaments

        services = self.folder.running()
        alive = services is not None and services.alive
        return alive or tournaments.has_leased_match(self.store)

    def bot(self, text: str) -> Bot:
        """Resolve the text to a bot."""
        from arena.bots.resolver import resolve

        try:
            if self.has_store:
                return resolve(text, self._stored, self._known)
            return resolve(text)
        except BotError as error:
            raise usage_error(str(error), error.code) from None

    def _stored(self, name: str, number: str | None) -> Bot | None:
        from arena.store.bots import stored_bots

        return stored_bots.find_stored_bot(self.store, self.folder, name, number)

    def _known(self) -> Iterable[str]:
        from arena.store.bots import stored_bots

        return stored_bots.active_versions(self.store)
