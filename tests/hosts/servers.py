"""Run PostgreSQL and Redis on a host, with passwords and TLS for Redis."""

import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hosts.network import Host
from tests.waiting import wait_until


def needs(*programs: str) -> None:
    """Skip the test if a program is not installed; fail in CI."""
    missing = [program for program in programs if shutil.which(program) is None]
    if postgres() is None:
        missing.append("postgres")
    if missing and not os.environ.get("CI"):
        pytest.skip(f"not installed here: {', '.join(missing)}")
    assert not missing, missing


def postgres() -> Path | None:
    """Return the programs of the newest PostgreSQL, which Debian does not add to the PATH."""
    programs = Path("/usr/lib/postgresql").glob("[0-9]*/bin/initdb")
    return max((path.parent for path in programs), key=lambda p: int(p.parent.name), default=None)


class Servers:
    """PostgreSQL and Redis during a `with` block.

    Attributes:
        database: the URL of PostgreSQL with its password, for other hosts.
        redis: the URL of Redis with its password, for other hosts.
        near: the URL of PostgreSQL's Unix socket, for processes that can read the folder.
    """

    def __init__(self, host: Host, folder: Path) -> None:
        self._host, self._folder = host, folder
        self.passwords = (secrets.token_hex(16), secrets.token_hex(16))
        word, other = self.passwords
        self.database = f"postgresql://arena:{word}@{host.address}/postgres"
        self.near = f"postgresql://arena@/postgres?host={folder}/pg"
        self.certificate, self._key = folder / "cert.pem", folder / "key.pem"
        self.redis = f"rediss://:{other}@{host.address}:6380/0?ssl_ca_certs={self.certificate}"
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> "Servers":
        self._certify()
        try:
            self._start_postgres()
            self._start_redis()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        # On SIGQUIT PostgreSQL stops its children. Redis has none and may ignore the signal.
        for process in self._processes:
            process.send_signal(signal.SIGQUIT)
        for process in self._processes[1:]:
            process.kill()
        for process in self._processes:
            process.wait()

    def _certify(self) -> None:
        name = f"subjectAltName=IP:{self._host.address}"
        line = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
        line += ["-subj", "/CN=arena", "-addext", name]
        subprocess.run(
            [*line, "-keyout", self._key, "-out", self.certificate], check=True, capture_output=True
        )

    def _start_postgres(self) -> None:
        programs = postgres()
        assert programs is not None
        data, word = self._folder / "pg", self._folder / "pg-password"
        data.mkdir()
        word.write_text(self.passwords[0])
        for path in (data, word):
            shutil.chown(path, "postgres", "postgres")
        become = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        made: list[str | Path] = [programs / "initdb", "-D", data, "--no-sync", "--username=arena"]
        made += ["--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={word}"]
        subprocess.run([*become, *made], check=True, capture_output=True, cwd=self._folder)
        with (data / "pg_hba.conf").open("a") as allowed:
            allowed.write(f"host all all {self._host.address}/24 scram-sha-256\n")
        settings = (
            *("fsync=off", f"listen_addresses={self._host.address}"),
            f"unix_socket_directories={data}",
        )
        line: list[str | Path] = [*become, programs / "postgres", "-D", data]
        self._start("postgres", [*line, *(f"-c{setting}" for setting in settings)])
        self._await("postgres", (data / ".s.PGSQL.5432").exists)

    def _start_redis(self) -> None:
        settings = self._folder / "redis.conf"
        settings.touch(mode=0o600)
        settings.write_text(
            f"bind {self._host.address}\nport 0\ntls-port 6380\ntls-auth-clients no\n"
            f"tls-cert-file {self.certificate}\ntls-key-file {self._key}\n"
            f"tls-ca-cert-file {self.certificate}\nrequirepass {self.passwords[1]}\n"
            f'save ""\ndir {self._folder}\n'
        )
        self._start("redis", ["redis-server", settings])
        self._await("redis", lambda: "Ready to accept" in self._log("redis").read_text())

    def _log(self, name: str) -> Path:
        return self._folder / f"{name}.log"

    def _await(self, name: str, is_up: Callable[[], bool]) -> None:
        process = self._processes[-1]
        wait_until(lambda: is_up() or process.poll() is not None)
        assert process.poll() is None, self._log(name).read_text()

    def _start(self, name: str, line: list[str | Path]) -> None:
        with self._log(name).open("ab") as log:
            self._processes.append(
                subprocess.Popen(
                    self._host.words([], *line), stdout=log, stderr=log, cwd=self._folder
                )
            )
