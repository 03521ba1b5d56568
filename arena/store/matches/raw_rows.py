"""Read all rows of matches without decoding them, so that damaged rows are readable too."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import JSON, Column, ColumnElement, Connection, Engine, Text, cast, func, select

from arena.store import schema
from arena.store.database import read_rows, reading
from arena.store.match_settings import stored_values
from arena.store.matches.spec import Entrant, MatchSpec
from arena.store.objects import record_archive
from arena.store.objects.object_storage import ObjectLost
from arena.store.schema import MatchState

BATCH: Final = 100
"""Number of matches read in one transaction; each batch is one consistent state of the store."""

Row = Mapping[str, Any]

_FAULT_COLUMNS: Final = (
    *("match", "game", "number", "decision", "seat", "version"),
    *("verdict", "sentence", "ended", "output"),
)


@dataclass(frozen=True, slots=True)
class MatchRows:
    """The rows of one match; values of JSON columns are text, for `decoded`.

    Attributes:
        entrants: rows of `match_entrants` with their versions, in order of position.
        games: rows of `games`, in order of their numbers.
        faults: rows of `faults`, in order of game and number.
        result: the row of `results`, if there is one.
        missing: why records in the object storage cannot be read, as a sentence; empty if all
            records were read.
    """

    match: Row
    tournament: Row
    entrants: tuple[Row, ...]
    games: tuple[Row, ...]
    faults: tuple[Row, ...]
    result: Row | None
    missing: str = ""

    @property
    def id(self) -> str:
        return str(self.match["id"])

    @property
    def state(self) -> MatchState:
        return MatchState(self.match["state"])

    @property
    def versions(self) -> tuple[str, ...]:
        """The entrants' names."""
        return tuple(str(row["version"]) for row in self.entrants)

    def spec(self) -> MatchSpec:
        """Return the specification of the match, including the seed.

        Raises:
            ValueError: the tournament's options are not valid JSON.
        """
        options = decoded(self.tournament["options"])
        return MatchSpec(
            **stored_values({**self.tournament, "options": options}),
            id=self.id,
            tournament=self.match["tournament"],
            round=self.match["round"],
            number=self.match["number"],
            entrants=tuple(
                Entrant(row["version"], row["content_hash"], row["folder"], {})
                for row in self.entrants
            ),
            commitment=self.match["commitment"],
            seed=self.match["seed"],
        )


def decoded(value: str | None) -> Any:
    """Decode JSON text; None for null.

    Raises:
        ValueError: the text is not valid JSON.
    """
    return None if value is None else json.loads(value)


@contextmanager
def reading_invalid_text(engine: Engine) -> Iterator[Connection]:
    r"""Open a read-only transaction that also reads text with invalid UTF-8.

    An SQLite file can hold any bytes as text. Invalid bytes are read as ``\xff``, which is not
    valid in JSON.
    """
    with reading(engine) as connection:
        if connection.dialect.name != "sqlite":
            yield connection
            return
        raw: Any = connection.connection.driver_connection
        factory = raw.text_factory
        raw.text_factory = lambda value: value.decode("utf-8", errors="backslashreplace")
        try:
            yield connection
        finally:
            raw.text_factory = factory


def batches(
    engine: Engine, tournament: str | None = None, after: str = ""
) -> Iterator[tuple[MatchRows, ...]]:
    """Yield all matches in order of their ids in batches, each read in its own transaction.

    Args:
        tournament: only the matches of this tournament.
        after: only the matches with ids after this one.
    """
    table = schema.matches
    query = select(table.c.id).order_by(table.c.id).limit(BATCH)
    if tournament is not None:
        query = query.where(table.c.tournament == tournament)
    last = after
    while True:
        with reading_invalid_text(engine) as connection:
            names = list(connection.execute(query.where(table.c.id > last)).scalars())
            rows = read(connection, names)
        if not names:
            return
        last = names[-1]
        yield tuple(with_records(engine, match) for match in rows)


def with_records(engine: Engine, match: MatchRows) -> MatchRows:
    """Return the rows of a match with the records that are in the object storage.

    Raises:
        ObjectStorageError: the object storage cannot be used.
    """
    records = {row["game"]: row["record"] for row in match.games}
    try:
        complete = record_archive.complete(engine, match.id, records)
    except ObjectLost as error:
        return replace(match, missing=str(error))
    if complete is records:
        return match
    games = tuple({**row, "record": complete[row["game"]]} for row in match.games)
    return replace(match, games=games)


def count(engine: Engine, tournament: str | None = None, after: str = "") -> int:
    """Return the number of matches that `batches` yields."""
    table = schema.matches
    query = select(func.count()).select_from(table).where(table.c.id > after)
    if tournament is not None:
        query = query.where(table.c.tournament == tournament)
    return int(read_rows(engine, query).scalar_one())


def read(connection: Connection, matches: Sequence[str]) -> tuple[MatchRows, ...]:
    """Return the rows of these matches, in their order; at most `BATCH` matches."""
    table, sides, versions = schema.matches, schema.match_entrants, schema.versions
    match_rows = {row["id"]: row for row in _rows(connection, table.c, table.c.id, matches)}
    tournament_table = schema.tournaments
    tournament_ids = list({row["tournament"] for row in match_rows.values()})
    tournaments = {
        row["id"]: row
        for row in _rows(connection, tournament_table.c, tournament_table.c.id, tournament_ids)
    }
    entrants = _grouped(
        connection.execute(
            select(*sides.c["match", "position", "version"], *versions.c["content_hash", "folder"])
            .join(versions, versions.c.id == sides.c.version)
            .where(sides.c.match.in_(matches))
            .order_by(sides.c.match, sides.c.position)
        )
    )
    games, faults, results = schema.games, schema.faults, schema.results
    played = _by_match(_rows(connection, games.c, games.c.match, matches), "game")
    fault_columns = [faults.c[name] for name in _FAULT_COLUMNS]
    faulted = _by_match(_rows(connection, fault_columns, faults.c.match, matches), "game", "number")
    closed = {row["match"]: row for row in _rows(connection, results.c, results.c.match, matches)}
    return tuple(
        MatchRows(
            match_rows[name],
            tournaments[match_rows[name]["tournament"]],
            tuple(entrants[name]),
            tuple(played[name]),
            tuple(faulted[name]),
            closed.get(name),
        )
        for name in matches
        # A match without its tournament is a broken reference, which the structure check reports.
        if name in match_rows and match_rows[name]["tournament"] in tournaments
    )


def _rows(
    connection: Connection,
    columns: Iterable[Column[Any]],
    key: Column[Any],
    values: Sequence[str],
) -> list[Row]:
    query = select(*map(_undecoded, columns)).where(key.in_(values))
    return [dict(row._mapping) for row in connection.execute(query)]


def _undecoded(column: Column[Any]) -> ColumnElement[Any]:
    """Select a JSON column as text, because decoding fails on damaged JSON."""
    return cast(column, Text).label(column.name) if isinstance(column.type, JSON) else column


def _by_match(rows: list[Row], *order: str) -> defaultdict[str, list[Row]]:
    return _grouped_rows(sorted(rows, key=lambda row: tuple(row[name] for name in order)))


def _grouped(rows: Any) -> defaultdict[str, list[Row]]:
    return _grouped_rows([dict(row._mapping) for row in rows])


def _grouped_rows(rows: list[Row]) -> defaultdict[str, list[Row]]:
    groups: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["match"]].append(row)
    return groups
