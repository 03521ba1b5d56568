"""Play tournaments across network namespaces: services, two worker hosts and a remote bot."""

import contextlib
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from arena.store import database
from arena.store.bots import versions
from arena.store.match_settings import Clock
from arena.store.matches import listing, results
from arena.store.matches.listing import Match
from arena.store.schema import MatchState, TournamentState
from arena.store.tournaments import tournaments
from arena.store.tournaments.tournaments import Tournament
from arena.tournaments import scheduler
from tests.arena.cli.terminal import POKEARENA
from tests.arena.poke_plan import poke_plan
from tests.hosts.network import Host, Network, needs_namespaces
from tests.hosts.servers import Servers, needs
from tests.waiting import wait_until

KEPT = Path(__file__).parents[2] / "build" / "hosts.log"
BOT = """
import os, time
from concurrent import futures
import grpc
from pokearena.v1 import bot_pb2, bot_pb2_grpc

class Bot(bot_pb2_grpc.BotServiceServicer):
    def Act(self, request, context):
        time.sleep(0.02)
        return bot_pb2.ActResponse(action=request.legal[{choice}])

server = grpc.server(futures.ThreadPoolExecutor(1))
bot_pb2_grpc.add_BotServiceServicer_to_server(Bot(), server)
server.add_insecure_port(os.environ["POKEARENA_ADDRESS"])
server.start()
server.wait_for_termination()
"""
"""A bot that plays the first or the last listed action, slowly enough to cut its cable
meanwhile."""


class HostMachine:
    """A host with a private data folder, and the processes on it."""

    def __init__(self, host: Host, folder: Path, hidden: list[Path], servers: Servers) -> None:
        self.host, self.folder, self._hidden = host, folder, hidden
        (folder / "tmp").mkdir()
        for name, secret in (("database", servers.database), ("redis", servers.redis)):
            (folder / name).write_text(secret)
            (folder / name).chmod(0o600)
        self._environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("POKEARENA_")},
            "POKEARENA_DATA": str(folder / "data"),
            "POKEARENA_DATABASE_URL_FILE": str(folder / "database"),
            "POKEARENA_REDIS_URL_FILE": str(folder / "redis"),
            "TMPDIR": str(folder / "tmp"),
            "XDG_RUNTIME_DIR": str(folder / "tmp"),
        }
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self, *words: str, **environment: str) -> None:
        """Start a pokearena command in the background."""
        with (self.folder / f"{words[0]}.log").open("ab") as log:
            self._processes.append(
                subprocess.Popen(
                    self.host.words(self._hidden, POKEARENA, *words),
                    env={**self._environment, **environment},
                    cwd=self.folder,
                    stdout=log,
                    stderr=log,
                )
            )

    def run(self, *words: str) -> str:
        """Run a pokearena command, which must succeed; return its output."""
        done = subprocess.run(
            self.host.words(self._hidden, POKEARENA, *words),
            env=self._environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def stop(self) -> None:
        """Stop the processes with SIGTERM, as `systemctl stop` does."""
        for process in self._processes:
            process.send_signal(signal.SIGTERM)
        for process in self._processes:
            process.wait()
        self._processes.clear()

    def logs(self) -> str:
        """Return the content of all log files of the host."""
        paths = (path for path in sorted(self.folder.rglob("*.log")) if path.is_file())
        return "".join(path.read_text(errors="replace") for path in paths)

    def closed(self) -> int:
        """Return the number of matches that the host's workers have closed."""
        return self.logs().count(": closed\n")


class MultiHostArena:
    """All hosts of an arena, and a log of the test's actions."""

    def __init__(self, network: Network, root: Path, servers: Servers) -> None:
        names = ("services", "a", "b", "far")
        folders = {name: root / name for name in names}
        for folder in folders.values():
            folder.mkdir()
        self.machines = {
            name: HostMachine(
                network.hosts[name],
                folders[name],
                [folder for other, folder in folders.items() if other != name],
                servers,
            )
            for name in names
        }
        self.engine: Engine = database.open(servers.near)
        database.upgrade(self.engine)
        self._began = time.monotonic()
        self.events: list[str] = []

    def log_event(self, what: str) -> None:
        """Append a line to the log of the test's actions."""
        self.events.append(f"{time.monotonic() - self._began:7.1f} s  {what}")

    def schedule(self, entrants: list[str]) -> Tournament:
        """Schedule a round robin of Poke."""
        plan = poke_plan(clock=Clock(60_000, 60_000, 60_000))
        tournament = scheduler.begin(self.engine, plan, entrants, bytes(32))
        count = len(listing.matches(self.engine, tournament=tournament.id))
        self.log_event(f"{tournament.id}: {count} matches")
        return tournament

    def is_closed(self, tournament: Tournament) -> bool:
        return (
            tournaments.find_tournament(self.engine, tournament.id).state == TournamentState.CLOSED
        )

    def played_by(self, name: str) -> Match | None:
        """Return a match that a worker of this host leases now, if any."""
        matches = listing.matches(self.engine)
        mine = (m for m in matches if (m.owner or "").startswith(f"{name}-"))
        return next((m for m in mine if m.state == MatchState.RUNNING), None)

    def cut_in_the_middle(self, name: str, hosted: list[str]) -> None:
        """Disconnect a worker host during a match, until another host has closed that match."""
        machine = self.machines[name]
        tournament = self.schedule(hosted)
        while (match := self.played_by(name)) is None:
            if self.is_closed(tournament):
                tournament = self.schedule(hosted)
            time.sleep(0.05)
        machine.host.cut()
        self.log_event(f"{name} is cut off, with {match.id}")
        wait_until(lambda: listing.find_match(self.engine, match.id).state == MatchState.CLOSED)
        machine.host.mend()
        stored_match = listing.find_match(self.engine, match.id)
        self.log_event(f"{name} is back; {match.id} was closed by attempt {stored_match.attempt}")


@pytest.fixture
def arena() -> Iterator[MultiHostArena]:
    """An arena with its database and Redis on the services' host, before any service is started."""
    needs_namespaces(lambda: Network("probe"))
    needs("redis-server", "openssl", "setpriv")
    # The path is short because it contains sockets, and PostgreSQL's user can read it.
    root = Path(tempfile.mkdtemp(prefix="pkh-", dir="/tmp"))
    root.chmod(0o755)
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, root)
        network = stack.enter_context(Network("services", "a", "b", "far"))
        common = root / "servers"
        common.mkdir()
        common.chmod(0o755)
        servers = stack.enter_context(Servers(network.hosts["services"], common))
        arena = MultiHostArena(network, root, servers)
        stack.callback(arena.engine.dispose)
        yield arena
        for machine in arena.machines.values():
            machine.stop()
        keep(arena)
        assert_no_password_in_logs(arena, servers)


def keep(arena: MultiHostArena) -> None:
    """Write the log of the test's actions and all hosts' logs to a file."""
    KEPT.parent.mkdir(exist_ok=True)
    with KEPT.open("w", encoding="utf-8") as kept:
        kept.writelines(f"{line}\n" for line in arena.events)
        for name, machine in arena.machines.items():
            kept.write(f"\n--- {name}, {machine.host.address}\n{machine.logs()}")


def assert_no_password_in_logs(arena: MultiHostArena, servers: Servers) -> None:
    for name, machine in arena.machines.items():
        for password in servers.passwords:
            assert password not in machine.logs(), f"a password is in a log of {name}"


def command_lines() -> Iterator[str]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            yield path.read_bytes().replace(b"\0", b" ").decode(errors="replace")


def fetched(machine: HostMachine) -> set[str]:
    return {path.name for path in (machine.folder / "data" / "versions").iterdir() if path.is_dir()}


def started(arena: MultiHostArena) -> tuple[list[str], list[str]]:
    """Start all services; return the hosted bots, and the same with the remote bot."""
    services = arena.machines["services"]
    for name, choice in (("first", 0), ("last", -1), ("other", 0)):
        home = services.folder / name
        home.mkdir()
        (home / "bot.py").write_text(f"# {name}\n{BOT.format(choice=choice)}")
        (home / "bot.toml").write_text(f'name = "{name}"\nrun = ["{sys.executable}", "bot.py"]\n')
        services.run("bot", "add", str(home))
    services.run("bot", "add", "--remote", "far")
    token = json.loads(services.run("bot", "renew", "far@1", "--json"))["token"]
    relay = f"{services.host.address}:7000"
    words = [
        "serve",
        "--no-ladders",
        "--workers",
        "0",
        "--host",
        services.host.address,
        "--port",
        "0",
    ]
    services.start(*words, "--relay", relay, "--relay-workers", f"{services.host.address}:7001")
    for name in ("a", "b"):
        arena.machines[name].start("worker", "--name", name)
    # A connector exits if it cannot reach its relay at its start.
    wait_until(lambda: "relay    grpc://" in services.logs())
    arena.machines["far"].start(
        "bot", "connect", f"grpc://{relay}", "sample:meek", "--json", POKEARENA_TOKEN=token
    )
    hosted = ["first@1", "last@1", "other@1"]
    return hosted, [*hosted, "far@1"]


@pytest.mark.long
@pytest.mark.timeout(600)
def test_hosts_that_are_cut_off_and_come_back_lose_nothing(
    arena: MultiHostArena, record_property: Callable[[str, object], None]
) -> None:
    hosted, everybody = started(arena)
    a, b = arena.machines["a"], arena.machines["b"]
    tournament = arena.schedule(everybody)
    arena.cut_in_the_middle("a", hosted)
    lines = list(command_lines())
    arena.machines["far"].host.cut()
    arena.log_event("the remote bot is cut off")
    time.sleep(1)
    arena.machines["far"].host.mend()
    arena.log_event("the remote bot is back")
    cups = tournaments.list_tournaments(arena.engine)
    wait_until(lambda: all(arena.is_closed(cup_id) for cup_id in cups))
    arena.log_event("all is closed")

    # Both worker hosts play matches again.
    before = {machine: machine.closed() for machine in (a, b)}
    for machine, played in before.items():
        while machine.closed() == played:
            again = arena.schedule(hosted)
            wait_until(functools.partial(arena.is_closed, again))
    arena.log_event(f"a has closed {a.closed()} matches, b {b.closed()}")

    matches = listing.matches(arena.engine)
    assert {match.state for match in matches} == {MatchState.CLOSED}
    for match in matches:
        assert len(results.of_match(arena.engine, match.id).games) == 2
    services = arena.machines["services"]
    bundle = services.folder / "bundle"
    services.run("tournament", "bundle", tournament.id, "--output", str(bundle))
    completed = services.run("tournament", "verify", str(bundle))
    arena.log_event(completed.strip().splitlines()[-1])
    summary = (
        f"{len(matches)} matches, each closed once; {sum(m.failures for m in matches)} failures"
    )
    arena.log_event(summary)
    for event in arena.events:
        record_property("hosts", event)

    # The two worker hosts also played the matches of the remote bot.
    assert services.closed() == 0
    assert [match for match in matches if "far@1" in match.entrants]
    # Neither worker host can read the folder from which the bots were added.
    contents = {version.content_hash for version in versions.list_versions(arena.engine)} - {""}
    assert fetched(a) | fetched(b) <= contents
    assert fetched(a)
    assert fetched(b)
    assert any("arena.services.worker_process" in line for line in lines)
    secrets = [(services.folder / name).read_text() for name in ("database", "redis")]
    words = [secret.partition("://")[2].partition("@")[0].rpartition(":")[2] for secret in secrets]
    assert not [line for line in lines for word in words if word in line]
