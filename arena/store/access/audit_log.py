"""The audit log: who changed what, when and why. Entries are only added.

An entry is committed with the change that it describes, in the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import Connection, Engine, func, select

from arena.errors import InvalidSettings
from arena.store import ids, schema
from arena.store.database import before_commit, now, read_rows, reading, writing
from referee.sanitizing import is_blank

VOID: Final = "match.void"
REPLAY: Final = "match.replay"
FORFEIT: Final = "match.forfeit"
DISQUALIFY: Final = "version.disqualify"
SIGN_IN: Final = "session.sign-in"
BACKUP: Final = "database.backup"
"""A completed backup; the metrics report its age."""
_CORRECTIONS: Final = (VOID, REPLAY, FORFEIT, DISQUALIFY)
"""Actions that remove results (`arena.store.matches.corrections`)."""
NEED_REASON: Final = frozenset(
    {
        *_CORRECTIONS,
        *("tournament.cancel", "tournament.withdraw"),
        *("version.ban", "version.release", "bot.owner"),
        *("submission.approve", "submission.refuse"),
        *("owner.renew", "owner.revoke", "owner.reasoning", "organiser.renew", "organiser.revoke"),
    }
)
"""Actions that change or decide what concerns somebody else; they require a reason."""


class Origin(StrEnum):
    """Where a change was requested."""

    PAGES = "pages"
    API = "api"
    COMMAND = "command"


@dataclass(frozen=True, slots=True)
class Actor:
    """The person who requests a change.

    Attributes:
        name: the name of an organiser or owner; empty on the command line.
        role: "organiser" or "owner".
        origin: where it was requested.
    """

    name: str = ""
    role: str = "organiser"
    origin: Origin = Origin.COMMAND


COMMAND_LINE: Final = Actor()
"""A person with access to the data folder."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A change, before it is stored. It contains no tokens.

    Attributes:
        actor: who requested it.
        action: its name, for example "tournament.pause".
        subject: the id or name of the changed object.
        reason: the reason, as a clause; empty if none was given.
        details: further values for JSON.

    Raises:
        InvalidSettings: the reason of an action that requires one is empty.
    """

    actor: Actor
    action: str
    subject: str
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that a required reason is there."""
        if self.action in NEED_REASON and is_blank(self.reason):
            raise InvalidSettings(f"{self.action} requires a reason.", code="missing")


@dataclass(frozen=True, slots=True)
class LoggedEntry:
    """An entry of the audit log; `at` is in seconds since 1970."""

    id: str
    at: float
    actor: str
    role: str
    origin: str
    action: str
    subject: str
    reason: str
    details: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        at = datetime.fromtimestamp(self.at, UTC).isoformat(timespec="milliseconds")
        return {**asdict(self), "at": at}


@contextmanager
def audited(engine: Engine, entry: AuditEntry) -> Iterator[None]:
    """Store the entry with the first transaction of the block; without one, at its end.

    If the block raises an exception before its first commit, nothing is stored.
    """
    pending = [lambda connection: insert(connection, entry)]
    with before_commit(pending):
        yield
    if pending:
        with writing(engine, "audit") as connection:
            insert(connection, entry)


def list_entries(
    engine: Engine, *, subject: str = "", limit: int = 100, sign_ins: bool = True
) -> tuple[LoggedEntry, ...]:
    """Return entries, the newest first.

    Args:
        subject: only entries about this object; empty: all.
        sign_ins: whether to include sign-ins, which most entries are.
    """
    table = schema.audit_log
    query = select(table).order_by(table.c.at.desc(), table.c.id).limit(limit)
    if subject:
        query = query.where(table.c.subject == subject)
    if not sign_ins:
        query = query.where(table.c.action != SIGN_IN)
    return tuple(LoggedEntry(**row._mapping) for row in read_rows(engine, query))


def count(engine: Engine) -> int:
    """Return the number of entries."""
    with reading(engine) as connection:
        query = select(func.count()).select_from(schema.audit_log)
        return int(connection.execute(query).scalar_one())


def corrections(connection: Connection) -> int:
    """Return the number of corrections of results so far.

    A cached sum of results is outdated if this number has changed.
    """
    table = schema.audit_log
    query = select(func.count()).where(table.c.action.in_(_CORRECTIONS))
    return int(connection.execute(query).scalar_one())


def insert(connection: Connection, entry: AuditEntry) -> None:
    """Store an entry in a transaction."""
    connection.execute(
        schema.audit_log.insert().values(
            id=ids.audit_id(),
            at=now(),
            actor=entry.actor.name,
            role=entry.actor.role,
            origin=entry.actor.origin,
            action=entry.action,
            subject=entry.subject,
            reason=entry.reason,
            details=dict(entry.details),
        )
    )
