"""Test that databases of release 0.2.0 are upgraded, and those of unreleased commits refused.

`tests/golden/earlier/0.2.0` has a data folder of that release. `postgresql.sql.gz` has the same
rows: a dump of a PostgreSQL database with the tables that 0.2.0 created.
"""

import gzip
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, create_engine, inspect, select, text

from arena import config
from arena.errors import StoreError
from arena.store import backup_file, consistency, database, schema
from arena.store.bots import submissions
from arena.store.idle_results import ANALYSES
from arena.store.matches import results
from arena.store.schema import SubmissionStage
from arena.store.tournaments import tournaments
from tests import tar_files
from tests.arena.release_files import EARLIER
from tests.arena.store.played_matches import leased
from tests.errors import has_code

Empty = Callable[[str], str]

RELEASE = EARLIER / "0.2.0"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.long)])
def earlier(request: pytest.FixtureRequest, tmp_path: Path, empty: Empty) -> Iterator[Engine]:
    """Return a database of release 0.2.0."""
    if request.param == "sqlite":
        engine = database.open(config.sqlite_url(sqlite_file(tmp_path)))
    else:
        engine = database.open(empty("postgresql"))
        with engine.connect() as connection:
            dump = gzip.decompress((RELEASE / "postgresql.sql.gz").read_bytes()).decode()
            connection.connection.cursor().execute(dump)
            connection.connection.commit()
        engine.dispose()
    yield engine
    engine.dispose()


def sqlite_file(folder: Path) -> Path:
    with tarfile.open(RELEASE / "arena.tar.gz") as archive:
        tar_files.extract_all(archive, folder / "earlier")
    return folder / "earlier" / "arena.db"


def test_an_upgraded_database_has_the_tables_of_the_schema(earlier: Engine, tmp_path: Path) -> None:
    database.upgrade(earlier)
    with earlier.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema.metadata) == []
    created = create_engine(f"sqlite:///{tmp_path}/created.db")
    schema.metadata.create_all(created)
    if earlier.dialect.name == "sqlite":
        for table in schema.metadata.tables:
            for what in (
                "get_pk_constraint",
                "get_foreign_keys",
                "get_check_constraints",
                "get_unique_constraints",
                "get_indexes",
            ):
                actual, expected = (getattr(inspect(at), what)(table) for at in (earlier, created))
                assert in_text(actual) == in_text(expected), (table, what)
    created.dispose()


def in_text(found: object) -> list[str]:
    """Return keys and indices as texts: the conditions of partial ones have no equality."""
    if not isinstance(found, list):
        return [str(found)]
    return sorted(
        str({**each, "dialect_options": str(sorted(each.get("dialect_options", {})))})
        for each in found
    )


def test_an_upgraded_database_keeps_its_results(earlier: Engine) -> None:
    with database.reading(earlier) as connection:
        rows = connection.execute(text("SELECT count(*), sum(games) FROM matches")).one()
    database.upgrade(earlier)
    every = tournaments.list_tournaments(earlier)
    counted = [tournaments.progress(earlier, tournament.id) for tournament in every]
    assert sum(each.matches for each in counted) == rows[0] == 15
    assert len(list(results.closed(earlier))) == sum(each.closed for each in counted) == 6
    assert list(consistency.problems(earlier, lambda what, done, of: None)) == []


def test_an_upgraded_database_keeps_its_open_submissions(earlier: Engine) -> None:
    row = "('s-1', 'ada', 'bot', 'abc', 1, 'running', 'building', '[]', 2, '[]', 1, 1)"
    columns = "id, owner, name, content_hash, bytes, state, stage, steps, attempts, ladders"
    with database.writing(earlier) as connection:
        connection.execute(
            text(f"INSERT INTO submissions ({columns}, created, changed) VALUES {row}")
        )
    database.upgrade(earlier)
    (submission,) = submissions.undecided(earlier)
    assert (submission.stage, submission.attempts) == (SubmissionStage.BUILDING, 2)
    assert submissions.take_up(earlier, "s-1").attempts == 3


def test_closed_matches_of_an_upgraded_database_are_analysed(
    earlier: Engine,
) -> None:
    database.upgrade(earlier)
    claims = [ANALYSES.claim(earlier) for _ in range(7)]
    assert [task is not None for task in claims] == [True] * 6 + [False]


def test_the_events_of_an_upgraded_database_have_its_void_matches(earlier: Engine) -> None:
    pending = "SELECT min(id) FROM matches WHERE state = 'PENDING'"
    with database.writing(earlier) as connection:
        match = connection.execute(text(pending)).scalar_one()
        voided = text("UPDATE matches SET state = 'VOID', ended = 1 WHERE id = :match")
        connection.execute(voided, {"match": match})
    database.upgrade(earlier)
    table = schema.closings
    query = select(table.c.match).where(table.c.kind == schema.ClosingKind.MATCH_VOIDED)
    with database.reading(earlier) as connection:
        assert connection.execute(query).scalars().all() == [match]


def test_a_backup_of_an_earlier_release_is_upgraded_in_the_database_only(
    store: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = sqlite_file(tmp_path)
    content = file.read_bytes()
    odd = tmp_path / "a%2Fb ?"
    odd.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(odd))
    backup_file.restore(store, file, lambda *_: None)
    assert len(list(results.closed(store))) == 6
    assert file.read_bytes() == content
    assert not list(odd.iterdir())


def test_an_upgrade_waits_until_no_match_is_leased(earlier: Engine) -> None:
    first = "SELECT min(id) FROM matches WHERE state = 'PENDING'"
    is_running = "state = 'RUNNING', owner = 'w', attempt = 1, lease_until = :until"
    with database.writing(earlier) as connection:
        connection.execute(text("UPDATE tournaments SET state = 'running' WHERE state = 'paused'"))
        match = connection.execute(text(first)).scalar_one()
        until = connection.execute(select(database.now())).scalar_one() + 60
        connection.execute(
            text(f"UPDATE matches SET {is_running} WHERE id = :match"),
            {"until": until, "match": match},
        )
    with pytest.raises(StoreError, check=has_code("matches-running")):
        database.upgrade(earlier, wait_seconds=0)
    assert database.version(earlier) == "0009"
    with ThreadPoolExecutor(1) as pool:
        upgrade = pool.submit(database.upgrade, earlier, 60)
        with database.writing(earlier) as connection:
            connection.execute(text("UPDATE matches SET lease_until = 0"))
        upgrade.result()
    assert database.version(earlier) == database.HEAD
    lease = leased(earlier, match)
    assert lease.attempt == 2


@pytest.mark.parametrize("version", ["0001", "0010", "0020"])
def test_a_database_of_an_unreleased_version_is_refused(store: Engine, version: str) -> None:
    with database.writing(store) as connection:
        connection.execute(text(f"UPDATE alembic_version SET version_num = '{version}'"))
    with pytest.raises(StoreError, check=has_code("unreleased-version")):
        database.upgrade(store)
