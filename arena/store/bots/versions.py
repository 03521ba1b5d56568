"""Store bots and their versions: register, find, list and retire them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from sqlalchemy import Connection, Engine, Row, exc, insert, select, update

from arena.bots.bot import HUMAN
from arena.errors import BadName, Conflict, NotFound, check_name, check_new_bot, check_owner
from arena.store import closings, schema
from arena.store.bots.owners import check_if_new
from arena.store.database import id_batches, now, read_rows, reading, writing
from arena.store.schema import ClosingKind
from referee.games.game_packages import BUILT_IN

_ALL = select(schema.versions, schema.bots.c.owner).join(
    schema.bots, schema.bots.c.name == schema.versions.c.name
)


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a bot; its content never changes."""

    id: str
    """``name@number``"""
    name: str
    number: str
    content_hash: str
    folder: str
    manifest: Mapping[str, Any]
    created: float
    retired: float | None
    """When it was excluded from future tournaments; None while it may enter them."""
    quarantined: float | None
    """When it was quarantined (`arena.store.bots.quarantine`); None if it is not."""
    quarantine_reason: str | None
    owner: str
    """The owner of the bot; empty: it does not share an owner with other bots."""

    @property
    def authors(self) -> tuple[str, ...]:
        """The authors stated in its manifest."""
        return tuple(map(str, self.manifest.get("authors") or ()))

    @property
    def language(self) -> str:
        """The programming language stated in its manifest; empty if it is omitted."""
        return str(self.manifest.get("language", ""))

    def plays(self, game: str) -> bool:
        """Return whether its manifest allows this game: one that existed when it was stored."""
        return game in (self.manifest.get("games") or BUILT_IN)


def add_version(
    engine: Engine,
    name: str,
    number: str,
    content_hash: str,
    folder: str,
    manifest: Mapping[str, Any],
    owner: str = "",
) -> Version:
    """Register a version; if the same content is registered already, return it.

    Args:
        folder: where its files are; empty for a remote bot.
        manifest: its manifest as plain values.
        owner: the bot's owner. Empty: an existing owner is kept, a new bot gets none.

    Raises:
        BadName: one of the names is not valid.
        Conflict: the version exists with other content, or the bot has another owner.
    """
    label = f"{name}@{number}"
    check_name("a version", label)
    check_not_reserved(name)
    try:
        with writing(engine, "add_version") as connection:
            _set_owner(connection, name, owner)
            version = _find(connection, label)
            if version is None:
                _insert(connection, label, name, number, content_hash, folder, manifest)
                closings.add_closing(connection, ClosingKind.VERSION_ADDED, version=label)
                version = _find(connection, label)
    except exc.IntegrityError:
        # Another process has registered the same bot or version at this moment (PostgreSQL).
        return add_version(engine, name, number, content_hash, folder, manifest, owner)
    assert version is not None
    if version.content_hash != content_hash:
        raise Conflict(
            f"{label} is already registered with other content; a version never changes. "
            "Give the new one another version in its bot.toml.",
            code="content-changed",
        )
    return version


def check_not_reserved(name: str) -> None:
    """Check that a bot's name is not that of people, who are never rated.

    Raises:
        BadName: it is.
    """
    if name == HUMAN:
        raise BadName(f'the name "{HUMAN}" is reserved for people; choose another name.')


def check_known_or_new(engine: Engine, name: str) -> None:
    """Check a bot's name before its version is built or received.

    Raises:
        BadName: it is reserved, or not valid for a new bot.
    """
    check_not_reserved(name)
    if owner_of(engine, name) is None:
        check_new_bot(name)


def find_version(engine: Engine, label: str) -> Version:
    """Return the version ``name@number``.

    Raises:
        NotFound: it does not exist.
    """
    with reading(engine) as connection:
        version = _find(connection, label)
    if version is None:
        raise _not_found(label)
    return version


def owners(engine: Engine, labels: Sequence[str]) -> dict[str, str]:
    """Return the owners of the bots of versions; empty: the bot does not share an owner.

    Raises:
        NotFound: a version does not exist.
    """
    table, bots = schema.versions, schema.bots
    query = select(table.c.id, bots.c.owner).join(bots, bots.c.name == table.c.name)
    owner_of: dict[str, str] = {}
    with reading(engine) as connection:
        for batch in id_batches(labels):
            chosen = table.c.id.in_(batch)
            owner_of.update((row.id, row.owner) for row in connection.execute(query.where(chosen)))
    for label in labels:
        if label not in owner_of:
            raise _not_found(label)
    return owner_of


def list_versions(
    engine: Engine, *, name: str | None = None, retired: bool = False
) -> tuple[Version, ...]:
    """Return versions in order of their names, then of registration.

    Args:
        name: only versions of this bot.
    """
    query = _ALL.order_by(schema.versions.c.name, schema.versions.c.created, schema.versions.c.id)
    if name is not None:
        query = query.where(schema.versions.c.name == name)
    if not retired:
        query = query.where(schema.versions.c.retired.is_(None))
    rows = tuple(_version(row) for row in read_rows(engine, query))
    # The order of a database depends on its collation. Python's sort keeps the rest of the order.
    return tuple(sorted(rows, key=lambda version: version.name))


def active_of(engine: Engine, owner: str) -> tuple[Version, ...]:
    """Return an owner's versions that are not retired, the oldest first."""
    query = _ALL.where(schema.bots.c.owner == owner, schema.versions.c.retired.is_(None))
    with reading(engine) as connection:
        rows = connection.execute(query.order_by(schema.versions.c.created, schema.versions.c.id))
        return tuple(map(_version, rows))


def number_for(engine: Engine, name: str, content_hash: str) -> str:
    """Return the number for a version whose manifest does not state one.

    It is the number of the version with the same content if there is one, else the next free one.
    """
    for version in list_versions(engine, name=name):
        if version.content_hash == content_hash:
            return version.number
    return free_number(engine, name)


def free_number(engine: Engine, name: str) -> str:
    """Return the smallest whole number from 1 that is not the number of a version of this bot."""
    taken = {version.number for version in list_versions(engine, name=name, retired=True)}
    return next(str(number) for number in count(1) if str(number) not in taken)


def owner_of(engine: Engine, name: str) -> str | None:
    """Return the owner of a bot: empty without one, None if the bot does not exist."""
    query = select(schema.bots.c.owner).where(schema.bots.c.name == name)
    return read_rows(engine, query).scalar_one_or_none()


def set_owner(engine: Engine, version: Version, owner: str) -> Version:
    """Set the owner of a version's bot; an empty owner changes nothing.

    Raises:
        Conflict: the bot has another owner.
    """
    if not owner or version.owner == owner:
        return version
    with writing(engine, "own") as connection:
        _set_owner(connection, version.name, owner)
    return find_version(engine, version.id)


def reassign(engine: Engine, name: str, owner: str) -> None:
    """Replace the owner of a bot, also in the tournaments that are not over.

    Args:
        owner: the new owner; empty: the bot does not share an owner with others.

    Raises:
        BadName: the owner's name is not valid.
        NotFound: the bot does not exist.
    """
    bots, entrants, tournaments = schema.bots, schema.entrants, schema.tournaments
    of_name = select(schema.versions.c.id).where(schema.versions.c.name == name)
    unfinished = select(tournaments.c.id).where(tournaments.c.ended.is_(None))
    with writing(engine, "reassign") as connection:
        if owner:
            check_owner(owner)
            check_if_new(connection, owner)
        changed = connection.execute(update(bots).where(bots.c.name == name).values(owner=owner))
        if changed.rowcount == 0:
            raise NotFound(f"unknown bot {name}.", code="unknown-bot")
        connection.execute(
            update(entrants)
            .where(entrants.c.version.in_(of_name), entrants.c.tournament.in_(unfinished))
            .values(owner=owner)
        )


def retire(engine: Engine, label: str) -> Version:
    """Exclude a version from future tournaments; its current ones continue, its results stay.

    Raises:
        NotFound: the version does not exist.
    """
    versions = schema.versions
    with writing(engine, "retire") as connection:
        connection.execute(
            update(versions)
            .where(versions.c.id == label, versions.c.retired.is_(None))
            .values(retired=now())
        )
    return find_version(engine, label)


def _set_owner(connection: Connection, name: str, owner: str) -> None:
    """Insert the bot if it is new, and set its owner if one is given."""
    if owner:
        check_owner(owner)
        check_if_new(connection, owner)
    bots = schema.bots
    query = select(bots.c.owner).where(bots.c.name == name)
    known = connection.execute(query.with_for_update()).scalar_one_or_none()
    if known is None:
        check_new_bot(name)
        connection.execute(insert(bots).values(name=name, created=now(), owner=owner))
    elif owner and known and known != owner:
        raise Conflict(
            f"the bot {name} belongs to {known}; give yours another name.", code="other-owner"
        )
    elif owner and not known:
        connection.execute(update(bots).where(bots.c.name == name).values(owner=owner))


def _insert(
    connection: Connection,
    label: str,
    name: str,
    number: str,
    content_hash: str,
    folder: str,
    manifest: Mapping[str, Any],
) -> None:
    connection.execute(
        insert(schema.versions).values(
            id=label,
            name=name,
            number=number,
            content_hash=content_hash,
            folder=folder,
            manifest=dict(manifest),
            created=now(),
        )
    )


def _not_found(label: str) -> NotFound:
    return NotFound(
        f"unknown version {label}; `pokearena bot list` lists all.", code="unknown-version"
    )


def _find(connection: Connection, label: str) -> Version | None:
    query = _ALL.where(schema.versions.c.id == label)
    row = connection.execute(query).one_or_none()
    return None if row is None else _version(row)


def _version(row: Row[*tuple[Any, ...]]) -> Version:
    return Version(**row._mapping)
