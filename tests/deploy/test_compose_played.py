"""Run the compose file's services as local processes and play a tournament."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import yaml

from arena.services.queue import redis_server
from tests.arena.cli.terminal import POKEARENA
from tests.cluster import cluster
from tests.deploy.manifests import DEPLOY, Tree
from tests.waiting import wait_until

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]


class ComposeRunner:
    """Runs the services' commands in one folder that replaces all volumes.

    A service keeps its command and environment. Its user, networks, port and sandbox setting do
    not apply, because this machine may offer another sandbox.
    """

    def __init__(self, compose: Tree, root: Path, secrets: Path, stack: ExitStack) -> None:
        self._compose = compose
        self._root = root
        self._stack = stack
        self._places = {
            "/run/secrets/valkey": secrets / "valkey.conf",
            "/run/secrets": secrets,
            "/run/pokearena": root / "run",
            "/data": root / "data",
            "/backups": root / "backups",
        }
        for path in (root / "run", root / "data", root / "backups"):
            path.mkdir(mode=0o700)

    def here(self, word: str) -> str:
        """Replace a container path at the start of a word by its path in this folder."""
        places = "|".join(map(re.escape, self._places))
        pattern_match = re.fullmatch(f"(unix:|)({places})((?:/.*)?)", word)
        return (
            f"{pattern_match[1]}{self._places[pattern_match[2]]}{pattern_match[3]}"
            if pattern_match
            else word
        )

    def environment(self, service: str) -> dict[str, str]:
        """Return the environment of a service, with local paths."""
        configured = self._compose["services"][service].get("environment", {})
        values = {name: self.here(value) for name, value in configured.items()}
        values.pop("POKEARENA_SANDBOX", None)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("POKEARENA", "REDIS"))}
        return kept | values

    def start(self, service: str, program: Path | str, *more: str) -> subprocess.Popen[bytes]:
        """Start a service, which is killed at the end of the test."""
        words = [self.here(word) for word in self._compose["services"][service]["command"]]
        log = self._stack.enter_context((self._root / f"{service}.log").open("wb"))
        process = subprocess.Popen(
            [program, *words[1 if service == "valkey" else 0 :], *more],
            cwd=self._root,
            env=self.environment(service),
            stdout=log,
            stderr=log,
        )
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process


def wait_for(condition: Callable[[], bool], *processes: subprocess.Popen[bytes]) -> None:
    """Wait until the condition holds; fail if a process exits before."""
    wait_until(lambda: condition() or any(process.poll() is not None for process in processes))
    assert [process.poll() for process in processes] == [None] * len(processes)


@pytest.fixture
def database() -> Iterator[str]:
    """Return the URL of an empty PostgreSQL database."""
    server = cluster()
    try:
        with server.database() as url:
            yield url
    finally:
        server.remove()


def test_the_services_of_the_compose_file_play_a_tournament(database: str, tmp_path: Path) -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    secrets, address = tmp_path / "secrets", tmp_path / "v"
    subprocess.run([DEPLOY / "secrets.sh", secrets], check=True)
    password = (secrets / "valkey.conf").read_text(encoding="utf-8").split()[1]
    settings = {"redis_url": f"unix://:{password}@{address}?db=0", "database_url": database}
    for name, value in settings.items():
        (secrets / name).unlink()
        (secrets / name).write_text(value, encoding="utf-8")
    binary = redis_server.bundled()
    assert binary is not None
    with ExitStack() as stack:
        engine = ComposeRunner(compose, tmp_path, secrets, stack)
        valkey = engine.start("valkey", binary, "--port", "0", "--unixsocket", str(address))
        wait_for(address.exists, valkey)
        if "migrate" in compose["services"]:
            assert engine.start("migrate", POKEARENA).wait() == 0
        services = engine.start("services", POKEARENA, "--port", "0")
        wait_for((tmp_path / "data" / "arena" / "running.json").exists, services)
        workers = [engine.start("worker", POKEARENA) for _ in range(2)]
        words = ["tournament", "run", "poke", "sample:greedy", "sample:random", "--json"]
        done = subprocess.run(
            [POKEARENA, *words, "--boards", "4"],
            env=engine.environment("services"),
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)
        assert engine.start("backup", POKEARENA).wait() == 0
        assert len(list((tmp_path / "backups").iterdir())) == 1
        assert engine.start("migrate", POKEARENA).wait() == 0
        healthy = subprocess.run(
            [POKEARENA, "worker", "--check"], env=engine.environment("worker"), check=False
        )
        assert healthy.returncode == 0
        for process in (*workers, services):
            process.send_signal(signal.SIGTERM)
        for process in workers:
            assert process.wait() == 0
        services.wait()
    logs = [path for path in tmp_path.rglob("*.log") if path.is_file()]
    assert logs
    for log in logs:
        assert password not in log.read_text(encoding="utf-8", errors="replace"), log
