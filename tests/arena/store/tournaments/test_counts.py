"""The progress of tournaments is counted without reading all matches."""

from collections.abc import Callable

import pytest
from sqlalchemy import Engine

from arena.errors import NotFound
from arena.formats.contract import Fixture
from arena.store import consistency
from arena.store.matches import listing, match_leases
from arena.store.tournaments import lifecycle, tournaments
from arena.store.tournaments.tournaments import Tournament, TournamentProgress
from arena.tournaments import scheduler
from tests.arena.store.played_matches import play
from tests.arena.store.query_plans import query_plans

Schedule = Callable[..., Tournament]


def test_games_of_matches_in_every_state_are_counted(store: Engine, schedule: Schedule) -> None:
    tournament = schedule(4, boards=2)
    whole, begun, given_up, *_ = match_leases.due(store)
    play(store, whole, games=4)
    play(store, begun, games=3)
    play(store, given_up, games=1)
    match_leases.void(store, given_up, "the folder of a bot is gone")
    assert tournaments.progress(store, tournament.id) == TournamentProgress(
        pending=3, running=1, closed=1, void=1, cancelled=0, games=8, planned=24
    )


def test_counts_match_the_matches_after_every_change(store: Engine, schedule: Schedule) -> None:
    tournament = schedule(4, boards=2)
    other = scheduler.begin(
        store, tournament.plan, [entry.name for entry in tournament.entries], None
    )
    first, second, third, *_ = (m.id for m in listing.matches(store, tournament=tournament.id))
    play(store, first, games=4)
    play(store, second, games=1)
    match_leases.void(store, third, "the folder of a bot is gone")
    more = [Fixture(9, number, ("bot0@1", f"bot{number + 1}@1")) for number in range(3)]
    assert lifecycle.extend(store, tournament, lifecycle.marks(store, tournament.id), more) == 3
    assert lifecycle.extend(store, tournament, lifecycle.marks(store, other.id), more) == 0
    lifecycle.withdraw(store, tournament.id, "bot3@1")
    lifecycle.cancel(store, other.id)
    counted = tournaments.progress(store, tournament.id)
    assert (counted.matches, counted.planned, counted.games) == (9, 36, 5)
    assert (counted.closed, counted.running, counted.void) == (1, 1, 1)
    counted = tournaments.progress(store, other.id)
    assert (counted.matches, counted.cancelled, counted.closed) == (6, 6, 0)
    assert list(consistency.problems(store, lambda what, done, of: None)) == []


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_matches_are_counted_by_a_covering_index(store: Engine) -> None:
    def count() -> None:
        lifecycle.marks(store, "t-none")
        with pytest.raises(NotFound):
            tournaments.progress(store, "t-none")

    plans = [
        [step for step in plan if "matches" in step]
        for query, plan in query_plans(store, count, "count(")
        if "JOIN matches" in query and "games JOIN" not in query
    ]
    assert len(plans) == 2
    for read in plans:
        assert read
        assert all("COVERING INDEX" in step for step in read)
