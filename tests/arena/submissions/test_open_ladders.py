"""Test the ladders that `serve` opens and that pushed bots enter."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text, update

from arena.errors import InvalidSettings
from arena.store import database, schema
from arena.store.bots import versions
from arena.store.database import writing
from arena.store.postgresql import lock_decision
from arena.store.tournaments import lifecycle, tournaments
from arena.submissions import open_ladders
from referee.games.registry import GAMES
from tests.arena.submissions.submission_harness import SubmissionHarness
from tests.cluster import cluster
from tests.waiting import wait_until

FIRST = """
import sys
from arena.bots.manifest import Manifest
from arena.store import database
from arena.submissions import open_ladders

engine = database.open(sys.argv[1])
open_ladders.open_first(engine, Manifest("mine", ("./bot",), games=("poke", "pouku")))
"""


@pytest.fixture
def harness(tmp_path: Path) -> SubmissionHarness:
    return SubmissionHarness(tmp_path)


def test_a_ladder_is_opened_for_each_game_that_a_hosted_bot_plays(
    harness: SubmissionHarness,
) -> None:
    assert open_ladders.default_plans(harness.engine) == []
    for number in (1, 2):
        harness.pushed(harness.bot("mine", 'games = ["poke", "pouku"]', text=f"pass  # {number}\n"))
    plans = open_ladders.default_plans(harness.engine)
    assert [plan.game for plan in plans] == ["poke", "pouku"]
    open_ladders.create_missing(harness.engine, plans)
    ladders = open_ladders.list_open_ladders(harness.engine)
    assert {ladder.plan.game: ladder.entrants for ladder in ladders} == {
        "poke": ("mine@2",),
        "pouku": ("mine@2",),
    }
    pushed = harness.pushed(harness.bot("other", 'games = ["poke"]'))
    assert pushed.ladders == (ladders[0].id,)
    open_ladders.create_missing(harness.engine, open_ladders.default_plans(harness.engine))
    assert [ladder.id for ladder in open_ladders.list_open_ladders(harness.engine)] == [
        ladder.id for ladder in ladders
    ]
    assert tournaments.find_tournament(harness.engine, ladders[0].id).entrants == (
        "mine@2",
        "other@1",
    )


def test_the_first_accepted_bot_of_a_game_opens_its_ladder(harness: SubmissionHarness) -> None:
    closed = harness.pushed(harness.bot("early", 'games = ["poke"]'))
    assert closed.ladders == ()
    harness.pipeline = replace(harness.pipeline, opens_ladders=True)
    first = harness.pushed(harness.bot("first", 'games = ["poke", "pouku"]'))
    assert {
        ladder.plan.form: ladder.entrants
        for ladder in open_ladders.list_open_ladders(harness.engine)
    } == {
        "poke": ("early@1", "first@1"),
        "pouku-3": ("first@1",),
    }
    assert set(first.ladders) == {
        ladder.id for ladder in open_ladders.list_open_ladders(harness.engine)
    }
    every = harness.pushed(harness.bot("every"))
    forms = [ladder.plan.form for ladder in open_ladders.list_open_ladders(harness.engine)]
    assert sorted(forms) == sorted(open_ladders.plan_of(game).form for game in GAMES)
    assert set(first.ladders) < set(every.ladders)


def test_a_cancelled_ladder_is_not_opened_by_a_bot(harness: SubmissionHarness) -> None:
    harness.pipeline = replace(harness.pipeline, opens_ladders=True)
    (ladder,) = harness.pushed(harness.bot("first", 'games = ["poke"]')).ladders
    lifecycle.cancel(harness.engine, ladder)
    assert harness.pushed(harness.bot("second", 'games = ["poke"]')).ladders == ()
    assert open_ladders.list_open_ladders(harness.engine) == ()


def test_bots_that_are_accepted_at_the_same_time_open_one_ladder(
    harness: SubmissionHarness,
) -> None:
    harness.pushed(harness.bot("mine", 'games = ["poke"]'))
    plan, together = open_ladders.plan_of("poke"), threading.Barrier(4)

    def create() -> None:
        together.wait(60)
        open_ladders.create_missing(harness.engine, [plan])

    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(create) for _ in range(4)]:
            done.result()
    assert len(open_ladders.list_open_ladders(harness.engine)) == 1


@pytest.mark.long
def test_processes_that_accept_the_first_bot_of_a_game_at_the_same_time_open_one_ladder() -> None:
    server = cluster()
    try:
        with server.database() as url:
            engine = database.open(url)
            database.upgrade(engine)
            with writing(engine, "") as connection:
                # Both processes decide that there is no ladder, and wait for this transaction.
                lock_decision(connection, "open_ladder")
                command = [sys.executable, "-c", FIRST, url]
                processes = [subprocess.Popen(command) for _ in range(3)]
                waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
                wait_until(lambda: connection.scalar(waiting) == len(processes))
                assert open_ladders.list_open_ladders(engine) == ()
            assert [process.wait() for process in processes] == [0] * len(processes)
            forms = [ladder.plan.form for ladder in open_ladders.list_open_ladders(engine)]
            assert sorted(forms) == ["poke", "pouku-3"]
            engine.dispose()
    finally:
        server.remove()


def test_remote_and_quarantined_bots_do_not_open_ladders(harness: SubmissionHarness) -> None:
    versions.add_version(harness.engine, "far", "1", "f" * 64, "", {"remote": True})
    versions.add_version(harness.engine, "bad", "1", "e" * 64, "/bots/bad", {"run": ["x"]})
    assert open_ladders.default_plans(harness.engine) != []
    with writing(harness.engine, "") as connection:
        connection.execute(update(schema.versions).values(quarantined=1.0, quarantine_reason="x"))
    assert open_ladders.default_plans(harness.engine) == []


def test_a_ladder_of_another_form_waits_without_bots(harness: SubmissionHarness) -> None:
    plan = open_ladders.plan_of("saint_poker", 3)
    assert plan.form == "saint_poker-3"
    open_ladders.create_missing(harness.engine, [plan, plan])
    (ladder,) = open_ladders.list_open_ladders(harness.engine)
    assert (ladder.plan.form, ladder.entrants) == ("saint_poker-3", ())
    assert tournaments.progress(harness.engine, ladder.id).matches == 0
    with pytest.raises(InvalidSettings):
        open_ladders.plan_of("saint_poker", 40)
