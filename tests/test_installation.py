"""Install the project from a fresh clone and from the wheel, into empty environments."""

import json
import os
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from importlib import metadata
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from arena.cli.bots.new import copy_kit, languages
from arena.presentation.shipped_docs import PAGES
from referee.games.registry import GAMES
from tests.fresh_environment import completed, inherited, run

ROOT = Path(__file__).parent.parent
TWINE = "twine==7.0.0"
pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


def check_all_of_a_demo(demo_result: str) -> None:
    """Check that the demo played every game without faults, each match at the first attempt."""
    demo: dict[str, Any] = json.loads(demo_result)
    assert demo["matches"]
    assert len({match["match"] for match in demo["matches"]}) == len(demo["matches"])
    assert {row["game"] for row in demo["tournaments"]} == set(GAMES)
    assert all(row["state"] == "closed" for row in demo["tournaments"])
    for match in demo["matches"]:
        assert (match["state"], match["verified"]) == ("closed", True)
        assert match["attempts"] == 1
        assert match["games"] == match["planned"]
        assert len(match["commitment"]) == len(match["seed"]) == 64
    bots = {row["version"] for row in demo["bots"]}
    assert bots >= {"greedy@1", "meek@1", "random@1"}
    for ladder in demo["ladders"].values():
        assert {"greedy@1", "meek@1", "random@1"} <= {row["entrant"] for row in ladder} <= bots
        assert not any(row["faults"] for row in ladder)


def check_starters(installed: "Installed") -> None:
    """Check that the wheel's `new` writes the same files in every language as the repository's."""
    installed.run_python(
        "from arena.cli.bots.new import copy_kit, languages; from pathlib import Path\n"
        "for language in languages(): copy_kit(language, Path(language))"
    )
    for language in languages():
        kit = installed.folder / "kits" / language
        copy_kit(language, kit)
        assert files(installed.folder / language) == files(kit)


def files(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


# CI runs the same command in a fresh clone without a cache: scripts/bare.
@pytest.mark.repetition
def test_the_first_command_works_in_a_fresh_clone_with_an_empty_cache(
    tmp_path: Path, uv: str
) -> None:
    clone = tmp_path / "clone"
    run("git", "clone", "--quiet", ROOT, clone, cwd=tmp_path)
    cache = tmp_path / "cache"
    demo = completed(uv, "run", "pokearena", "demo", cwd=clone, UV_CACHE_DIR=str(cache))
    assert demo.stdout.startswith("poke · t-")
    assert "\nsaint_poker-3 · t-" in demo.stdout
    assert "every record verifies" in demo.stdout
    assert "\npage  http://127.0.0.1:" in demo.stderr
    *_, replay, standings, new = demo.stderr.splitlines()
    assert replay.startswith("next  ")
    assert (standings.split()[-1], new.split()[-2:]) == ("standings", ["new", "mybot"])
    match = replay.split()[-1]
    for command in ("replay", "verify"):
        run(uv, "run", "pokearena", command, match, cwd=clone, UV_CACHE_DIR=str(cache))
    assert run("git", "status", "--porcelain", cwd=clone) == ""


@dataclass(frozen=True)
class Installed:
    """The command `pokearena` from the wheel, where there is neither a checkout nor git."""

    folder: Path
    """The current folder of the commands; it contains only what they write."""
    python: Path
    environment: dict[str, str]
    git_calls: Path
    """A file that exists after git was called."""

    @property
    def command(self) -> Path:
        return self.python.with_name("pokearena")

    def run(self, *words: str) -> str:
        """Run a command, which must succeed; return its output."""
        return run(self.command, *words, cwd=self.folder, **self.environment)

    def run_python(self, program: str) -> None:
        """Run a program with the modules of the wheel, which must succeed."""
        run(self.python, "-c", program, cwd=self.folder, **self.environment)

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Run `serve`; yield the address of its pages."""
        process = subprocess.Popen(
            [self.command, "serve", "--port", "0", "--workers", "1", "--no-ladders", "--json"],
            cwd=self.folder,
            env=inherited() | self.environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())["page"]
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory, uv: str) -> Path:
    """Build the distribution as a release does, and return its wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    dist = folder / "dist"
    run(uv, "build", "--quiet", "--out-dir", dist, ROOT, cwd=folder)
    run(uv, "tool", "run", "--quiet", TWINE, "check", "--strict", *dist.glob("poke*"), cwd=folder)
    (wheel,) = dist.glob("*.whl")
    return wheel


PYTHONS = ("3.14", "3.13", "3.12", "3.11")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, uv: str, wheel: Path) -> Installed:
    """Install the wheel on the newest Python of this machine."""
    python = next(filter(None, (python_path(version, uv) for version in PYTHONS)))
    return installation(tmp_path_factory.mktemp("installed"), wheel, python)


def installation(root: Path, wheel: Path, python: str) -> Installed:
    """Install the wheel with pip 23 and no option."""
    home, stubs, folder = (root / name for name in ("home", "stubs", "empty"))
    for path in (home, stubs, folder):
        path.mkdir()
    git = stubs / "git"
    git.write_text(f"#!/bin/sh\necho \"$@\" >> '{stubs}/calls'\nexit 1\n", encoding="utf-8")
    git.chmod(0o755)
    environment = root / "environment"
    run(python, "-m", "venv", environment, cwd=root)
    pip = (environment / "bin" / "python", "-m", "pip", "--disable-pip-version-check")
    # Commands compile what they import, which is less than all that is installed.
    for package in ("pip==23.3.2", wheel):
        run(*pip, "install", "--quiet", package, cwd=root, PIP_NO_COMPILE="1")
    return Installed(
        folder,
        environment / "bin" / "python",
        {"HOME": str(home), "PATH": f"{stubs}:{os.environ['PATH']}"},
        stubs / "calls",
    )


def python_path(version: str, uv: str) -> str:
    """Return the path of a Python of this machine; empty if there is none."""
    for path in sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python")):
        return str(path)
    words = (uv, "python", "find", "--no-python-downloads", version)
    found = subprocess.run(words, cwd="/", capture_output=True, text=True, check=False)
    return "" if found.returncode else found.stdout.strip()


def other_python(version: str, uv: str) -> str:
    """Return the path of a Python of this machine; skip the test if there is none."""
    return python_path(version, uv) or pytest.skip(f"Python {version} is not on this machine")


def test_the_wheel_contains_all_files_of_its_packages(wheel: Path) -> None:
    names = {path for path in ZipFile(wheel).namelist() if "__pycache__" not in path}
    for package, folder in (
        ("arena", ROOT / "arena"),
        ("referee", ROOT / "referee"),
        ("arena/sample_bots/house", ROOT / "sample_bots" / "house"),
    ):
        # Python, mypy and ruff leave caches in these folders.
        kept = {
            path
            for path in files(folder)
            if not any(part == "__pycache__" or part.startswith(".") for part in path.parts)
        }
        assert kept
        assert {f"{package}/{path.as_posix()}" for path in kept} <= names


def test_the_installed_wheel_works_without_a_checkout(installed: Installed) -> None:
    assert installed.run("--version").split()[-1] == metadata.version("pokearena")
    installed.run("new", "mine")
    played = json.loads(installed.run("play", "poke", "mine", "sample:greedy", "-n", "1", "--json"))
    assert played["complete"]
    installed.run("test", "mine", "--game", "poke", "--quick")
    check_starters(installed)
    assert "K-2" in installed.run("rules", "pokino")
    installed.run("doctor")
    with installed.serving() as page:
        pages = ("", "rules/poke", "docs", "openapi.json", "static/style.css")
        for path in (*pages, *(f"docs/{name}" for name in PAGES)):
            with urllib.request.urlopen(page + path, timeout=120) as answer:
                assert answer.status == HTTPStatus.OK
    assert not installed.git_calls.exists()


# CI runs the demo of the checkout: scripts/bare.
@pytest.mark.repetition
def test_the_demo_of_the_wheel_plays_every_game(installed: Installed) -> None:
    short = ("demo", "-n", "1", "--cycles", "1", "--seed", "0", "--json")
    check_all_of_a_demo(installed.run(*short))
    assert not installed.git_calls.exists()


def test_uvx_runs_the_wheel(tmp_path: Path, uv: str, wheel: Path) -> None:
    words = (uv, "tool", "run", "--quiet", "--from", wheel, "pokearena", "--version")
    assert run(*words, cwd=tmp_path).split()[-1] == metadata.version("pokearena")


@pytest.mark.repetition
@pytest.mark.parametrize("version", PYTHONS)
def test_plain_pip_installs_the_wheel(tmp_path: Path, uv: str, wheel: Path, version: str) -> None:
    installed = installation(tmp_path, wheel, other_python(version, uv))
    words = ("play", "poke", "sample:greedy", "sample:random", "-n", "1", "--json")
    assert json.loads(installed.run(*words))["complete"]


@pytest.mark.parametrize("version", ["3.10"])
def test_pip_names_the_supported_pythons(tmp_path: Path, uv: str, version: str) -> None:
    python = other_python(version, uv)
    words = (python, "-m", "pip", "install", "--no-deps", "--target", tmp_path / "t", ROOT)
    refused = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert refused.returncode != 0
    assert ">=3.11" in refused.stderr


def test_the_starter_works_without_an_arena(tmp_path: Path, uv: str) -> None:
    """Run outside of the repository, with the dependencies in its pyproject.toml only."""
    copy_kit("python", tmp_path / "mine")
    code = "import bot_probe"
    (tmp_path / "mine" / "bot_probe.py").write_text(
        "import pokearena_bot, pokearena.v1.bot_pb2 as b\n"
        "assert pokearena_bot.__file__.startswith(__import__('os').getcwd())\n"
        "print(b.ActRequest(match='m').match)\n",
        encoding="utf-8",
    )
    demo_result = run(
        uv, "run", "--quiet", "--no-project", "--with", "grpcio>=1.71", "--with",
        "protobuf>=5.29", "python", "-c", code, cwd=tmp_path / "mine",
    )  # fmt: skip
    assert demo_result == "m\n"
