"""`db check` detects each kind of damage."""

import sqlite3
import tomllib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from arena.store import consistency, database
from arena.store.tournaments.tournaments import Tournament
from tests.arena.store.played_matches import play

DAMAGE = tomllib.loads(Path(__file__).with_name("damage.toml").read_text())["damage"]
Schedule = Callable[..., Tournament]


def problems(store: Engine) -> list[str]:
    return list(consistency.problems(store, lambda what, done, of: None))


@pytest.fixture
def closed_match(store: Engine, schedule: Schedule) -> str:
    schedule(2, cycles=2)
    return play(store).match


def test_a_sound_store_has_no_problems(store: Engine, closed_match: str) -> None:
    assert problems(store) == []


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage["sql"])
def test_inconsistencies_are_reported(
    store: Engine, closed_match: str, damage: dict[str, str]
) -> None:
    with database.writing(store) as connection:
        connection.execute(text(damage["sql"]))
    problem = damage["problem"].format(closed=closed_match)
    assert any(problem in sentence for sentence in problems(store))


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_a_dangling_reference_is_reported(store: Engine, closed_match: str, url: str) -> None:
    # SQLite enforces foreign keys only if a pragma enables them.
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        connection.execute("DELETE FROM versions WHERE id = 'bot0@1'")
        connection.commit()
    sentences = problems(store)
    assert any(
        "rows of entrants refer to missing versions: bot0@1" in sentence for sentence in sentences
    )


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_a_damaged_file_is_reported(store: Engine, closed_match: str, url: str) -> None:
    with store.connect() as connection:
        connection.exec_driver_sql("COMMIT")
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'ix_faults_version'"
        page = connection.exec_driver_sql(query).scalar_one()
        size = connection.exec_driver_sql("PRAGMA page_size").scalar_one()
    store.dispose()
    with Path(url.removeprefix("sqlite:///")).open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * 100)
    assert any(sentence.startswith("the file is damaged: ") for sentence in problems(store))


def test_a_database_of_another_version_is_reported(store: Engine) -> None:
    with database.writing(store) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0003'"))
    assert problems(store) == [
        f"the database is at schema version 0003; schema version {database.HEAD} is required. "
        "Run `pokearena db upgrade`."
    ]
