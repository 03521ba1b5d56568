"""Remote bots: their tokens, and whether they are connected.

A relayed bot connects to a relay with a token, whose hash is stored (`arena.store.bots.owners`). A
direct bot has a network address of its own and no token. Each bot counts as connected until a time
in its row. The relay moves this time forward; for a direct bot it is `ALWAYS` until a connection
fails. Matches of an absent bot wait (`arena.store.matches.offline_bot_waits`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import Engine, Select, Update, insert, or_, select, update

from arena.errors import NotFound
from arena.store import schema
from arena.store.access.tokens import new_token, token_hash
from arena.store.bots import versions
from arena.store.bots.versions import Version
from arena.store.database import now, read_rows, reading, writing
from arena.store.postgresql import lock_rows

ALWAYS: Final = 1e18
"""`until` of a direct bot: it counts as connected until a connection to it fails."""
UNLIMITED_TABLES: Final = 1_000_000
"""`free_tables` of a direct bot: the number of its tables is not limited."""
PRESENCE_SECONDS: Final = 15.0
"""How long a relayed bot counts as connected after the last report of its relay."""


@dataclass(frozen=True, slots=True)
class RemoteBot:
    """The state of a remote bot."""

    version: str
    """``name@number``"""
    relayed: bool
    """Whether it connects to a relay; otherwise the arena connects to its address."""
    is_connected: bool
    """Whether it is reachable now."""
    since: float | None
    """When it connected or disconnected last; None if it never connected."""
    refusals: int
    """Number of refused connections that presented its token."""
    refused: float | None
    refusal: str | None
    """The reason of the last refusal, as a sentence."""

    @property
    def words(self) -> str:
        """The connection state for display: "connected", "never seen" or "absent"."""
        return (
            "connected" if self.is_connected else "never seen" if self.since is None else "absent"
        )


class RelayAddress(NamedTuple):
    """The relay to which a bot connects."""

    address: str
    tunnel: Mapping[str, str] | None
    """Its `TunnelEndpoint` for other machines (`arena.system.tunnel`); None without one."""


def add_relayed(engine: Engine, name: str, number: str, owner: str = "") -> tuple[Version, str]:
    """Register a relayed version and return it with its token, which cannot be retrieved later.

    Raises:
        Conflict: the bot belongs to another owner.
    """
    version = versions.add_version(engine, name, number, "", "", {"remote": True}, owner)
    return version, _put_token(engine, version.id)


def add_direct(engine: Engine, name: str, number: str, address: str, owner: str = "") -> Version:
    """Register a version with its own address, such as "10.0.0.5:7000" or "unix:/path".

    Raises:
        Conflict: the bot belongs to another owner.
    """
    version = versions.add_version(engine, name, number, "", "", {"address": address}, owner)
    _put(engine, version.id, until=ALWAYS, free_tables=UNLIMITED_TABLES)
    return version


def renew(engine: Engine, version: str) -> str:
    """Replace a bot's token and return the new one; the old token is invalid at once.

    Raises:
        NotFound: the version is not a relayed bot.
    """
    if not is_relayed(versions.find_version(engine, version).manifest):
        raise NotFound(
            f"{version} has no token; one is made by `pokearena bot add --remote NAME`, for a bot "
            "that connects to the relay.",
            code="no-token",
        )
    return _put_token(engine, version)


def is_relayed(manifest: Mapping[str, Any]) -> bool:
    """Return whether the manifest's version connects through a relay."""
    return bool(manifest.get("remote"))


def list_remote_bots(engine: Engine) -> dict[str, RemoteBot]:
    """Return all remote bots, by version."""
    query = _states().order_by(schema.remotes.c.version)
    return {row.version: _remote(row) for row in read_rows(engine, query)}


def relay_addresses(engine: Engine, match: str) -> dict[str, Mapping[str, str] | None]:
    """Return the relays that serve a match's remote bots, for requests of seats.

    A relay is omitted if its bot is absent and the match no longer waits for it.

    Returns:
        By control address: the endpoint for other machines
        (`arena.system.tunnel.endpoint.TunnelEndpoint`), or None without one.
    """
    table, sides, matches = schema.remotes, schema.match_entrants, schema.matches
    query = (
        select(table.c.control_address, table.c.tunnel_endpoint)
        .join(sides, sides.c.version == table.c.version)
        .join(matches, matches.c.id == sides.c.match)
        .where(
            matches.c.id == match,
            table.c.control_address != "",
            or_(matches.c.unawaited.is_(None), table.c.until > now()),
        )
    )
    return {row.control_address: row.tunnel_endpoint for row in read_rows(engine, query)}


def find_remote_bot(engine: Engine, version: str) -> RemoteBot | None:
    """Return the state of a version; None if it is not remote."""
    query = _states().where(schema.remotes.c.version == version)
    row = read_rows(engine, query).one_or_none()
    return None if row is None else _remote(row)


def relay_address(engine: Engine, version: str) -> RelayAddress:
    """Return the relay that serves a bot; its address is empty if the bot never connected."""
    table = schema.remotes
    row = read_rows(
        engine,
        select(table.c.control_address, table.c.tunnel_endpoint).where(table.c.version == version),
    ).one_or_none()
    return (
        RelayAddress("", None)
        if row is None
        else RelayAddress(row.control_address, row.tunnel_endpoint)
    )


def version_with_token(engine: Engine, token: str) -> Version | None:
    """Return the version with this token; None if the token is unknown."""
    table = schema.remotes
    query = select(table.c.version).where(table.c.token == token_hash(token))
    version = read_rows(engine, query).scalar_one_or_none()
    return None if version is None else versions.find_version(engine, version)


def token_hashes(engine: Engine) -> frozenset[str]:
    table = schema.remotes
    with reading(engine) as connection:
        query = select(table.c.token).where(table.c.token.is_not(None))
        return frozenset(connection.execute(query).scalars())


def record_connected(
    engine: Engine,
    version: str,
    control: str,
    free_tables: int,
    tunnel: Mapping[str, str] | None = None,
) -> None:
    """Record that a bot has connected to a relay.

    Args:
        free_tables: how many more tables the bot can join.
        tunnel: the relay's endpoint for other machines; None without one.
    """
    presence = {"since": now(), "until": now() + PRESENCE_SECONDS, "free_tables": free_tables}
    _update(engine, version, control_address=control, tunnel_endpoint=tunnel, **presence)


def record_free_tables(engine: Engine, version: str, free_tables: int) -> None:
    """Record how many more tables a connected bot can join."""
    _update(engine, version, free_tables=free_tables)


def extend_presence(engine: Engine, of: Collection[str], control: str) -> None:
    """Extend the presence of bots still connected to the relay with this control address."""
    table = schema.remotes
    if of:
        of_relay = (table.c.version.in_(of), table.c.control_address == control)
        rows = select(table.c.version).where(*of_relay).order_by(table.c.version)
        _write(engine, update(table).where(*of_relay).values(until=now() + PRESENCE_SECONDS), rows)


def record_disconnected(engine: Engine, version: str, control: str | None = None) -> None:
    """Record that a bot has disconnected.

    Args:
        control: control address of the reporting relay. Its report is ignored if the bot has
            connected to another relay since. None: any.
    """
    table = schema.remotes
    gone = update(table).where(table.c.version == version, table.c.until > now())
    if control is not None:
        gone = gone.where(table.c.control_address == control)
    _write(engine, gone.values(since=now(), until=now()))


def record_reachable(engine: Engine, version: str) -> None:
    """Record that an absent bot with its own address accepts connections again."""
    _update(engine, version, since=now(), until=ALWAYS)


def record_refused(engine: Engine, version: str, sentence: str) -> None:
    """Record a refused connection with this bot's token; the reason is cut at 500 characters."""
    table = schema.remotes
    _update(engine, version, refusals=table.c.refusals + 1, refused=now(), refusal=sentence[:500])


def _put_token(engine: Engine, version: str) -> str:
    token = new_token()
    _put(engine, version, token=token_hash(token), made=now())
    return token


def _put(engine: Engine, version: str, **values: object) -> None:
    table = schema.remotes
    with writing(engine, "add_remote") as connection:
        version_id = schema.versions.c.id
        lock_rows(connection, select(version_id).where(version_id == version))
        update_existing = update(table).where(table.c.version == version)
        if connection.execute(update_existing.values(**values)).rowcount == 0:
            connection.execute(insert(table).values(version=version, **values))


def _update(engine: Engine, version: str, **values: object) -> None:
    table = schema.remotes
    _write(engine, update(table).where(table.c.version == version).values(**values))


def _write(engine: Engine, change: Update, rows: Select[Any] | None = None) -> None:
    """Apply a change; `rows` selects, in order, the rows to lock if it changes several."""
    with writing(engine, "presence") as connection:
        if rows is not None:
            lock_rows(connection, rows)
        connection.execute(change)


def _states() -> Select[Any]:
    table = schema.remotes
    return select(table, (table.c.until > now()).label("is_connected"))


def _remote(row: Any) -> RemoteBot:
    return RemoteBot(
        version=row.version,
        relayed=row.token is not None,
        is_connected=bool(row.is_connected),
        since=row.since,
        refusals=row.refusals,
        refused=row.refused,
        refusal=row.refusal,
    )
