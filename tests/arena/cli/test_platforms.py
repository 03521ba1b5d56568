"""Run the commands of authors on imitated systems, without a sandbox, Redis and Unix modules.

`other_systems/sitecustomize.py` hides from the project's code, also in child processes, what macOS
or Windows lack. The operating system below still is Linux.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from arena.cli.errors import OK, UNREACHABLE, USAGE
from tests.arena.cli.terminal import POKEARENA

FOLDER = Path(__file__).parent / "other_systems"
RECORD = Path(__file__).parents[2] / "golden" / "saint_poker-2.jsonl"
SYSTEMS = (pytest.param("darwin", marks=pytest.mark.repetition), "win32")
"""CI imitates Windows, which lacks more; one test also imitates macOS there."""
LINUX_SERVICES = (
    ("serve", "--port", "0"),
    ("worker",),
    ("demo", "-n", "1", "--cycles", "1"),
)


def on_system(
    system: str, folder: Path, *words: str, status: int = OK
) -> "subprocess.CompletedProcess[str]":
    """Run a command on an imitated system; check its exit status."""
    done = subprocess.run(
        [POKEARENA, *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(FOLDER), "POKEARENA_TEST_SYSTEM": system},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == status, done.stderr
    return done


@pytest.mark.long
@pytest.mark.parametrize("system", [pytest.param("darwin", marks=pytest.mark.repetition), "win32"])
def test_an_author_writes_plays_and_replays_without_a_sandbox(tmp_path: Path, system: str) -> None:
    on_system(system, tmp_path, "new", "mine")
    words = ("play", "poke", "mine", "sample:greedy", "-n", "1", "--json")
    played = on_system(system, tmp_path, *words)
    assert "unsandboxed" in played.stderr
    result = json.loads(played.stdout)
    assert (result["complete"], result["fault"], len(result["games"])) == (True, None, 2)
    record = Path(result["record"]).read_text(encoding="utf-8")
    assert record.count('"sandbox":"unsandboxed"') == 2
    assert "result" in on_system(system, tmp_path, "replay", "last").stdout
    on_system(system, tmp_path, "verify", "last")


@pytest.mark.long
@pytest.mark.parametrize("system", SYSTEMS)
def test_an_author_tests_and_registers_a_bot_without_a_sandbox(tmp_path: Path, system: str) -> None:
    on_system(system, tmp_path, "new", "mine")
    tested = on_system(system, tmp_path, "test", "mine", "--game", "poke", "--quick")
    assert "unsandboxed" in tested.stderr
    on_system(system, tmp_path, "play", "poke", "mine", "sample:random", "-n", "1")
    asked = on_system(system, tmp_path, "ask", "last:0:0", "mine")
    assert "legal" in asked.stdout
    on_system(system, tmp_path, "bot", "add", "mine")
    on_system(system, tmp_path, "play", "poke", "mine@1", "sample:random", "-n", "1")
    on_system(system, tmp_path, "compare", "mine@1", "mine@1", status=USAGE)
    assert "unsandboxed" in on_system(system, tmp_path, "doctor").stdout


@pytest.mark.long
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_bot_that_ends_is_charged_without_a_sandbox(tmp_path: Path, system: str) -> None:
    (tmp_path / "bad.py").write_text("print('three words only')\nraise SystemExit(7)\n")
    words = ("play", "poke", "bad.py", "sample:random", "-n", "1", "--json")
    played = on_system(system, tmp_path, *words, status=1)
    assert "exited with status 7" in played.stdout
    assert "three words only" in on_system(system, tmp_path, "logs", "last").stdout


@pytest.mark.long
@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("words", LINUX_SERVICES, ids=lambda words: words[0])
def test_services_are_refused_in_one_sentence(
    tmp_path: Path, system: str, words: tuple[str, ...]
) -> None:
    done = on_system(system, tmp_path, *words, status=UNREACHABLE)
    assert "only on Linux" in done.stderr.splitlines()[-1]


@pytest.mark.long
@pytest.mark.parametrize("system", SYSTEMS)
def test_commands_that_start_no_bots_work(tmp_path: Path, system: str) -> None:
    on_system(system, tmp_path, "rules", "poke")
    on_system(system, tmp_path, "verify", str(RECORD))
    on_system(system, tmp_path, "play", "--list")
