"""Check the structure of a store: the rules its rows must satisfy, without reading any record.

`arena.records.bundle.store_audit` checks the records and the values derived from them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any, Final

from sqlalchemy import Connection, Engine, Select, and_, exc, func, literal_column, or_, select

from arena.store import database, schema
from arena.store.database import HEAD, reading
from arena.store.matches.raw_rows import reading_invalid_text
from arena.store.schema import OPEN, MatchState, ObjectKind, ObjectState, TournamentState

OnProgress = Callable[[str, int, int], None]
"""Progress callback: receives the label of the checked data, the number done and the total."""
_ROWS_AT_ONCE: Final = 1000
_MAX_EXAMPLES: Final = 5
"""Number of rows that the sentence about a problem names."""


def problems(engine: Engine, report: OnProgress) -> Iterator[str]:
    """Yield the structural problems, one sentence each; nothing if the store is sound.

    Args:
        report: receives a label, the number of checks done and their total.

    Raises:
        Unreachable: the database cannot be opened.
        StoreError: a newer pokearena wrote it.
    """
    if unusable := unreadable(engine):
        yield from unusable
        return
    with reading_invalid_text(engine) as connection:
        queries = [*_references(), *_rules()]
        for number, (sentence, query) in enumerate(queries):
            report("checks", number, len(queries))
            names = [str(row[0]) for row in connection.execute(query.limit(_MAX_EXAMPLES + 1))]
            if names:
                more = " and more" if len(names) > _MAX_EXAMPLES else ""
                yield f"{sentence}: {', '.join(names[:_MAX_EXAMPLES])}{more}."
        yield from _commitments(connection)


def unreadable(engine: Engine) -> list[str]:
    """Return the reasons why the rows cannot be checked: another version, or a damaged file.

    Raises:
        Unreachable: the database cannot be opened.
        StoreError: a newer pokearena wrote it.
    """
    database.refuse_newer(engine)
    stored = database.version(engine)
    if stored != HEAD:
        state = f"is at schema version {stored}" if stored else "has no tables"
        return [
            f"the database {state}; schema version {HEAD} is required. Run `pokearena db upgrade`."
        ]
    with reading(engine) as connection:
        return _damage(connection)


def _damage(connection: Connection) -> list[str]:
    """Return the errors of SQLite's integrity check; none for PostgreSQL."""
    if connection.dialect.name != "sqlite":
        return []
    try:
        findings = connection.exec_driver_sql("PRAGMA integrity_check(20)").scalars().all()
    except exc.DatabaseError as error:
        findings = [error.orig]
    return [f"the file is damaged: {finding}." for finding in findings if finding != "ok"]


def _references() -> Iterator[tuple[str, Select[Any]]]:
    """Yield queries for rows with dangling references.

    PostgreSQL enforces foreign keys, but a broken disk can still violate them.
    """
    for table in schema.metadata.sorted_tables:
        for key in table.foreign_key_constraints:
            target = key.referred_table.alias("target")
            pairs = [(part.parent, target.c[part.column.name]) for part in key.elements]
            joined = table.outerjoin(target, and_(*(mine == theirs for mine, theirs in pairs)))
            lost = and_(pairs[0][1].is_(None), *(mine.is_not(None) for mine, _ in pairs))
            query = select(pairs[0][0]).distinct().select_from(joined).where(lost)
            yield f"rows of {table.name} refer to missing {key.referred_table.name}", query


def _rules() -> Iterator[tuple[str, Select[Any]]]:
    """Yield the broken rules as sentences, each with a query of the rows that break it."""
    yield from _match_rules()
    yield from _entrant_rules()
    yield from _tournament_rules()
    yield _build_archives()


def _match_rules() -> Iterator[tuple[str, Select[Any]]]:
    matches, games, results = schema.matches, schema.games, schema.results
    played = (
        select(func.count()).where(games.c.match == matches.c.id).correlate(matches)
    ).scalar_subquery()
    has_result = select(literal_column("1")).where(results.c.match == matches.c.id).exists()
    closed = matches.c.state == MatchState.CLOSED
    name = select(matches.c.id).order_by(matches.c.id)
    yield "closed matches lack games", name.where(closed, played < matches.c.games)
    yield "matches have more games than planned", name.where(played > matches.c.games)
    yield "closed matches have no result", name.where(closed, ~has_result)
    yield "matches that are not closed have a result", name.where(~closed, has_result)
    yield (
        "matches have all their games and are still open",
        name.where(matches.c.state.in_(OPEN), played >= matches.c.games),
    )
    held = matches.c.state == MatchState.RUNNING
    nobody = or_(matches.c.owner.is_(None), matches.c.lease_until.is_(None))
    yield "running matches have no lease", name.where(held, nobody)
    ended = matches.c.ended.is_(None)
    yield "finished matches have no end time", name.where(matches.c.state.not_in(OPEN), ended)


def _entrant_rules() -> Iterator[tuple[str, Select[Any]]]:
    matches, sides, results = schema.matches, schema.match_entrants, schema.results
    name = select(matches.c.id).order_by(matches.c.id)
    seated = select(literal_column("1")).where(sides.c.match == matches.c.id).exists()
    yield "matches have no entrants", name.where(~seated)
    yield (
        "matches and their entrants have different tournaments",
        select(sides.c.match)
        .distinct()
        .join(matches, matches.c.id == sides.c.match)
        .where(sides.c.tournament != matches.c.tournament)
        .order_by(sides.c.match),
    )
    differs = sides.c.closed.is_distinct_from(results.c.closed)
    yield (
        "matches and their entrants have different closing times",
        select(sides.c.match)
        .distinct()
        .outerjoin(results, results.c.match == sides.c.match)
        .where(differs)
        .order_by(sides.c.match),
    )


def _tournament_rules() -> Iterator[tuple[str, Select[Any]]]:
    matches, tournaments = schema.matches, schema.tournaments
    counted = (
        select(
            matches.c.tournament,
            func.count().label("matches"),
            func.sum(matches.c.games).label("games"),
        )
        .group_by(matches.c.tournament)
        .subquery()
    )
    yield (
        "tournaments have different numbers of matches or games than they count",
        select(tournaments.c.id)
        .outerjoin(counted, counted.c.tournament == tournaments.c.id)
        .where(
            or_(
                tournaments.c.matches != func.coalesce(counted.c.matches, 0),
                tournaments.c.games != func.coalesce(counted.c.games, 0),
            )
        )
        .order_by(tournaments.c.id),
    )
    open_matches: Select[Any] = select(literal_column("1")).where(
        matches.c.tournament == tournaments.c.id, matches.c.state.in_(OPEN)
    )
    yield (
        "tournaments are closed and have open matches",
        select(tournaments.c.id).where(
            tournaments.c.state == TournamentState.CLOSED, open_matches.exists()
        ),
    )


def _build_archives() -> tuple[str, Select[Any]]:
    """Return a query for build archives that neither the database nor an object holds."""
    objects, builds, pieces = schema.stored_objects, schema.crates, schema.crate_pieces
    number = (
        select(func.count()).where(pieces.c.content_hash == builds.c.content_hash)
    ).scalar_subquery()
    stored: Select[Any] = select(literal_column("1")).where(
        objects.c.kind == ObjectKind.BUILD,
        objects.c.subject == builds.c.content_hash,
        objects.c.state == ObjectState.STORED,
    )
    lost = or_(number != builds.c.pieces, and_(builds.c.pieces == 0, ~stored.exists()))
    query = select(builds.c.content_hash).where(lost).order_by(builds.c.content_hash)
    return "build archives lack files", query


def _commitments(connection: Connection) -> Iterator[str]:
    """Yield matches whose seed does not have the published hash: they could not be verified."""
    table = schema.matches
    query = connection.execution_options(yield_per=_ROWS_AT_ONCE).execute(
        select(*table.c["id", "seed", "commitment"])
    )
    with query as rows:
        for row in rows:
            seed = row.seed if isinstance(row.seed, bytes) else b""
            if hashlib.sha256(seed).hexdigest() != row.commitment:
                yield f"the seed of match {row.id} is not the one that was committed to."
