"""Test what the command line refuses on systems other than Linux, on an interpreter renamed so."""

import subprocess
import sys
from pathlib import Path

import pytest

from arena.cli.errors import OK, UNREACHABLE

RECORD = Path(__file__).parents[2] / "golden" / "saint_poker-2.jsonl"


def on_system(name: str, folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run a command in an interpreter that reports another system as its own."""
    code = (
        f"import sys, sysconfig\nsysconfig.get_config_vars()\nsys.platform = {name!r}\n"
        f"from arena.cli import main\nsys.exit(main({list(words)!r}))"
    )
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("words", [("rules",), ("--version",), ("demo",)])
def test_every_command_is_refused_on_windows(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = on_system("win32", tmp_path, *words)
    assert (done.returncode, done.stdout) == (UNREACHABLE, "")
    assert len(done.stderr.splitlines()) == 1
    assert "WSL" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("serve", "--port", "0"),
        pytest.param(("demo",), marks=pytest.mark.long),
        pytest.param(("play", "poke", "sample:random", "sample:random"), marks=pytest.mark.long),
    ],
)
def test_commands_that_start_bots_are_refused_on_bsd(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    done = on_system("freebsd14", tmp_path, *words)
    assert done.returncode == UNREACHABLE
    assert "Traceback" not in done.stderr
    assert "only on Linux" in done.stderr


def test_commands_that_start_no_bots_work_on_bsd(tmp_path: Path) -> None:
    assert on_system("freebsd14", tmp_path, "rules", "poke").returncode == OK
    assert on_system("freebsd14", tmp_path, "verify", str(RECORD)).returncode == OK
    assert on_system("freebsd14", tmp_path, "new", "mine").returncode == OK
