"""Test that an owner with slow builds or a slow test does not delay other owners."""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine

from arena.bots.bot import Bot
from arena.store import database
from arena.store.bots import submissions
from arena.store.bots.submissions import Submission
from arena.store.schema import SubmissionStage, SubmissionState
from arena.submissions import runner
from arena.submissions.conformance.check import Check
from tests.arena.submissions.submission_harness import SubmissionHarness
from tests.cluster import Cluster, cluster

SLEEPS = 'build = [["true"], ["sleep", "600"]]'
HONEST = ("ada", "bob", "cy", "dan", "eve")


@pytest.fixture(scope="module")
def server() -> Iterator[Cluster]:
    server = cluster()
    yield server
    server.remove()


@pytest.fixture(
    params=["sqlite", pytest.param("postgresql", marks=[pytest.mark.long, pytest.mark.repetition])]
)
def harness(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SubmissionHarness]:
    if request.param == "sqlite":
        yield SubmissionHarness(tmp_path)
        return
    server: Cluster = request.getfixturevalue("server")
    with server.database(server.migrated_template()) as url:
        engine: Engine = database.open(url)
        harness = SubmissionHarness(tmp_path, engine)
        harness.pending_uploads.create()
        yield harness
        engine.dispose()


def push_hostile(harness: SubmissionHarness, *lines: str) -> list[Submission]:
    folders = [harness.bot(f"slow{number}", *lines) for number in range(3)]
    return [harness.push(folder, "mallory") for folder in folders]


def push_honest(harness: SubmissionHarness) -> list[Submission]:
    build = 'build = ["python", "-c", "open(\'built\', \'w\').close()"]'
    return [harness.push(harness.bot(f"bot-{owner}", build), owner) for owner in HONEST]


def now(harness: SubmissionHarness, pushed: list[Submission]) -> list[Submission]:
    return [submissions.find_submission(harness.engine, each.id) for each in pushed]


def run_until(harness: SubmissionHarness, condition: Callable[[], bool]) -> None:
    runner.run(harness.pipeline, lambda: not condition())


@pytest.mark.long
def test_honest_owners_are_decided_while_a_hostile_build_runs(harness: SubmissionHarness) -> None:
    hostile, honest = push_hostile(harness, SLEEPS), push_honest(harness)
    running: list[list[Submission]] = []

    def honest_are_decided() -> bool:
        running.append([each for each in now(harness, hostile) if each.attempts])
        return all(each.is_decided for each in now(harness, honest))

    run_until(harness, honest_are_decided)
    assert [each.state for each in now(harness, honest)] == [SubmissionState.ACCEPTED] * 5
    # Of the hostile owner, one submission at a time was worked on.
    assert {len(each) for each in running} == {0, 1} or {len(each) for each in running} == {1}
    [first, *others] = now(harness, hostile)
    assert (first.state, first.stage) == (SubmissionState.RUNNING, SubmissionStage.BUILDING)
    assert [each.state for each in others] == [SubmissionState.WAITING] * 2
    # The interrupted build left nothing, and the next run continues.
    assert not list(harness.pipeline.versions.glob(".new-*"))
    harness.pipeline = replace(harness.pipeline, build_seconds=0.5)
    run_until(harness, lambda: harness.all_decided)
    for refused in now(harness, hostile):
        assert (refused.state, refused.status) == (SubmissionState.REFUSED, 422)
        assert re.search(
            r"\(command [12] of 2\) was running when all commands together had taken",
            refused.sentence,
        )
        assert refused.sentence.count("0.5 s") == 1


@pytest.mark.long
def test_a_slow_test_is_stopped_at_the_total_limit(tmp_path: Path) -> None:
    harness = SubmissionHarness(tmp_path)

    def examine(bot: Bot, owner: str) -> list[Check]:
        # Stands for a bot that never ends its tables.
        if bot.label.startswith("slow"):
            time.sleep(600)
        return []

    harness.pipeline = replace(harness.pipeline, examine=examine)
    hostile, honest = push_hostile(harness), push_honest(harness)
    run_until(harness, lambda: all(each.is_decided for each in now(harness, honest)))
    assert [each.state for each in now(harness, honest)] == [SubmissionState.ACCEPTED] * 5
    assert not any(each.is_decided for each in now(harness, hostile))
    harness.pipeline = replace(harness.pipeline, build_seconds=0.5, test_seconds=2.0)
    run_until(harness, lambda: harness.all_decided)
    for refused in now(harness, hostile):
        assert (refused.state, refused.status) == (SubmissionState.REFUSED, 422)
        assert "took longer than 2.5 s together" in refused.sentence
        assert refused.attempts <= 2
    assert not (harness.pipeline.versions / hostile[0].content_hash).exists()
    assert list(harness.pending_uploads.root.iterdir()) == [harness.pending_uploads.root / "lock"]
