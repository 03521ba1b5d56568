"""Commands print the sandbox level and refuse to play when it is gone."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from arena.bots.sandbox import landlock
from tests.arena.bots.sandbox import fake_bubblewrap
from tests.arena.bots.sandbox.fake_bubblewrap import FakeBubblewrap
from tests.arena.cli.terminal import POKEARENA, Cli
from tests.guarded_process import GuardedProcess

pytestmark = pytest.mark.skipif(
    not os.path.exists("/usr/bin/bwrap") or landlock.version() == 0, reason="needs both levels"
)


@pytest.fixture
def bwrap(cwd: Path, monkeypatch: pytest.MonkeyPatch) -> FakeBubblewrap:
    """Make a program bwrap the whole PATH of commands; it is not installed yet."""
    monkeypatch.delenv("POKEARENA_SANDBOX", raising=False)
    fake = FakeBubblewrap(cwd)
    monkeypatch.setenv("PATH", str(fake.directory))
    return fake


def sandbox_of(*words: str) -> dict[str, Any]:
    """Start `serve`, stop it, and return what it announced about the sandbox."""
    line = [str(POKEARENA), "serve", "--no-web", "--no-ladders", "--workers=1", "--json", *words]
    with GuardedProcess(line, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        announced = json.loads(process.stdout.readline())
        process.terminate()
    assert process.returncode == 0
    sandbox: dict[str, Any] = announced["sandbox"]
    return sandbox


@pytest.mark.long
def test_serve_announces_the_level_and_starts_without_one(bwrap: FakeBubblewrap) -> None:
    bwrap.behave(fake_bubblewrap.WORKS)
    best = {"level": "bubblewrap", "reason": "the best level", "keeps_tables_apart": True}
    assert sandbox_of() == {**best, "error": None}
    bwrap.uninstall()
    gone = sandbox_of()
    assert (gone["level"], gone["keeps_tables_apart"]) == (None, False)
    assert "is gone: bubblewrap is not installed" in gone["error"]
    lower = sandbox_of("--sandbox", "landlock")
    assert (lower["level"], lower["keeps_tables_apart"]) == ("landlock", False)


@pytest.mark.long
def test_commands_refuse_to_play_after_the_level_is_gone(
    bwrap: FakeBubblewrap, program: Cli, cwd: Path
) -> None:
    play = ("play", "poke", "sample:meek", "sample:random", "-n", "1", "--json")
    bwrap.behave(fake_bubblewrap.WORKS)
    # The first call creates the data folder; the second one stores the level in it.
    assert [program(*play).status for _ in range(2)] == [0, 0]
    assert len(list((cwd / ".pokearena").glob("sandbox-*.json"))) == 1
    bwrap.uninstall()
    for words in (play, ("tournament", "run", "poke", "sample:meek", "sample:random")):
        result = program(*words)
        assert result.status == 3
        assert "POKEARENA_SANDBOX=landlock" in result.err
    assert program(*play, POKEARENA_SANDBOX="landlock").status == 0
    bwrap.behave(fake_bubblewrap.WORKS)
    assert program(*play).status == 0


@pytest.mark.long
def test_a_lowered_level_is_printed(bwrap: FakeBubblewrap, program: Cli) -> None:
    played = program("play", "poke", "sample:meek", "sample:random", "-n", "1")
    assert played.status == 0
    assert "landlock: bubblewrap is not available: bubblewrap is not installed" in played.err
    checks = program("doctor", "--json").json["checks"]
    (check,) = [check for check in checks if check["name"] == "sandbox"]
    assert check["state"] == "warn"
    assert "does not keep the tables of a match apart" in check["found"]
    assert "matches of pushed versions wait" in check["found"]
    checks = program("doctor", "--json", POKEARENA_SANDBOX="landlock").json["checks"]
    (check,) = [check for check in checks if check["name"] == "sandbox"]
    assert check["state"] == "ok"


@pytest.mark.long
def test_doctor_reports_a_level_below_the_stored_one(
    bwrap: FakeBubblewrap, program: Cli, cwd: Path
) -> None:
    bwrap.behave(fake_bubblewrap.WORKS)
    (cwd / ".pokearena").mkdir()
    program("doctor", "--json")
    checks = program("doctor", "--json", POKEARENA_SANDBOX="landlock").json["checks"]
    (check,) = [check for check in checks if check["name"] == "sandbox"]
    assert check["state"] == "warn"
    assert "below the level bubblewrap that has held on this machine" in check["found"]


def test_an_unknown_level_in_the_environment_is_one_sentence(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POKEARENA_SANDBOX", "padlock")
    result = cli("serve")
    assert result.status == 3
    assert result.err.startswith('error  POKEARENA_SANDBOX is "padlock"; it must be one of')
