"""Run programs outside of the checkout and of its environment."""

import os
import subprocess
from pathlib import Path


def inherited() -> dict[str, str]:
    ours = ("VIRTUAL_ENV", "POKEARENA")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


def completed(
    *command: str | Path, cwd: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command, which must succeed; return its two outputs."""
    done = subprocess.run(
        command, cwd=cwd, env=inherited() | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """Run a command, which must succeed; return its standard output."""
    return completed(*command, cwd=cwd, **environment).stdout
