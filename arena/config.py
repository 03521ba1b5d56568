"""Data folder and settings of an arena on this machine.

Contents of the data folder:

    <data>/.gitignore      contains "*": keeps the folder out of repositories
    <data>/arena.db        the store (unless the environment sets a database)
    <data>/arena.db-clock-BOOT     start value of its clock (arena.store.sqlite)
    <data>/logs/services-HOST/     logs of the services of a machine (arena.services.service_logs)
    <data>/logs/matches/   output of bots during matches, by match and version
    <data>/versions/       the files of every hosted bot version, by content hash
    <data>/submissions/    uploads of owners until they are decided
    <data>/plays/          records of local matches: the newest ones of `play` and `test`
    <data>/builds/         state of bots when `play` built them, by their location
    <data>/sandbox-HOST.json       best sandbox level that has held on a machine, with
                           sandbox-HOST.failed (arena.bots.sandbox.stored_level)
    <data>/models.toml     models of hosted bots, written by the organiser (arena.models)
    <data>/running.json    addresses of this folder's services while they run

Sockets are not in this folder: their paths must stay under about 100 bytes. Each service uses a
separate private directory for them (`private_directory`).

Only the user of the arena may access what is in the folder: folders have mode 0700 and files 0600,
whatever the umask is (`arena.system.private_files`). Version folders keep the modes of their files
for the sandbox, which runs bots as other users; `versions/` itself is private.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import socket
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from arena.system import private_files, process_info, socket_paths, temporary_folder
from referee.games.shared.coded_errors import CodedError

DATA = "POKEARENA_DATA"
DATABASE = ("POKEARENA_DATABASE_URL", "DATABASE_URL")
REDIS = ("POKEARENA_REDIS_URL", "REDIS_URL")
OBJECT_STORAGE = ("POKEARENA_OBJECT_STORAGE_URL",)
"""Address of the object storage for build archives and records (`arena.store.objects`)."""
REFEREE = "POKEARENA_REFEREE"
IN_FILE = "_FILE"
"""Suffix of a variable whose value is the path of a file that contains the actual value."""
WATCH_MS = "POKEARENA_WATCH_MS"
WATCH_NOTES = "POKEARENA_WATCH_NOTES"
"""With the value 1 workers publish the notes of hosted bots with the positions."""
ANALYSIS = "POKEARENA_ANALYSIS"
"""With the value 0 idle workers do not analyse matches."""
START_LIMIT_MS = "POKEARENA_START_LIMIT_MS"
"""Maximum time to start, in ms, that a `bot.toml` may request."""
VERSIONS_MIB = "POKEARENA_VERSIONS_MIB"
"""Maximum total size of fetched versions in `versions/`, in MiB."""

REMOTE_WAIT_SECONDS: Final = 600.0
"""Default time in seconds that a match waits for a remote bot."""

DEFAULT = ".pokearena"
VERSIONS: Final = "versions"
"""Folder of the hosted bot versions in the data folder."""

_URLS: Final = frozenset({*DATABASE, *REDIS, *OBJECT_STORAGE})
# Variables from which the client of the object storage reads its credentials.
_CREDENTIALS: Final = frozenset(
    {
        *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_TOKEN"),
        *("AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"),
        *("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"),
    }
)
_FOLDERS = frozenset({"builds", "logs", "plays", "submissions", "versions"})
_FILES = (".gitignore", "arena.db", "models.toml", "running.json", "sockets.")
"""Starts of the names of the files in a data folder; `sockets.` is of earlier versions."""
# sun_path holds 108 bytes on Linux and 104 on macOS; the file names in it take up to 20.
_LONGEST_DIRECTORY = 80


@dataclass(frozen=True, slots=True)
class Bounds:
    """The allowed range of a whole number, both ends included, and its default."""

    least: int
    most: int
    usual: int = 0

    def __contains__(self, value: object) -> bool:
        return type(value) is int and self.least <= value <= self.most

    def __str__(self) -> str:
        return f"a whole number from {self.least:,} to {self.most:,}"


# Ranges and defaults that files, command-line options and forms share.
BOARDS: Final = Bounds(1, 10_000, usual=10)
SEATS: Final = Bounds(2, 6)
KEPT_MATCHES: Final = 100
"""Default number of local matches that are kept."""
START_MS: Final = Bounds(1, 3_600_000, usual=10_000)
ALLOWANCE_MS: Final = Bounds(0, 3_600_000, usual=200)
BANK_MS: Final = Bounds(0, 3_600_000, usual=10_000)
CORRECTIONS: Final = Bounds(0, 10, usual=0)
CYCLES: Final = Bounds(1, 1000)
_VERSIONS_RANGE: Final = Bounds(0, 1 << 30, usual=10_240)
_START_LIMIT_RANGE: Final = Bounds(0, START_MS.most, usual=60_000)


class SettingError(CodedError):
    """A setting is missing or not valid. The message is a full sentence."""


@dataclass(frozen=True, slots=True)
class Running:
    """The running services of a data folder: process id of their supervisor, and their addresses.

    Attributes:
        began: start time of the supervisor (`arena.system.process_info`), because its id may be
            reused.
        page: URL of its web pages; empty without a web server.
        relay: address that remote bots connect to.
    """

    pid: int
    redis: str
    referee: str
    sockets: str
    began: str = ""
    page: str = ""
    relay: str = ""

    @property
    def alive(self) -> bool:
        """Return whether the supervisor still runs."""
        if not alive(self.pid) or process_info.has_ended(self.pid):
            return False
        return process_info.start_time(self.pid) == self.began


@dataclass(frozen=True, slots=True)
class Folder:
    """A data folder. Its paths are absolute and need not exist before `create`."""

    root: Path

    @property
    def database(self) -> Path:
        """Return the file of the default database."""
        return self.root / "arena.db"

    @property
    def logs(self) -> Path:
        """Return the directory of logs and of bots' output."""
        return self.root / "logs"

    @property
    def service_logs(self) -> Path:
        """Return the directory of the logs of this machine's services."""
        return self.logs / f"services-{host_name()}"

    @property
    def outputs(self) -> Path:
        """Return the directory of bots' output: a directory per match with a file per version."""
        return self.logs / "matches"

    @property
    def plays(self) -> Path:
        """Return the directory of the records of local matches."""
        return self.root / "plays"

    @property
    def versions(self) -> Path:
        """Return the directory of the hosted bot versions."""
        return self.root / VERSIONS

    @property
    def submissions(self) -> Path:
        """Return the directory of undecided submissions."""
        return self.root / "submissions"

    def create(self) -> Folder:
        """Create the folder and its subfolders where they are missing, with mode 0700.

        A new or empty folder gets a `.gitignore`. One that already has content of others keeps its
        mode and gets no `.gitignore`, because it is more than a data folder; what the arena has in
        it is private.

        Raises:
            OSError: a folder cannot be created.
        """
        self.root.mkdir(mode=private_files.FOLDER_MODE, parents=True, exist_ok=True)
        if not any(self.root.iterdir()):
            private_files.write_text(self.root / ".gitignore", "*\n")
        for directory in (self.logs, self.versions, self.submissions):
            directory.mkdir(mode=private_files.FOLDER_MODE, exist_ok=True)
        self.make_private()
        return self

    def make_private(self) -> None:
        """Remove the permissions of others where an earlier version or the user granted them.

        Links are not followed, and files of other users are not changed. The folder itself keeps
        its mode if it also has other content (`has_other_content`).
        """
        try:
            names = os.listdir(self.root)
        except OSError:
            return
        for name in filter(_is_entry, names):
            private_files.make_private(self.root / name)
        if all(map(_is_entry, names)):
            private_files.make_private(self.root)

    def has_other_content(self) -> bool:
        """Return whether the folder also holds files that the arena does not create.

        Raises:
            OSError: it cannot be read.
        """
        return not all(map(_is_entry, os.listdir(self.root)))

    def database_url(self, environment: Mapping[str, str] = os.environ) -> str:
        """Return the database URL from the environment, else that of the folder's SQLite file."""
        named = setting(DATABASE, environment)
        return named[1] if named else sqlite_url(self.database)

    def shares_store(self, environment: Mapping[str, str] = os.environ) -> bool:
        """Return whether other machines may use the store: it is not this folder's SQLite file."""
        return self.database_url(environment) != sqlite_url(self.database)

    def stores_builds(self, environment: Mapping[str, str] = os.environ) -> bool:
        """Return whether build archives are stored: for other machines, or in object storage."""
        has_objects = setting(OBJECT_STORAGE, environment) is not None
        return has_objects or self.shares_store(environment)

    def running(self) -> Running | None:
        """Return the last recorded services of this folder, which may have exited since."""
        try:
            noted = json.loads(self._note.read_text(encoding="utf-8"))
            return Running(
                int(noted["pid"]),
                str(noted["redis"]),
                str(noted["referee"]),
                str(noted["sockets"]),
                str(noted.get("began", "")),
                str(noted.get("page", "")),
                str(noted.get("relay", "")),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def note_running(self, running: Running) -> None:
        """Record the running services atomically.

        Raises:
            OSError: the file cannot be written.
        """
        fresh = self._note.with_name(f"{self._note.name}.{secrets.token_hex(4)}")
        private_files.write_text(fresh, json.dumps(asdict(running), indent=1) + "\n")
        fresh.replace(self._note)

    def forget_running(self, pid: int) -> None:
        """Remove the record of running services if it belongs to the supervisor `pid`."""
        running = self.running()
        if running is not None and running.pid == pid:
            self._note.unlink(missing_ok=True)

    @property
    def _note(self) -> Path:
        return self.root / "running.json"


def _is_entry(name: str) -> bool:
    """Return whether the arena creates an entry of this name in a data folder."""
    return name in _FOLDERS or name.startswith(_FILES)


def sqlite_url(file: Path) -> str:
    """Return the database URL of an SQLite file, quoted as SQLAlchemy decodes it."""
    return f"sqlite:///{quote(str(file), safe=' +/')}"


def locate(option: str | Path | None = None, environment: Mapping[str, str] = os.environ) -> Folder:
    """Return the data folder: `option`, else POKEARENA_DATA, else `.pokearena`; creates nothing.

    Raises:
        SettingError: the path is not UTF-8 text, which the address of a database must be.
    """
    chosen = option or environment.get(DATA) or DEFAULT
    root = Path(chosen).expanduser().absolute()
    try:
        str(root).encode()
    except UnicodeEncodeError:
        raise SettingError(
            f"the path of the data folder, {str(root)!r}, is not UTF-8 text; choose another "
            f"folder with --data or {DATA}.",
            code="not-utf-8",
        ) from None
    return Folder(root)


def setting(
    names: tuple[str, ...], environment: Mapping[str, str] = os.environ
) -> tuple[str, str] | None:
    """Return the first of the variables `names` that is set and not empty, with its value.

    NAME_FILE is the path of a file with the value of NAME, as containers provide secrets. The value
    is then not part of the environment.

    Raises:
        SettingError: the file is missing, unreadable or empty, or NAME is set as well.
    """
    for name in names:
        value = environment.get(name)
        file = environment.get(name + IN_FILE)
        if value and file:
            raise SettingError(
                f"{name} and {name + IN_FILE} are both set, and only one can be meant: unset one.",
                code="set-twice",
            )
        if value:
            return name, value
        if file:
            return name + IN_FILE, _in_file(name + IN_FILE, Path(file))
    return None


def _in_file(name: str, file: Path) -> str:
    try:
        value = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise SettingError(
            f"{name} names {file}, which cannot be read: {reason}.", code="unreadable"
        ) from None
    if not value:
        raise SettingError(
            f"{name} names {file}, which is empty; the value belongs there.", code="empty"
        )
    return value


def most_versions(environment: Mapping[str, str] = os.environ) -> int:
    """Return the maximum total size in bytes of fetched versions in `versions/`.

    Raises:
        SettingError: the setting is not a whole number in its range.
    """
    return _whole_number(environment, VERSIONS_MIB, _VERSIONS_RANGE, "MiB", "not-a-size") << 20


def most_start_ms(environment: Mapping[str, str] = os.environ) -> int:
    """Return the most milliseconds to start that a `bot.toml` may request.

    Raises:
        SettingError: the setting is not a whole number in its range.
    """
    return _whole_number(environment, START_LIMIT_MS, _START_LIMIT_RANGE, "ms", "not-a-time")


def _whole_number(
    environment: Mapping[str, str], name: str, bounds: Bounds, unit: str, code: str
) -> int:
    value = environment.get(name) or str(bounds.usual)
    if (
        value.isascii()
        and value.isdigit()
        and len(value) <= len(str(bounds.most))
        and (number := int(value)) in bounds
    ):
        return number
    raise SettingError(
        f'{name} is "{value}"; it must be {bounds} ({unit}), {bounds.usual:,} if unset.', code=code
    )


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without passwords.

    The URLs of the store, Redis and the object storage, and the credentials of the latter are
    removed.
    """
    return {
        name: value
        for name, value in environment.items()
        if name not in _CREDENTIALS and name.removesuffix(IN_FILE) not in _URLS
    }


def object_storage_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that name the object storage, and its credentials."""
    names = _CREDENTIALS | {name + end for name in OBJECT_STORAGE for end in ("", IN_FILE)}
    return {name: value for name, value in environment.items() if name in names}


def host_name() -> str:
    """Return the name of this machine as part of a file name; machines can share a data folder."""
    return re.sub(r"[^\w.-]", "_", socket.gethostname()) or "localhost"


def alive(pid: int) -> bool:
    """Return whether a process with this id exists."""
    if sys.platform == "win32":
        # There are no services, and `os.kill` would interrupt the process.
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def private_directory(environment: Mapping[str, str] = os.environ) -> Path:
    """Create a directory for sockets, with mode 0700 and a sufficiently short path.

    The path has only characters that mean the same in every address (`socket_paths`).
    A unix socket does not authenticate its peer; the owner and mode of its directory do.
    `temporary_folder.remove` removes it. If this process is killed, the next one does.

    Raises:
        OSError: none of the base directories is writable.
    """
    longest = _LONGEST_DIRECTORY - temporary_folder.NAME_LENGTH - 1
    for base in (environment.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp"):
        fits = base and len(os.fsencode(base)) <= longest
        if base and fits and socket_paths.is_plain(base) and os.access(base, os.W_OK):
            return temporary_folder.create(Path(base), temporary_folder.PREFIX)
    raise OSError("no directory for sockets: neither XDG_RUNTIME_DIR nor /tmp can be written")
