"""An arena for fault tests: a data folder, bots, tournaments, and `pokearena serve`."""

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy import Engine

from arena.bots import resolver
from arena.config import REDIS, Folder
from arena.services.queue import worker_registrations
from arena.services.queue.match_queue import MatchQueue
from arena.store import database
from arena.store.bots import versions
from arena.store.match_settings import Clock, TournamentPlan
from arena.store.schema import TournamentState
from arena.store.tournaments import tournaments
from arena.store.tournaments.tournaments import Tournament
from arena.system import failpoint, redis_connection
from arena.tournaments import scheduler
from tests.faults import processes
from tests.faults.operators import Operators
from tests.waiting import wait_until

Disk = Callable[[Path], AbstractContextManager[object]]
POKEARENA = Path(sys.executable).with_name("pokearena")
HOUSE = Path(__file__).parents[2] / "sample_bots" / "house"
SLOW = """
import time
from pathlib import Path
from pokearena_bot import run

NAP = Path(__file__).with_name("nap")

def choose(turn):
    # The file is empty for a moment while it is replaced in place.
    time.sleep(float(NAP.read_text() or 0))
    return turn.legal[{choice}]

# One after the other, so that there is a time between two games.
run(choose, games_in_flight=1)
"""
PATIENT = Clock(start_ms=60_000, allowance_ms=20_000)
"""A clock with which no bot is late, even on a busy machine."""


class Arena:
    """A data folder in a directory of its own, so that leftover files can be detected."""

    def __init__(
        self, made: bool = True, disk: Disk = contextlib.nullcontext, url: str = ""
    ) -> None:
        """Create the folder and the store.

        Args:
            made: whether to create the database's tables.
            disk: mounts a file system at the data folder.
            url: the URL of the database; empty for an SQLite file in the folder.
        """
        # The path is short because it contains Unix sockets, whose paths are limited in length.
        self.root = Path(tempfile.mkdtemp(prefix="pkf-", dir="/tmp"))
        self.temporary = self.root / "t"
        self.temporary.mkdir()
        self._armed = self.root / "armed"
        self._armed.mkdir()
        self._disk = disk(self.root / "data")
        self._disk.__enter__()
        self.where = Folder(self.root / "data").create()
        self._url = url
        self.engine: Engine = database.open(self.url)
        self.serve: ServeProcess | None = None
        self.operators: Operators | None = None
        self.redis = ""
        """URL of a Redis that the services use instead of starting one."""
        if made:
            database.upgrade(self.engine)

    def copy(self) -> "Arena":
        """Copy the data folder to a new arena.

        Do not play further matches in the copy: its versions refer to paths in this arena.
        """
        self.engine.dispose()
        other = Arena(made=False)
        shutil.copytree(self.where.root, other.where.root, dirs_exist_ok=True)
        return other

    def environment(self, **more: str) -> dict[str, str]:
        """Return the environment with a temporary folder of its own, without external services."""
        strange = ("POKEARENA", "REDIS", "DATABASE", "XDG_RUNTIME")
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(strange)}
        named = {"POKEARENA_DATABASE_URL": self._url, REDIS[0]: self.redis}
        named = {name: url for name, url in named.items() if url}
        # A worker without matches would analyse old ones, and have a child process then.
        ours = {"TMPDIR": str(self.temporary), "POKEARENA_ANALYSIS": "0"}
        ours[failpoint.VARIABLE] = str(self._armed)
        return {**inherited, **ours, **named, **more}

    @property
    def url(self) -> str:
        return self._url or self.where.database_url({})

    def house(self, name: str, number: str = "1") -> str:
        """Add a house bot as a version; return its id."""
        folder = self.where.versions / f"{name}-{number}"
        shutil.copytree(HOUSE / name, folder)
        return self._add(folder, name, number)

    def slow(self, name: str, nap: float = 0.0, choice: int = 0) -> str:
        """Add a bot that plays the first or the last (-1) listed action after `nap` seconds."""
        version = self.program(name, SLOW.format(choice=choice))
        self.pace(nap, name)
        return version

    def pace(self, nap: float, *names: str) -> None:
        """Change the time that slow bots take for each answer."""
        for name in names:
            (self.where.versions / name / "nap").write_text(str(nap))

    def program(self, name: str, source: str) -> str:
        """Add a version that is a Python program; return its id."""
        folder = self.where.versions / name
        folder.mkdir()
        (folder / "bot.py").write_text(source)
        (folder / "bot.toml").write_text(
            f'name = "{name}"\nversion = "1"\nrun = ["python", "bot.py"]\n'
        )
        return self._add(folder, name, "1")

    def _add(self, folder: Path, name: str, number: str) -> str:
        content = resolver.from_folder(folder).label * 8
        return versions.add_version(self.engine, name, number, content, str(folder), {}).id

    def schedule(
        self, entrants: Sequence[str], cycles: int = 1, boards: int = 1, **plan: object
    ) -> Tournament:
        """Schedule a round robin of Saint Poker, by default, with a fixed seed."""
        words: dict[str, Any] = {
            "name": "cup",
            "game": "saint_poker",
            "options": {},
            "seats": 2,
            "boards": boards,
            "settings": {"cycles": cycles},
            "clock": PATIENT,
        }
        return scheduler.begin(
            self.engine, TournamentPlan(**{**words, **plan}), entrants, bytes(32)
        )

    def over(self) -> bool:
        """Return whether every tournament has ended and no match is running."""
        playing = self.sql("SELECT count(*) FROM matches WHERE state IN ('PENDING', 'RUNNING')")
        open_ones = tournaments.list_tournaments(self.engine, state=TournamentState.RUNNING)
        return playing == [(0,)] and not open_ones

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows that a statement selects from the database."""
        if self._url:
            with database.reading(self.engine) as reader:
                rows = reader.exec_driver_sql(statement.replace("?", "%s"), values)
                return [tuple(row) for row in rows]
        there = f"file:{self.where.database}?mode=rw"
        connection = sqlite3.connect(there, timeout=60, uri=True)
        try:
            return connection.execute(statement, values).fetchall()
        finally:
            connection.close()

    def operate(self, *operation: str) -> int:
        """Run an operation of `operator_program.py` on the store; return its exit status."""
        assert self.operators is not None
        return self.operators.run([self.url, *operation], self.environment())

    def arm(self, name: str) -> None:
        """Kill the next process that reaches a fault point."""
        assert name in failpoint.NAMES
        (self._armed / name).touch()

    def armed(self) -> list[str]:
        """Return the fault points that no process has reached since they were armed."""
        return [path.name for path in self._armed.iterdir()]

    @contextmanager
    def serving(
        self, workers: int = 1, options: Sequence[str] = ("--no-web",), **environment: str
    ) -> "Iterator[ServeProcess]":
        """Run `pokearena serve` during the block."""
        self.serve = ServeProcess(self, workers, environment, options)
        try:
            yield self.serve
            self.serve.await_idle()
        finally:
            self.serve.stop()

    def remove(self) -> None:
        self.engine.dispose()
        self._disk.__exit__(None, None, None)
        shutil.rmtree(self.root, ignore_errors=True)


class ServeProcess:
    def __init__(
        self,
        arena: Arena,
        workers: int,
        environment: Mapping[str, str],
        options: Sequence[str] = ("--no-web",),
    ) -> None:
        self.arena = arena
        self._workers = workers
        self._options = options
        self.start(environment)

    def start(self, environment: Mapping[str, str] | None = None) -> bool:
        """Start or restart `serve`; return False if it exits before it prints its services."""
        line = [
            POKEARENA,
            "serve",
            "--no-ladders",
            # The patient clock is one of models, for whose matches six workers would start.
            *("--model-workers", "0"),
            "--json",
            *self._options,
            "--workers",
            str(self._workers),
        ]
        log = self.arena.root / "serve.log"
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                [*map(str, line), "--data", str(self.arena.where.root)],
                stdout=subprocess.PIPE,
                stderr=errors,
                env=self.arena.environment(**(environment or {})),
                start_new_session=True,
            )
        assert self._process.stdout is not None
        output = self._process.stdout.readline()
        services: dict[str, Any] = json.loads(output) if output else {}
        self._url = str(services.get("redis") or "")
        self.relay = str(services.get("relay") or "")
        """The address for connectors of remote bots; empty without a relay."""
        return bool(output)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def fell(self) -> bool:
        return self._process.poll() is not None

    def of(self, role: str) -> list[int]:
        return [pid for what, pid in processes.roles(self.pid) if what == role]

    def one(self, role: str) -> int:
        """Wait for a process of a role; return its id."""
        wait_until(lambda: self.of(role))
        return self.of(role)[0]

    @property
    def url(self) -> str:
        return self._url

    def redis(self) -> Redis:
        return redis_connection.connect(self._url)

    def until(self, true: Callable[[], bool], seconds: float = 300) -> None:
        """Wait until the condition holds; restart `serve` whenever it exits."""
        give_up = time.monotonic() + seconds
        while not true():
            if self.fell:
                self._close()
                self.start()
            assert time.monotonic() < give_up, f"not within {seconds:g} s; see {self.arena.root}"
            time.sleep(0.05)

    def await_idle(self, seconds: float = 120) -> None:
        """Wait until no job waits, and no worker has taken one."""
        self.until(self._idle, seconds)

    def _idle(self) -> bool:
        with contextlib.suppress(RedisError), self.redis() as connection:
            return not MatchQueue(connection).waiting() and not any(
                worker.match for worker in worker_registrations.workers(connection)
            )
        return False

    def stop(self) -> None:
        if not self.fell:
            self._process.send_signal(signal.SIGTERM)
        self._process.wait(60)
        self._close()

    def _close(self) -> None:
        assert self._process.stdout is not None
        self._process.stdout.close()
