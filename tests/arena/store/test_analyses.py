"""Claims and results of analyses."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, update

from arena.store import analyses, schema
from arena.store.access.audit_log import COMMAND_LINE
from arena.store.database import writing
from arena.store.matches import corrections, transitions
from arena.store.matches.games import PlayedGame
from arena.store.tournaments.tournaments import Tournament

Schedule = Callable[..., Tournament]
Played = Callable[..., PlayedGame]


def close(store: Engine, played: Played) -> str:
    """Play the next match."""
    match = transitions.due(store)[0]
    lease = transitions.lease(store, match, "worker")
    assert lease is not None
    for number in range(lease.spec.games):
        transitions.commit_game(store, lease, played(lease.spec, number))
    return match


@pytest.fixture
def closed(store: Engine, schedule: Schedule, played: Played) -> str:
    """Return a closed match; another one is open."""
    schedule(cycles=2)
    return close(store, played)


def test_only_closed_matches_are_claimed_the_newest_first(
    store: Engine, closed: str, played: Played
) -> None:
    newest = close(store, played)
    assert [analyses.claim(store) for _ in range(3)] == [newest, closed, None]


def test_one_of_several_workers_claims_a_match(store: Engine, closed: str) -> None:
    with ThreadPoolExecutor(4) as workers:
        claims = list(workers.map(lambda _: analyses.claim(store), range(4)))
    assert [claim for claim in claims if claim] == [closed]


def test_a_lapsed_claim_is_taken_again_at_most_three_times(store: Engine, closed: str) -> None:
    assert analyses.claim(store) == closed
    assert analyses.claim(store) is None
    lapsed = update(schema.analyses).values(claimed_until=0)
    for expected in (closed, closed, None):
        with writing(store) as connection:
            connection.execute(lapsed)
        assert analyses.claim(store) == expected


def test_a_voided_match_has_no_analysis(store: Engine, closed: str) -> None:
    assert analyses.claim(store) == closed
    analyses.finish(store, closed, {"form": 1})
    assert analyses.find(store, closed) == {"form": 1}
    corrections.void(store, closed, COMMAND_LINE, "a test")
    assert analyses.find(store, closed) is None
    analyses.finish(store, closed, {"form": 1})
    assert analyses.find(store, closed) is None
