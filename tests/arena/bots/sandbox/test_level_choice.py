"""Test the choice of the sandbox level, with a program bwrap that fails in different ways."""

import json
import os
import stat
from pathlib import Path

import pytest

from arena.bots.sandbox import available_levels, kernel_refusals, landlock, stored_level
from arena.bots.sandbox.available_levels import BUSY, FAILED, GONE, NOT_OFFERED
from arena.bots.sandbox.level import Level, refusal
from arena.errors import InfrastructureError
from tests.arena.bots.sandbox import fake_bubblewrap
from tests.arena.bots.sandbox.fake_bubblewrap import FakeBubblewrap, forget_tests
from tests.errors import has_code
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(
    not os.path.exists("/usr/bin/bwrap") or landlock.version() == 0, reason="needs both levels"
)


@pytest.fixture
def bwrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeBubblewrap:
    return fake_bubblewrap.installed(tmp_path, monkeypatch)


def stored() -> dict[str, str]:
    value: dict[str, str] = json.loads(stored_level.level_file().read_text())
    return value


def test_the_best_level_is_chosen_and_stored(bwrap: FakeBubblewrap) -> None:
    bwrap.behave(fake_bubblewrap.WORKS)
    choice = available_levels.chosen_level()
    assert (choice.level, choice.is_lowered) == (Level.BUBBLEWRAP, False)
    assert stored() == {"level": "bubblewrap", "reason": "the best level"}
    assert stat.S_IMODE(stored_level.level_file().stat().st_mode) == 0o600
    assert available_levels.current_level() is Level.BUBBLEWRAP


@pytest.mark.parametrize("script", ["", fake_bubblewrap.REFUSED])
def test_a_definite_reason_lowers_the_first_choice(bwrap: FakeBubblewrap, script: str) -> None:
    if script:
        bwrap.behave(script)
    choice = available_levels.chosen_level()
    assert choice.level is Level.LANDLOCK
    assert [missing.code for missing in choice.missing] == [NOT_OFFERED]
    assert stored() == {"level": "landlock", "reason": choice.reason}
    assert "does not keep the tables of a match apart" in choice.sentence()


@pytest.mark.parametrize(
    "script", [fake_bubblewrap.MISSING_FILE, fake_bubblewrap.CRASHES, fake_bubblewrap.ESCAPES]
)
def test_another_failure_stops_play_and_never_lowers_the_level(
    bwrap: FakeBubblewrap, script: str
) -> None:
    bwrap.behave(script)
    for _ in range(2):
        with pytest.raises(InfrastructureError, check=has_code(FAILED)):
            available_levels.best_level()
    assert not stored_level.level_file().exists()
    bwrap.behave(fake_bubblewrap.WORKS)
    assert available_levels.best_level() is Level.BUBBLEWRAP


def test_an_escape_is_named(bwrap: FakeBubblewrap) -> None:
    bwrap.behave(fake_bubblewrap.ESCAPES)
    why_not = available_levels.offer(Level.BUBBLEWRAP).why_not
    assert why_not.startswith("a bot escaped from the sandbox: it could ")
    clauses = [
        "read a file of the arena",
        "set the memory policy",
        "read counters of the machine in /proc/vmstat",
    ]
    clauses += ["see the folder of a file of the arena"] + ["run as root"] * (os.geteuid() == 0)
    assert [clause for clause in clauses if f"it could {clause}" not in why_not] == []


def test_a_lost_launcher_ends_the_self_test_at_once(bwrap: FakeBubblewrap) -> None:
    # The launcher is the parent of the init process, which runs bubblewrap.
    bwrap.behave("read -r _ _ _ launcher _ < /proc/$PPID/stat; kill -KILL $launcher")
    offered = available_levels.offer(Level.BUBBLEWRAP, seconds=600)
    assert (offered.code, offered.why_not) == (FAILED, "the sandbox launcher ended by itself")


def test_a_slow_self_test_is_not_a_missing_level(bwrap: FakeBubblewrap) -> None:
    bwrap.behave(fake_bubblewrap.HANGS)
    offered = available_levels.offer(Level.BUBBLEWRAP, seconds=0.2)
    assert (offered.code, offered.is_definite) == (BUSY, False)
    with pytest.raises(InfrastructureError, check=has_code(BUSY)):
        available_levels.best_level()
    assert available_levels.current_level() is None


def test_a_failed_self_test_is_repeated_after_a_pause(
    bwrap: FakeBubblewrap, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The program stays the same: only the machine was busy.
    monkeypatch.setattr(available_levels, "_FIRST_PAUSE_SECONDS", 0.05)
    bwrap.behave(fake_bubblewrap.WORKS)
    assert available_levels.offer(Level.BUBBLEWRAP, seconds=0.001).code == BUSY
    wait_until(lambda: available_levels.offer(Level.BUBBLEWRAP).holds)


def test_the_pauses_of_a_broken_machine_grow(
    bwrap: FakeBubblewrap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(available_levels, "_FIRST_PAUSE_SECONDS", 60.0)
    calls = bwrap.directory / "calls"
    bwrap.behave(f"echo >> {calls}; exit 1")
    for _ in range(20):
        assert not available_levels.offer(Level.BUBBLEWRAP).holds
    assert len(calls.read_text().splitlines()) == 1


def test_only_successes_are_remembered(bwrap: FakeBubblewrap) -> None:
    calls = bwrap.directory / "calls"
    bwrap.behave(f"echo >> {calls}; {fake_bubblewrap.WORKS}")
    for _ in range(3):
        assert available_levels.best_level() is Level.BUBBLEWRAP
    assert len(calls.read_text().splitlines()) == 1
    # A sandbox failed, in this process or in another one of the machine.
    stored_level.note_failure()
    assert available_levels.current_level() is None
    assert available_levels.best_level() is Level.BUBBLEWRAP
    assert len(calls.read_text().splitlines()) == 2


@pytest.mark.parametrize("restarted", [False, True])
def test_a_level_that_is_gone_stops_play_until_it_is_back(
    bwrap: FakeBubblewrap, monkeypatch: pytest.MonkeyPatch, restarted: bool
) -> None:
    bwrap.behave(fake_bubblewrap.WORKS)
    available_levels.best_level()
    if restarted:
        forget_tests(monkeypatch)
    bwrap.uninstall()
    assert available_levels.current_level() is None
    with pytest.raises(InfrastructureError, check=has_code(GONE)) as gone:
        available_levels.best_level()
    assert "POKEARENA_SANDBOX=landlock" in str(gone.value)
    assert "apt install bubblewrap" in str(gone.value)
    bwrap.behave(fake_bubblewrap.REFUSED)
    with pytest.raises(InfrastructureError, check=has_code(GONE)):
        available_levels.best_level()
    bwrap.behave(fake_bubblewrap.WORKS)
    assert available_levels.best_level() is Level.BUBBLEWRAP


def test_a_lower_level_can_be_accepted(
    bwrap: FakeBubblewrap, monkeypatch: pytest.MonkeyPatch
) -> None:
    bwrap.behave(fake_bubblewrap.WORKS)
    available_levels.best_level()
    bwrap.uninstall()
    monkeypatch.setenv("POKEARENA_SANDBOX", "landlock")
    assert available_levels.best_level() is Level.LANDLOCK
    # The best level stays stored, so that an alert fires.
    assert stored()["level"] == "bubblewrap"
    assert Level.LANDLOCK.is_below(Level.BUBBLEWRAP)


def test_a_better_level_is_stored_and_does_not_change_a_running_process(
    bwrap: FakeBubblewrap, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert available_levels.best_level() is Level.LANDLOCK
    bwrap.behave(fake_bubblewrap.WORKS)
    assert available_levels.best_level() is Level.LANDLOCK
    forget_tests(monkeypatch)
    assert available_levels.best_level() is Level.BUBBLEWRAP
    assert stored()["level"] == "bubblewrap"


@pytest.mark.parametrize("text", ["{", '{"level": "padlock"}', "[]"])
def test_a_damaged_file_stops_play(bwrap: FakeBubblewrap, text: str) -> None:
    bwrap.behave(fake_bubblewrap.WORKS)
    stored_level.level_file().write_text(text)
    with pytest.raises(InfrastructureError, check=has_code("stored-level")) as raised:
        available_levels.best_level()
    public, _, details = str(raised.value).partition("\n")
    assert str(stored_level.level_file().parent) not in public
    assert str(stored_level.level_file()) in details


def test_an_explicit_level_that_is_missing_stops_play(
    bwrap: FakeBubblewrap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POKEARENA_SANDBOX", "bubblewrap")
    with pytest.raises(InfrastructureError, check=has_code("level-not-available")):
        available_levels.best_level()
    monkeypatch.setenv("POKEARENA_SANDBOX", "padlock")
    with pytest.raises(InfrastructureError, check=has_code("unknown-level")):
        available_levels.best_level()
    monkeypatch.setenv("POKEARENA_SANDBOX", "unsandboxed")
    assert available_levels.best_level() is Level.UNSANDBOXED
    assert not stored_level.level_file().exists()


def test_without_a_data_folder_nothing_is_stored(
    bwrap: FakeBubblewrap, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bwrap.behave(fake_bubblewrap.WORKS)
    monkeypatch.setattr(stored_level, "_folder", tmp_path / "none")
    assert available_levels.best_level() is Level.BUBBLEWRAP
    available_levels.doubt_level()
    assert not (tmp_path / "none").exists()


def test_the_kernel_is_asked_about_namespaces() -> None:
    """This machine has a working bubblewrap, so the kernel allows what it needs."""
    denied = "bwrap: Can't bind mount /x on /newroot/x: Permission denied"
    assert not kernel_refusals.namespaces_are_refused()
    assert kernel_refusals.kernel_refusal(denied) == ""
    assert kernel_refusals.kernel_refusal("a bot wrote Permission denied") == ""
    ubuntu = "bwrap: setting up uid map: Permission denied"
    assert kernel_refusals.kernel_refusal(ubuntu).endswith("uid map: Permission denied")
    limit = "bwrap: Creating new namespace failed: nesting depth exceeded (ENOSPC)"
    assert kernel_refusals.kernel_refusal(limit)


def test_pushed_bots_need_separate_tables_or_an_explicit_setting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("POKEARENA_SANDBOX", raising=False)
    assert refusal("bot", False, Level.BUBBLEWRAP) == ""
    assert "POKEARENA_SANDBOX=landlock" in refusal("bot", False, Level.LANDLOCK)
    assert refusal("bot", True, Level.LANDLOCK) == ""
    monkeypatch.setenv("POKEARENA_SANDBOX", "landlock")
    assert refusal("bot", False, Level.LANDLOCK) == ""
    assert refusal("bot", False, Level.UNSANDBOXED)
