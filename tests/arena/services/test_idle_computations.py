"""Idle workers analyse closed matches: results, pauses, killed processes, the setting."""

import os
import signal
from pathlib import Path

import pytest

from arena.cli.workspace import Workspace
from arena.config import SettingError
from arena.records.analysis.engine import StrongEngine
from arena.services.idle_computations import analyse_next, idle_work
from arena.services.queue.idle_work import IdlePermission, IdleWork
from arena.store.idle_results import ANALYSES
from tests.arena.web.closed_matches import StoredMatch, play, table
from tests.waiting import wait_until

POKE = table("poke-2-must_beat=true")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "data")


@pytest.fixture
def closed(workspace: Workspace) -> StoredMatch:
    return play(workspace, POKE)


def small() -> StrongEngine:
    engine = StrongEngine("poke")
    engine.playouts = 300
    return engine


@pytest.mark.long
def test_the_analysis_of_a_closed_match_is_stored_without_names(
    workspace: Workspace, closed: StoredMatch
) -> None:
    pauses: list[None] = []
    assert analyse_next(workspace.store, lambda: pauses.append(None), small()) == closed.match
    analysis = ANALYSES.find(workspace.store, closed.match)
    assert analysis is not None
    assert {row["entrant"] for row in analysis["accuracy"]} == {0, 1}
    assert len(analysis["luck"]) == 2
    # It does not contain names of bots or owners that would have to be erased.
    assert "luck0" not in str(analysis)
    assert len(pauses) >= len(analysis["positions"])
    assert analyse_next(workspace.store, search=small()) == ""


def test_the_setting_switches_it_off(workspace: Workspace) -> None:
    assert idle_work(workspace.store, {}) is not None
    assert idle_work(workspace.store, {"POKEARENA_ANALYSIS": "0"}) is None
    with pytest.raises(SettingError):
        idle_work(workspace.store, {"POKEARENA_ANALYSIS": "no"})


def test_idle_work_waits_for_its_gate_and_begins_again_after_a_kill(tmp_path: Path) -> None:
    notes = tmp_path / "notes"

    def work(permission: IdlePermission) -> None:
        with notes.open("a") as file:
            file.write(f"{os.getpid()}\n")
        permission.wait()
        (tmp_path / "done").touch()

    def pids() -> list[int]:
        return [int(line) for line in notes.read_text().split()] if notes.exists() else []

    idle = IdleWork(work)
    idle.begin()
    wait_until(lambda: len(pids()) == 1)
    idle.begin()
    os.kill(pids()[0], signal.SIGKILL)

    def begun_again() -> bool:
        idle.begin()
        return len(pids()) == 2

    wait_until(begun_again)
    assert not (tmp_path / "done").exists()
    with idle.allowed():
        wait_until((tmp_path / "done").exists)
