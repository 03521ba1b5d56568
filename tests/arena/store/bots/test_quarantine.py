"""The quarantine of a version with which matches fail repeatedly while others do not."""

from collections.abc import Callable

import pytest
from sqlalchemy import Engine, update

from arena.errors import Conflict, NotFound
from arena.store import database, schema
from arena.store.bots import quarantine, versions
from arena.store.matches import listing, match_leases
from arena.store.matches.match_leases import ArenaFault
from arena.store.schema import MatchState
from arena.store.tournaments import tournaments
from arena.store.tournaments.tournaments import Tournament
from arena.tournaments import scheduler
from tests.arena.store.played_matches import leased, play
from tests.errors import has_code

Schedule = Callable[..., Tournament]
Lapse = Callable[[str], None]

BAD = "bot3@1"
on_sqlite = pytest.mark.parametrize("url", ["sqlite"], indirect=True)


def fail(store: Engine, match: str) -> None:
    match_leases.release(store, leased(store, match), ArenaFault("It broke."))
    make_due(store, match)


def make_due(store: Engine, match: str) -> None:
    with database.writing(store) as connection:
        table = schema.matches
        connection.execute(update(table).where(table.c.id == match).values(retry_at=None))


def split(store: Engine, tournament: Tournament) -> tuple[list[str], list[str]]:
    """Return the matches with the bad version, and those without it."""
    matches = listing.matches(store, tournament=tournament.id)
    with_it = [match.id for match in matches if BAD in match.entrants]
    return with_it, [match.id for match in matches if match.id not in with_it]


def state(store: Engine, match: str) -> MatchState:
    return listing.find_match(store, match).state


def test_three_failures_while_three_others_close_quarantine_a_version(
    store: Engine, schedule: Schedule
) -> None:
    tournament = schedule(4, cycles=2)
    bad, good = split(store, tournament)
    fail(store, bad[0])
    for match in good[:2]:
        play(store, match)
    fail(store, bad[1])
    fail(store, bad[2])
    assert versions.find_version(store, BAD).quarantined is None
    play(store, good[2])
    fail(store, bad[2])
    version = versions.find_version(store, BAD)
    assert version.quarantined is not None
    assert version.quarantine_reason is not None
    for match in bad:
        ended = listing.find_match(store, match)
        assert ended.state is MatchState.VOID
        assert ended.reason is not None
        assert BAD in ended.reason
        assert "quarantine" in ended.reason
    assert all(state(store, match) is not MatchState.VOID for match in good)
    [entry] = [
        each
        for each in tournaments.find_tournament(store, tournament.id).entries
        if each.name == BAD
    ]
    assert entry.withdrawn is not None
    # Its opponents are not excluded.
    assert [each.id for each in versions.list_versions(store) if each.quarantined is not None] == [
        BAD
    ]


@on_sqlite
def test_a_general_outage_quarantines_no_version(store: Engine, schedule: Schedule) -> None:
    tournament = schedule(4, cycles=2)
    bad, good = split(store, tournament)
    for match in good[:3]:
        play(store, match)
    for match in (*good[3:], *bad):
        fail(store, match)
        fail(store, match)
    assert all(version.quarantined is None for version in versions.list_versions(store))


@on_sqlite
def test_a_closed_match_resets_the_failures(store: Engine, schedule: Schedule) -> None:
    tournament = schedule(4, cycles=2)
    bad, good = split(store, tournament)
    fail(store, bad[0])
    fail(store, bad[1])
    play(store, bad[2])
    for match in good[:3]:
        play(store, match)
    fail(store, bad[3])
    fail(store, bad[4])
    assert versions.find_version(store, BAD).quarantined is None


@on_sqlite
def test_failures_that_do_not_count_towards_a_void_match_do_not_count_here(
    store: Engine, schedule: Schedule, lapse: Lapse
) -> None:
    tournament = schedule(4, cycles=2)
    bad, good = split(store, tournament)
    # The workers of the first three were killed, and that of the others fails in every match.
    for match in bad[:3]:
        match_leases.lease(store, match, "w")
        lapse(match)
        match_leases.lease(store, match, "w")
    for match in good[:3]:
        play(store, match)
    for match in bad[3:]:
        lease = leased(store, match)
        match_leases.release(store, lease, ArenaFault("It broke.", counts=False))
    assert versions.find_version(store, BAD).quarantined is None
    fail(store, bad[3])
    fail(store, bad[4])
    assert versions.find_version(store, BAD).quarantined is None


@pytest.fixture
def tournament_with_quarantine(store: Engine, schedule: Schedule) -> Tournament:
    tournament = schedule(4, cycles=2)
    bad, good = split(store, tournament)
    fail(store, bad[0])
    for match in good[:3]:
        play(store, match)
    fail(store, bad[1])
    fail(store, bad[2])
    return tournament


def test_a_quarantined_version_cannot_enter_tournaments(
    store: Engine, tournament_with_quarantine: Tournament
) -> None:
    entrants = ["bot0@1", BAD]
    with pytest.raises(Conflict, check=has_code("in-quarantine")):
        scheduler.begin(store, tournament_with_quarantine.plan, entrants)
    assert quarantine.lift(store, BAD).quarantined is None
    scheduler.begin(store, tournament_with_quarantine.plan, entrants)
    with pytest.raises(Conflict, check=has_code("not-in-quarantine")):
        quarantine.lift(store, BAD)
    with pytest.raises(NotFound):
        quarantine.lift(store, "nobody@1")


def test_lifting_a_quarantine_resets_the_failures(
    store: Engine, tournament_with_quarantine: Tournament
) -> None:
    quarantine.lift(store, BAD)
    tournament = scheduler.begin(
        store, tournament_with_quarantine.plan, [f"bot{n}@1" for n in range(4)]
    )
    bad, good = split(store, tournament)
    fail(store, bad[0])
    for match in good[:3]:
        play(store, match)
    fail(store, bad[1])
    assert versions.find_version(store, BAD).quarantined is None
    fail(store, bad[2])
    assert versions.find_version(store, BAD).quarantined is not None
