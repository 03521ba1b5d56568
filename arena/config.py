"""The data folder: where one arena on this machine keeps everything, and the settings around it.

    <data>/.gitignore      holds "*": nothing in here belongs into a repository
    <data>/arena.db        the store (unless a database is named in the environment)
    <data>/arena.db-clock-BOOT     what time its clock began with (arena.store.sqlite)
    <data>/logs/           one log per child process of `serve` and `demo`
    <data>/logs/matches/   what bots wrote while they played, by match and version
    <data>/versions/       the files of every hosted bot version, by content hash
    <data>/submissions/    what owners have sent over the network, until it is decided
    <data>/builds/         what bots that `play` built were like then, by where they lie
    <data>/running.json    where the services of this folder listen while they run
    <data>/sockets.PID.*   where services keep their sockets, so that the next ones can clean up

Sockets do not live here: their paths must stay under about 100 bytes, so they get a private
directory of their own (`private_directory`).
"""

from __future__ import annotations

import json
import os
import secrets
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from arena.system import file_tree, process_info

DATA = "POKEARENA_DATA"
DATABASE = ("POKEARENA_DATABASE_URL", "DATABASE_URL")
REDIS = ("POKEARENA_REDIS_URL", "REDIS_URL")
REFEREE = "POKEARENA_REFEREE"
IN_FILE = "_FILE"
"""Behind the name of a variable: it names a file in which the value stands."""
WATCH_MS = "POKEARENA_WATCH_MS"
VERSIONS_MIB = "POKEARENA_VERSIONS_MIB"
"""How much of what was fetched `versions/` holds."""

REMOTE_WAIT_SECONDS: Final = 600.0
"""How long a match waits for a remote bot unless the organiser says otherwise."""

DEFAULT = ".pokearena"

_USUAL_MIB = 10_240
_PRIVATE = 0o700
_SOCKETS = "pokearena-"
_SOCKETS_NOTE = "sockets."
# sun_path holds 108 bytes on Linux and 104 on macOS; the file names in it take up to 20.
_LONGEST_DIRECTORY = 80


class SettingError(Exception):
    """A setting cannot be had. Its text is a sentence for a person."""


@dataclass(frozen=True, slots=True)
class Running:
    """The services that run for a data folder: process id of their supervisor, addresses.

    began: when that process began (`arena.system.process_info`), since its id may be another's by
    now.
    page: where its pages are; empty if it serves none. relay: where remote bots connect.
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
        """Whether that process is still there."""
        if not alive(self.pid) or process_info.has_ended(self.pid):
            return False
        return process_info.began(self.pid) == self.began


@dataclass(frozen=True, slots=True)
class Folder:
    """A data folder. Its paths are absolute; nothing need exist before `create`."""

    root: Path

    @property
    def database(self) -> Path:
        """The file of the default database."""
        return self.root / "arena.db"

    @property
    def logs(self) -> Path:
        """The directory of the services' logs."""
        return self.root / "logs"

    @property
    def outputs(self) -> Path:
        """The directory of what bots wrote: a directory a match, a file a version in it."""
        return self.logs / "matches"

    @property
    def versions(self) -> Path:
        """The directory of the hosted bot versions."""
        return self.root / "versions"

    @property
    def submissions(self) -> Path:
        """The directory of what owners have sent and nobody has decided about yet."""
        return self.root / "submissions"

    def create(self) -> Folder:
        """Makes the folder (mode 0700, ignored by git) where it does not exist yet.

        A directory that already holds something keeps its mode and gets no `.gitignore`: it
        may be more than a data folder. Raises OSError.
        """
        self.root.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        if not any(self.root.iterdir()):
            self.root.chmod(_PRIVATE)
            (self.root / ".gitignore").write_text("*\n", encoding="utf-8")
        for directory in (self.logs, self.versions, self.submissions):
            directory.mkdir(mode=_PRIVATE, exist_ok=True)
        return self

    def database_url(self, environment: Mapping[str, str] = os.environ) -> str:
        """The database to use: from the environment, else the SQLite file of this folder."""
        named = setting(DATABASE, environment)
        return named[1] if named else f"sqlite:///{self.database}"

    def shares_store(self, environment: Mapping[str, str] = os.environ) -> bool:
        """Whether the store may be used from other machines: it is not the file of this folder."""
        return self.database_url(environment) != f"sqlite:///{self.database}"

    def running(self) -> Running | None:
        """What the last services here wrote down. They may have died since: ask them."""
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
        """Writes down the services that run now, in one step. Raises OSError."""
        fresh = self._note.with_name(f"{self._note.name}.{secrets.token_hex(4)}")
        fresh.write_text(json.dumps(asdict(running), indent=1) + "\n", encoding="utf-8")
        fresh.replace(self._note)

    def forget_running(self, pid: int) -> None:
        """Takes the note away if it is still that of the supervisor `pid`."""
        running = self.running()
        if running is not None and running.pid == pid:
            self._note.unlink(missing_ok=True)

    def note_sockets(self, directory: Path) -> Path:
        """Writes down that this process has made a private directory. Raises OSError.

        Gives the note, to be deleted after the directory.
        """
        note = self.root / f"{_SOCKETS_NOTE}{os.getpid()}.{secrets.token_hex(4)}"
        note.write_text(str(directory), encoding="utf-8")
        return note

    def remove_leftovers(self) -> None:
        """Removes the private directories of services that were killed."""
        for note in self.root.glob(f"{_SOCKETS_NOTE}*"):
            pid = note.name.split(".")[1]
            if pid.isdigit() and not alive(int(pid)):
                remove_private_directory(Path(note.read_text(encoding="utf-8")))
                note.unlink(missing_ok=True)

    @property
    def _note(self) -> Path:
        return self.root / "running.json"


def locate(option: str | Path | None = None, environment: Mapping[str, str] = os.environ) -> Folder:
    """The data folder: `option`, else POKEARENA_DATA, else `.pokearena` here. Creates nothing."""
    chosen = option or environment.get(DATA) or DEFAULT
    return Folder(Path(chosen).expanduser().absolute())


def setting(
    names: tuple[str, ...], environment: Mapping[str, str] = os.environ
) -> tuple[str, str] | None:
    """The first of the variables `names` that is set and not empty, with its value.

    NAME_FILE names a file that holds the value of NAME, as secrets are handed to containers: it
    stands in no environment then. Raises SettingError if there is no such file, or nothing in it,
    or if NAME is set as well.
    """
    for name in names:
        value = environment.get(name)
        file = environment.get(name + IN_FILE)
        if value and file:
            raise SettingError(
                f"{name} and {name + IN_FILE} are both set, and only one can be meant: unset one."
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
        raise SettingError(f"{name} names {file}, which cannot be read: {reason}.") from None
    if not value:
        raise SettingError(f"{name} names {file}, which is empty; the value belongs there.")
    return value


def most_versions(environment: Mapping[str, str] = os.environ) -> int:
    """How many bytes fetched versions may have in `versions/`. Raises SettingError."""
    said = environment.get(VERSIONS_MIB) or str(_USUAL_MIB)
    if not (said.isascii() and said.isdigit()):
        raise SettingError(
            f'{VERSIONS_MIB} is "{said}"; it must be a whole number of MiB, {_USUAL_MIB} if unset.'
        )
    return int(said) << 20


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without the addresses of the store and Redis, which hold passwords."""
    hidden = {name + end for name in (*DATABASE, *REDIS) for end in ("", IN_FILE)}
    return {name: value for name, value in environment.items() if name not in hidden}


def alive(pid: int) -> bool:
    """Whether there is a process of this id."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def private_directory(environment: Mapping[str, str] = os.environ) -> Path:
    """Makes a directory for sockets: mode 0700, and of a path short enough for one.

    Over a unix socket the peer has no identity; the owner and mode of its directory stand for
    it. Raises OSError.
    """
    for base in (environment.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp"):
        if base and len(os.fsencode(base)) <= _LONGEST_DIRECTORY - 20 and os.access(base, os.W_OK):
            return Path(tempfile.mkdtemp(prefix=_SOCKETS, dir=base))
    raise OSError("no directory for sockets: neither XDG_RUNTIME_DIR nor /tmp can be written")


def remove_private_directory(directory: Path) -> None:
    """Removes what `private_directory` made; anything else, or another's, is left alone."""
    try:
        found = directory.lstat()
    except OSError:
        return
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    if ours and directory.name.startswith(_SOCKETS):
        file_tree.remove(directory)
