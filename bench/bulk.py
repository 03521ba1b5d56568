"""Generate a large SQLite database of bots and matches by SQL alone.

The newest fifth of the matches belongs to a ladder that is open to every bot. It has rounds in
which each bot plays about once, and one additional round that is due. The others belong to closed
tournaments of a thousand bots. A match has one board (two games) with points. Its games have no
records, which would take 12 kB each.

For speed, rows are inserted 100,000 at a time in the order of their keys. The indices are dropped
first and created at the end, because updating them would access the whole file at random.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Engine, Index, insert

from arena.config import Folder
from arena.ratings.decision_histogram import DecisionHistogram
from arena.store import database, schema
from arena.store.database import writing
from arena.store.schema import TournamentState
from bench import ladder_computation

CLOSED_TOURNAMENTS: Final = 8
BOTS_PER_TOURNAMENT: Final = 1000
OPEN_SHARE: Final = 5
INSERT_BATCH: Final = 100_000
LADDER: Final = "t-open00"
_SEED: Final = bytes(32)
_FAR: Final = 4
"""The maximum lead in a game, in hundreds of points."""
_FULL = (schema.matches, schema.match_entrants, schema.results)

_PLACES = """
CREATE TEMP TABLE coming AS
WITH RECURSIVE
    numbers (i) AS (SELECT :first UNION ALL SELECT i + 1 FROM numbers WHERE i + 1 < :until),
    placed AS (
        SELECT i, (i - :base) / :a_round AS round, (i - :base) % :a_round AS number FROM numbers
    ),
    met AS (SELECT *, (2 * number + round) % :bots AS one FROM placed),
    paired AS (
        SELECT *, (one + 1 + 2 * ((31 * round + 17 * number) % (:bots / 20))) % :bots AS other
        FROM met
    )
SELECT
    printf('m-%010d', i) AS id, :tournament AS tournament, round, number, 1e9 + i AS at,
    printf('b%05d@1', :offset + min(one, other)) AS one,
    printf('b%05d@1', :offset + max(one, other)) AS other,
    min(max((i * 2654435761 >> 9) % 9 - 4 + abs(one - other) * 5 / :bots, -4), 4) AS ahead,
    min(max((i * 2246822519 >> 9) % 9 - 4 + abs(one - other) * 5 / :bots, -4), 4) AS again
FROM paired
"""
_MATCHES = """
INSERT INTO matches (
    id, tournament, round, number, key, seed, commitment, boards, games, state, attempt, failures,
    leased, ended
)
SELECT
    id, tournament, round, number, id, :seed, :commitment, 1, 2, :state, :attempt, 0,
    CASE WHEN :attempt THEN at - 2 END, CASE WHEN :attempt THEN at END
FROM coming
"""
_SIDES = """
INSERT INTO match_entrants (match, position, version, closed, tournament)
SELECT id, 0, one, CASE WHEN :attempt THEN at END, tournament FROM coming
UNION ALL SELECT id, 1, other, CASE WHEN :attempt THEN at END, tournament FROM coming
ORDER BY 1, 2
"""
_GAMES = """
INSERT INTO games (
    match, game, table_number, board, attempt, places, scores, verdicts, faults, tally, committed,
    record, thinking
)
SELECT
    id, game, game, 0, 1, places, scores, '["finished", "finished"]', '[0, 0]', '{}', at, '', NULL
FROM coming JOIN played ON played.ahead = CASE game WHEN 0 THEN coming.ahead ELSE again END
ORDER BY id, game
"""
_RESULTS = """
INSERT INTO results (match, attempt, outcome, closed, digest, thinking)
SELECT
    id, 1, replace(replace(outcome, 'bot001@1', one), 'bot002@1', other), at,
    replace(replace(digest, 'bot001@1', one), 'bot002@1', other), :thinking
FROM coming JOIN shapes ON shapes.ahead = coming.ahead AND shapes.again = coming.again
"""


def name(place: int) -> str:
    """Return the version id of a bot."""
    return f"b{place:05}@1"


def write(folder: Path, bots: int, matches: int) -> Engine:
    """Write the database of a data folder; return its engine as opened by the arena."""
    data_folder = Folder(folder).create()
    engine = database.open(data_folder.database_url({}))
    database.upgrade(engine)
    _versions(engine, bots)
    indices = [index for table in _FULL for index in table.indexes]
    with engine.begin() as connection:
        for index in indices:
            index.drop(connection)
    path = str(engine.url.database)
    engine.dispose()
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -1000000"):
            raw.execute(f"PRAGMA {pragma}")
        _fill(raw, bots, matches)
    engine = database.open(f"sqlite:///{path}")
    _finish(engine, indices)
    return engine


def _versions(engine: Engine, bots: int) -> None:
    names = [name(place) for place in range(bots)]
    bare = [version.partition("@")[0] for version in names]
    known = {"number": "1", "content_hash": "0" * 64, "folder": "/", "manifest": {}, "created": 1.0}
    with writing(engine) as connection:
        connection.execute(
            insert(schema.bots), [{"name": version, "created": 1.0} for version in bare]
        )
        rows = [{"id": f"{version}@1", "name": version, **known} for version in bare]
        connection.execute(insert(schema.versions), rows)
        for number in range(CLOSED_TOURNAMENTS):
            first = number * BOTS_PER_TOURNAMENT % max(bots - BOTS_PER_TOURNAMENT + 1, 1)
            its = names[first : first + BOTS_PER_TOURNAMENT]
            _tournament(connection, f"t-cup{number:03}", "pokex", its, TournamentState.CLOSED)
        _tournament(connection, LADDER, ladder_computation.GAME, names, TournamentState.RUNNING)


def _tournament(
    connection: Any, id_: str, game: str, names: list[str], state: TournamentState
) -> None:
    over = state is TournamentState.CLOSED
    values = ladder_computation.tournament(id_, game, state)
    connection.execute(
        insert(schema.tournaments).values(**values, ended=1e9 if over else None, seed=None)
    )
    rows = [
        {"tournament": id_, "position": place, "version": name} for place, name in enumerate(names)
    ]
    connection.execute(insert(schema.entrants), rows)


def _fill(raw: sqlite3.Connection, bots: int, matches: int) -> None:
    _shapes(raw)
    newest = matches // OPEN_SHARE
    each = (matches - newest) // CLOSED_TOURNAMENTS
    size = min(BOTS_PER_TOURNAMENT, bots)
    for number in range(CLOSED_TOURNAMENTS):
        offset = number * BOTS_PER_TOURNAMENT % max(bots - BOTS_PER_TOURNAMENT + 1, 1)
        _closed(raw, f"t-cup{number:03}", number * each, each, size, offset)
    _closed(raw, LADDER, CLOSED_TOURNAMENTS * each, newest, bots, 0)
    # Due: the round after the closed ones.
    base = CLOSED_TOURNAMENTS * each
    first = base + -(-newest // (bots // 2)) * (bots // 2)
    _some(raw, LADDER, base, first, first + bots // 2, bots, 0)
    _add(raw, _MATCHES, state="PENDING", attempt=0)
    _add(raw, _SIDES, attempt=0)
    _add(raw, ladder_computation.COUNTED)


def _closed(
    raw: sqlite3.Connection, tournament: str, base: int, many: int, bots: int, offset: int
) -> None:
    times = json.dumps([DecisionHistogram.of(range(1, 60)).stored()] * 2)
    for first in range(base, base + many, INSERT_BATCH):
        until = min(first + INSERT_BATCH, base + many)
        _some(raw, tournament, base, first, until, bots, offset)
        _add(raw, _MATCHES, state="CLOSED", attempt=1)
        _add(raw, _SIDES, attempt=1)
        _add(raw, _GAMES)
        _add(raw, _RESULTS, thinking=times)


def _some(
    raw: sqlite3.Connection,
    tournament: str,
    base: int,
    first: int,
    until: int,
    bots: int,
    offset: int,
) -> None:
    raw.execute("DROP TABLE IF EXISTS coming")
    values = {"tournament": tournament, "base": base, "first": first, "until": until}
    raw.execute(_PLACES, {**values, "bots": bots, "a_round": bots // 2, "offset": offset})


def _add(raw: sqlite3.Connection, query: str, **values: object) -> None:
    commitment = hashlib.sha256(_SEED).hexdigest()
    raw.execute("BEGIN")
    raw.execute(query, {"seed": _SEED, "commitment": commitment, **values})
    raw.execute("COMMIT")


def _shapes(raw: sqlite3.Connection) -> None:
    """Create tables with all possible results of a match and of a game."""
    raw.execute("CREATE TEMP TABLE shapes (ahead, again, outcome, digest, UNIQUE (ahead, again))")
    raw.execute("CREATE TEMP TABLE played (ahead, game, places, scores, UNIQUE (ahead, game))")
    every = range(-_FAR, _FAR + 1)
    for ahead in every:
        for again in every:
            outcome, text = ladder_computation.result(1, 2, ahead, again)
            row = (ahead, again, json.dumps(outcome), text)
            raw.execute("INSERT INTO shapes VALUES (?, ?, ?, ?)", row)
        first = ladder_computation.result(1, 2, ahead, 0)[0]["games"][0]
        for game in (0, 1):
            values = (ahead, game, json.dumps(first["places"]), json.dumps(first["scores"]))
            raw.execute("INSERT INTO played VALUES (?, ?, ?, ?)", values)


def _finish(engine: Engine, indices: list[Index]) -> None:
    with writing(engine) as connection:
        for index in indices:
            index.create(connection)
