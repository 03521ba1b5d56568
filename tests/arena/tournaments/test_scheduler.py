"""Test the scheduler: it advances a format after each event and stores each step exactly once."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Engine

from arena.errors import Conflict
from arena.formats.contract import FormatOver, NextMatches
from arena.ratings.closed_match import PlayedGame
from arena.ratings.meetings import Meetings
from arena.ratings.strength import fit
from arena.store import database
from arena.store.bots import versions
from arena.store.match_settings import TournamentPlan
from arena.store.matches import games, listing, match_leases
from arena.store.matches.spec import MatchSpec
from arena.store.schema import MatchState, TournamentState
from arena.store.tournaments import lifecycle, tournaments
from arena.store.tournaments.tournaments import Tournament
from arena.tournaments import scheduler
from arena.tournaments.scheduler import Scheduler
from tests.arena.poke_plan import poke_plan
from tests.errors import has_code

BOTS = tuple(f"bot{number}@1" for number in range(5))


@pytest.fixture
def store(tmp_path: Path) -> Engine:
    engine = database.open(f"sqlite:///{tmp_path}/arena.db")
    database.upgrade(engine)
    for number in range(6):
        versions.add_version(engine, f"bot{number}", "1", f"{number:064x}", f"/bots/{number}", {})
    return engine


@pytest.fixture
def begun_tournament(store: Engine) -> Callable[..., Tournament]:
    def make(format_name: str, bots: int = 4, **settings: int) -> Tournament:
        plan = poke_plan(format=format_name, settings=settings)
        return scheduler.begin(store, plan, BOTS[:bots], bytes(32))

    return make


def played(spec: MatchSpec, number: int) -> PlayedGame:
    seating = [spec.versions[(seat + number) % 2] for seat in range(2)]
    places = [1 + (name != min(seating)) for name in seating]
    lines: list[dict[str, object]] = [
        {"type": "game", "game": number, "table": number, "board": 0, "seating": seating},
        {
            "type": "result",
            "game": number,
            "places": places,
            "scores": [100 - place for place in places],
            "verdicts": ["finished"] * 2,
            "bank_ms": [0, 0],
            "crashes": [0, 0],
            "faults": [0, 0],
        },
    ]
    return games.read("".join(json.dumps(line) + "\n" for line in lines), spec.versions)


def play_due(store: Engine) -> int:
    due = match_leases.due(store)
    for match in due:
        lease = match_leases.lease(store, match, "worker")
        assert lease is not None
        for number in range(2):
            match_leases.commit_game(store, lease, played(lease.spec, number))
    return len(due)


def play_out(store: Engine, tournament: Tournament) -> list[int]:
    asking, waves = Scheduler(store), []
    while tournaments.find_tournament(store, tournament.id).state is TournamentState.RUNNING:
        waves.append(play_due(store))
        asking.advance()
    return [wave for wave in waves if wave]


@pytest.mark.parametrize(
    ("format_name", "settings", "waves"),
    [
        ("round-robin", {"cycles": 2}, [12]),
        ("gauntlet", {"cycles": 2}, [6]),
        ("swiss", {"rounds": 3}, [2, 2, 2]),
        ("knockout", {}, [2, 1]),
        ("ladder", {"limit": 6, "batch": 2}, [2, 2, 2]),
    ],
)
def test_a_tournament_of_every_format_is_played_to_its_end(
    store: Engine,
    begun_tournament: Callable[..., Tournament],
    format_name: str,
    settings: dict[str, int],
    waves: list[int],
) -> None:
    made = begun_tournament(format_name, **settings)
    assert play_out(store, made) == waves
    matches = listing.matches(store, tournament=made.id)
    assert [match.state for match in matches] == [MatchState.CLOSED] * sum(waves)
    assert isinstance(
        scheduler.current_step(store, tournaments.find_tournament(store, made.id)), FormatOver
    )


def test_an_sprt_ends_with_a_verdict_and_marks_matches_in_flight(
    store: Engine, begun_tournament: Callable[..., Tournament]
) -> None:
    made = begun_tournament("sprt", bots=2, low=0, high=400, batch=8)
    play_out(store, made)
    over = scheduler.current_step(store, tournaments.find_tournament(store, made.id))
    assert isinstance(over, FormatOver)
    assert over.ranking == (("bot0@1",), ("bot1@1",))
    matches = listing.matches(store, tournament=made.id)
    assert over.drained == tuple((m.round, m.number) for m in matches[-len(over.drained) :])


def test_the_winner_of_a_knockout_has_won_every_match(
    store: Engine, begun_tournament: Callable[..., Tournament]
) -> None:
    made = begun_tournament("knockout", bots=5)
    play_out(store, made)
    over = scheduler.current_step(store, tournaments.find_tournament(store, made.id))
    assert isinstance(over, FormatOver)
    assert over.ranking[0] == ("bot0@1",)


def test_no_match_is_scheduled_while_a_tournament_is_paused(
    store: Engine, begun_tournament: Callable[..., Tournament]
) -> None:
    made = begun_tournament("swiss", rounds=2)
    asking = Scheduler(store)
    play_due(store)
    lifecycle.pause(store, made.id)
    assert asking.advance() == 0
    lifecycle.resume(store, made.id)
    assert asking.advance() == 2


def test_a_ladder_whose_strengths_cannot_be_fitted_does_not_stop_the_others(
    store: Engine, begun_tournament: Callable[..., Tournament], monkeypatch: pytest.MonkeyPatch
) -> None:
    ladder, swiss = begun_tournament("ladder", batch=2), begun_tournament("swiss", rounds=2)

    def diverge(meetings: Meetings) -> dict[str, tuple[float, float]]:
        raise ArithmeticError(len(meetings.sums))

    asking = Scheduler(store)
    play_due(store)
    with monkeypatch.context() as patch:
        patch.setattr(fit, "values", diverge)
        assert asking.advance() == 2
        assert match_leases.due(store)
    assert {match.tournament for match in listing.matches(store) if match.round} == {swiss.id}
    assert Scheduler(store).advance() == 2
    assert len(listing.matches(store, tournament=ladder.id)) == 4


def test_concurrent_schedulers_store_each_round_once(
    store: Engine, begun_tournament: Callable[..., Tournament]
) -> None:
    made = begun_tournament("swiss", rounds=3)
    several = [Scheduler(store) for _ in range(4)]
    stored = 0
    with ThreadPoolExecutor(len(several)) as pool:
        for _ in range(3):
            play_due(store)
            stored += sum(pool.map(Scheduler.advance, several))
    assert stored == 4
    assert len(listing.matches(store, tournament=made.id)) == 6
    assert tournaments.find_tournament(store, made.id).state is TournamentState.CLOSED


def test_a_decision_from_an_outdated_state_is_refused(
    store: Engine, begun_tournament: Callable[..., Tournament]
) -> None:
    made = begun_tournament("swiss", rounds=2)
    play_due(store)
    seen = lifecycle.marks(store, made.id)
    step = scheduler.current_step(store, made)
    assert isinstance(step, NextMatches)
    lifecycle.withdraw(store, made.id, "bot3@1")
    assert lifecycle.extend(store, made, seen, step.fixtures) == 0
    assert len(listing.matches(store, tournament=made.id)) == 2


def test_a_joined_entrant_is_paired_from_the_next_round(
    store: Engine, begun_tournament: Callable[..., Tournament]
) -> None:
    made = begun_tournament("round-robin")
    joined = lifecycle.add_entrants(store, made.id, scheduler.enrol(store, ["bot4@1"]))
    assert [entry.joined for entry in joined.entries] == [0, 0, 0, 0, 3]
    assert Scheduler(store).advance() == 4
    play_out(store, made)
    entrants = [m.entrants for m in listing.matches(store, tournament=made.id)]
    assert len(set(entrants)) == len(entrants) == 10
    with pytest.raises(Conflict, check=has_code("tournament-over")):
        lifecycle.add_entrants(store, made.id, scheduler.enrol(store, ["bot5@1"]))


def test_an_entrant_cannot_enter_twice(
    store: Engine, begun_tournament: Callable[..., Tournament]
) -> None:
    made = begun_tournament("ladder")
    with pytest.raises(Conflict, check=has_code("entered")):
        lifecycle.add_entrants(store, made.id, scheduler.enrol(store, ["bot1@1"]))
    with pytest.raises(Conflict, check=has_code("not-entered")):
        lifecycle.withdraw(store, made.id, "bot5@1")
    lifecycle.withdraw(store, made.id, "bot1@1")
    with pytest.raises(Conflict, check=has_code("withdrawn")):
        lifecycle.add_entrants(store, made.id, scheduler.enrol(store, ["bot1@1"]))


def test_a_withdrawal_cancels_open_matches_and_keeps_closed_ones(
    store: Engine, begun_tournament: Callable[..., Tournament]
) -> None:
    made = begun_tournament("round-robin")
    first = match_leases.due(store)[0]
    lease = match_leases.lease(store, first, "worker")
    assert lease is not None
    left = lifecycle.withdraw(store, made.id, lease.spec.versions[0], "its author asked")
    assert [entry.withdrawn for entry in left.entries if entry.name in lease.spec.versions[:1]] == [
        3
    ]
    for number in range(2):
        match_leases.commit_game(store, lease, played(lease.spec, number))
    play_out(store, made)
    its = listing.matches(store, tournament=made.id, version=lease.spec.versions[0])
    assert sorted(match.state for match in its) == ["CANCELLED", "CANCELLED", "CLOSED"]
    assert {match.reason for match in its if match.state == "CANCELLED"} == {
        f"{lease.spec.versions[0]} was withdrawn: its author asked"
    }


def test_bots_of_stored_or_given_owners_do_not_share_a_table(store: Engine) -> None:
    versions.set_owner(store, versions.find_version(store, "bot0@1"), "ada")
    plan = TournamentPlan(name="cup", game="saint_poker", options={}, seats=3, boards=1)
    made = scheduler.begin(store, plan, BOTS, owners={"bot1@1": "ada"})
    assert [entry.owner for entry in made.entries] == ["ada", "ada", "", "", ""]
    tables = [match.entrants for match in listing.matches(store, tournament=made.id)]
    assert not any({"bot0@1", "bot1@1"} <= set(table) for table in tables)
    with pytest.raises(Conflict, check=has_code("other-owner")):
        versions.set_owner(store, versions.find_version(store, "bot0@1"), "bob")
