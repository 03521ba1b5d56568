"""Test that a process of the arena that is killed at any moment leaves no other process."""

import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.arena.records.bundle.simulated_arena import SimulatedArena
from tests.examples import examples

# Adopts all descendants of a command (PR_SET_CHILD_SUBREAPER), kills it and waits for the others.
KILLER = """
import ctypes, json, os, signal, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
command, seconds, number = json.loads(sys.argv[1])
with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
    try:
        print("ended by itself", process.wait(seconds))
    except subprocess.TimeoutExpired:
        process.send_signal(number)
try:
    while True:
        os.wait()
except ChildProcessError:
    print("no survivor")
"""
POOL = """
import time
from arena.system import process_pool
if __name__ == "__main__":
    list(process_pool.map_ordered(time.sleep, [0.01] * 4000, 4000, 0.0))
"""
BUILD = """
import sys
from pathlib import Path
from arena.bots.build import build
from arena.bots.manifest import Manifest
build(Manifest("bot", ("./bot",), build=(("sleep", "100000"),)), Path.cwd())
"""
TUNING = """
bot = "sample:greedy"
game = "poke"
iterations = 1000
[parameters.caution]
start = 0.5
minimum = 0.0
maximum = 1.0
c_end = 0.1
"""
SIGNALS = (9, 15)
COMMANDS = {
    "play": (("play", "poke", "sample:greedy", "sample:random", "--boards", "5000"), 6.0),
    "tournament": (
        ("tournament", "run", "poke", "sample:greedy", "sample:random", "--boards", "5000"),
        8.0,
    ),
    "serve": (("serve", "--port", "0"), 8.0),
    "demo": (("demo", "--boards", "100"), 8.0),
    "tune": (("tune", "tuning.toml"), 6.0),
    "doctor": (("doctor",), 0.8),
}
"""Commands, each with the number of seconds after which it is killed at the latest."""
ARENA = [sys.executable, "-P", "-c", "from arena.cli import main; raise SystemExit(main())"]


def kill(
    command: list[str], seconds: float, number: int, folder: Path, may_end: bool = False
) -> None:
    """Kill a command after some time, and check that no process is left.

    Args:
        command: the command.
        seconds: the time.
        number: the signal.
        folder: the working directory, which holds the data folder.
        may_end: whether the command may end by itself before.
    """
    outcome = subprocess.run(
        [sys.executable, "-c", KILLER, json.dumps([command, seconds, number])],
        env=environment(folder),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    ended, _, rest = outcome.stdout.rpartition("no survivor\n")
    assert (outcome.stdout.endswith("no survivor\n"), rest) == (True, ""), outcome.stderr
    assert ended in (["", "ended by itself 0\n"] if may_end else [""]), outcome.stderr


def environment(folder: Path) -> dict[str, str]:
    own = {"POKEARENA_DATA": "data", "TMPDIR": "tmp", "XDG_RUNTIME_DIR": "tmp"}
    return os.environ | {name: str(folder / word) for name, word in own.items()}


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="adopts orphans with prctl(2)")
@pytest.mark.parametrize("number", [9, pytest.param(15, marks=pytest.mark.repetition)])
def test_a_pool_ends_with_its_process(number: int, tmp_path: Path) -> None:
    script = tmp_path / "pool.py"
    script.write_text(POOL)
    kill([sys.executable, str(script)], random.uniform(0.5, 4.0), number, tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="adopts orphans with prctl(2)")
def test_the_build_of_a_trusted_bot_ends_with_its_process(tmp_path: Path) -> None:
    kill([sys.executable, "-c", BUILD], random.uniform(0.3, 0.8), 9, tmp_path)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="adopts orphans with prctl(2)")
@pytest.mark.parametrize(
    ("name", "number"),
    [
        # CI sends each command one of the two signals.
        pytest.param(name, number, marks=[pytest.mark.repetition] * (ci != number))
        for name, ci in zip(COMMANDS, itertools.cycle(SIGNALS))
        for number in SIGNALS
    ],
)
def test_a_killed_command_leaves_no_process(name: str, number: int, tmp_path: Path) -> None:
    words, longest = COMMANDS[name]
    (tmp_path / "tuning.toml").write_text(TUNING)
    kill([*ARENA, *words], random.uniform(0.5, longest), number, tmp_path)


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """Provide a folder whose path leaves room for the name of a socket, and one in it."""
    with tempfile.TemporaryDirectory(prefix="kill-", dir="/tmp") as name:
        (Path(name) / "tmp").mkdir()
        yield Path(name)


def arguments(command: str, output: str, folder: Path) -> list[str]:
    """Return a command line; first play the tournament that it writes."""
    if command == "new":
        return ["new", output]
    if command == "test":
        return ["test", "sample:random", "--game", "poke", "--quick"]
    if not (folder / "data").exists():
        simulated_arena = SimulatedArena(folder / "data")
        tournament = simulated_arena.begin("round-robin", simulated_arena.bots(4))
        simulated_arena.play_out(tournament)
        simulated_arena.engine.dispose()
        (folder / "data" / "tournament").write_text(tournament.id)
    tournament_id = (folder / "data" / "tournament").read_text()
    option = {"export": "--html", "bundle": "--output"}[command]
    return ["tournament", command, tournament_id, option, output]


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="adopts orphans with prctl(2)")
@pytest.mark.parametrize(
    "command",
    [
        *(pytest.param(name, marks=pytest.mark.repetition) for name in ("test", "export")),
        *("bundle", "new"),
    ],
)
def test_what_a_killed_command_leaves_is_removed_by_the_next_one(
    command: str, short_folder: Path
) -> None:
    def complete(output: str) -> None:
        words = [*ARENA, *arguments(command, output, short_folder)]
        subprocess.run(words, cwd=short_folder, env=environment(short_folder), check=True)

    began = time.monotonic()
    complete("first")
    seconds = time.monotonic() - began
    for attempt in range(examples(8, 2)):
        words = [*ARENA, *arguments(command, f"killed-{attempt}", short_folder)]
        number = SIGNALS[attempt % 2]
        kill(words, random.uniform(0.2, seconds), number, short_folder, may_end=True)
    complete("last")
    assert list((short_folder / "tmp").iterdir()) == []
    names = {path.name for path in short_folder.iterdir()} - {"data", "tmp"}
    assert not [name for name in names if name.startswith(".")]
    # An output is complete or missing.
    files = {name: len([*(short_folder / name).rglob("*")]) for name in names}
    assert set(files.values()) <= {files.get("last")}
