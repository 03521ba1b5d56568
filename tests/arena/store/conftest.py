"""Fixtures of store tests, which run with SQLite and with PostgreSQL."""

import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import Engine, update

from arena.store import database, schema
from arena.store.bots import versions
from arena.store.match_settings import TournamentPlan
from arena.store.tournaments.tournaments import Tournament
from arena.tournaments import scheduler
from tests.cluster import Cluster, cluster
from tests.new_database import write_new_database

CONTENDER = Path(__file__).with_name("store_contender.py")


@pytest.fixture(scope="session")
def server() -> Iterator[Cluster]:
    server = cluster()
    yield server
    server.remove()


@pytest.fixture
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """Create an empty database of a kind; return its URL."""
    with ExitStack() as stack:

        def make(kind: str) -> str:
            if kind == "sqlite":
                return f"sqlite:///{tmp_path}/{secrets.token_hex(4)}/arena.db"
            server: Cluster = request.getfixturevalue("server")
            return stack.enter_context(server.database())

        yield make


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.long)])
def url(request: pytest.FixtureRequest, empty: Callable[[str], str]) -> Iterator[str]:
    """Return the URL of an empty database; on PostgreSQL it has tables if `store` is used too."""
    if request.param == "sqlite" or "store" not in request.fixturenames:
        yield empty(request.param)
    else:
        server: Cluster = request.getfixturevalue("server")
        with server.database(server.migrated_template()) as url:
            yield url


@pytest.fixture
def store(url: str) -> Iterator[Engine]:
    if url.startswith("sqlite:///"):
        write_new_database(Path(url.removeprefix("sqlite:///")))
    engine = database.open(url)
    yield engine
    engine.dispose()


@pytest.fixture
def schedule(store: Engine) -> Callable[..., Tournament]:
    """Create a round robin of this number of bots: bot0@1, bot1@1, ..."""

    def make(
        bots: int = 2,
        boards: int = 1,
        cycles: int = 1,
        seed: bytes | None = None,
        game: str = "poke",
    ) -> Tournament:
        for bot in range(bots):
            versions.add_version(
                store, f"bot{bot}", "1", f"{bot:064x}", f"/bots/{bot}", {"run": ["x"]}
            )
        plan = TournamentPlan(
            name="cup",
            game=game,
            options={"must_beat": True},
            seats=2,
            boards=boards,
            settings={"cycles": cycles},
        )
        names = [f"bot{bot}@1" for bot in range(bots)]
        return scheduler.begin(store, plan, names, seed)

    return make


@pytest.fixture
def settle(store: Engine) -> Callable[[], object]:
    """Advance all formats, as the sweeper does after matches."""
    return scheduler.Scheduler(store).advance


@pytest.fixture
def lapse(store: Engine) -> Callable[[str], None]:
    def do(match: str) -> None:
        table = schema.matches
        with database.writing(store) as connection:
            connection.execute(
                update(table).where(table.c.id == match).values(lease_until=database.now() - 1)
            )

    return do


@pytest.fixture
def contend(url: str) -> Callable[..., "subprocess.Popen[str]"]:
    def start(*task: str) -> "subprocess.Popen[str]":
        command = [sys.executable, str(CONTENDER), url, *task]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    return start
