"""Tournaments: their matches, and their states."""

import hashlib
import json
from collections.abc import Callable

import pytest
from sqlalchemy import Engine

from arena.errors import Conflict, NotFound, StoreError
from arena.formats.contract import Fixture, FormatEntrant
from arena.store.bots import versions
from arena.store.database import reading
from arena.store.ids import match_id
from arena.store.matches import listing, match_leases, rows
from arena.store.matches.spec import MatchSpec
from arena.store.schema import MatchState, TournamentState
from arena.store.tournaments import lifecycle, tournaments
from arena.store.tournaments.tournaments import Tournament, TournamentProgress
from referee.games.shared import dealing
from tests.arena.poke_plan import poke_plan
from tests.arena.store.played_matches import commit, leased, play
from tests.errors import has_code

Schedule = Callable[..., Tournament]
Lapse = Callable[[str], None]
Settle = Callable[[], object]

SEED = bytes(range(32))
PLAN = poke_plan()


def spec(store: Engine, match: str) -> MatchSpec:
    with reading(store) as connection:
        return rows.spec(connection, match)


def test_a_tournament_is_created_with_all_its_matches(store: Engine, schedule: Schedule) -> None:
    tournament = schedule(4, boards=3, cycles=2)
    assert tournament.id.startswith("t-")
    assert len(tournament.id) == 8
    assert tournament.entrants == ("bot0@1", "bot1@1", "bot2@1", "bot3@1")
    assert tournament.state is TournamentState.RUNNING
    assert tournaments.find_tournament(store, tournament.id) == tournament
    assert tournaments.progress(store, tournament.id) == TournamentProgress(
        pending=12, running=0, closed=0, void=0, cancelled=0, games=0, planned=72
    )


def test_matches_are_listed_by_round_and_number_without_seeds(
    store: Engine, schedule: Schedule
) -> None:
    tournament = schedule(4, seed=SEED)
    matches = listing.matches(store, tournament=tournament.id)
    assert [(match.round, match.number) for match in matches] == [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
        (2, 0),
        (2, 1),
    ]
    assert {match.state for match in matches} == {MatchState.PENDING}
    for match in matches:
        secret = spec(store, match.id).seed
        assert match.commitment == hashlib.sha256(secret).hexdigest()
        for shown in (repr(match), repr(spec(store, match.id))):
            assert secret.hex() not in shown
            assert repr(secret) not in shown


def test_a_match_is_found_by_its_id(store: Engine, schedule: Schedule) -> None:
    first, *_ = listing.matches(store, tournament=schedule(3).id)
    assert listing.find_match(store, first.id) == first
    with pytest.raises(NotFound, check=has_code("unknown-match")):
        listing.find_match(store, "m-none")


def test_matches_are_listed_by_bot_and_by_state(store: Engine, schedule: Schedule) -> None:
    tournament = schedule(3)
    of_bot = listing.matches(store, tournament=tournament.id, version="bot2@1")
    assert [match.entrants for match in of_bot if "bot2@1" in match.entrants] == [
        match.entrants for match in of_bot
    ]
    assert len(of_bot) == 2
    match_leases.lease(store, of_bot[0].id, "worker")
    running = listing.matches(store, states=[MatchState.RUNNING])
    assert [match.id for match in running] == [of_bot[0].id]
    assert len(listing.matches(store, limit=2)) == 2


def test_match_key_and_id_are_derived_from_the_specification(
    store: Engine, schedule: Schedule
) -> None:
    tournament = schedule(2, boards=2, seed=SEED)
    words = {
        "allowance_ms": 200,
        "bank_ms": 10000,
        "start_ms": 10000,
    }
    what = {
        "boards": 2,
        "clock": words,
        "entrants": [f"{0:064x}", f"{1:064x}"],
        "game": "poke",
        "number": 0,
        "options": {"must_beat": True},
        "policy": "lenient",
        "round": 0,
        "seats": 2,
    }
    text = json.dumps(what, sort_keys=True, separators=(",", ":"))
    key = hashlib.sha256(text.encode()).hexdigest()
    (match,) = listing.matches(store, tournament=tournament.id)
    assert match.id == match_id(tournament.id, key)
    assert spec(store, match.id).seed == dealing.derive(SEED, f"match/{key}", 0)


def test_an_id_of_a_match_is_ten_letters_of_crockford() -> None:
    digest = hashlib.sha256(b"t-123456abc").digest()
    bits = "".join(f"{byte:08b}" for byte in digest)[:50]
    letters = "0123456789abcdefghjkmnpqrstvwxyz"
    expected = "".join(letters[int(bits[at : at + 5], 2)] for at in range(0, 50, 5))
    assert match_id("t-123456", "abc") == f"m-{expected}"


def test_equal_seeds_and_entrants_give_equal_deals_with_other_ids(
    store: Engine, schedule: Schedule
) -> None:
    tournament, repeated = schedule(3, seed=SEED), schedule(3, seed=SEED)
    first = listing.matches(store, tournament=tournament.id)
    second = listing.matches(store, tournament=repeated.id)
    assert [match.commitment for match in first] == [match.commitment for match in second]
    assert not {match.id for match in first} & {match.id for match in second}
    assert len({match.commitment for match in first}) == 3


def test_without_a_seed_every_match_has_its_own(store: Engine, schedule: Schedule) -> None:
    commitments = {
        match.commitment
        for tournament in (schedule(3), schedule(3))
        for match in listing.matches(store, tournament=tournament.id)
    }
    assert len(commitments) == 6


def test_the_seed_of_a_tournament_is_shown_when_it_is_closed(
    store: Engine, schedule: Schedule, settle: Settle
) -> None:
    tournament = schedule(2, seed=SEED)
    assert tournament.seed is None
    assert all(listed.seed is None for listed in tournaments.list_tournaments(store))
    play(store, match_leases.due(store)[0])
    settle()
    assert tournaments.find_tournament(store, tournament.id).seed == SEED


@pytest.mark.parametrize(
    ("names", "error", "code"),
    [
        (["a@1", "a@1"], StoreError, "named-twice"),
        (["a@1", "x@1"], NotFound, "unknown-version"),
        (["a@1", "old@1"], Conflict, "retired"),
    ],
)
def test_an_invalid_tournament_is_refused_and_leaves_nothing(
    store: Engine,
    names: list[str],
    error: type[StoreError],
    code: str,
) -> None:
    for name in ("a", "b", "old"):
        versions.add_version(store, name, "1", name, f"/{name}", {})
    versions.retire(store, "old@1")
    with pytest.raises(error, check=has_code(code)):
        tournaments.create_tournament(
            store, PLAN, list(map(FormatEntrant, names)), [Fixture(0, 0, tuple(names))]
        )
    assert tournaments.list_tournaments(store) == ()


def test_a_tournament_is_created_completely_or_not_at_all(store: Engine) -> None:
    for name in ("a", "b"):
        versions.add_version(store, name, "1", name, f"/{name}", {})
    fixtures = [Fixture(0, 0, ("a@1", "b@1")), Fixture(1, 0, ("a@1", "stranger@1"))]
    with pytest.raises(KeyError):
        tournaments.create_tournament(
            store, PLAN, [FormatEntrant("a@1"), FormatEntrant("b@1")], fixtures
        )
    assert tournaments.list_tournaments(store) == ()
    assert match_leases.due(store) == ()


def test_tournaments_are_listed_oldest_first_by_game_and_state(
    store: Engine, schedule: Schedule
) -> None:
    first, second, third = schedule(), schedule(game="saint_poker"), schedule()
    lifecycle.pause(store, third.id)

    def ids(cups: tuple[Tournament, ...]) -> list[str]:
        return [tournament.id for tournament in cups]

    assert ids(tournaments.list_tournaments(store)) == [first.id, second.id, third.id]
    assert ids(tournaments.list_tournaments(store, game="poke")) == [first.id, third.id]
    assert ids(tournaments.list_tournaments(store, state=TournamentState.PAUSED)) == [third.id]


def test_a_tournament_closes_with_its_last_match(
    store: Engine, schedule: Schedule, settle: Settle
) -> None:
    tournament = schedule(3)
    *firsts, last = match_leases.due(store)
    for match in firsts:
        play(store, match)
    settle()
    assert tournaments.find_tournament(store, tournament.id).state is TournamentState.RUNNING
    play(store, last)
    settle()
    over = tournaments.find_tournament(store, tournament.id)
    assert over.state is TournamentState.CLOSED
    assert over.ended is not None
    assert tournaments.progress(store, tournament.id) == TournamentProgress(
        pending=0, running=0, closed=3, void=0, cancelled=0, games=6, planned=6
    )


def test_a_void_match_can_be_the_last_one(
    store: Engine, schedule: Schedule, settle: Settle
) -> None:
    tournament = schedule(3)
    first, second, third = match_leases.due(store)
    play(store, first)
    play(store, second)
    assert match_leases.void(store, third, "the folder of bot2@1 is gone")
    settle()
    assert tournaments.find_tournament(store, tournament.id).state is TournamentState.CLOSED
    assert tournaments.progress(store, tournament.id).void == 1


def test_a_paused_tournament_starts_no_match_and_finishes_running_ones(
    store: Engine, schedule: Schedule
) -> None:
    tournament = schedule(3)
    begun, *waiting = match_leases.due(store)
    lease = leased(store, begun)
    assert lifecycle.pause(store, tournament.id).state is TournamentState.PAUSED
    assert match_leases.due(store) == ()
    assert match_leases.lease(store, waiting[0], "worker") is None
    commit(store, lease, 0)
    commit(store, lease, 1)
    assert listing.find_match(store, begun).state is MatchState.CLOSED
    assert lifecycle.resume(store, tournament.id).state is TournamentState.RUNNING
    assert match_leases.due(store) == tuple(waiting)


def test_a_lost_match_of_a_paused_tournament_waits_for_resume(
    store: Engine, schedule: Schedule, lapse: Lapse
) -> None:
    tournament = schedule()
    (match,) = match_leases.due(store)
    match_leases.lease(store, match, "worker")
    lifecycle.pause(store, tournament.id)
    lapse(match)
    assert match_leases.due(store) == ()
    lifecycle.resume(store, tournament.id)
    assert match_leases.due(store) == (match,)


def test_a_paused_tournament_closes_if_its_last_match_was_being_played(
    store: Engine, schedule: Schedule, settle: Settle
) -> None:
    tournament = schedule()
    lease = leased(store)
    lifecycle.pause(store, tournament.id)
    commit(store, lease, 0)
    commit(store, lease, 1)
    settle()
    assert tournaments.find_tournament(store, tournament.id).state is TournamentState.CLOSED


def test_cancelling_ends_waiting_matches_and_finishes_running_ones(
    store: Engine, schedule: Schedule
) -> None:
    tournament = schedule(3)
    begun, *waiting = match_leases.due(store)
    lease = leased(store, begun)
    cancelled = lifecycle.cancel(store, tournament.id)
    assert cancelled.state is TournamentState.CANCELLED
    assert cancelled.ended is not None
    assert [listing.find_match(store, match).state for match in waiting] == [
        MatchState.CANCELLED
    ] * 2
    assert match_leases.due(store) == ()
    commit(store, lease, 0)
    commit(store, lease, 1)
    assert listing.find_match(store, begun).state is MatchState.CLOSED
    assert tournaments.find_tournament(store, tournament.id).state is TournamentState.CANCELLED


def test_a_lost_match_of_a_cancelled_tournament_is_cancelled(
    store: Engine, schedule: Schedule, lapse: Lapse
) -> None:
    tournament = schedule()
    (match,) = match_leases.due(store)
    match_leases.lease(store, match, "worker")
    lifecycle.cancel(store, tournament.id)
    lapse(match)
    assert match_leases.due(store) == (match,)
    assert match_leases.lease(store, match, "another") is None
    assert listing.find_match(store, match).state is MatchState.CANCELLED
    assert match_leases.due(store) == ()


def test_a_released_match_of_a_cancelled_tournament_is_cancelled(
    store: Engine, schedule: Schedule
) -> None:
    tournament = schedule()
    lease = leased(store)
    lifecycle.cancel(store, tournament.id)
    match_leases.release(store, lease)
    assert listing.find_match(store, lease.match).state is MatchState.CANCELLED


def test_a_finished_tournament_cannot_change(store: Engine, schedule: Schedule) -> None:
    tournament = schedule()
    lifecycle.cancel(store, tournament.id)
    for verb in (lifecycle.pause, lifecycle.resume, lifecycle.cancel):
        with pytest.raises(Conflict, check=has_code("tournament-over")):
            verb(store, tournament.id)


def test_an_unknown_tournament_is_refused(store: Engine) -> None:
    for verb in (
        tournaments.find_tournament,
        tournaments.progress,
        lifecycle.pause,
        lifecycle.resume,
        lifecycle.cancel,
    ):
        with pytest.raises(NotFound, check=has_code("unknown-tournament")):
            verb(store, "t-none")
