"""Run a PostgreSQL server for the tests, on a Unix socket in a temporary directory."""

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import create_engine, exc, text
from sqlalchemy.engine import URL

from arena.store import database
from tests.waiting import wait_until

PROGRAMS = ("initdb", "postgres")
OLDEST = 15
# Written data survives the death of a process without fsync, and no test cuts the power. The
# English collation differs from the byte order, so that tests detect a wrong ORDER BY.
_SETTINGS = ("fsync=off", "listen_addresses=", "unix_socket_permissions=0777")
_LOCALE = ("--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US")


class Cluster:
    """A PostgreSQL server with its data. It exits with the process that starts it."""

    def __init__(self, programs: Path) -> None:
        self._programs = programs
        # The path is short because it contains the server's socket.
        self._root = Path(tempfile.mkdtemp(prefix="pkp-", dir="/tmp"))
        self._as = _unprivileged_user()
        if self._as:
            shutil.chown(self._root, "postgres", "postgres")
        self._root.chmod(0o755)
        self._run("initdb", "--no-sync", "--auth=trust", "--username=postgres", *_LOCALE)
        self._server: subprocess.Popen[bytes] | None = None
        self._migrated_template = ""
        self.start()

    def start(self) -> None:
        """Start the server, and wait until it accepts connections."""
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
        server = self._server
        wait_until(lambda: self._answers() or server.poll() is not None)
        assert server.poll() is None, (self._root / "log").read_text()

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server; SIGINT interrupts its sessions, SIGQUIT simulates a crash."""
        assert self._server is not None
        self._server.send_signal(how)
        self._server.wait(60)

    def remove(self) -> None:
        """Stop the server and delete its data."""
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self._root)

    @property
    def pid(self) -> int:
        assert self._server is not None
        return self._server.pid

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self._root}"

    @contextmanager
    def database(self, template: str = "", options: str = "") -> Iterator[str]:
        """Create a database during the block, empty or as a copy of `template`; yield its URL.

        `options` are further ones of CREATE DATABASE.
        """
        name = f"test_{secrets.token_hex(6)}"
        copied = f" TEMPLATE {template}" if template else ""
        self._order(f"CREATE DATABASE {name}{copied} {options}")
        try:
            yield self.url(name)
        finally:
            self._order(f"DROP DATABASE {name} WITH (FORCE)")

    def migrated_template(self) -> str:
        """Return the name of an up-to-date store to copy, which takes less time than migrating."""
        if not self._migrated_template:
            self._order("CREATE DATABASE migrated")
            engine = database.open(self.url("migrated"))
            database.upgrade(engine)
            engine.dispose()
            self._migrated_template = "migrated"
        return self._migrated_template

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
    """Start a server; skip the test if PostgreSQL is not installed."""
    programs = _programs()
    if programs is None:
        assert not os.environ.get("CI"), "CI skips nothing: it needs the package postgresql"
        pytest.skip(f"PostgreSQL {OLDEST} or newer is not installed here")
    return Cluster(programs)


def _programs() -> Path | None:
    """Return the folder of the newest PostgreSQL, which Debian does not add to the PATH."""
    there = Path("/usr/lib/postgresql").glob("[0-9]*/bin")
    fitting = [path for path in there if int(path.parent.name) >= OLDEST]
    for path in sorted(fitting, key=lambda path: int(path.parent.name), reverse=True):
        if all((path / program).exists() for program in PROGRAMS):
            return path
    return None


def _unprivileged_user() -> list[str]:
    """Return options that change root to another user, because PostgreSQL refuses to run as
    root."""
    if os.geteuid() != 0:
        return []
    return ["--reuid=postgres", "--regid=postgres", "--clear-groups"]
