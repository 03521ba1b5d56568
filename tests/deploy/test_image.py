"""Check the Dockerfile without a container engine, and run its build stage on this machine."""

import json
import os
import re
import shlex
import shutil
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

from referee.games.registry import GAMES
from tests.deploy.command_lines import parsed_command
from tests.deploy.manifests import DEPLOY, ROOT, render
from tests.fresh_environment import run

TEXT = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", "")
TEST_PACKAGES = ("hypothesis", "pytest", "pytest-timeout", "pytest-xdist")
IGNORED = DEPLOY / "Dockerfile.dockerignore"


def stages() -> dict[str, list[str]]:
    """Return the instructions of each stage, after those of the stage it is based on."""
    stages_by_name: dict[str, list[str]] = {}
    name = ""
    for line in TEXT.splitlines():
        begin = re.fullmatch(r"FROM (\S+) AS (\S+)", line)
        if begin:
            base = begin[1].replace("${RUNTIME}", "languages")
            name = begin[2]
            stages_by_name[name] = list(stages_by_name.get(base, []))
        elif name and line.strip() and not line.startswith("#"):
            stages_by_name[name].append(line)
    return stages_by_name


def last(stage: str, instruction: str) -> str:
    """Return the arguments of the last instruction of a kind in a stage."""
    lines = [line for line in stages()[stage] if line.split()[0] == instruction]
    return re.sub(r"\s+", " ", lines[-1].partition(" ")[2]).strip()


@pytest.mark.parametrize("stage", ["services", "worker", "slim", "languages"])
def test_no_image_runs_as_root(stage: str) -> None:
    assert last(stage, "USER") == "10001:10001"


@pytest.mark.parametrize("stage", ["services", "worker"])
def test_commands_of_the_image_are_valid(stage: str, tmp_path: Path) -> None:
    assert json.loads(last(stage, "ENTRYPOINT"))[-1] == "pokearena"
    parsed_command(json.loads(last(stage, "CMD")), tmp_path)
    healthy = json.loads(last(stage, "HEALTHCHECK").partition("CMD ")[2])
    if healthy[0] == "pokearena":
        parsed_command(healthy[1:], tmp_path)
    else:
        assert healthy[:2] == ["python", "-c"]
        compile(healthy[2], "HEALTHCHECK", "exec")


def test_every_base_image_has_a_version() -> None:
    named = re.findall(r"^FROM (\S+)", TEXT, re.MULTILINE)
    ours = {*stages(), "${RUNTIME}", "python:${PYTHON}"}
    assert all(re.search(r":\d+\.\d+\.\d+-", image) for image in named if image not in ours)
    assert re.search(r"^ARG PYTHON=3\.11\.\d+-", TEXT, re.MULTILINE)


def test_every_starter_language_has_its_tools() -> None:
    installed = " ".join(stages()["languages"])
    for word in ("go", "cargo", "node", "jdk", "maven", "g++", "ruby-grpc"):
        assert word in installed


def sent(folder: Path) -> None:
    """Copy the build context that the .dockerignore file allows."""
    lines = IGNORED.read_text(encoding="utf-8").splitlines()
    never = [line.removeprefix("**/") for line in lines if line.startswith("**/")]
    assert "*" in lines
    for name in (line[1:] for line in lines if line.startswith("!")):
        source = ROOT / name
        assert source.exists(), f"{IGNORED.name} lets {name} in, which is not there"
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns(*never))
        else:
            shutil.copy(source, folder / name)


def test_secrets_and_run_data_are_not_in_the_build_context(tmp_path: Path) -> None:
    lines = IGNORED.read_text(encoding="utf-8").splitlines()
    let_in = [line[1:] for line in lines if line.startswith("!")]
    for name in (".git", ".pokearena", ".venv", "deploy", "build", "uv.lock"):
        assert not any(fnmatch(name, pattern) for pattern in let_in)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the build stage; return the folder of the environment that it creates."""
    folder = tmp_path_factory.mktemp("image")
    source, installed = folder / "src", folder / "installed"
    source.mkdir()
    sent(source)
    build = stages()["build"]
    [line] = [line for line in build if line.startswith("RUN uv sync")]
    [games] = [line for line in build if "uv pip install" in line]
    [variables] = [line for line in build if line.startswith("ENV ")]
    [exclude_newer] = [line for line in build if line.startswith("ARG UV_EXCLUDE_NEWER")]
    environment = {
        **os.environ,
        **dict(re.findall(r"(\w+)=(\S+)", variables)),
        # Without optimisation the rules compile in a fraction of the time.
        "CFLAGS": "-O0",
        "UV_EXCLUDE_NEWER": exclude_newer.partition("=")[2],
        "UV_PROJECT_ENVIRONMENT": str(installed),
        "GAMES": str(ROOT / "sample_games" / "goofspiel"),
    }
    # Reuse the local download cache and this machine's Python.
    for name in ("UV_NO_CACHE", "UV_PYTHON_DOWNLOADS", "VIRTUAL_ENV"):
        environment.pop(name, None)
    subprocess.run(line.removeprefix("RUN ").split(), cwd=source, env=environment, check=True)
    subprocess.run(games.removeprefix("RUN "), shell=True, env=environment, check=True)
    shutil.rmtree(source)
    return installed


@pytest.mark.long
@pytest.mark.repetition
@pytest.mark.timeout(600)
def test_the_build_stage_creates_a_working_installation(installed: Path, tmp_path: Path) -> None:
    arena = installed / "bin" / "pokearena"
    words = ["play", "poke", "sample:greedy", "sample:random", "--seed", "7", "--json"]
    done = subprocess.run([arena, *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    # The images allow the packages that they contain.
    allowed = re.search(r"POKEARENA_GAMES=(\S+)", last("slim", "ENV"))
    assert allowed is not None
    words = ["play", "goofspiel", "sample:meek", "sample:random", "--json"]
    environment = {**os.environ, "POKEARENA_GAMES": allowed[1]}
    subprocess.run([arena, *words], cwd=tmp_path, env=environment, check=True)
    python = installed / "bin" / "python"
    # Only the images install the PostgreSQL driver by default.
    program = "import psycopg, referee.rules_build as r; print(r.rules_build())"
    answer = subprocess.run([python, "-c", program], cwd=tmp_path, capture_output=True, check=True)
    assert answer.stdout.decode().strip() == "compiled"


@pytest.mark.long
@pytest.mark.repetition
@pytest.mark.timeout(900)
def test_compiled_rules_equal_the_golden_records(installed: Path, tmp_path: Path, uv: str) -> None:
    python = installed / "bin" / "python"
    (packages,) = installed.glob("lib/python*/site-packages")
    compiled = {
        ".".join((*path.relative_to(packages).parent.parts, path.name.partition(".")[0]))
        for path in (packages / "referee").rglob("*.so")
    }
    states = {f"referee.games.{game}.state" for game in GAMES}
    assert compiled >= states | {"referee.game_codec", "referee.games.contract"}
    doctor = run(python.with_name("pokearena"), "doctor", "--json", cwd=tmp_path)
    checks = {check["name"]: check["found"] for check in json.loads(doctor)["checks"]}
    assert "compiled" in checks["build"]
    run(uv, "pip", "install", "--quiet", "--python", python, *TEST_PACKAGES, cwd=tmp_path)
    copy = tmp_path / "copy"
    shutil.copytree(ROOT / "tests", copy / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    # scripts/release-check runs the whole quick suite with compiled rules.
    tests = (f"tests/conformance/test_{name}.py" for name in ("golden", "wire"))
    run(python, "-m", "pytest", "-n", "0", *tests, cwd=copy)


def test_commands_and_values_of_the_page_are_valid(helm: str, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "deploy.md").read_text(encoding="utf-8")
    blocks = "".join(re.findall(r"^```sh\n(.*?)^```$", page, re.DOTALL | re.MULTILINE))
    lines = [shlex.split(line) for line in blocks.splitlines()]
    assert {words[0] for words in lines} == {"docker", "deploy/secrets.sh", "kubectl", "helm"}
    for words in lines:
        if words[0] == "helm":
            assert words[:5] == ["helm", "upgrade", "--install", "arena", "deploy/chart"]
            assert render(helm, tmp_path, *words[5:])
        for path in [word for word in words if word.startswith("deploy/")]:
            assert (ROOT / path).exists()
        if "--target" in words:
            assert words[words.index("--target") + 1] in stages()
        if "pokearena" in words[1:] and "exec" in words:
            parsed_command(words[words.index("pokearena") + 1 :], tmp_path)
