"""Install the project from a fresh clone and from the wheel, into empty environments."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from arena.cli.bots.new import copy_kit, languages
from referee.games.registry import GAMES

ROOT = Path(__file__).parent.parent
pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """Run a command, which must succeed; return its output."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("VIRTUAL_ENV", "POKEARENA"))}
    done = subprocess.run(
        command, cwd=cwd, env=kept | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture
def uv() -> str:
    """Return the path of uv."""
    found = shutil.which("uv")
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("uv is not installed, and in CI nothing is skipped")
        pytest.skip("uv is not on the PATH")
    return found


def check_demo(told: str) -> None:
    """Check that each match of the demo was closed once and is verified."""
    demo: dict[str, Any] = json.loads(told)
    matches = demo["matches"]
    assert matches
    assert all(match["state"] == "CLOSED" for match in matches)
    assert all(match["verified"] is True for match in matches)
    assert len({match["match"] for match in matches}) == len(matches)


def check_all_of_a_demo(told: str) -> None:
    """Check that the demo played every game without faults, each match at the first attempt."""
    check_demo(told)
    demo: dict[str, Any] = json.loads(told)
    assert {one["game"] for one in demo["tournaments"]} == set(GAMES)
    assert all(one["state"] == "closed" for one in demo["tournaments"])
    for match in demo["matches"]:
        assert match["attempts"] == 1
        assert match["games"] == match["planned"]
        assert len(match["commitment"]) == len(match["seed"]) == 64
    bots = {one["version"] for one in demo["bots"]}
    assert bots >= {"greedy@1", "meek@1", "random@1"}
    for ladder in demo["ladders"].values():
        assert {"greedy@1", "meek@1", "random@1"} <= {one["entrant"] for one in ladder} <= bots
        assert not any(one["faults"] for one in ladder)


def check_starters(pokearena: Path, folder: Path) -> None:
    """Check that the wheel's `new` writes the same files in every language as the repository's."""
    for language in languages():
        run(pokearena, "new", language, "--lang", language, cwd=folder)
        copy_kit(language, folder / "kits" / language)
        assert files(folder / language) == files(folder / "kits" / language)


def files(folder: Path) -> set[Path]:
    """Return the files of a folder as relative paths."""
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


def test_the_first_command_works_in_a_fresh_clone_with_an_empty_cache(
    tmp_path: Path, uv: str
) -> None:
    clone = tmp_path / "clone"
    run("git", "clone", "--quiet", ROOT, clone, cwd=tmp_path)
    cache = tmp_path / "cache"
    told = run(uv, "run", "pokearena", "demo", "--json", cwd=clone, UV_CACHE_DIR=str(cache))
    check_demo(told)
    assert run("git", "status", "--porcelain", cwd=clone) == ""


def test_the_wheel_brings_everything_along(tmp_path: Path, uv: str) -> None:
    run(uv, "build", "--quiet", "--wheel", "--out-dir", tmp_path, ROOT, cwd=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    constraint = tmp_path / "constraint.txt"
    constraint.write_text("setuptools<58\n", encoding="utf-8")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    run(uv, "venv", "--quiet", "--python", version, "installed", cwd=tmp_path)
    bin_folder = tmp_path / "installed" / "bin"
    run(
        uv, "pip", "install", "--quiet", "--python", bin_folder / "python",
        "--build-constraint", constraint, wheel, cwd=tmp_path,
    )  # fmt: skip
    pokearena = bin_folder / "pokearena"
    run(pokearena, "new", "mine", cwd=tmp_path)
    run(pokearena, "play", "poke", "mine", "sample:greedy", "--json", cwd=tmp_path)
    check_starters(pokearena, tmp_path)
    run(pokearena, "doctor", cwd=tmp_path)
    short = ("demo", "-n", "1", "--cycles", "1", "--seed", "0", "--json")
    check_all_of_a_demo(run(pokearena, *short, cwd=tmp_path))


def test_the_starter_works_where_there_is_no_arena(tmp_path: Path, uv: str) -> None:
    """Run outside of the repository, with the dependencies in its pyproject.toml only."""
    copy_kit("python", tmp_path / "mine")
    code = "import bot_probe"
    (tmp_path / "mine" / "bot_probe.py").write_text(
        "import pokearena_bot, pokearena.v1.bot_pb2 as b\n"
        "assert pokearena_bot.__file__.startswith(__import__('os').getcwd())\n"
        "print(b.ActRequest(match='m').match)\n",
        encoding="utf-8",
    )
    told = run(
        uv, "run", "--quiet", "--no-project", "--with", "grpcio>=1.71", "--with",
        "protobuf>=5.29", "python", "-c", code, cwd=tmp_path / "mine",
    )  # fmt: skip
    assert told == "m\n"
