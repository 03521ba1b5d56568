"""Build the wheel with compiled rules, and compare golden records with it."""

import json
import os
import shlex
import shutil
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from zipfile import ZipFile

import pytest

from referee.games.registry import GAMES
from tests.fresh_environment import run

ROOT = Path(__file__).parent.parent
PACKAGES = ("hypothesis", "pytest", "pytest-timeout", "pytest-xdist")
pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]


@pytest.fixture
def compiled_wheel(tmp_path: Path, uv: str) -> Path:
    """Build the wheel with extension modules, not optimised: gcc takes a quarter of the time."""
    (compiler, *_) = shlex.split(os.environ.get("CC", "cc"))
    if shutil.which(compiler) is None:
        if os.environ.get("CI"):
            pytest.fail(f"{compiler} is not installed, and in CI nothing is skipped")
        pytest.skip(f"needs a C compiler; {compiler} is not on the PATH")
    dist = tmp_path / "dist"
    settings = {"POKEARENA_COMPILE": "1", "CFLAGS": "-O0"}
    run(uv, "build", "--quiet", "--wheel", "--python", sys.executable, "--out-dir", dist, ROOT,
        cwd=tmp_path, **settings)  # fmt: skip
    (wheel,) = dist.glob("*.whl")
    return wheel


@pytest.fixture
def python(compiled_wheel: Path, tmp_path: Path, uv: str) -> Path:
    """Install the wheel in a fresh environment; return its Python."""
    environment = tmp_path / "environment"
    run(uv, "venv", "--quiet", "--python", sys.executable, environment, cwd=tmp_path)
    python = environment / "bin" / "python"
    run(uv, "pip", "install", "--quiet", "--python", python, "--build-constraints",
        ROOT / "constraints.txt", compiled_wheel, *PACKAGES, cwd=tmp_path)  # fmt: skip
    return python


def extension_modules(wheel: Path) -> set[str]:
    suffix = EXTENSION_SUFFIXES[0]
    names = (Path(name) for name in ZipFile(wheel).namelist() if name.endswith(suffix))
    return {".".join((*path.parent.parts, path.name.removesuffix(suffix))) for path in names}


def test_the_compiled_build_equals_the_golden_records(
    compiled_wheel: Path, python: Path, tmp_path: Path
) -> None:
    states = {f"referee.games.{game}.state" for game in GAMES}
    assert extension_modules(compiled_wheel) >= states | {
        "referee.game_codec",
        "referee.games.contract",
    }
    copy = tmp_path / "copy"
    shutil.copytree(ROOT / "tests", copy / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    doctor = run(python.with_name("pokearena"), "doctor", "--json", cwd=copy)
    checks = {check["name"]: check["found"] for check in json.loads(doctor)["checks"]}
    assert "compiled" in checks["build"]
    tests = (f"tests/conformance/test_{name}.py" for name in ("golden", "legal", "records", "wire"))
    run(python, "-m", "pytest", "-n", "0", *tests, cwd=copy)
