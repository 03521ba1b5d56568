"""Only a worker with the organiser's code of a game plays the matches of this game."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.services.queue import worker_registrations
from arena.store.tournaments.tournaments import Tournament
from referee.games.game_packages import SETTING
from tests.arena.cli.terminal import POKEARENA
from tests.faults.fault_arena import Arena, ServeProcess
from tests.game_package import install_game, installed_packages
from tests.guarded_process import GuardedProcess
from tests.waiting import wait_until

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]
folder = pytest.fixture(installed_packages)
PACKAGE = "race-package"
MATCHES = 6
OTHER, SAME = "worker-other", "worker-same"


@pytest.fixture
def arena() -> Iterator[Arena]:
    arena = Arena()
    yield arena
    arena.remove()


@contextmanager
def worker(arena: Arena, serve: ServeProcess, name: str, site: Path) -> Iterator[None]:
    """Run a worker with the packages in a folder, from its registration on."""
    words = ("worker", "--data", arena.where.root, "--name", name)
    with (
        (arena.root / f"{name}.log").open("ab") as log,
        GuardedProcess(
            [str(POKEARENA), *map(str, words)],
            env=environment(arena, site),
            stdout=log,
            stderr=subprocess.STDOUT,
        ) as process,
        serve.redis() as connection,
    ):

        def is_registered() -> bool:
            workers = worker_registrations.workers(connection)
            return any(info.name.startswith(f"{name}-") for info in workers)

        wait_until(lambda: process.poll() is not None or is_registered())
        assert process.poll() is None, (arena.root / f"{name}.log").read_text(encoding="utf-8")
        yield
        process.terminate()


def environment(arena: Arena, site: Path) -> dict[str, str]:
    return arena.environment(**packages(site))


def packages(site: Path) -> dict[str, str]:
    return {SETTING: PACKAGE, "PYTHONPATH": os.pathsep.join((str(site), os.getcwd()))}


def doctor(arena: Arena, site: Path) -> dict[str, dict[str, str]]:
    """Return the checks of `pokearena doctor` by name."""
    done = subprocess.run(
        [POKEARENA, "doctor", "--json", "--data", arena.where.root],
        env=environment(arena, site),
        capture_output=True,
        text=True,
        check=False,
    )
    return {check["name"]: check for check in json.loads(done.stdout)["checks"]}


def record_leases(arena: Arena) -> None:
    """Let the database record each lease; a closed match has no owner."""
    arena.sql("CREATE TABLE leases (match TEXT, owner TEXT)")
    arena.sql(
        "CREATE TRIGGER leased AFTER UPDATE OF attempt ON matches WHEN NEW.owner IS NOT NULL"
        " BEGIN INSERT INTO leases VALUES (NEW.id, NEW.owner); END"
    )


def lessees(arena: Arena, tournament: Tournament) -> list[str]:
    """Return the worker of each lease of the matches of a tournament."""
    rows = arena.sql(
        "SELECT leases.owner FROM leases JOIN matches ON matches.id = leases.match"
        " WHERE matches.tournament = ?",
        tournament.id,
    )
    return [str(owner).rpartition("-")[0] for (owner,) in rows]


def test_a_worker_with_another_code_leases_no_match_of_the_game(
    arena: Arena, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_game(folder, PACKAGE, {"race": ""})
    monkeypatch.setenv(SETTING, PACKAGE)
    other = folder.with_name("other")
    other.mkdir()
    install_game(other, PACKAGE, {"race": ""}, version="1.1")
    with (other / "race_package.py").open("a", encoding="utf-8") as file:
        file.write("# The same rules, and another code.\n")
    bots = [arena.house("meek"), arena.house("random")]
    record_leases(arena)
    with (
        arena.serving(0, **packages(folder)) as serve,
        worker(arena, serve, OTHER, other),
    ):
        races = arena.schedule(bots, game="race", cycles=MATCHES)
        pokes = arena.schedule(bots, game="poke")
        wait_until(lambda: lessees(arena, pokes))
        assert doctor(arena, folder)["services"]["state"] == "warn"
        with worker(arena, serve, SAME, folder):
            serve.until(arena.over)
    assert lessees(arena, pokes) == [OTHER]
    assert lessees(arena, races) == [SAME] * MATCHES
    assert arena.sql("SELECT DISTINCT state, failures FROM matches") == [("CLOSED", 0)]
