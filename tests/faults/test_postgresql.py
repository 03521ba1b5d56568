"""An arena on PostgreSQL: the server exits, connections are cut, and processes are killed."""

import signal
import time
from collections.abc import Iterator

import pytest
from sqlalchemy import create_engine, exc
from starlette.testclient import TestClient

from arena.store import consistency, database
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from tests.cluster import Cluster
from tests.faults import processes
from tests.faults.conftest import Conclude
from tests.faults.fault_arena import Arena
from tests.faults.storm import Storm
from tests.faults.witness import Witness

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

MATCHES = 10
NAP = 0.02
CUTS = 6
PAIRS = 6
CYCLES = 3
CUT = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


@pytest.fixture
def arena(server: Cluster) -> Iterator[Arena]:
    with server.database() as url, processes.orphanage(lambda: [server.pid]):
        arena = Arena(url=url)
        yield arena
        arena.remove()


def schedule_matches(arena: Arena) -> None:
    arena.schedule([arena.slow("first", NAP), arena.slow("last", NAP, -1)], cycles=MATCHES)


def is_sound(arena: Arena) -> bool:
    return not list(consistency.problems(arena.engine, lambda what, done, of: None))


@pytest.mark.parametrize("seconds", [5, pytest.param(25, marks=pytest.mark.repetition)])
def test_a_server_that_cuts_all_connections_and_then_crashes(
    arena: Arena, server: Cluster, conclude: Conclude, seconds: int
) -> None:
    schedule_matches(arena)
    cutter = create_engine(database.open(arena.url).url, isolation_level="AUTOCOMMIT")
    with Witness(arena) as witness, arena.serving(2) as serve:
        for games in range(1, CUTS + 1):
            serve.until(lambda games=games: seen(arena) > games)  # type: ignore[misc]
            with cutter.connect() as connection:
                connection.exec_driver_sql(CUT)
        cutter.dispose()
        serve.until(lambda: seen(arena) > CUTS + 2)
        server.stop(signal.SIGQUIT)
        time.sleep(seconds)
        server.start()
        witness.blow(idle=True)
        serve.until(lambda: is_over(arena))
    tally = conclude(arena, witness, f"PostgreSQL's connections cut, crashed for {seconds} s")
    assert tally.closed == MATCHES
    assert is_sound(arena)


def seen(arena: Arena) -> int:
    try:
        return len(arena.sql("SELECT 1 FROM games"))
    except exc.OperationalError:
        return 0  # the server closed the test's own connection


def is_over(arena: Arena) -> bool:
    try:
        return arena.over()
    except exc.OperationalError:
        return False


# CI's storm is on SQLite, in test_storm.py.
@pytest.mark.repetition
def test_in_a_storm_nothing_is_lost_and_nothing_doubled(arena: Arena, conclude: Conclude) -> None:
    bots = ("random", "greedy", "meek", "bold")
    arena.schedule([arena.house(name) for name in bots], cycles=CYCLES)
    weights = {"worker": 1, "horse": 4, "referee": 0.5, "keeper": 1, "guard": 1, "bot": 4}
    with (
        Witness(arena) as witness,
        arena.serving(2) as serve,
        Storm(arena, witness, weights, every=4, spare=2) as storm,
    ):
        serve.until(arena.over, 500)
    tally = conclude(arena, witness, "storm on PostgreSQL")
    assert tally.matches == PAIRS * CYCLES
    assert sum(storm.hits.values()) > 0
    assert is_sound(arena)


def test_web_requests_are_answered_with_503_until_the_server_runs_again(server: Cluster) -> None:
    with server.database(server.migrated_template()) as url:
        engine = database.open(url)
        with TestClient(create(WebState(engine, ServerSettings(rate=0)))) as client:
            assert client.get("/matches/m-1").status_code == 404
            server.stop()
            for answer in (
                client.get("/matches/m-1"),
                client.get("/matches/m-1.json"),
                client.get("/matches/m-1.jsonl"),
                client.get("/organiser", headers={"Authorization": "Bearer x"}),
                client.post("/sign-in", data={"token": "x"}),
            ):
                assert answer.status_code == 503, answer.url
                assert answer.headers["retry-after"] == "10"
            server.start()
            assert client.get("/matches/m-1").status_code == 404
        engine.dispose()
