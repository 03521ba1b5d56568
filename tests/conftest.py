"""Settings for all tests: Hypothesis without random seeds and deadlines, and shared fixtures."""

import gc
import os
import re
import shutil
import sqlite3
import sys
import tempfile
import time
import uuid
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants
from sqlalchemy import URL, Connection, Engine

from tests import process_guard
from tests.examples import ALL, EXAMPLES

_MOST_TEMPORARY = 20
"""Maximum length of the folder of temporary files in which tests put sockets."""

# gRPC accepts no space in the path of a socket, and the kernel 107 bytes. The arena takes care of
# that; tests put sockets into the folders that pytest gives them.
if " " in tempfile.gettempdir() or len(tempfile.gettempdir()) > _MOST_TEMPORARY:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", "/tmp")

_QUICK = "not long and not hostile"
"""The expression of the quick suite in pyproject.toml."""
_LONG_FILE = re.compile(r"^pytestmark = .*mark\.(long|hostile)\b", re.MULTILINE)

_ENDING_SECONDS = 10.0
"""Seconds that the last processes of a run have to end: some end after the process they serve."""

RUN = pytest.StashKey[str]()
"""The name of a run whose processes are guarded."""

# Python images set this; each of a thousand processes would compile all its imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Idle workers of tests do not analyse; a test of this sets it.
os.environ["POKEARENA_ANALYSIS"] = "0"

# Use few examples of each property; scripts/release-check uses more.
settings.register_profile(
    "pokearena",
    deadline=None,
    derandomize=True,
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("pokearena")
if EXAMPLES < ALL:
    # Else each process parses every imported module of the arena for constants to try.
    pytest.MonkeyPatch().setattr(providers, "_get_local_constants", Constants)


def pytest_configure(config: pytest.Config) -> None:
    """Guard the processes of this run, unless it is a part of another one."""
    if sys.platform == "linux" and process_guard.MARK not in os.environ:
        config.stash[RUN] = uuid.uuid4().hex
        process_guard.start(config.stash[RUN])


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import files and folders without a test of the quick suite if only that runs."""
    is_quick_suite = (
        config.args_source is pytest.Config.ArgsSource.TESTPATHS
        and config.option.markexpr == _QUICK
    )
    return True if is_quick_suite and _is_long(collection_path) else None


def _is_long(path: Path) -> bool:
    if path.is_dir():
        tests = list(path.rglob("test_*.py"))
        return bool(tests) and all(map(_is_long, tests))
    return path.name.startswith("test_") and _LONG_FILE.search(path.read_text()) is not None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """Fail the run if its tests leave processes behind, which the guard will end."""
    yield
    run = session.config.stash.get(RUN, "")
    until = time.monotonic() + _ENDING_SECONDS
    while (left := _left_behind(run) if run else []) and time.monotonic() < until:
        time.sleep(0.1)
    for process, words in left:
        print(f"\nleft behind: process {process}: {words}", file=sys.stderr)
    if left:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _left_behind(run: str) -> list[tuple[int, str]]:
    # The tracker of multiprocessing ends with this process.
    return [
        (process, words)
        for process, words in process_guard.marked(run)
        if "multiprocessing.resource_tracker" not in words
    ]


@pytest.fixture(scope="session", autouse=True)
def synchronous() -> Iterator[str]:
    """Disable fsync of SQLite in this process, since no test cuts the power; yield the default."""
    from arena.store import sqlite

    as_shipped = sqlite.SYNCHRONOUS
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite, "SYNCHRONOUS", "OFF")
        yield as_shipped


@pytest.fixture(scope="session", autouse=True)
def stalls_are_tolerated() -> Iterator[None]:
    """Prevent a stall of a busy machine from ending a table in this process.

    The tests of the stall detector set their own limit, or play in a referee's process.
    """
    from referee.tables import stall_detector

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stall_detector, "STILL_SECONDS", 60.0)
        yield


class CompiledStatements(dict[Any, Any]):
    """Statements compiled for SQLite, by the key of SQLAlchemy without the dialect's object."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(key[1:], default)

    def __setitem__(self, key: Any, compiled: Any) -> None:
        super().__setitem__(key[1:], compiled)


@pytest.fixture(scope="session", autouse=True)
def compiled_once() -> Iterator[None]:
    """Compile each statement once per process, and not again for each new SQLite file.

    A sixth of the time of the tests with a store.
    """
    from arena.store import database

    compiled = CompiledStatements()

    def make(address: URL, **settings: Any) -> Engine:
        engine = sqlalchemy.create_engine(address, **settings)
        if engine.dialect.name == "sqlite":
            engine.update_execution_options(compiled_cache=compiled)
        return engine

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "create_engine", make)
        yield


@pytest.fixture(scope="session", autouse=True)
def tables_compiled_once() -> Iterator[None]:
    """Compile the tables of SQLite once per process; another file gets the same statements."""
    from arena.store import database

    as_shipped = database.create_tables
    statements: list[str] = []

    def create(connection: Connection) -> None:
        if connection.dialect.name != "sqlite":
            as_shipped(connection)
        elif statements:
            driver: sqlite3.Connection = connection.connection.dbapi_connection  # type: ignore[assignment]
            for statement in statements:
                driver.execute(statement)
        else:
            as_shipped(connection)
            made = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"
            statements.extend(connection.exec_driver_sql(made).scalars())
            statements.append(f"INSERT INTO alembic_version VALUES ('{database.HEAD}')")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "create_tables", create)
        yield


@pytest.fixture(scope="session")
def uv() -> str:
    program_path = shutil.which("uv")
    if program_path is None:
        if os.environ.get("CI"):
            pytest.fail("uv is not installed, and in CI nothing is skipped")
        pytest.skip("uv is not on the PATH")
    return program_path


@pytest.fixture(autouse=True)
def sandbox_setting_is_restored() -> Iterator[None]:
    """Restore the variable that `--sandbox` sets for the processes that a command starts."""
    name = "POKEARENA_SANDBOX"
    before = os.environ.get(name)
    yield
    if os.environ.get(name) != before:
        os.environ.pop(name)
        os.environ.update({name: before} if before is not None else {})


@pytest.fixture
def strangers_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run bots that are not trusted at the best level of this machine, whatever it is."""
    from arena.bots.sandbox import available_levels, level

    monkeypatch.setenv(level.SETTING, available_levels.best_level())


@pytest.fixture
def unsandboxed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the test's bots without a sandbox, because they read files outside of it."""
    from arena.bots.sandbox.level import Level

    monkeypatch.setattr("arena.bots.sandbox.available_levels.best_level", lambda: Level.UNSANDBOXED)


def pytest_xdist_auto_num_workers() -> int | None:
    """Start three processes for two cores, because tests wait for a quarter of their time."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    return (os.cpu_count() or 1) * 3 // 2


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Import all modules without garbage collections, which took half the time of the imports.

    Later garbage collections exclude these modules and the tests, and are rarer than usual.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 20, 50)
        gc.enable()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Print each failure at once in CI: a run that is ended early prints no summary."""
    if report.failed and os.environ.get("CI") and "PYTEST_XDIST_WORKER" not in os.environ:
        print(f"\nFAILED after {report.duration:.0f} s: {report.nodeid}\n{report.longreprtext}")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the results of the hosts, hostile and fault suites.

    Under xdist only this file is loaded by the process that prints.
    """
    hosts = list(_reported_properties(terminalreporter.stats, "hosts"))
    if hosts:
        terminalreporter.section("hosts")
        for line in hosts:
            terminalreporter.write_line(line)
    hostile = list(_reported_properties(terminalreporter.stats, "hostile"))
    if hostile:
        terminalreporter.section("hostile")
        for name, level, *verdicts in hostile:
            terminalreporter.write_line(f"{name:<28}{level:<14}{', '.join(verdicts)}")
    faults = list(_reported_properties(terminalreporter.stats, "faults"))
    if faults:
        from tests.faults.checker import table

        terminalreporter.section("faults")
        for line in table(faults):
            terminalreporter.write_line(line)


def _reported_properties(stats: dict[str, list[Any]], key: str) -> Iterator[Any]:
    for outcome in ("passed", "failed"):
        for report in stats.get(outcome, []):
            yield from (value for name, value in report.user_properties if name == key)
