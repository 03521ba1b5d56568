"""Results of matches, and when they become visible."""

from collections.abc import Callable

import pytest
from sqlalchemy import Engine

from arena.errors import NotFound
from arena.ratings.closed_match import ClosedMatch, PlayedGame
from arena.store.matches import listing, match_leases, results
from arena.store.tournaments import lifecycle
from arena.store.tournaments.tournaments import Tournament
from referee import record
from referee.games.shared.dealing import commitment
from tests.arena.store.played_matches import commit, leased, play
from tests.arena.store.store_contender import played_game
from tests.errors import has_code

Schedule = Callable[..., Tournament]


def test_a_closed_match_has_the_outcome_of_every_game_and_entrant(
    store: Engine, schedule: Schedule
) -> None:
    schedule()
    lease = leased(store)
    commit(store, lease, 1, fault="timeout")
    commit(store, lease, 0, places=(1, 1))
    # At the second table the first entrant has the last seat.
    assert list(results.closed(store)) == [
        ClosedMatch(
            id=lease.match,
            round=0,
            number=0,
            entrants=("bot0@1", "bot1@1"),
            games=(
                PlayedGame(0, (1, 1), (20, 10), ("finished", "finished"), (0, 0)),
                PlayedGame(1, (2, 1), None, ("timeout", "finished"), (1, 0)),
            ),
        )
    ]


def test_only_closed_matches_count(store: Engine, schedule: Schedule) -> None:
    schedule(3)
    void, begun, _ = match_leases.due(store)
    for match in (void, begun):
        lease = leased(store, match)
        commit(store, lease, 0)
    match_leases.void(store, void, "Because.")
    assert list(results.closed(store)) == []


def test_the_record_of_a_closed_match_is_complete(store: Engine, schedule: Schedule) -> None:
    tournament = schedule(boards=2)
    lease = play(store, match_leases.due(store)[0], fault="illegal")
    read = record.read(results.record(store, lease.match))
    assert read.match == {
        "type": "match",
        "format": 1,
        "match": lease.match,
        "game": "poke",
        "options": {"must_beat": True},
        "seats": 2,
        "boards": 2,
        "commitment": commitment(lease.spec.seed),
        "entrants": [["bot0@1", f"{0:064x}"], ["bot1@1", f"{1:064x}"]],
        "clock": {"start_ms": 10000, "allowance_ms": 200, "bank_ms": 10000},
        "policy": "lenient",
        "tournament": tournament.id,
        "round": 0,
        "number": 0,
    }
    assert [game.number for game in read.games] == [0, 1, 2, 3]
    assert read.seed == lease.spec.seed


def test_a_record_contains_the_stored_lines_unchanged(store: Engine, schedule: Schedule) -> None:
    schedule()
    lease = leased(store)
    texts = [played_game(lease.spec, number).record for number in range(2)]
    for number in range(2):
        commit(store, lease, number)
    assert "".join(texts) in results.record(store, lease.match)
    assert results.game_record(store, lease.match, 1) == texts[1]


def test_the_record_of_an_open_match_has_only_its_first_line(
    store: Engine, schedule: Schedule
) -> None:
    schedule()
    lease = leased(store)
    commit(store, lease, 0, fault="crash")
    read = record.read(results.record(store, lease.match))
    assert (read.games, read.seed) == ((), None)
    assert read.match["commitment"] == commitment(lease.spec.seed)
    assert results.faults(store, lease.match) == ()
    with pytest.raises(NotFound, check=has_code("no-game")):
        results.game_record(store, lease.match, 0)


def test_a_void_or_cancelled_match_shows_its_games_but_never_its_seed(
    store: Engine, schedule: Schedule
) -> None:
    tournament = schedule(3)
    void, cancelled, _ = match_leases.due(store)
    for match in (void, cancelled):
        lease = leased(store, match)
        commit(store, lease, 0)
        if match == void:
            match_leases.void(store, match, "Because.")
    lifecycle.cancel(store, tournament.id)
    match_leases.release(store, lease)
    for match in (void, cancelled):
        read = record.read(results.record(store, match))
        assert ([game.number for game in read.games], read.seed) == ([0], None)


def test_the_record_of_an_unknown_match_is_refused(store: Engine) -> None:
    with pytest.raises(NotFound, check=has_code("unknown-match")):
        results.record(store, "m-none")


def test_the_faults_of_a_match_are_listed(store: Engine, schedule: Schedule) -> None:
    tournament = schedule(3)
    _, other, third = (match.id for match in listing.matches(store, tournament=tournament.id))
    play(store, third, fault="timeout")
    play(store, other, fault="crash")
    entrants = listing.find_match(store, third).entrants
    faults = results.faults(store, third)
    assert [(fault.game, fault.seat, fault.version) for fault in faults] == [
        (0, 1, entrants[1]),
        (1, 1, entrants[0]),
    ]
    assert (faults[0].tournament, faults[0].decision, faults[0].verdict) == (
        tournament.id,
        1,
        "timeout",
    )
    assert (faults[0].sentence, faults[0].ended) == ("It was a timeout.", "")
    assert faults[0].output == "last words"
