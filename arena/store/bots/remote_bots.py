"""Remote bots: the tokens by which they connect, and whether they are there.

A bot behind the relay has a token, of which only the hash is stored (see arena.store.bots.owners).
A bot that is asked at an address of its own has none. Either is taken to be there until a time that
whoever sees it moves on; a match with a bot that is not there waits (arena.store.matches.waiting).
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import Engine, Select, Update, insert, or_, select, update

from arena.errors import NotFound
from arena.store import schema
from arena.store.bots import versions
from arena.store.bots.versions import Version
from arena.store.database import now, reading, writing
from arena.store.postgresql import keep

ALWAYS: Final = 1e18
"""A bot with an address of its own is taken to be there until it was not."""
ANY_NUMBER: Final = 1_000_000
"""Nobody counts the tables of such a bot."""
HERE_SECONDS: Final = 15.0
"""How long a bot is taken to be there after its relay has said so last."""
_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Remote:
    """A remote bot as it stands."""

    version: str
    """``name@number``"""
    relayed: bool
    """Whether it connects to the relay; else it is asked at its address."""
    here: bool
    """Whether it can be asked now."""
    since: float | None
    """When it came, or went; None if it has never been seen."""
    refusals: int
    """How many connections that said they were this bot have been refused."""
    refused: float | None
    refusal: str | None
    """Why the last of them was refused, as a sentence."""

    @property
    def words(self) -> str:
        """Where it is, without the time: "connected", "absent"."""
        return "connected" if self.here else "never seen" if self.since is None else "absent"


class Desk(NamedTuple):
    """Where the relay that has a bot takes orders for seats."""

    address: str
    way: Mapping[str, str] | None
    """How that is reached from other machines (arena.remote.tunnel.streams.Way); None if it is
    not."""


def add_relayed(engine: Engine, name: str, number: str, owner: str = "") -> tuple[Version, str]:
    """Makes a version known that connects to the relay; gives its token, told nowhere else.

    Raises:
        Conflict: the bot is somebody else's.
    """
    version = versions.add(engine, name, number, "", "", {"remote": True}, owner)
    return version, _put_token(engine, version.id)


def add_direct(engine: Engine, name: str, number: str, address: str, owner: str = "") -> Version:
    """Makes a version known that is asked at its address, "10.0.0.5:7000" or "unix:/path".

    Raises:
        Conflict: the bot is somebody else's.
    """
    version = versions.add(engine, name, number, "", "", {"address": address}, owner)
    _put(engine, version.id, until=ALWAYS, room=ANY_NUMBER)
    return version


def renew(engine: Engine, version: str) -> str:
    """Gives a bot another token; the one before is worth nothing from now on.

    Raises:
        NotFound: it is no bot that connects to the relay.
    """
    if not is_relayed(versions.find(engine, version).manifest):
        raise NotFound(
            f"{version} has no token; one is made by `pokearena bot add --remote NAME`, for a bot "
            "that connects to the relay."
        )
    return _put_token(engine, version)


def is_relayed(manifest: Mapping[str, Any]) -> bool:
    """Whether this is the manifest of a version that connects to the relay."""
    return bool(manifest.get("remote"))


def listing(engine: Engine) -> dict[str, Remote]:
    """All remote bots, by version."""
    table = schema.remotes
    query = select(table, (table.c.until > now()).label("here")).order_by(table.c.version)
    with reading(engine) as connection:
        return {row.version: _remote(row) for row in connection.execute(query)}


def desks(engine: Engine, match: str) -> dict[str, Mapping[str, str] | None]:
    """Where the relays take orders that have the remote bots of a match, and the way there from
    other machines (arena.remote.tunnel.streams.Way); None if there is none.

    Those are left out for which the match does not wait any longer, and which are away.
    """
    table, sides, matches = schema.remotes, schema.match_entrants, schema.matches
    query = (
        select(table.c.desk, table.c.way)
        .join(sides, sides.c.version == table.c.version)
        .join(matches, matches.c.id == sides.c.match)
        .where(
            matches.c.id == match,
            table.c.desk != "",
            or_(matches.c.unawaited.is_(None), table.c.until > now()),
        )
    )
    with reading(engine) as connection:
        return {row.desk: row.way for row in connection.execute(query)}


def find(engine: Engine, version: str) -> Remote | None:
    """How a version stands; None if it is not remote."""
    return listing(engine).get(version)


def desk(engine: Engine, version: str) -> Desk:
    """The desk of the relay that has this bot; its address is empty if no relay ever had it."""
    table = schema.remotes
    with reading(engine) as connection:
        row = connection.execute(
            select(table.c.desk, table.c.way).where(table.c.version == version)
        ).one_or_none()
    return Desk("", None) if row is None else Desk(row.desk, row.way)


def of_token(engine: Engine, token: str) -> Version | None:
    """The version whose token this is."""
    table = schema.remotes
    query = select(table.c.version).where(table.c.token == token_hash(token))
    with reading(engine) as connection:
        found = connection.execute(query).scalar_one_or_none()
    return None if found is None else versions.find(engine, found)


def tokens(engine: Engine, of: Collection[str]) -> dict[str, str]:
    """The hashes of the tokens in force of some versions."""
    table = schema.remotes
    query = select(table.c.version, table.c.token).where(table.c.version.in_(of))
    with reading(engine) as connection:
        return {row.version: row.token for row in connection.execute(query)}


def token_hashes(engine: Engine) -> frozenset[str]:
    """Return the hashes of all tokens in force."""
    table = schema.remotes
    with reading(engine) as connection:
        query = select(table.c.token).where(table.c.token.is_not(None))
        return frozenset(connection.execute(query).scalars())


def came(
    engine: Engine, version: str, desk: str, room: int, way: Mapping[str, str] | None = None
) -> None:
    """A bot has connected, and can sit at so many tables more.

    desk: where its relay takes orders for seats. way: how that is reached from other machines.
    """
    here = {"since": now(), "until": now() + HERE_SECONDS, "room": room}
    _note(engine, version, desk=desk, way=way, **here)


def has_room(engine: Engine, version: str, room: int) -> None:
    """At how many more tables a bot that is connected can sit now."""
    _note(engine, version, room=room)


def stays(engine: Engine, of: Collection[str], desk: str) -> None:
    """These bots are still connected to the relay of this desk."""
    table = schema.remotes
    if of:
        its = (table.c.version.in_(of), table.c.desk == desk)
        rows = select(table.c.version).where(*its).order_by(table.c.version)
        _write(engine, update(table).where(*its).values(until=now() + HERE_SECONDS), rows)


def went(engine: Engine, version: str, desk: str | None = None) -> None:
    """A bot is gone; of a relay that does not have it any more it is not heard."""
    table = schema.remotes
    gone = update(table).where(table.c.version == version, table.c.until > now())
    if desk is not None:
        gone = gone.where(table.c.desk == desk)
    _write(engine, gone.values(since=now(), until=now()))


def answers(engine: Engine, version: str) -> None:
    """A bot with an address of its own, which was gone, answers there."""
    _note(engine, version, since=now(), until=ALWAYS)


def refused(engine: Engine, version: str, sentence: str) -> None:
    """Notes that somebody who had this bot's token was not let in."""
    table = schema.remotes
    _note(engine, version, refusals=table.c.refusals + 1, refused=now(), refusal=sentence[:500])


def token_hash(token: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _put_token(engine: Engine, version: str) -> str:
    token = secrets.token_urlsafe(_BYTES)
    _put(engine, version, token=token_hash(token), made=now())
    return token


def _put(engine: Engine, version: str, **values: object) -> None:
    table = schema.remotes
    with writing(engine, "add_remote") as connection:
        known_as = schema.versions.c.id
        keep(connection, select(known_as).where(known_as == version))
        known = update(table).where(table.c.version == version)
        if connection.execute(known.values(**values)).rowcount == 0:
            connection.execute(insert(table).values(version=version, **values))


def _note(engine: Engine, version: str, **values: object) -> None:
    table = schema.remotes
    _write(engine, update(table).where(table.c.version == version).values(**values))


def _write(engine: Engine, change: Update, rows: Select[Any] | None = None) -> None:
    """rows: what it changes, if that is several, in order."""
    with writing(engine, "presence") as connection:
        if rows is not None:
            keep(connection, rows)
        connection.execute(change)


def _remote(row: Any) -> Remote:
    return Remote(
        version=row.version,
        relayed=row.token is not None,
        here=bool(row.here),
        since=row.since,
        refusals=row.refusals,
        refused=row.refused,
        refusal=row.refusal,
    )
