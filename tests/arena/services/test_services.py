"""Test all services together, each in its own process, with a real Valkey and SQLite."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from urllib.request import urlopen

import pytest
from sqlalchemy import Engine

from arena.bots import resolver
from arena.config import Folder
from arena.errors import StoreError
from arena.services.local import Services, ServicesError
from arena.services.service import STOP_SECONDS, StopStage
from arena.services.web_process import Pages, listen
from arena.store import database
from arena.store.access.audit_log import COMMAND_LINE
from arena.store.bots import versions
from arena.store.match_settings import Clock
from arena.store.matches import corrections, listing
from arena.store.schema import MatchState, TournamentState
from arena.store.tournaments import tournaments
from arena.store.tournaments.tournaments import Tournament
from arena.tournaments import scheduler
from tests.arena.poke_plan import poke_plan
from tests.guarded_process import GuardedProcess
from tests.waiting import has_exited, wait_until

# Plays the first or the last of the listed actions, each after a short sleep.
BOT = """
import os, time
from concurrent import futures
import grpc
from pokearena.v1 import bot_pb2, bot_pb2_grpc

class Bot(bot_pb2_grpc.BotServiceServicer):
    def Act(self, request, context):
        time.sleep({nap})
        return bot_pb2.ActResponse(action=request.legal[{choice}])

server = grpc.server(futures.ThreadPoolExecutor(1))
bot_pb2_grpc.add_BotServiceServicer_to_server(Bot(), server)
server.add_insecure_port(os.environ["POKEARENA_ADDRESS"])
server.start()
server.wait_for_termination()
"""
NAP = 0.02
SERVE = """
import sys, time
from arena.config import Folder
from arena.services.local import Services
from pathlib import Path
with Services(Folder(Path(sys.argv[1])), int(sys.argv[2])):
    print("ready", flush=True)
    time.sleep(3600)
"""


class ServicesArena:
    """Manage a data folder with bots and tournaments."""

    def __init__(self, directory: Path) -> None:
        self.where = Folder(directory / "data").create()
        self.engine: Engine = database.open(self.where.database_url({}))
        database.upgrade(self.engine)

    def admit(self, name: str, choice: int, nap: float = 0.0) -> str:
        """Add a bot that plays its first (0) or last (-1) listed action; return its id."""
        folder = self.where.versions / name
        folder.mkdir()
        (folder / "bot.py").write_text(BOT.format(choice=choice, nap=nap))
        (folder / "bot.toml").write_text(
            dedent(f"""
                name = "{name}"
                version = "1"
                run = ["python", "bot.py"]
            """)
        )
        content = resolver.from_folder(folder).label * 8
        return versions.add_version(self.engine, name, "1", content, str(folder), {}).id

    def schedule(self, entrants: list[str], boards: int, cycles: int = 1) -> Tournament:
        """Schedule a round robin of Poke with a fixed seed."""
        plan = poke_plan(boards=boards, settings={"cycles": cycles}, clock=Clock(20_000, 5000))
        return scheduler.begin(self.engine, plan, entrants, bytes(32))

    def closed(self, tournament: Tournament) -> bool:
        """Return whether a tournament is closed."""
        stored = tournaments.find_tournament(self.engine, tournament.id)
        return stored.state == TournamentState.CLOSED

    def sql(self, statement: str) -> list[tuple[object, ...]]:
        """Return rows of the database."""
        with sqlite3.connect(self.where.database) as connection:
            rows = connection.execute(statement).fetchall()
        connection.close()
        return rows


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[ServicesArena]:
    """Return an arena without services."""
    arena = ServicesArena(tmp_path)
    yield arena
    arena.engine.dispose()


@pytest.mark.long
def test_two_workers_leave_nothing_behind(arena: ServicesArena) -> None:
    entrants = [arena.admit("first", 0), arena.admit("last", -1), arena.admit("other", 0)]
    begun_tournament = arena.schedule(entrants, boards=1)
    with Services(arena.where, 2, {}) as services:
        wait_until(lambda: arena.closed(begun_tournament))
        states = [(child.name, child.state) for child in services.snapshot.services]
        assert states == [
            ("referee-worker-1", "ready"),
            ("worker-1", "ready"),
            ("referee-worker-2", "ready"),
            ("worker-2", "ready"),
            ("sweeper", "ready"),
        ]
        pids = [child.pid for child in services.snapshot.services]
        sockets = Path(services.snapshot.redis.url.removeprefix("unix://")).parent
        running = arena.where.running()
        assert running is not None
        assert running.referee == services.snapshot.referee
    assert arena.sql("SELECT count(*) FROM results") == [(3,)]
    assert not sockets.exists()
    assert arena.where.running() is None
    for pid in pids:
        assert not Path(f"/proc/{pid}").exists()


@pytest.mark.long
def test_workers_for_models_play_no_other_matches(arena: ServicesArena) -> None:
    entrants = [arena.admit("first", 0), arena.admit("last", -1)]
    fast = arena.schedule(entrants, boards=1)
    plan = poke_plan(name="models", clock=Clock(20_000, 5000, 900_001))
    models = scheduler.begin(arena.engine, plan, entrants)
    with Services(arena.where, 0, {}, model_workers=1) as services:
        wait_until(lambda: arena.closed(models))
        states = [(child.name, child.state) for child in services.snapshot.services]
        assert states == [
            *(("referee-worker-1", "ready"), ("worker-1", "ready")),
            ("sweeper", "ready"),
        ]
        [match] = listing.matches(arena.engine, tournament=fast.id)
        assert (match.state, match.attempt) == (MatchState.PENDING, 0)


@pytest.mark.long
def test_the_match_of_a_killed_match_process_does_not_wait_for_its_lease(
    arena: ServicesArena,
) -> None:
    entrants = [arena.admit("first", 0, NAP), arena.admit("last", -1, NAP)]
    arena.schedule(entrants, boards=20)
    with Services(arena.where, 1, {}) as services:
        [match] = listing.matches(arena.engine)
        wait_until(lambda: listing.find_match(arena.engine, match.id).committed >= 1)
        worker = services.snapshot.services[1].pid
        assert worker is not None
        [(expires,)] = arena.sql("SELECT lease_until FROM matches")
        assert isinstance(expires, float)
        os.kill(family(worker)[0], signal.SIGKILL)
        wait_until(lambda: listing.find_match(arena.engine, match.id).attempt == 2)
        [(leased,)] = arena.sql("SELECT leased FROM matches")
        assert isinstance(leased, float)
        assert leased < expires


def serve(arena: ServicesArena, workers: int = 1) -> subprocess.Popen[bytes]:
    """Start services in a separate process; return when they are ready."""
    command = [sys.executable, "-c", SERVE, str(arena.where.root), str(workers)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


@pytest.mark.long
def test_nothing_survives_a_killed_supervisor(arena: ServicesArena) -> None:
    entrants = [arena.admit("first", 0, NAP), arena.admit("last", -1, NAP)]
    begun_tournament = arena.schedule(entrants, boards=20)
    with serve(arena) as process:
        [match] = listing.matches(arena.engine, tournament=begun_tournament.id)
        wait_until(lambda: listing.find_match(arena.engine, match.id).committed >= 1)
        running = arena.where.running()
        assert running is not None
        alive = family(process.pid)
        # Redis, referee, worker, match process, sandbox launcher, two bots.
        assert len(alive) >= 7
        process.send_signal(signal.SIGKILL)
    wait_until(lambda: not any(map(runs, alive)))
    # The next services clean up after the dead ones.
    assert Path(running.sockets).exists()
    with Services(arena.where, 0, {}):
        assert not Path(running.sockets).exists()


@pytest.mark.long
def test_sigterm_releases_a_match_which_continues_later(arena: ServicesArena) -> None:
    entrants = [arena.admit("first", 0, NAP), arena.admit("last", -1, NAP)]
    begun_tournament = arena.schedule(entrants, boards=2)
    with serve(arena) as process:
        [match] = listing.matches(arena.engine, tournament=begun_tournament.id)
        wait_until(lambda: listing.find_match(arena.engine, match.id).committed >= 1)
        alive = family(process.pid)
        process.send_signal(signal.SIGTERM)
    assert process.returncode == 128 + signal.SIGTERM
    assert not any(map(runs, alive))
    left = listing.find_match(arena.engine, match.id)
    assert (left.state, left.failures) == (MatchState.PENDING, 0)
    assert left.committed >= 1
    with Services(arena.where, 1, {}):
        wait_until(lambda: arena.closed(begun_tournament))
    assert listing.find_match(arena.engine, match.id).attempt == 2


@pytest.mark.long
def test_a_worker_in_another_terminal_joins_the_running_services(arena: ServicesArena) -> None:
    begun_tournament = arena.schedule([arena.admit("first", 0), arena.admit("last", -1)], boards=1)
    command = [
        sys.executable,
        "-m",
        "arena.services.worker_process",
        "--data",
        str(arena.where.root),
    ]
    alone = subprocess.run(command, capture_output=True, check=False)
    assert alone.returncode == 3
    assert b"pokearena serve" in alone.stderr
    with Services(arena.where, 0, {}), (arena.where.logs / "extra.log").open("wb") as log:
        with GuardedProcess(command, stderr=log) as worker:
            wait_until(lambda: arena.closed(begun_tournament))
            worker.send_signal(signal.SIGTERM)
        assert worker.returncode == 0


@pytest.mark.long
def test_services_end_when_a_newer_release_has_upgraded_the_database(arena: ServicesArena) -> None:
    def is_outdated() -> bool:
        try:
            return services.snapshot is None
        except StoreError as error:
            return error.code == database.NEWER_VERSION

    with Services(arena.where, 1, {}) as services:
        pids = [state.pid for state in services.snapshot.services if state.pid is not None]
        arena.sql("UPDATE alembic_version SET version_num = '9999'")
        wait_until(is_outdated)
    assert pids
    assert all(map(has_exited, pids))


@pytest.mark.long
def test_two_sets_of_services_can_use_one_folder(arena: ServicesArena) -> None:
    begun_tournament = arena.schedule(
        [arena.admit("first", 0), arena.admit("last", -1)], boards=1, cycles=2
    )
    with Services(arena.where, 1, {}), Services(arena.where, 1, {}):
        wait_until(lambda: arena.closed(begun_tournament))
    assert arena.sql("SELECT attempt, state FROM matches") == [(1, "CLOSED")] * 2


def test_services_that_cannot_start_report_the_reason_and_leave_nothing(
    arena: ServicesArena,
) -> None:
    before = set(family(os.getpid()))
    for environment, reason in (
        ({"POKEARENA_DATABASE_URL": "sqlite:////dev/null/arena.db"}, "/dev/null"),
        # The error names the process that exits first for the third time.
        ({"PYTHONHOME": "/nonexistent"}, r"(referee|worker-1)\.log"),
    ):
        with (
            pytest.raises((ServicesError, StoreError), match=reason) as caught,
            Services(arena.where, 1, environment),
        ):
            pass
        assert "\n" not in str(caught.value)
        wait_until(lambda: set(family(os.getpid())) <= before)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServicesArena]:
    """Return an arena with the services of one worker."""
    arena = ServicesArena(tmp_path_factory.mktemp("served"))
    with Services(arena.where, 1, {}):
        yield arena
    arena.engine.dispose()


@pytest.mark.long
def test_the_output_of_a_bot_is_stored(served: ServicesArena) -> None:
    loud = served.admit("loud", 0)
    bot = served.where.versions / "loud" / "bot.py"
    bot.write_text("print('here I am', flush=True)\n" + bot.read_text())
    begun_tournament = served.schedule([loud, served.admit("quiet", 0)], boards=1)
    wait_until(lambda: served.closed(begun_tournament))
    [match] = listing.matches(served.engine, tournament=begun_tournament.id)
    output = served.where.outputs / match.id
    assert (output / "loud@1.log").read_text().count("here I am") == 2
    assert not (output / "quiet@1.log").exists()


@pytest.mark.long
def test_a_match_with_a_remote_bot_is_played_on_boards_that_are_not_mirrored(
    served: ServicesArena, tmp_path: Path
) -> None:
    code = BOT.format(choice=-1, nap=0)
    address = f"unix:{tmp_path}/remote.sock"
    command = [sys.executable, "-c", code]
    with GuardedProcess(command, env={"POKEARENA_ADDRESS": address}) as remote:
        there = versions.add_version(served.engine, "far", "1", "f" * 64, "", {"address": address})
        begun_tournament = served.schedule([served.admit("near", 0), there.id], boards=1)
        wait_until(lambda: served.closed(begun_tournament))
        remote.kill()
    [match] = listing.matches(served.engine, tournament=begun_tournament.id)
    assert (match.state, match.failures) == (MatchState.CLOSED, 0)
    boards = f"SELECT board FROM games WHERE match = '{match.id}' ORDER BY game"
    assert served.sql(boards) == [(0,), (1,)]


@pytest.mark.long
def test_a_match_of_a_deleted_bot_waits_until_the_organiser_voids_it(served: ServicesArena) -> None:
    entrants = [served.admit("present", 0), served.admit("lost", 0)]
    (served.where.versions / "lost" / "bot.toml").unlink()
    begun_tournament = served.schedule(entrants, boards=1)
    wait_until(lambda: listing.first_paused(served.engine, begun_tournament.id))
    [match] = listing.matches(served.engine, tournament=begun_tournament.id)
    assert match.state is not MatchState.VOID
    assert match.failures >= 1
    corrections.void(served.engine, match.id, COMMAND_LINE, "its files are gone")
    wait_until(lambda: served.closed(begun_tournament))


def family(pid: int) -> list[int]:
    """Return the descendants of a process, also those in other sessions."""
    children: dict[int, list[int]] = {}
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            fields = (directory / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(directory.name))
    descendants = children.get(pid, [])
    for child in descendants:
        descendants.extend(children.get(child, []))
    return descendants


def runs(pid: int) -> bool:
    """Return whether a process has not exited."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.long
def test_the_pages_are_served_after_a_kill_of_their_server_and_do_not_delay_the_stop(
    arena: ServicesArena, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The web server is killed after this time; a stop on a busy machine takes less.
    monkeypatch.setitem(STOP_SECONDS, StopStage.USER, 60.0)
    pages = Pages(listen("127.0.0.1", 0))
    with Services(arena.where, 0, {}, pages) as services:
        assert pages.answers()
        assert services.snapshot.page == pages.address
        noted = arena.where.running()
        assert noted is not None
        assert noted.page == pages.address
        (web,) = [service for service in services.snapshot.services if service.name == "web"]
        assert web.pid is not None
        os.kill(web.pid, signal.SIGKILL)
        # The supervisor holds the socket, so no connection is refused meanwhile.
        live_page = urlopen(f"{pages.address}live/", timeout=60)
        assert live_page.readline() == b"event: parts\n"
    live_page.close()
    assert "web did not stop" not in (arena.where.service_logs / "services.log").read_text()
