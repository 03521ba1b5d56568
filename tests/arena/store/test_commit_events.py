"""Events are published by the commit of a transaction, and never after a rollback."""

from collections.abc import Callable

import pytest
from sqlalchemy import Engine

from arena.errors import Conflict, LeaseLost
from arena.store import database
from arena.store.events.messages import (
    Event,
    GameOver,
    MatchClosed,
    MatchStarted,
    TournamentChanged,
)
from arena.store.matches import listing, match_leases
from arena.store.schema import MatchState
from arena.store.tournaments.tournaments import Tournament
from tests.arena.store.played_matches import commit, leased
from tests.arena.store.store_contender import played_game

Schedule = Callable[..., Tournament]
STARTED = MatchStarted("m-1", "t-1", 1)


def test_a_match_publishes_its_start_its_games_and_its_end(
    store: Engine, schedule: Schedule
) -> None:
    tournament = schedule(boards=1)
    events: list[Event] = []
    with database.listening(store, events.append):
        lease = leased(store)
        for number in range(2):
            commit(store, lease, number)
    assert events == [
        MatchStarted(lease.match, tournament.id, 1),
        GameOver(lease.match, 1, 2),
        GameOver(lease.match, 2, 2),
        MatchClosed(lease.match, tournament.id),
    ]


def test_the_store_contains_what_an_event_reports(store: Engine, schedule: Schedule) -> None:
    schedule(boards=1)
    stored: list[tuple[type[Event], MatchState, int]] = []

    def read(event: Event) -> None:
        assert not isinstance(event, TournamentChanged)
        match = listing.find_match(store, event.match)
        stored.append((type(event), match.state, match.committed))

    with database.listening(store, read):
        lease = leased(store)
        for number in range(2):
            commit(store, lease, number)
    assert stored == [
        (MatchStarted, MatchState.RUNNING, 0),
        (GameOver, MatchState.RUNNING, 1),
        (GameOver, MatchState.CLOSED, 2),
        (MatchClosed, MatchState.CLOSED, 2),
    ]


def announce_and_fail(store: Engine) -> None:
    with database.writing(store) as connection:
        database.announce(connection, STARTED)
        raise RuntimeError


def test_a_rollback_publishes_nothing(store: Engine) -> None:
    events: list[Event] = []
    with database.listening(store, events.append):
        with pytest.raises(RuntimeError):
            announce_and_fail(store)
        with database.writing(store):
            pass
    assert events == []


def test_a_refused_game_publishes_nothing(store: Engine, schedule: Schedule) -> None:
    schedule(boards=1)
    lease = leased(store)
    game = played_game(lease.spec, 0)
    match_leases.commit_game(store, lease, game)
    events: list[Event] = []
    with database.listening(store, events.append):
        with pytest.raises(Conflict):
            match_leases.commit_game(store, lease, game)
        match_leases.release(store, lease)
        with pytest.raises(LeaseLost):
            commit(store, lease, 1)
    assert events == []


def test_a_listener_receives_events_only_within_its_block(store: Engine) -> None:
    first: list[Event] = []
    second: list[Event] = []
    with database.listening(store, first.append):
        with database.listening(store, second.append), database.writing(store) as connection:
            database.announce(connection, STARTED)
        # The inner block ended after the commit.
        with database.writing(store) as connection:
            database.announce(connection, STARTED)
    assert (first, second) == ([STARTED, STARTED], [STARTED])
