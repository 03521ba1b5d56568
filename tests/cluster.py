"""A PostgreSQL of the tests' own: in a directory of its own, on a socket, gone with the tests."""

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import create_engine, exc, text
from sqlalchemy.engine import URL

PROGRAMS = ("initdb", "postgres")
OLDEST = 15
_START_SECONDS = 100
# What a killed process has written is there still; only a power cut would take it, and no test is
# one. Sorted as people sort, so that a test sees where the arena means another order.
_SETTINGS = ("fsync=off", "listen_addresses=", "unix_socket_permissions=0777")
_LOCALE = ("--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US")


class Cluster:
    """A PostgreSQL server with its data. It dies with the process that starts it."""

    def __init__(self, programs: Path) -> None:
        self._programs = programs
        # Short, because its socket lies there.
        self._root = Path(tempfile.mkdtemp(prefix="pkp-", dir="/tmp"))
        self._as = _somebody()
        if self._as:
            shutil.chown(self._root, "postgres", "postgres")
        self._root.chmod(0o755)
        self._run("initdb", "--no-sync", "--auth=trust", "--username=postgres", *_LOCALE)
        self._server: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Starts the server, and waits until it answers."""
        settings = [
            f"-c{setting}" for setting in (*_SETTINGS, f"unix_socket_directories={self._root}")
        ]
        line = ["setpriv", *self._as, "--pdeathsig=QUIT", str(self._programs / "postgres")]
        with (self._root / "log").open("ab") as log:
            self._server = subprocess.Popen(
                [*line, "-D", str(self._data), *settings],
                stdout=log,
                stderr=log,
                cwd=self._root,
                start_new_session=True,
            )
        give_up = time.monotonic() + _START_SECONDS
        while not self._answers():
            assert self._server.poll() is None, (self._root / "log").read_text()
            assert time.monotonic() < give_up, "PostgreSQL does not answer"
            time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stops it: SIGINT lets nobody finish, SIGQUIT is a crash."""
        assert self._server is not None
        self._server.send_signal(how)
        self._server.wait(60)

    def remove(self) -> None:
        """Stops it and deletes its data."""
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self._root)

    @property
    def pid(self) -> int:
        """The process id of the server."""
        assert self._server is not None
        return self._server.pid

    def url(self, database: str) -> str:
        """The address of a database."""
        return f"postgresql://postgres@/{database}?host={self._root}"

    @contextmanager
    def database(self) -> Iterator[str]:
        """The address of an empty database, for as long as the block lasts."""
        name = f"test_{secrets.token_hex(6)}"
        self._order(f"CREATE DATABASE {name}")
        try:
            yield self.url(name)
        finally:
            self._order(f"DROP DATABASE {name} WITH (FORCE)")

    @property
    def _data(self) -> Path:
        return self._root / "data"

    def _run(self, program: str, *words: str) -> None:
        line = ["setpriv", *self._as, str(self._programs / program), "-D", str(self._data), *words]
        done = subprocess.run(line, cwd=self._root, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def _answers(self) -> bool:
        with contextlib.suppress(exc.OperationalError):
            self._order("SELECT 1")
            return True
        return False

    def _order(self, statement: str) -> None:
        address = URL.create(
            "postgresql+psycopg", "postgres", database="postgres", query={"host": str(self._root)}
        )
        engine = create_engine(address, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(statement))
        engine.dispose()


def cluster() -> Cluster:
    """A server that runs; skips the test where PostgreSQL is not installed."""
    programs = _programs()
    if programs is None:
        assert not os.environ.get("CI"), "CI skips nothing: it needs the package postgresql"
        pytest.skip(f"PostgreSQL {OLDEST} or newer is not installed here")
    return Cluster(programs)


def _programs() -> Path | None:
    """Where the newest PostgreSQL is: Debian has its server's programs not on the PATH."""
    there = Path("/usr/lib/postgresql").glob("[0-9]*/bin")
    fitting = [path for path in there if int(path.parent.name) >= OLDEST]
    for path in sorted(fitting, key=lambda path: int(path.parent.name), reverse=True):
        if all((path / program).exists() for program in PROGRAMS):
            return path
    return None


def _somebody() -> list[str]:
    """How to become somebody else than root, whom PostgreSQL does not run for."""
    if os.geteuid() != 0:
        return []
    return ["--reuid=postgres", "--regid=postgres", "--clear-groups"]
