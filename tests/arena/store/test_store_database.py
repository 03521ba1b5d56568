"""Opening and upgrading the store, its clock and its transactions."""

import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Dialect, Engine, exc, insert, inspect, select, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateTable

from arena import config
from arena.errors import StoreError, Unreachable
from arena.store import backup_file, database, schema
from arena.store.bots import versions
from arena.store.idle_results import ANALYSES
from arena.store.matches import match_leases
from arena.store.tournaments.tournaments import Tournament
from tests.arena.store.played_matches import play
from tests.errors import has_code
from tests.examples import quick_cases
from tests.waiting import wait_until

SQLITE: Dialect = sqlite.dialect()
POSTGRESQL: Dialect = postgresql.dialect()  # type: ignore[no-untyped-call]

IN_SQLITE = pytest.mark.parametrize("url", ["sqlite"], indirect=True)

Start = Callable[..., "subprocess.Popen[str]"]


def versions_in(engine: Engine) -> list[str]:
    with database.reading(engine) as connection:
        query = text("SELECT version_num FROM alembic_version")
        return list(connection.execute(query).scalars())


def test_a_missing_database_is_not_created_again(tmp_path: Path) -> None:
    path = tmp_path / "arena.db"
    first = database.open(f"sqlite:///{path}")
    database.upgrade(first)
    first.dispose()
    later = database.open(f"sqlite:///{path}")
    path.rename(tmp_path / "away.db")
    with pytest.raises(exc.OperationalError), database.reading(later):
        pass
    assert not path.exists()
    (tmp_path / "away.db").rename(path)
    with database.reading(later):
        pass
    later.dispose()


def test_an_empty_database_gets_all_tables(store: Engine) -> None:
    assert set(inspect(store).get_table_names()) == {*schema.metadata.tables, "alembic_version"}


def test_upgrading_again_changes_nothing(store: Engine) -> None:
    with database.writing(store) as connection:
        connection.execute(insert(schema.bots).values(name="a", created=database.now()))
    database.upgrade(store)
    with database.reading(store) as connection:
        assert connection.execute(select(schema.bots.c.name)).scalars().all() == ["a"]


def test_a_current_database_is_opened_without_the_code_of_alembic_and_of_the_other_database(
    store: Engine, url: str
) -> None:
    other = "postgresql" if url.startswith("sqlite") else "sqlite"
    code = (
        "import sys; from arena.store import database, schema;"
        "database.upgrade(database.open(sys.argv[1]));"
        f"sys.exit(bool({{'alembic', 'sqlalchemy.dialects.{other}'}} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code, url], check=False).returncode == 0


def test_the_head_in_the_code_is_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("path_separator", "os")
    config.set_main_option("script_location", str(Path(database.__file__).parent / "migrations"))
    assert ScriptDirectory.from_config(config).get_heads() == [database.HEAD]


@pytest.mark.long
def test_several_processes_may_upgrade_an_empty_database_at_once(url: str, contend: Start) -> None:
    processes = [contend("upgrade") for _ in range(2)]
    ends = [(process.communicate()[1], process.returncode) for process in processes]
    assert ends == [("", 0)] * 2
    engine = database.open(url)
    assert versions_in(engine) == [database.HEAD]
    engine.dispose()


def descriptors(path: Path) -> int:
    """Return how many file descriptors of this process refer to a file."""
    return sum(link.resolve() == path for link in Path("/proc/self/fd").iterdir())


def test_opening_a_database_waits_for_its_creation(tmp_path: Path) -> None:
    # SQLite refuses at once to set the journal mode of a file that is being written.
    path = tmp_path / "arena.db"
    maker = sqlite3.connect(path, isolation_level=None)
    maker.execute("BEGIN IMMEDIATE")
    maker.execute("CREATE TABLE something (of_its_own)")
    opened = descriptors(path)
    engine = database.open(f"sqlite:///{path}")
    with ThreadPoolExecutor(1) as pool:
        upgrade = pool.submit(database.upgrade, engine)
        wait_until(lambda: descriptors(path) > opened)
        maker.execute("COMMIT")
        upgrade.result()
    assert versions_in(engine) == [database.HEAD]
    engine.dispose()
    maker.close()


def test_a_database_of_a_newer_pokearena_is_refused(store: Engine) -> None:
    with database.writing(store) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, check=has_code("newer-version")):
        database.upgrade(store)


def test_workers_of_an_earlier_release_take_nothing_from_an_upgraded_database(
    store: Engine, schedule: Callable[..., Tournament]
) -> None:
    schedule(3)
    first, second, _ = match_leases.due(store)
    play(store, first)
    with database.writing(store) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    assert match_leases.lease(store, second, "w") is None
    assert ANALYSES.claim(store) is None
    with database.writing(store) as connection:
        connection.execute(text(f"UPDATE alembic_version SET version_num = '{database.HEAD}'"))
    assert match_leases.lease(store, second, "w") is not None
    assert ANALYSES.claim(store) is not None


def test_a_file_that_is_not_a_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "arena.db").write_text("a letter to my aunt, which is longer than a header" * 50)
    engine = database.open(f"sqlite:///{tmp_path}/arena.db")
    with pytest.raises(Unreachable, check=has_code("cannot-connect")):
        database.upgrade(engine)
    engine.dispose()


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("arena.db", "not-an-address"),
        ("mysql://host/arena", "unsupported-database"),
        ("sqlite://", "no-file"),
        ("sqlite:///:memory:", "no-file"),
        ("sqlite:////tmp/a?b/arena.db", "not-an-address"),
        ("postgresql:/me:secret@host/arena", "not-an-address"),
    ],
)
def test_an_unusable_database_address_is_refused(url: str, code: str) -> None:
    with pytest.raises(StoreError, check=has_code(code)) as caught:
        database.open(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "name", quick_cases(["feature%2Flogin", "a?b", "a[b*", "a b", "a#b", "größe", "a@b:c"], 3)
)
def test_the_database_of_a_folder_is_in_it_whatever_its_name(tmp_path: Path, name: str) -> None:
    folder = config.Folder(tmp_path / name).create()
    backups = [tmp_path / name / file for file in ("first%20.db", "second?.db")]
    for _ in range(2):  # The second time opens a file that exists.
        engine = database.open(folder.database_url({}))
        database.prepare(engine)
        versions.add_version(
            engine, "bot", str(len(backups)), f"{len(backups)}" * 64, "/bots/1", {"run": ["x"]}
        )
        backup_file.backup(engine, backups.pop(0), lambda *_: None)
        engine.dispose()
    assert folder.database.stat().st_size > 0
    assert not folder.shares_store({})
    restored = config.Folder(tmp_path / name / name).create()
    engine = database.open(restored.database_url({}))
    backup_file.restore(engine, folder.root / "second?.db", lambda *_: None)
    engine.dispose()
    assert {file.name for file in tmp_path.iterdir()} == {name}
    assert restored.database.exists()


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(Unreachable, check=has_code("no-folder")):
        database.open(f"sqlite:///{tmp_path}/taken/arena.db")


def test_the_clock_is_the_time_of_day(store: Engine) -> None:
    before = time.time()
    with database.reading(store) as connection:
        now = connection.execute(select(database.now())).scalar_one()
    # SQLite's clock has milliseconds.
    assert before - 0.002 <= now <= time.time() + 0.002


def test_the_clock_is_compiled_for_each_database() -> None:
    assert "arena_now()" in str(select(database.now()).compile(dialect=SQLITE))
    assert "clock_timestamp()" in str(select(database.now()).compile(dialect=POSTGRESQL))


def test_every_table_compiles_for_postgresql() -> None:
    for table in schema.metadata.sorted_tables:
        assert str(CreateTable(table).compile(dialect=POSTGRESQL))


@IN_SQLITE
def test_a_commit_survives_a_power_cut_and_foreign_keys_hold_in_sqlite(
    store: Engine, synchronous: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.store.sqlite.SYNCHRONOUS", synchronous)
    store.dispose()
    pragmas = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 30000}
    with database.reading(store) as connection:
        for setting, value in pragmas.items():
            assert connection.execute(text(f"PRAGMA {setting}")).scalar_one() == value


def test_foreign_keys_are_enforced(store: Engine) -> None:
    row = {"tournament": "t-nobody", "position": 0, "version": "nobody@1"}
    with pytest.raises(exc.IntegrityError), database.writing(store) as connection:
        connection.execute(insert(schema.entrants).values(**row))


def test_a_failed_write_is_rolled_back(store: Engine) -> None:
    def fail() -> None:
        with database.writing(store) as connection:
            connection.execute(insert(schema.bots).values(name="a", created=0.0))
            raise InterruptedError

    with pytest.raises(InterruptedError):
        fail()
    with database.reading(store) as connection:
        assert connection.execute(select(schema.bots)).all() == []


@IN_SQLITE
def test_a_writer_waits_for_the_previous_writer(store: Engine) -> None:
    begun = threading.Event()
    order = []

    def second() -> None:
        begun.wait()
        with database.writing(store) as connection:
            connection.execute(insert(schema.bots).values(name="b", created=0.0))
            order.append(connection.execute(select(schema.bots.c.name)).scalars().all())

    thread = threading.Thread(target=second)
    thread.start()
    with database.writing(store) as connection:
        begun.set()
        connection.execute(insert(schema.bots).values(name="a", created=0.0))
        order.append(["first"])
    thread.join()
    assert order == [["first"], ["a", "b"]]


def test_a_forked_process_opens_its_own_connections(store: Engine) -> None:
    with database.reading(store) as connection:
        connection.execute(select(schema.bots)).all()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with database.writing(store) as connection:
                connection.execute(insert(schema.bots).values(name="a", created=0.0))
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with database.reading(store) as connection:
        assert connection.execute(select(schema.bots.c.name)).scalars().all() == ["a"]
