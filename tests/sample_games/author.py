"""A fresh environment of an author who has installed a package with games."""

import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

from arena.bots.sandbox import runtimes
from referee.games.game_packages import SETTING
from tests.fresh_environment import inherited, run
from tests.sample_games.installation import SAMPLES

ROOT = SAMPLES.parent
COMMAND = ("-c", "from arena.cli import main; raise SystemExit(main())")
"""Words of Python for a command of the arena."""


@dataclass(frozen=True)
class AuthorEnvironment:
    """A fresh Python environment with the arena and a package, and a folder of the author."""

    python: Path
    folder: Path
    package: str

    def run(self, *words: str | Path) -> str:
        """Run a Python program, which must succeed; return its output."""
        done = subprocess.run(
            [self.python, *words],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment variables of its programs."""
        return {
            **inherited(),
            SETTING: self.package,
            runtimes.SETTING: os.pathsep.join((sys.prefix, str(ROOT))),
        }

    def cli(self, *words: str | Path) -> str:
        """Run a command of the arena."""
        return self.run(*COMMAND, *words)


def new_environment(folder: Path, sample: str, *dependencies: str) -> AuthorEnvironment:
    """Install a sample game into a fresh environment with uv.

    The arena and its dependencies are those of this environment. Only further dependencies are
    downloaded; the test is skipped if this is not possible.
    """
    uv = shutil.which("uv")
    if uv is None:
        assert not os.environ.get("CI"), "uv is not installed, and in CI nothing is skipped"
        pytest.skip("uv is not on the PATH")
    environment = folder / "venv"
    run(uv, "venv", "--quiet", "--python", sys.executable, environment, cwd=folder)
    python = environment / "bin" / "python"
    package = folder / "package"
    shutil.copytree(SAMPLES / sample, package, ignore=shutil.ignore_patterns("__pycache__", "dist"))
    install = (uv, "pip", "install", "--quiet", "--python", python)
    if dependencies:
        done = subprocess.run(
            [*install, *dependencies], cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            assert not os.environ.get("CI"), f"in CI nothing is skipped: {done.stderr}"
            pytest.skip(f"{' '.join(dependencies)} cannot be installed: {done.stderr.strip()}")
    run(*install, "--no-deps", package, cwd=folder)
    site = sysconfig.get_path("purelib", vars={"base": str(environment)})
    paths = [sysconfig.get_path("purelib"), ROOT, ROOT / "proto/gen", ROOT / "sample_bots/python"]
    Path(site, "arena.pth").write_text("".join(f"{path}\n" for path in paths), encoding="utf-8")
    return AuthorEnvironment(python, folder, f"{sample}-pokearena")
