"""Folders of bots whose links and commands try to make the arena grant a file of its own.

    uv run --no-sync python -m tests.hostile.hostile_trees

prints the verdict of each at each level of the sandbox that this machine offers.

Each tree is a shell script that creates it in the folder of a bot. It is used in two ways: as the
folder of a bot that is started directly, and as the build of a bot that is pushed. In the end, the
program of the tree tries to print the secret, a file beside the folders of the bots that every user
of the machine may read. Only the sandbox prevents it.
"""

import os
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena.bots import version_store
from arena.bots.bot import Bot
from arena.bots.manifest import Manifest, render
from arena.bots.sandbox.level import Level
from arena.errors import BotError, InfrastructureError
from tests.hostile.sandboxed_run import best_level_is, offered_levels, run_to_end

SECRET: Final = "MARKSECRET-of-the-arena"
ESCAPED, HUNG, FAILED = "ESCAPED", "HUNG", "FAILED"
"""The secret was printed; the arena did not return; the arena failed by another error."""
CONTAINED, REFUSED = "contained", "refused"
MEMORY: Final = 3 << 30
"""Bytes of memory of an arena that reads without a limit."""
HANGS_AFTER: Final = 100
"""Seconds after which an admission counts as hung."""

Texts = Mapping[str, str]
"""The replacements in the texts of a tree, by name."""


@dataclass(frozen=True)
class Tree:
    """A hostile folder.

    Attributes:
        name: the name of the tree.
        script: the lines of a shell script that creates it.
        run: the words of its run command.
        build: further build commands, which are run after the script.
        file: the single file of the folder that is the bot, if the bot is not the folder.
    """

    name: str
    script: str = ""
    run: tuple[str, ...] = ("./prog",)
    build: tuple[tuple[str, ...], ...] = ()
    file: str | None = None

    def __str__(self) -> str:
        return self.name


FILE: Final[Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
SHELL = ("-c", "{read}")


def _listed(kind: str, run: str) -> Iterator[Tree]:
    for name, tree in FILE[kind].items():
        build = tuple(map(tuple, tree.get("build", ())))
        words = tuple(tree.get("run", [run]))
        yield Tree(name, tree.get("script", ""), words, build, tree.get("file"))


def _magic(name: str, path: str) -> Iterator[Tree]:
    yield Tree(f"run_{name}", run=(path, *SHELL))
    yield Tree(f"link_to_{name}", f"ln -s {path} prog", ("./prog", *SHELL))
    yield Tree(f"build_{name}", run=("./own",), build=((path, *SHELL),))


TREES: Final = (
    *_listed("trees", "./prog"),
    *(tree for name, path in FILE["magic"].items() for tree in _magic(name, path)),
)
BUILT: Final = tuple(_listed("built", "./own"))
"""Trees that only a build can make, because a started bot cannot write to its folder."""


class Surroundings:
    """The secret, its folder, another bot, and the folders of hostile bots."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.versions = self.data / "versions"
        self.other = self.versions / "other"
        self.other.mkdir(parents=True)
        self.number = 0
        self.secret = self.data / "arena.db-wal"
        self.secret.write_text(f"{SECRET}\n")
        (self.data / "secret.toml").write_text(f'run = ["{SECRET}"]\nname = "{SECRET}"\n')
        for place in (self.data, self.other):
            program = place / "program"
            program.write_text(f"#!/bin/sh\necho {SECRET}\ncat {self.secret}\n")
            program.chmod(0o755)
        for each in (folder, self.data, self.versions, self.other):
            each.chmod(0o755)

    def new_folder(self) -> Path:
        self.number += 1
        folder = self.versions / f"bot-{self.number}"
        folder.mkdir()
        folder.chmod(0o755)
        program = folder / "own"
        program.write_text(f"#!/bin/sh\n{self.texts()['read']}\n")
        program.chmod(0o755)
        return folder

    def texts(self) -> dict[str, str]:
        steps = len(self.versions.parts)
        secret, data = str(self.secret), str(self.data)
        deep = "/".join(f"n{number}" for number in range(steps + 1))
        read = (
            f"cat {secret} {data}/secret.toml {self.other}/program; "
            f"ls {data} {self.other}; cat /proc/self/root{secret}"
        )
        magic = f'name = "bot"\nrun = ["/proc/self/root/bin/sh", "-c", "{read}"]\n'
        return {
            "secret": secret,
            "data": data,
            "toml": f"{data}/secret.toml",
            "other": str(self.other),
            "other_name": self.other.name,
            "up": "../" * steps,
            "climb": "../" * (steps + 1),
            "program": f"mkdir -p .{data} && cp own .{secret}\n",
            "nested": f"mkdir -p {deep} && ln -s {deep} d\n",
            "secret_below": secret.lstrip("/"),
            "data_below": data.lstrip("/"),
            "read": read,
            "manifest_by_magic": shlex.quote(magic),
        }


def _filled(words: tuple[str, ...], texts: Texts) -> tuple[str, ...]:
    return tuple(word.format_map(texts) for word in words)


def started(tree: Tree, level: Level, surroundings: Surroundings) -> tuple[str, str]:
    """Make the tree, run its build commands and its program; return the verdict and the output."""
    folder = surroundings.new_folder()
    texts = surroundings.texts()
    script = tree.script.format_map(texts)
    subprocess.run(["sh", "-c", script], cwd=folder, check=True, capture_output=True)
    outputs = []
    for words, builds in (*((words, True) for words in tree.build), (tree.run, False)):
        manifest = Manifest("bot", _filled(words, texts))
        bot = Bot("bot", manifest, folder, file=tree.file, trusted=False)
        try:
            report = run_to_end(bot, level, builds=builds)
        except (OSError, InfrastructureError) as error:
            return FAILED, repr(error)
        outputs.append(f"{report.ended}: {report.output}")
    return _verdict(outputs)


def pushed(tree: Tree, level: Level, surroundings: Surroundings) -> tuple[str, str]:
    """Admit the bot as a pushed one, start it; return the verdict and what its owner can see."""
    folder = surroundings.new_folder()
    texts = surroundings.texts()
    (folder / "make.sh").write_text(tree.script.format_map(texts))
    build = (("sh", "make.sh"), *(_filled(words, texts) for words in tree.build))
    # The name is unique, because a content that is already stored would not be built again.
    manifest = Manifest(folder.name, _filled(tree.run, texts), build=build)
    (folder / "bot.toml").write_text(render(manifest))
    bot = Bot("bot", manifest, folder, trusted=False)
    try:
        with best_level_is(level), _limits():
            kept = version_store.admit(bot, surroundings.versions)
            report = run_to_end(kept, level)
    except BotError as error:
        return _verdict([str(error)], admitted=False)
    except TimeoutError:
        return HUNG, ""
    except MemoryError:
        return FAILED, f"the arena used more than {MEMORY} bytes"
    except (OSError, InfrastructureError) as error:
        return FAILED, repr(error)
    assert kept.manifest is not None
    return _verdict([f"{report.ended}: {report.output}", repr(kept.manifest)])


@contextmanager
def _limits() -> Iterator[None]:
    """Raise an error if the arena reads or waits for ever what a build left.

    Raises:
        TimeoutError: it took longer than HANGS_AFTER seconds.
        MemoryError: it used more than MEMORY bytes.
    """

    def end(number: int, frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, end)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, hard))
    signal.alarm(HANGS_AFTER)
    try:
        yield
    finally:
        signal.alarm(0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGALRM, before)


def _verdict(outputs: list[str], admitted: bool = True) -> tuple[str, str]:
    text = "\n".join(outputs)
    if SECRET in text:
        return ESCAPED, text
    if not admitted or any("could not be started" in output for output in outputs):
        return REFUSED, text
    return CONTAINED, text


WAYS: Final[Mapping[str, Callable[[Tree, Level, Surroundings], tuple[str, str]]]] = {
    "started": started,
    "pushed": pushed,
}
ROWS: Final = (
    *((tree, "started") for tree in TREES),
    *((tree, "pushed") for tree in (*TREES, *BUILT) if tree.file is None),
)


@contextmanager
def surroundings() -> Iterator[Surroundings]:
    """Create the secret and its surroundings in a folder that every user can enter."""
    with tempfile.TemporaryDirectory(prefix="trees-") as name:
        os.chmod(name, 0o755)
        yield Surroundings(Path(name))


def main() -> None:
    """Print the verdicts of all trees, and the outputs of those that escaped."""
    levels = offered_levels()
    print(f"user {os.geteuid()}; levels: {', '.join(levels)}")
    chosen = sys.argv[1:]
    with surroundings() as world:
        for tree, way in ROWS:
            if chosen and tree.name not in chosen:
                continue
            verdicts = []
            for level in levels:
                verdict, text = WAYS[way](tree, level, world)
                verdicts.append(verdict)
                if chosen or verdict in (HUNG, FAILED):
                    print(text)
            print(f"| `{tree}` | {way} | {' | '.join(verdicts)} |", flush=True)


if __name__ == "__main__":
    main()
