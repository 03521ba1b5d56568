"""Claims and results of what idle workers compute."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, update

from arena.store import schema
from arena.store.access.audit_log import COMMAND_LINE
from arena.store.database import writing
from arena.store.idle_results import ALL, ANALYSES, LUCK, IdleResults
from arena.store.matches import corrections, listing
from arena.store.tournaments.tournaments import Tournament
from tests.arena.store.played_matches import play

Schedule = Callable[..., Tournament]


@pytest.fixture
def closed(store: Engine, schedule: Schedule) -> str:
    """Return a closed match; another one is open."""
    schedule(cycles=2)
    return play(store).match


def test_only_closed_matches_are_claimed_the_newest_first(store: Engine, closed: str) -> None:
    newest = play(store).match
    assert [ANALYSES.claim(store) for _ in range(3)] == [newest, closed, None]


def test_one_of_several_workers_claims_a_match(store: Engine, closed: str) -> None:
    with ThreadPoolExecutor(4) as workers:
        claims = list(workers.map(lambda _: ANALYSES.claim(store), range(4)))
    assert [claim for claim in claims if claim] == [closed]


def test_a_lapsed_claim_is_taken_again_at_most_three_times(store: Engine, closed: str) -> None:
    assert ANALYSES.claim(store) == closed
    assert ANALYSES.claim(store) is None
    lapsed = update(schema.analyses).values(claimed_until=0)
    for expected in (closed, closed, None):
        with writing(store) as connection:
            connection.execute(lapsed)
        assert ANALYSES.claim(store) == expected


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: str(kind.content))
def test_a_voided_match_has_no_results(store: Engine, closed: str, kind: IdleResults) -> None:
    assert kind.claim(store) == closed
    kind.finish(store, closed, {"form": 1})
    assert kind.find(store, closed) == {"form": 1}
    corrections.void(store, closed, COMMAND_LINE, "a test")
    assert kind.find(store, closed) is None
    kind.finish(store, closed, {"form": 1})
    assert kind.find(store, closed) is None


def test_results_of_tournaments_are_listed_and_removed(store: Engine, closed: str) -> None:
    tournament = listing.find_match(store, closed).tournament
    assert LUCK.claim(store) == closed
    assert LUCK.of_tournaments(store, [tournament]) == {}
    LUCK.finish(store, closed, {"games": []})
    assert LUCK.of_tournaments(store, [tournament]) == {closed: {"games": []}}
    LUCK.remove_of_tournaments(store, [tournament])
    assert LUCK.of_tournaments(store, [tournament]) == {}
    assert LUCK.claim(store) == closed
