"""Canaries: files and processes of an arena that no bot may read, write, list or stat.

    uv run --no-sync python -m tests.hostile.canaries

prints what a bot reaches at each level of the sandbox that this machine offers.

All files and folders are readable by every user of the machine. Only the sandbox prevents access.
"""

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final
from unittest.mock import patch

from arena.bots.processes import Processes
from arena.bots.sandbox.level import Level
from tests.hostile.corpus import PROGRAMS
from tests.hostile.sandboxed_run import offered_levels, run_to_end, selected, untrusted
from tests.waiting import wait_until

SLEEPER: Final = """import os, time
for folder in (os.environ["TMPDIR"], os.path.dirname(os.environ["POKEARENA_ADDRESS"][5:])):
    with open(folder + "/canary", "w") as file:
        file.write("canary of another bot")
print("ready", flush=True)
time.sleep(600)
"""
"""Another bot with a file in its scratch space and one beside its socket."""
MARK: Final = "written-by-a-hostile-bot"
"""Name of the files that the probe creates where it can."""
IN_RUNTIME: Final = Path("POKEARENA_RUNTIMES")
METADATA: Final = ("stat", "access", "statfs", "path")
"""Ways that Landlock cannot close without a mount namespace."""
DATA_FILES: Final = {
    "database": "arena.db",
    "write-ahead log": "arena.db-wal",
    "shared memory of the database": "arena.db-shm",
    "running services": "running.json",
    "upload": "submissions/s-1/upload.tar.gz",
    "log": "logs/worker-1.log",
    "output of a bot": "logs/matches/m-1/greedy.log",
    "version of another bot": "versions/{other}/bot.py",
    "marker beside its folder": "versions/{own}.stranger",
    "file beside the folders of bots": "versions/notes.txt",
    "play": "plays/p-1.jsonl",
    "state of a build": "builds/b-1/state",
    "backup": "backups/arena-1.tar.gz",
    "organiser's tournament": "open.toml",
    "TLS key": "tls/server.key",
    "data of redis": "redis/dump.rdb",
}
"""Canaries in the data folder."""


@dataclass
class Canaries:
    """Paths of the canaries, and what else the probe looks for."""

    data: Path
    """The data folder. Its name occurs nowhere else."""
    own: Path
    """The folder of the probe, among the versions in the data folder."""
    paths: dict[str, Path] = field(default_factory=dict)
    processes: list[str] = field(default_factory=list)
    """Texts in the environment and the command line of a process of the arena."""
    arena: list[int] = field(default_factory=list)
    """Process ids of the arena."""

    def add(self, name: str, path: Path) -> None:
        """Create a file with a secret, readable by every user, as its folders below the data."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"canary {name}")
        path.chmod(0o666)
        self.paths[name] = path

    def write_targets(self) -> None:
        targets = {
            "paths": {name: str(path).encode().hex() for name, path in self.paths.items()},
            "data_name": _halves(self.data.name),
            "processes": [_halves(text) for text in self.processes],
            "arena": self.arena,
        }
        (self.own / "targets.json").write_text(json.dumps(targets))


def _halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


@contextmanager
def placed(level: Level, below: Path | None = None) -> Iterator[Canaries]:
    """Create the canaries, a process of the arena and another bot, and remove them at the end.

    Args:
        level: the level at which the other bot runs.
        below: the folder in which the data folder is created; by default a temporary one.
            IN_RUNTIME stands for the folder in POKEARENA_RUNTIMES.
    """
    token = secrets.token_hex(6)
    with ExitStack() as stack:
        base = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="canaries-")))
        base.chmod(0o755)
        runtimes = base / "opt" / "runtime"
        runtimes.mkdir(parents=True)
        data = (runtimes if below == IN_RUNTIME else below or base) / f"data-{token}"
        data.mkdir()
        stack.callback(shutil.rmtree, data, ignore_errors=True)
        own = data / "versions" / secrets.token_hex(32)
        own.mkdir(parents=True)
        canaries = Canaries(data, own)
        shutil.copyfile(PROGRAMS / "canary_probe.py", own / "bot.py")
        for name, path in DATA_FILES.items():
            canaries.add(name, data / path.format(other=secrets.token_hex(32), own=own.name))
        home = base / "home"
        canaries.add("ssh key", home / ".ssh" / "id_ed25519")
        canaries.add("token of the author", home / ".config" / "pokearena" / "token")
        canaries.add("beside a runtime", base / "opt" / "secret.txt")
        canaries.add("temporary file", _fresh(stack, tempfile.gettempdir(), token))
        for name, folder in {
            "file of root": "/root",
            "folder of sockets": "/run",
            "shared memory": "/dev/shm",
            "temporary file that survives a restart": "/var/tmp",
            "root of the file system": "/",
        }.items():
            if os.access(folder, os.W_OK):
                canaries.add(name, _fresh(stack, folder, token))
        canaries.paths["passwords"] = Path("/etc/shadow")
        canaries.paths["users"] = Path("/etc/passwd")
        checkout = Path(__file__).parents[2]
        canaries.paths["repository"] = checkout / ".git"
        canaries.paths["source of the arena"] = checkout / "arena" / "config.py"
        canaries.paths["data folder"] = data
        for place in (base, home, data, *data.rglob("*")):
            if place.is_dir():
                place.chmod(0o755)
        stack.enter_context(
            patch.dict(
                os.environ,
                HOME=str(home),
                POKEARENA_RUNTIMES=str(runtimes),
                POKEARENA_DATA=str(data),
            )
        )
        _add_process(stack, canaries, token)
        _add_bot(stack, canaries, base, level)
        canaries.write_targets()
        yield canaries


def _fresh(stack: ExitStack, folder: str, token: str) -> Path:
    path = Path(folder) / f"pokearena-canary-{token}"
    stack.callback(path.unlink, missing_ok=True)
    return path


def _add_process(stack: ExitStack, canaries: Canaries, token: str) -> None:
    """Start a process with a secret in its environment and another in its command line."""
    in_environment, in_arguments = f"environment-{token}", f"argument-{token}"
    process = stack.enter_context(
        subprocess.Popen(
            [sys.executable, "-c", "import sys; sys.stdin.read()", in_arguments],
            env={**os.environ, "POKEARENA_TOKEN": in_environment},
            stdin=subprocess.PIPE,
        )
    )
    stack.callback(process.kill)
    canaries.processes = [in_environment, in_arguments]
    canaries.arena = [process.pid, os.getpid(), os.getppid()]


def _add_bot(stack: ExitStack, canaries: Canaries, base: Path, level: Level) -> None:
    """Start another bot that has a file in its scratch space and one beside its socket."""
    folder = base / "sleeper"
    folder.mkdir()
    (folder / "bot.py").write_text(SLEEPER)
    stack.enter_context(selected(level))
    processes = stack.enter_context(Processes(level=level))
    address = processes.start(0, untrusted(folder, ("python", "bot.py")))
    wait_until(lambda: "ready" in processes.report(0).output)
    directory = Path(address.removeprefix("unix:")).parent
    canaries.paths["socket folder of another bot"] = directory
    canaries.paths["file beside the socket of another bot"] = directory / "canary"
    canaries.paths["scratch space of another bot"] = Path(f"{directory}.disk/tmp/canary")


def reached(canaries: Canaries, level: Level) -> tuple[list[str], str]:
    """Run the probe; return the ways that are open as "NAME: ACT: RESULT", and its output."""
    bot = replace(untrusted(canaries.own, ("python", "bot.py")), content=canaries.own.name)
    report = run_to_end(bot, level)
    open_ways: list[str] = []
    for line in report.output.splitlines():
        with suppress(json.JSONDecodeError):
            found = json.loads(line)
            if "canary" in found:
                open_ways.append(f"{found['canary']}: {found['act']}: {found['got']}")
    for path in canaries.paths.values():
        mark = path.parent / MARK
        if mark.exists():
            mark.unlink()
            open_ways.append(f"{path.parent}: create: {MARK}")
    if f'{{"tried": {len(canaries.paths)}}}' not in report.output:
        open_ways.append(f"the probe did not finish: {report.ended}")
    return open_ways, report.output


def is_writable(below: Path) -> bool:
    return below == IN_RUNTIME or os.access(below, os.W_OK)


def has_view(level: Level) -> bool:
    return level is Level.BUBBLEWRAP or os.geteuid() == 0


def _below_prefix() -> Path:
    return Path(sys.prefix)


PLACES: Final[Mapping[str, Callable[[], Path | None]]] = {
    "an ordinary folder": lambda: None,
    "a folder below the arena's Python": _below_prefix,
    "a folder of the organiser's runtimes": lambda: IN_RUNTIME,
}
"""Places of the data folder. All but the first are in folders that every bot may read."""


def main() -> None:
    """Print the open ways of each level and place."""
    print(f"user {os.geteuid()}")
    for level in offered_levels():
        for where, place in PLACES.items():
            below = place()
            if below is not None and not is_writable(below):
                print(f"{level}, data in {where}: not writable")
                continue
            with placed(level, below) as canaries:
                ways, output = reached(canaries, level)
            print(f"{level}, data in {where}: {len(ways)} open ways")
            grouped: dict[str, list[str]] = {}
            for way in ways:
                name, act, *_ = way.split(": ")
                grouped.setdefault(name, []).append(act)
            for name, acts in grouped.items():
                print(f"  {name}: {', '.join(acts)}")
            if any("did not finish" in way for way in ways):
                print(output)


if __name__ == "__main__":
    main()
