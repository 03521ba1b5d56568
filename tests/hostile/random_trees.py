"""Random folders of bots: links, folders, "..", magic links, hard links and renames.

    uv run --no-sync python -m tests.hostile.random_trees 10000

creates that many trees and checks what the arena would grant for each.
"""

import os
import random
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from arena.errors import BotError

NAMES: Final = ("a", "b", "bin", "lib", "prog", ".venv", "python", "d")
MAGIC: Final = (
    *("/proc/self/root", "/proc/self/cwd", "/proc/self/exe", "/proc/self/fd/0", "/proc/1/root"),
    *("/proc/thread-self/root", "/proc/self/task/../root", "/dev/fd", "/dev/fd/3", "/dev/stdin"),
    *("/proc", "/proc/self", "/proc/self/map_files", "/sys", "/dev", "/", "/.", "//", "/root"),
)
SYSTEM: Final = ("/usr", "/bin", "/usr/bin", "/bin/sh", "/usr/bin/env", "/usr/lib", "/etc")
OTHERS: Final = ("arena.db", "versions/other/prog", "bin/prog")
DEPTH: Final = 6
ENTRIES: Final = 14
RENAMES: Final = 4
"""Every n-th tree is changed by a second thread during the checks."""


@dataclass
class RandomTree:
    """A folder of a bot in a data folder, with files of others beside it."""

    folder: Path
    data: Path
    random: random.Random
    paths: list[str] = field(default_factory=list)
    """Paths below the folder, relative to it."""

    def target(self) -> str:
        """Return the text of a link or a first word of a command."""
        ups = "../" * self.random.randrange(9)
        inside = self.random.choice([*self.paths, *NAMES])
        return self.random.choice(
            [
                inside,
                f"{ups}{inside}",
                f"{inside}/{ups}{self.random.choice(NAMES)}",
                f"{inside}/{ups}{str(self.data).lstrip('/')}/arena.db",
                f"{ups}{str(self.data).lstrip('/')}/versions/other/prog",
                f"./{inside}//./{ups}",
                str(self.folder / inside),
                f"{self.folder}/{ups}arena.db",
                f"{self.data}/{self.random.choice(OTHERS)}",
                self.random.choice(MAGIC) + self.random.choice(["", "/bin/sh", f"{self.folder}"]),
                self.random.choice(MAGIC) + f"{self.data}/bin/prog",
                self.random.choice(SYSTEM),
                sys.executable,
                os.path.dirname(sys.executable),
            ]
        )

    def make(self) -> None:
        for _ in range(self.random.randrange(2, ENTRIES)):
            parent = self.random.choice(["", *self.folders()])
            path = os.path.join(parent, self.random.choice(NAMES))
            if path.count("/") < DEPTH:
                with suppress(OSError, ValueError):
                    self.make_entry(path)

    def make_entry(self, path: str) -> None:
        """Create a folder, program, link, hard link, FIFO or file without rights at a path."""
        place = self.folder / path
        kind = self.random.randrange(10)
        if kind < 3:
            place.mkdir()
        elif kind < 5:
            _create(place, 0o755)
        elif kind < 8:
            place.symlink_to(self.target())
        elif kind == 8 and self.paths:
            os.link(self.folder / self.random.choice(self.paths), place, follow_symlinks=False)
        elif self.random.random() < 0.5:
            os.mkfifo(place)
        else:
            _create(place, 0)
        self.paths.append(path)

    def folders(self) -> list[str]:
        """Return the folders below the bot's folder, those behind links not included."""
        return [
            path
            for path in self.paths
            if os.path.isdir(self.folder / path) and not self.leaves(path)
        ]

    def leaves(self, path: str) -> bool:
        """Return whether a path may lead out of the folder."""
        parts = Path(path).parts
        return any(
            (self.folder / Path(*parts[: count + 1])).is_symlink() for count in range(len(parts))
        )

    def words(self) -> Iterator[tuple[str, ...]]:
        """Yield commands whose program is in the tree or reached through it."""
        yield ("python", "bot.py")
        yield ("python3",)
        yield ("sh", "run.sh")
        for path in self.paths:
            yield (f"./{path}",)
            yield (f"{path}/{self.random.choice(NAMES)}",)
            yield (str(self.folder / path),)
        for _ in range(6):
            yield (self.target(),)

    def change(self, stop: threading.Event) -> None:
        """Rename and replace entries at the top until stopped; nothing behind a link changes."""
        changing = random.Random(self.random.random())
        names = [path for path in self.paths if "/" not in path]
        while names and not stop.is_set():
            path = self.folder / changing.choice(names)
            other = self.folder / f"{changing.choice(NAMES)}-other"
            with suppress(OSError):
                if changing.random() < 0.5:
                    path.rename(other)
                    path.symlink_to(changing.choice([*MAGIC, *SYSTEM, str(self.data)]))
                    path.unlink()
                    other.rename(path)
                else:
                    other.symlink_to(changing.choice([*MAGIC, str(self.data / "arena.db")]))
                    other.rename(path)


def _create(place: Path, mode: int) -> None:
    """Create a script; never write to what a link at this place leads to."""
    script = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o700)
    os.write(script, b"#!/bin/sh\n")
    os.fchmod(script, mode)
    os.close(script)


@contextmanager
def surroundings() -> Iterator[Path]:
    """Create a data folder with a database, another version and an installed program."""
    with tempfile.TemporaryDirectory(prefix="random-trees-") as name:
        data = Path(name) / "data"
        other = data / "versions" / "other"
        for folder in (other, data / "bin", data / "lib"):
            folder.mkdir(parents=True)
        (data / "arena.db").write_text("secret")
        for program in (other / "prog", data / "bin" / "prog"):
            program.write_text("#!/bin/sh\n")
            program.chmod(0o755)
        yield data


@contextmanager
def random_tree(data: Path, seed: int) -> Iterator[RandomTree]:
    """Create a tree; some are changed by a second thread meanwhile."""
    folder = data / "versions" / "bot"
    folder.mkdir()
    tree = RandomTree(folder, data, random.Random(seed))
    stop = threading.Event()
    thread = threading.Thread(target=tree.change, args=(stop,))
    try:
        tree.make()
        if seed % RENAMES == 0:
            thread.start()
        yield tree
    finally:
        stop.set()
        if thread.ident is not None:
            thread.join()
        shutil.rmtree(folder)


def violations(
    trees: Sequence[int], check: Callable[[Path, tuple[str, ...]], Sequence[str]]
) -> list[str]:
    """Return what was granted although it must not be, for the trees with these seeds.

    Args:
        trees: the seeds.
        check: returns the granted paths that are not allowed, for a folder and the words of a
            command; an empty list if the command is refused.
    """
    found = []
    with surroundings() as data:
        for seed in trees:
            with random_tree(data, seed) as tree:
                for words in tree.words():
                    found += [f"tree {seed}, {words}: {path}" for path in check(tree.folder, words)]
    return found


def not_allowed(folder: Path, words: tuple[str, ...]) -> list[str]:
    """Return what the arena grants to a command that is neither on its list nor in the folder."""
    runtimes: Any = import_module("arena.bots.sandbox.runtimes")
    try:
        granted = runtimes.grants(folder, words)
    except BotError:
        return []
    wrong = [path for path in granted.read if not _is_below(path, _fixed_list())]
    # What a path of the list really is must be on the list too.
    wrong += [
        f"{path} is {_real(path)}"
        for path in granted.read
        if _is_below(_real(path), (str(folder.parents[1]), "/proc"))
    ]
    return wrong


@cache
def _fixed_list() -> tuple[str, ...]:
    """Return the list of the arena, which is read once and without a folder of a bot."""
    runtimes: Any = import_module("arena.bots.sandbox.runtimes")
    return tuple(runtimes.allowed())


def _real(path: str) -> str:
    """Return the path without links; a path that cannot be followed is that of /proc."""
    try:
        return os.path.realpath(path)
    except OSError:
        return "/proc"


def _is_below(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder.rstrip('/')}/") for folder in folders)


def main() -> None:
    """Check the number of trees in the first argument and print what must not be granted."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    found = violations(range(count), not_allowed)
    print("\n".join(found[:50]))
    print(f"{count} trees, {len(found)} grants that are not allowed")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
