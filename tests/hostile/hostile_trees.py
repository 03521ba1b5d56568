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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

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

    In the script and the words, {secret} is the path of the secret, {data} its folder, {other} the
    folder of another bot, {up} a relative path from the bot's folder to the root of the file
    system, {deep} as many nested folders as {up} has steps and one more, {climb} one step more than
    {up}, and {read} a shell command that prints the secret. The folder contains a program named own
    that runs this command.
    """

    name: str
    script: str = ""
    run: tuple[str, ...] = ("./prog",)
    build: tuple[tuple[str, ...], ...] = ()
    file: str | None = None

    def __str__(self) -> str:
        return self.name


PROGRAM = "mkdir -p {mirror} && cp own {mirror_file}\n"
"""Create a program at the path of the secret, but below the bot's folder."""
DEEP = "mkdir -p {deep} && ln -s {deep} d\n"
"""A link d to a nested folder: `d/..` is the bot's folder by its text, not for the kernel."""
SHELL = ("-c", "{read}")
MAGIC: Final = {
    "self_root": "/proc/self/root/bin/sh",
    "self_root_twice": "/proc/self/root/proc/self/root/bin/sh",
    "self_cwd": "/proc/self/cwd/{up}bin/sh",
    "init_root": "/proc/1/root/bin/sh",
    "thread_self_root": "/proc/thread-self/root/bin/sh",
    "self_task_root": "/proc/self/task/../root/bin/sh",
    "slashes": "//proc//self/root//bin/sh",
    "dots": "/usr/../proc/self/root/bin/sh",
    "self_exe": "/proc/self/exe",
    "self_fd_0": "/proc/self/fd/0",
    "self_fd_3": "/proc/self/fd/3",
    "dev_fd": "/dev/fd/0",
    "dev_stdin": "/dev/stdin",
    "dev_fd_up": "/dev/fd/../root/bin/sh",
    "self_map_files": "/proc/self/map_files/../root/bin/sh",
}
"""Programs whose path leads through links that the kernel resolves without their text."""


def _magic(name: str, path: str) -> Iterator[Tree]:
    yield Tree(f"run_{name}", run=(path, *SHELL))
    yield Tree(f"link_to_{name}", f"ln -s {path} prog\n", ("./prog", *SHELL))
    yield Tree(f"build_{name}", run=("./own",), build=((path, *SHELL),))


TREES: Final = (
    Tree("plain", run=("./own",)),
    # The link's text leads to the secret, the kernel to a script in the bot's folder.
    Tree("text_of_a_link", f"{PROGRAM}{DEEP}ln -s d/{{climb}}{{secret_below}} prog\n"),
    Tree("text_of_the_run_word", f"{PROGRAM}{DEEP}", ("d/{climb}{secret_below}",)),
    Tree(
        "text_of_the_second_link",
        f"{PROGRAM}{DEEP}ln -s d/{{climb}}{{secret_below}} prog2 && ln -s prog2 prog\n",
    ),
    Tree(
        "text_of_the_python_of_a_venv",
        f"{PROGRAM}{DEEP}mkdir -p .venv/bin && "
        "ln -s ../../d/{climb}{secret_below} .venv/bin/python\n",
        ("python", "own"),
    ),
    Tree(
        "text_of_a_single_file",
        f"{PROGRAM}{DEEP}ln -s d/{{climb}}{{secret_below}} prog\n",
        file="prog",
    ),
    Tree(
        "text_leads_to_the_folder_of_a_build_command",
        f"{PROGRAM}{DEEP}",
        ("./own",),
        build=(("d/{climb}{secret_below}",),),
    ),
    Tree(
        "text_leads_to_an_installation",
        f"{DEEP}mkdir -p .{{data}}/bin .{{data}}/lib && cp own .{{data}}/bin/x && "
        "ln -s d/{climb}{data_below}/bin/x prog\n",
    ),
    Tree("link_to_the_secret", "ln -s {secret} prog\n"),
    Tree("link_to_its_folder", "ln -s {data} prog\n", ("prog/program", *SHELL)),
    Tree("links_in_a_row", "ln -s b a && ln -s c b && ln -s {data} c\n", ("a/program",)),
    Tree("link_loop", "ln -s b a && ln -s a b\n", ("./a",)),
    Tree("absolute_program", run=("{data}/program",)),
    Tree("relative_program", run=("{up}{data_below}/program",)),
    Tree("program_of_another_bot", run=("{other}/program",)),
    Tree("program_beside_its_folder", run=("../{other_name}/program",)),
    Tree("absolute_build_program", run=("./own",), build=(("{data}/program",),)),
    Tree("build_program_of_another_bot", run=("./own",), build=(("{other}/program",),)),
    Tree(
        "build_program_in_a_linked_folder",
        "ln -s {data} tool\n",
        ("./own",),
        build=(("tool/program",),),
    ),
    Tree(
        "build_program_in_a_folder_linked_to_the_root",
        "ln -s / tool\n",
        ("./own",),
        build=(("tool/bin/sh", *SHELL),),
    ),
    Tree("linked_root", "ln -s / root\n", ("root/bin/sh", *SHELL)),
    Tree("linked_proc", "ln -s /proc proc\n", ("proc/self/root/bin/sh", *SHELL)),
    Tree(
        "python_of_a_venv_is_a_shell_by_magic",
        "mkdir -p .venv/bin && ln -s /proc/self/root/bin/sh .venv/bin/python\n",
        ("python", *SHELL),
    ),
    Tree(
        "python_of_a_venv_is_the_secret",
        "mkdir -p .venv/bin && ln -s {data}/program .venv/bin/python\n",
        ("python", *SHELL),
    ),
    Tree(
        "folder_of_a_venv_is_the_data_folder",
        "mkdir .venv && ln -s {data} .venv/bin\n",
        ("python", *SHELL),
    ),
    Tree(
        "venv_is_a_link_to_the_root",
        "ln -s /proc/self/root .venv\n",
        ("python3", *SHELL),
    ),
    Tree("folder_as_program", "mkdir prog\n", ("./prog",)),
    Tree("its_own_folder_as_program", run=(".",)),
    Tree("the_folder_of_versions_as_program", run=("..",)),
    Tree("fifo_as_program", "mkfifo prog\n", ("./prog",)),
    Tree("empty_steps", run=(".//./own",)),
    Tree("script_of_the_secret", "cp own prog && printf '#!{data}/program\\n' > prog\n"),
    Tree(
        "script_by_magic",
        "cp own prog && printf '#!/proc/self/root/bin/cat {secret}\\n' > prog\n",
    ),
    *(tree for name, path in MAGIC.items() for tree in _magic(name, path)),
)

BUILT: Final = (
    # Builds that change what the arena reads after them.
    Tree("manifest_becomes_another", "printf '%s' {manifest_by_magic} > bot.toml\n", ("./own",)),
    Tree("manifest_becomes_a_link", "rm -f bot.toml && ln -s {secret} bot.toml\n", ("./own",)),
    Tree(
        "manifest_becomes_a_link_to_toml", "rm -f bot.toml && ln -s {toml} bot.toml\n", ("./own",)
    ),
    Tree("manifest_becomes_a_fifo", "rm -f bot.toml && mkfifo bot.toml\n", ("./own",)),
    Tree("manifest_becomes_a_device", "rm -f bot.toml && ln -s /dev/zero bot.toml\n", ("./own",)),
    Tree("manifest_becomes_a_folder", "rm -f bot.toml && mkdir bot.toml\n", ("./own",)),
    Tree("manifest_vanishes", "rm -f bot.toml\n", ("./own",)),
    Tree("program_becomes_a_link_to_the_secret", "rm -f own && ln -s {secret} own\n", ("./own",)),
    Tree("folder_cannot_be_entered", "chmod 0 .\n", ("./own",)),
    Tree("folders_nobody_can_read", "mkdir -p x/y && chmod 0 x\n", ("./own",)),
    Tree(
        "folder_is_too_deep",
        "i=0; while [ $i -lt 200 ]; do mkdir d && cd d || exit; i=$((i+1)); done\n",
        ("./own",),
    ),
    Tree("a_huge_sparse_file", "dd if=/dev/null of=big bs=1 seek=500M\n", ("./own",)),
    Tree(
        "many_hard_links",
        "i=0; while [ $i -lt 2000 ]; do ln own l$i; i=$((i+1)); done\n",
        ("./own",),
    ),
    Tree(
        "a_daemon_that_swaps_the_program",
        "(setsid sh -c 'while :; do ln -sfn {secret} prog; ln -sfn own prog; done'"
        " >/dev/null 2>&1 &)\nln -s own prog\n",
    ),
)
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
        """Create an empty folder for a bot."""
        self.number += 1
        folder = self.versions / f"bot-{self.number}"
        folder.mkdir()
        folder.chmod(0o755)
        program = folder / "own"
        program.write_text(f"#!/bin/sh\n{self.texts()['read']}\n")
        program.chmod(0o755)
        return folder

    def texts(self) -> dict[str, str]:
        """Return the replacements in the texts of a tree."""
        steps = len(self.versions.parts)
        secret, data = str(self.secret), str(self.data)
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
            "deep": "/".join(f"n{number}" for number in range(steps + 1)),
            "secret_below": secret.lstrip("/"),
            "data_below": data.lstrip("/"),
            "mirror": f".{data}",
            "mirror_file": f".{secret}",
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
