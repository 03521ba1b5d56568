"""For all tests: Hypothesis tries the same cases in every run, and no clock judges it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy import Connection

# Images of Python set this: each of a thousand processes would compile all that it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A property is tried with few examples here; scripts/release-check tries more.
settings.register_profile(
    "pokearena",
    deadline=None,
    derandomize=True,
    max_examples=int(os.environ.get("POKEARENA_EXAMPLES", "30")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("pokearena")


@pytest.fixture(scope="session", autouse=True)
def synchronous() -> Iterator[str]:
    """How surely commits of SQLite are on the disk outside of tests. In this process they do not
    wait for it: only a power cut would tell, and no test is one."""
    from arena.store import sqlite

    as_shipped = sqlite.SYNCHRONOUS
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite, "SYNCHRONOUS", "OFF")
        yield as_shipped


@pytest.fixture(scope="session", autouse=True)
def failing_tests_end_their_processes() -> Iterator[None]:
    """Kill the process of a `with Popen(...)` block that ends by an exception.

    The block would wait for the process otherwise, so a test that fails or exceeds its time would
    hang for ever if its process does.
    """
    leave = subprocess.Popen.__exit__

    def end(self: Any, kind: Any, error: Any, trace: Any) -> None:
        if kind is not None and self.poll() is None:
            self.kill()
        leave(self, kind, error, trace)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess.Popen, "__exit__", end)
        yield


@pytest.fixture(scope="session", autouse=True)
def stalls_are_tolerated() -> Iterator[None]:
    """Let no stall of a busy machine end a table that is played in this process.

    The tests of the stall detector set their own limit, or play in a referee's process.
    """
    from referee.tables import stall_detector

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stall_detector, "STILL_SECONDS", 60.0)
        yield


@pytest.fixture(scope="session", autouse=True)
def migrated_once() -> Iterator[None]:
    """What the migrations make of an empty SQLite file is the same every time: in this process
    they run for the first one, and later ones are told what came of it, in a tenth of the time."""
    from arena.store import database

    migrate = database._migrate
    made: list[str] = []

    def again(connection: Connection) -> None:
        sqlite = connection.dialect.name == "sqlite"
        if not sqlite or connection.exec_driver_sql("SELECT 1 FROM sqlite_master").first():
            migrate(connection)
        elif made:
            for statement in made:
                connection.exec_driver_sql(statement)
        else:
            migrate(connection)
            driver: Any = connection.connection.driver_connection
            dump = list(driver.iterdump())
            assert (dump[0], dump[-1]) == ("BEGIN TRANSACTION;", "COMMIT;")
            made.extend(dump[1:-1])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "_migrate", again)
        yield


@pytest.fixture
def unsandboxed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bots of this test are not locked in: they look at what lies around them."""
    from arena.bots.sandbox.level import Level

    monkeypatch.setattr("arena.bots.sandbox.available_levels.best", lambda: Level.UNSANDBOXED)


LONGEST = ("test_everything_the_readme_shows", "test_in_a_storm", "test_installation.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest go first, so that no core waits for one of them alone at the end. A browser
    comes last: while processes are shot at beside it, pages are slow."""

    def turn(item: pytest.Item) -> int:
        if any(name in item.nodeid for name in LONGEST):
            return 0
        return 2 if "tests/browser/" in item.nodeid else 1

    items.sort(key=turn)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The table of the fault suite, if it has run: here, for under xdist only this file is read
    by the process that prints."""
    hosts = list(_told(terminalreporter.stats, "hosts"))
    if hosts:
        terminalreporter.section("hosts")
        for line in hosts:
            terminalreporter.write_line(line)
    hostile = list(_told(terminalreporter.stats, "hostile"))
    if hostile:
        terminalreporter.section("hostile")
        for name, level, *verdicts in hostile:
            terminalreporter.write_line(f"{name:<28}{level:<14}{', '.join(verdicts)}")
    told = list(_told(terminalreporter.stats, "faults"))
    if told:
        from tests.faults.checker import table

        terminalreporter.section("faults")
        for line in table(told):
            terminalreporter.write_line(line)


def _told(stats: dict[str, list[Any]], wanted: str) -> Iterator[Any]:
    for outcome in ("passed", "failed"):
        for report in stats.get(outcome, []):
            yield from (value for name, value in report.user_properties if name == wanted)
