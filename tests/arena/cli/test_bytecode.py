"""Compiled modules are stored although the environment forbids it."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PROGRAM = """
import os, sys
from arena.cli import main
main(["--version"])
print(sys.dont_write_bytecode, "PYTHONDONTWRITEBYTECODE" in os.environ)
"""


def test_a_command_and_its_processes_write_bytecode() -> None:
    completed = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    assert completed.stdout.splitlines()[-1] == "False False"
