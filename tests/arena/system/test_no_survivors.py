"""Test that a process of the arena that is killed at any moment leaves no other process."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

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
ARENA = [sys.executable, "-P", "-c", "from arena.cli import main; raise SystemExit(main())"]


def kill(command: list[str], seconds: float, number: int, folder: Path) -> None:
    environment = os.environ | {"POKEARENA_DATA": str(folder / "data")}
    outcome = subprocess.run(
        [sys.executable, "-c", KILLER, json.dumps([command, seconds, number])],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.stdout == "no survivor\n", outcome.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="adopts orphans with prctl(2)")
@pytest.mark.parametrize("number", [9, pytest.param(15, marks=pytest.mark.long)])
def test_a_pool_ends_with_its_process(number: int, tmp_path: Path) -> None:
    script = tmp_path / "pool.py"
    script.write_text(POOL)
    kill([sys.executable, str(script)], random.uniform(0.5, 4.0), number, tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="adopts orphans with prctl(2)")
def test_the_build_of_a_trusted_bot_ends_with_its_process(tmp_path: Path) -> None:
    kill([sys.executable, "-c", BUILD], random.uniform(0.3, 0.8), 9, tmp_path)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="adopts orphans with prctl(2)")
@pytest.mark.parametrize("number", [9, 15])
@pytest.mark.parametrize(
    ("words", "longest"),
    [
        (("play", "poke", "sample:greedy", "sample:random", "--boards", "5000"), 6.0),
        (("tournament", "run", "poke", "sample:greedy", "sample:random", "--boards", "5000"), 8.0),
        (("serve", "--port", "0"), 8.0),
        (("doctor",), 0.8),
    ],
    ids=["play", "tournament", "serve", "doctor"],
)
def test_a_killed_command_leaves_no_process(
    words: tuple[str, ...], longest: float, number: int, tmp_path: Path
) -> None:
    kill([*ARENA, *words], random.uniform(0.5, longest), number, tmp_path)
