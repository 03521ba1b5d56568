"""List the closed matches and the faults of some versions, newest first, by page."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, Select, func, select

from arena.ratings.closed_match import PlayedFault
from arena.store import schema
from arena.store.database import read_rows, reading
from arena.store.matches import closed_matches
from arena.store.matches.closed_matches import PlayedMatch
from arena.store.schema import OPEN, MatchState


def kinds(engine: Engine, of: Collection[str]) -> dict[str, int]:
    """Count the faults of some versions by verdict, the most frequent first.

    Args:
        of: versions as ``name@number``.
    """
    table = schema.faults
    selected = _selected_faults(select(table.c.verdict, func.count()), of, "")
    query = selected.group_by(table.c.verdict)
    counts = [(str(word), int(count)) for word, count in read_rows(engine, query)]
    return dict(sorted(counts, key=lambda each: (-each[1], each[0])))


def faults(
    engine: Engine, of: Collection[str], kind: str = "", offset: int = 0, limit: int = 50
) -> tuple[PlayedFault, ...]:
    """Return a page of the faults of some versions.

    Args:
        of: versions as ``name@number``.
        kind: only faults with this verdict; empty: all.
    """
    table, matches = schema.faults, schema.matches
    columns = [name for name in PlayedFault.__slots__ if name != "tournament"]
    selected = select(matches.c.tournament, *(table.c[name] for name in columns))
    query = _selected_faults(selected, of, kind)
    query = query.order_by(matches.c.ended.desc(), table.c.match, table.c.game, table.c.number)
    rows = read_rows(engine, query.offset(offset).limit(limit)).all()
    return tuple(PlayedFault(**row._mapping) for row in rows)


def _selected_faults(query: Select[Any], of: Collection[str], kind: str) -> Select[Any]:
    table, matches = schema.faults, schema.matches
    query = query.select_from(table.join(matches, matches.c.id == table.c.match)).where(
        table.c.version.in_(of), matches.c.state.not_in(OPEN)
    )
    return query.where(table.c.verdict == kind) if kind else query


def count(engine: Engine, sitting: Sequence[Collection[str]], of: Collection[str] = ()) -> int:
    """Return the number of matches that `matches` would return without a limit."""
    query = select(func.count()).select_from(_chosen(sitting, of).subquery())
    return int(read_rows(engine, query).scalar_one())


def matches(
    engine: Engine,
    sitting: Sequence[Collection[str]],
    of: Collection[str] = (),
    offset: int = 0,
    limit: int = 50,
) -> tuple[PlayedMatch, ...]:
    """Return closed matches, newest first.

    Args:
        sitting: collections of versions (``name@number``). The match must have an entrant of each.
        of: only matches of these tournaments; empty: of all.
    """
    chosen = _chosen(sitting, of)
    order = chosen.selected_columns
    return _read(
        engine, chosen.order_by(order.closed.desc(), order.match).offset(offset).limit(limit)
    )


def latest(engine: Engine, tournament: str, limit: int) -> tuple[PlayedMatch, ...]:
    """Return the matches of a tournament that closed last, newest first."""
    table = schema.matches
    chosen = (
        select(table.c.id.label("match"))
        .where(table.c.state == MatchState.CLOSED, table.c.tournament == tournament)
        .order_by(table.c.ended.desc(), table.c.id)
        .limit(limit)
    )
    return _read(engine, chosen)


def of_ids(engine: Engine, ids: Sequence[str]) -> tuple[PlayedMatch, ...]:
    """Return the closed ones of these matches, in this order; at most 500 ids."""
    with reading(engine) as connection:
        return by_ids(connection, ids)


def _read(engine: Engine, chosen: Select[Any]) -> tuple[PlayedMatch, ...]:
    """Read the selected matches, newest first."""
    results = schema.results
    page = chosen.subquery()
    query = (
        select(results.c.match)
        .join(page, page.c.match == results.c.match)
        .order_by(results.c.closed.desc(), results.c.match)
    )
    with reading(engine) as connection:
        ids = connection.execute(query).scalars().all()
        by_id = closed_matches.with_ids(connection, ids)
    return tuple(by_id[match] for match in ids)


def by_ids(connection: Connection, ids: Sequence[str]) -> tuple[PlayedMatch, ...]:
    """Return the same in a transaction."""
    results = schema.results
    closed = connection.execute(select(results.c.match).where(results.c.match.in_(ids)))
    by_id = closed_matches.with_ids(connection, closed.scalars().all())
    return tuple(by_id[match] for match in ids if match in by_id)


def _chosen(sitting: Sequence[Collection[str]], of: Collection[str]) -> Select[Any]:
    """Select matches and their closing times, through the index on versions and closing times."""
    matches, sides = schema.matches, schema.match_entrants
    first, *others = sitting
    query = select(*sides.c["match", "closed"]).where(
        sides.c.version.in_(first), sides.c.closed.is_not(None)
    )
    if len(first) > 1:
        # A match with two of these versions would otherwise appear twice.
        query = query.distinct()
    for chosen in others:
        beside = sides.alias()
        sat = select(beside.c.match).where(
            beside.c.match == sides.c.match, beside.c.version.in_(chosen)
        )
        query = query.where(sat.exists())
    if of:
        in_tournaments = select(matches.c.id).where(
            matches.c.id == sides.c.match, matches.c.tournament.in_(of)
        )
        query = query.where(in_tournaments.exists())
    return query
