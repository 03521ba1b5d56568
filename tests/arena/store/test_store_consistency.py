"""`db check` detects each kind of damage."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from arena.ratings.closed_match import PlayedGame
from arena.store import consistency, database
from arena.store.matches import transitions
from arena.store.tournaments.tournaments import Tournament

Schedule = Callable[..., Tournament]
Played = Callable[..., PlayedGame]


def problems(store: Engine) -> list[str]:
    return list(consistency.problems(store, lambda what, done, of: None))


@pytest.fixture
def closed_match(store: Engine, schedule: Schedule, played: Played) -> str:
    """Return a closed match; another one is due."""
    schedule(2, cycles=2)
    match = transitions.due(store)[0]
    lease = transitions.lease(store, match, "worker")
    assert lease is not None
    for number in range(2):
        transitions.commit_game(store, lease, played(lease.spec, number))
    return match


def test_a_sound_store_has_no_problems(store: Engine, closed_match: str) -> None:
    assert problems(store) == []


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ("DELETE FROM games WHERE game = 1", "closed matches lack games: {closed}."),
        ("UPDATE matches SET games = 1", "matches have more games than planned: {closed}."),
        ("DELETE FROM results", "closed matches have no result: {closed}."),
        (
            "UPDATE matches SET state = 'VOID' WHERE state = 'CLOSED'",
            "matches that are not closed have a result: {closed}.",
        ),
        (
            "UPDATE matches SET state = 'PENDING' WHERE state = 'CLOSED'",
            "matches have all their games and are still open: {closed}.",
        ),
        (
            "UPDATE matches SET state = 'RUNNING' WHERE state = 'CLOSED'",
            "running matches have no lease: {closed}.",
        ),
        ("UPDATE matches SET ended = NULL", "finished matches have no end time: {closed}."),
        (
            "DELETE FROM match_entrants WHERE match IN"
            " (SELECT id FROM matches WHERE state = 'CLOSED')",
            "matches have no entrants: {closed}.",
        ),
        (
            "UPDATE match_entrants SET closed = 1 WHERE match IN (SELECT match FROM results)",
            "matches and their entrants have different closing times: {closed}.",
        ),
        ("UPDATE match_entrants SET closed = NULL", "have different closing times: {closed}."),
        (
            "UPDATE tournaments SET matches = 1",
            "have different numbers of matches or games than they count: t-",
        ),
        (
            "UPDATE tournaments SET games = 5",
            "have different numbers of matches or games than they count: t-",
        ),
        ("UPDATE tournaments SET state = 'closed'", "tournaments are closed and have open matches"),
        (
            "UPDATE matches SET commitment = 'x' WHERE state = 'CLOSED'",
            "the seed of match {closed} is not the one that was committed to.",
        ),
    ],
)
def test_inconsistencies_are_reported(
    store: Engine, closed_match: str, damage: str, problem: str
) -> None:
    with database.writing(store) as connection:
        connection.execute(text(damage))
    assert any(problem.format(closed=closed_match) in sentence for sentence in problems(store))


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
