"""Claims and results of what idle workers compute."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, update

from arena.store import schema
from arena.store.access.audit_log import COMMAND_LINE
from arena.store.database import writing
from arena.store.idle_results import ANALYSES, LUCK, IdleResults
from arena.store.matches import corrections, listing
from arena.store.tournaments.tournaments import Tournament
from tests.arena.store.played_matches import play

Schedule = Callable[..., Tournament]


@pytest.fixture
def closed(store: Engine, schedule: Schedule) -> str:
    schedule(cycles=2)
    return play(store).match


def claimed(store: Engine, kind: IdleResults = ANALYSES) -> str | None:
    task = kind.claim(store)
    return None if task is None else task.key


def test_only_closed_matches_are_claimed_the_newest_first(store: Engine, closed: str) -> None:
    newest = play(store).match
    assert [claimed(store) for _ in range(3)] == [newest, closed, None]
    assert [claimed(store, LUCK) for _ in range(3)] == [newest, closed, None]


def test_one_of_several_workers_claims_a_match(store: Engine, closed: str) -> None:
    with ThreadPoolExecutor(4) as workers:
        claims = list(workers.map(lambda _: claimed(store), range(4)))
    assert [claim for claim in claims if claim] == [closed]


def test_a_lapsed_claim_is_taken_again_at_most_three_times(store: Engine, closed: str) -> None:
    assert claimed(store) == closed
    assert claimed(store) is None
    lapsed = update(schema.tasks).values(held_until=0)
    for expected in (closed, closed, None):
        with writing(store) as connection:
            connection.execute(lapsed)
        assert claimed(store) == expected


def test_an_earlier_worker_stores_nothing(store: Engine, closed: str) -> None:
    earlier = ANALYSES.claim(store, seconds=0)
    newest = ANALYSES.claim(store)
    assert earlier is not None
    assert newest is not None
    ANALYSES.finish(store, earlier, {"form": 1})
    assert ANALYSES.find(store, closed) is None
    ANALYSES.finish(store, newest, {"form": 2})
    ANALYSES.finish(store, newest, {"form": 3})
    assert ANALYSES.find(store, closed) == {"form": 2}
    assert claimed(store) is None


def test_a_step_of_the_clock_does_not_keep_a_claim(store: Engine, closed: str) -> None:
    """The clock was ahead by a day when the match was claimed, and is corrected."""
    assert claimed(store) == closed
    with writing(store) as connection:
        later = schema.tasks.c.held_until + 86_400
        connection.execute(update(schema.tasks).values(held_until=later))
    assert claimed(store) == closed


@pytest.mark.parametrize("kind", [ANALYSES, LUCK], ids=lambda kind: str(kind.kind))
def test_a_voided_match_has_no_results(store: Engine, closed: str, kind: IdleResults) -> None:
    task = kind.claim(store)
    assert task is not None
    kind.finish(store, task, {"form": 1})
    assert kind.find(store, closed) == {"form": 1}
    corrections.void(store, closed, COMMAND_LINE, "a test")
    assert kind.find(store, closed) is None
    kind.finish(store, task, {"form": 1})
    assert kind.find(store, closed) is None


def test_results_of_tournaments_are_listed_and_removed(store: Engine, closed: str) -> None:
    tournament = listing.find_match(store, closed).tournament
    task = LUCK.claim(store)
    assert task is not None
    assert LUCK.of_tournaments(store, [tournament]) == {}
    LUCK.finish(store, task, {"games": []})
    assert LUCK.of_tournaments(store, [tournament]) == {closed: {"games": []}}
    LUCK.remove_of_tournaments(store, [tournament])
    assert LUCK.of_tournaments(store, [tournament]) == {}
    assert claimed(store, LUCK) == closed
