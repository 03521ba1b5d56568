"""Test that correct tournaments verify, from the store and from the files of a bundle alone."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.formats.contract import FormatEntrant
from arena.ratings.strength import fit
from arena.ratings.strength.kept_strengths import SCIPY_MISSING
from arena.records.bundle import folder
from arena.records.bundle.audit import Audit, audit
from arena.records.bundle.collection import gather
from arena.store import database, schema
from arena.store.access.audit_log import COMMAND_LINE
from arena.store.bots import versions
from arena.store.matches import corrections, listing, match_leases, results, rows
from arena.store.schema import MatchState, TournamentState
from arena.store.tournaments import lifecycle, tournaments
from arena.store.tournaments.tournaments import Tournament
from referee.record import read
from tests.arena.records.bundle.simulated_arena import SimulatedArena
from tests.examples import quick_cases

EARLIER = {"ladder": {"batch": 2, "limit": 7}, "swiss": {"rounds": 3}}
"""Formats whose pairing rules have changed, with their settings."""


@pytest.fixture
def simulated_arena(tmp_path: Path) -> SimulatedArena:
    return SimulatedArena(tmp_path / "data")


def checked(simulated_arena: SimulatedArena, tournament: Tournament) -> Audit:
    """Audit a tournament in the store and in a bundle, compare the results, and return them."""
    bundle = gather(simulated_arena.engine, tournament.id)
    where = simulated_arena.folder / tournament.id
    folder.write(bundle, where)
    alone = audit(folder.read(where))
    assert alone.problems == ()
    assert alone == audit(bundle)
    return alone


@pytest.mark.parametrize(
    ("pairing", "bots", "settings", "number"),
    [
        ("round-robin", 3, {"cycles": 2}, 6),
        pytest.param("gauntlet", 4, {"cycles": 2}, 6, marks=pytest.mark.long),
        ("swiss", 5, {"rounds": 3}, 6),
        ("ladder", 4, {"batch": 2, "limit": 7, "anchors": "bot1@1=1500:40"}, 7),
    ],
)
def test_a_tournament_of_every_format_verifies(
    simulated_arena: SimulatedArena,
    pairing: str,
    bots: int,
    settings: dict[str, int | str],
    number: int,
) -> None:
    tournament = simulated_arena.play_out(
        simulated_arena.begin(pairing, simulated_arena.bots(bots), settings=settings)
    )
    findings = checked(simulated_arena, tournament)
    assert findings.pairing_checked
    assert findings.matches == {MatchState.CLOSED: number}
    assert (findings.games, findings.seeds, findings.seeded) == (2 * number, number, number)
    assert findings.actions > 10 * findings.games / 2


@pytest.mark.parametrize("pairing", quick_cases(EARLIER, 1))
def test_a_tournament_of_earlier_pairing_rules_continues_and_is_verified_without_its_pairings(
    simulated_arena: SimulatedArena, pairing: str
) -> None:
    settings = EARLIER[pairing]
    tournament = simulated_arena.begin(pairing, simulated_arena.bots(5), settings=settings)
    with simulated_arena.engine.begin() as connection:
        connection.execute(schema.tournaments.update().values(settings=settings))
    tournament = simulated_arena.play_out(tournament)
    findings = checked(simulated_arena, tournament)
    assert not findings.pairing_checked
    assert findings.games == 2 * findings.matches[MatchState.CLOSED]
    bundle = gather(simulated_arena.engine, tournament.id)
    assert bundle.standings
    lines = bundle.standings["standings"]
    wrong = {**bundle.standings, "standings": [{**lines[0], "wins": 99}, *lines[1:]]}
    assert len(audit(replace(bundle, standings=wrong)).problems) == 1


@pytest.mark.long
def test_a_knockout_with_series_of_any_length_verifies(simulated_arena: SimulatedArena) -> None:
    tournament = simulated_arena.play_out(
        simulated_arena.begin("knockout", simulated_arena.bots(5), settings={"best_of": 3})
    )
    assert checked(simulated_arena, tournament).matches[MatchState.CLOSED] >= 8
    assert tournament.state is TournamentState.CLOSED


def test_a_decided_sprt_verifies_with_its_matches_in_flight(
    simulated_arena: SimulatedArena,
) -> None:
    tournament = simulated_arena.begin(
        "sprt", simulated_arena.bots(2), settings={"high": 400, "batch": 3, "limit": 7}
    )
    checked(simulated_arena, simulated_arena.play_out(tournament))


@pytest.mark.long
def test_games_of_more_than_two_and_of_partners_verify(simulated_arena: SimulatedArena) -> None:
    bots = simulated_arena.bots(3)
    for game, seats, number in (("pouku", 3, 1), ("pokex", 4, 3)):
        tournament = simulated_arena.begin("round-robin", bots, game=game, seats=seats)
        assert checked(simulated_arena, simulated_arena.play_out(tournament)).matches == {
            MatchState.CLOSED: number
        }


@pytest.mark.parametrize(("game", "seats"), [("poke", 2), ("pouku", 3), ("pokex", 4)])
def test_a_bundle_with_a_fault_passes_the_audit(
    simulated_arena: SimulatedArena, game: str, seats: int
) -> None:
    tournament = simulated_arena.begin(
        "round-robin", simulated_arena.bots(3 if seats == 3 else 2), game=game, seats=seats
    )
    (match,) = match_leases.due(simulated_arena.engine)
    simulated_arena.play(match, fault=True)
    assert results.faults(simulated_arena.engine, match)
    checked(simulated_arena, simulated_arena.play_out(tournament))


def test_a_match_with_a_remote_bot_has_fresh_boards_at_every_table(
    simulated_arena: SimulatedArena,
) -> None:
    versions.add_version(simulated_arena.engine, "far", "1", "", "", {"address": "192.0.2.7:50051"})
    tournament = simulated_arena.begin("round-robin", [*simulated_arena.bots(1), "far@1"], boards=2)
    assert checked(simulated_arena, simulated_arena.play_out(tournament)).games == 4
    ((_, record),) = gather(simulated_arena.engine, tournament.id).records.items()
    assert [game.game["board"] for game in read(record).games] == [0, 1, 2, 3]
    # The address of a remote bot is private.
    assert not any(
        b"192.0.2.7" in path.read_bytes()
        for path in (simulated_arena.folder / tournament.id).rglob("*")
        if path.is_file()
    )


def test_joined_and_withdrawn_entrants_are_part_of_the_schedule(
    simulated_arena: SimulatedArena,
) -> None:
    tournament = simulated_arena.begin("round-robin", simulated_arena.bots(3))
    simulated_arena.wave(1)
    lifecycle.add_entrants(
        simulated_arena.engine,
        tournament.id,
        [FormatEntrant(name) for name in simulated_arena.bots(1, first=3)],
    )
    simulated_arena.wave(0)
    lifecycle.withdraw(simulated_arena.engine, tournament.id, "bot1@1", "it is broken.")
    findings = checked(simulated_arena, simulated_arena.play_out(tournament))
    assert findings.matches[MatchState.CANCELLED] > 0
    assert set(findings.reasons) == {"bot1@1 was withdrawn: it is broken."}


def test_a_late_withdrawal_does_not_affect_earlier_knockout_pairings(
    simulated_arena: SimulatedArena,
) -> None:
    tournament = simulated_arena.begin("knockout", simulated_arena.bots(4))
    simulated_arena.wave()
    final = match_leases.due(simulated_arena.engine)
    assert len(final) == 1
    lifecycle.withdraw(
        simulated_arena.engine,
        tournament.id,
        tournaments.find_tournament(simulated_arena.engine, tournament.id).entrants[0],
    )
    checked(simulated_arena, simulated_arena.play_out(tournament))


def test_a_void_match_is_reported_with_its_reason(simulated_arena: SimulatedArena) -> None:
    tournament = simulated_arena.begin("swiss", simulated_arena.bots(4), settings={"rounds": 2})
    first = match_leases.due(simulated_arena.engine)[0]
    simulated_arena.play(first, most=1)
    match_leases.void(simulated_arena.engine, first, "the referee was lost three times")
    findings = checked(simulated_arena, simulated_arena.play_out(tournament))
    assert findings.matches == {MatchState.CLOSED: 3, MatchState.VOID: 1}
    assert findings.reasons == {"the referee was lost three times": 1}
    assert findings.seeds == 3


@pytest.mark.parametrize(
    ("pairing", "settings"), [("swiss", {"rounds": 2}), ("knockout", {}), ("round-robin", {})]
)
def test_a_tournament_with_a_forfeited_match_verifies(
    simulated_arena: SimulatedArena, pairing: str, settings: dict[str, Any]
) -> None:
    tournament = simulated_arena.begin(pairing, simulated_arena.bots(4), settings=settings)
    first = listing.find_match(simulated_arena.engine, match_leases.due(simulated_arena.engine)[0])
    simulated_arena.play(first.id)
    loser = first.entrants[0]
    corrections.forfeit(simulated_arena.engine, first.id, loser, COMMAND_LINE, "it is a copy")
    findings = checked(simulated_arena, simulated_arena.play_out(tournament))
    assert findings.matches[MatchState.VOID] == 1
    assert findings.reasons == {f"{loser} forfeits it: it is a copy": 1}


@pytest.mark.parametrize(
    "pairing",
    [
        "round-robin",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("knockout", "ladder")),
    ],
)
def test_a_replayed_match_verifies_beside_its_void_result(
    simulated_arena: SimulatedArena, pairing: str
) -> None:
    settings = {"ladder": {"batch": 2, "limit": 7}, "knockout": {"best_of": 3}}.get(pairing, {})
    tournament = simulated_arena.begin(pairing, simulated_arena.bots(4), settings=settings)
    first = match_leases.due(simulated_arena.engine)[0]
    simulated_arena.play(first)
    revealed = results.cover(simulated_arena.engine, first).seed
    assert revealed is not None
    again = corrections.replay(simulated_arena.engine, first, COMMAND_LINE, "a power cut")
    assert again in match_leases.due(simulated_arena.engine)
    findings = checked(simulated_arena, simulated_arena.play_out(tournament))
    assert findings.matches[MatchState.VOID] == 1
    assert findings.reasons == {f"the organiser replays it as {again}: a power cut": 1}
    assert findings.seeds == findings.matches[MatchState.CLOSED] + 1
    assert results.cover(simulated_arena.engine, first).seed == revealed
    assert results.cover(simulated_arena.engine, again).seed not in (None, revealed)


@pytest.mark.long
def test_a_ladder_verifies_after_results_that_it_was_paired_from_were_corrected(
    simulated_arena: SimulatedArena,
) -> None:
    tournament = simulated_arena.begin(
        "ladder", simulated_arena.bots(5), settings={"batch": 2, "limit": 16}
    )
    for _ in range(4):
        simulated_arena.wave()
    engine = simulated_arena.engine
    first, second, third = [
        match.id
        for match in listing.matches(engine, tournament=tournament.id)
        if "bot4@1" not in match.entrants
    ][:3]
    again = corrections.replay(engine, first, COMMAND_LINE, "a power cut")
    corrections.void(engine, second, COMMAND_LINE, "a power cut")
    simulated_arena.wave()
    corrections.replay(engine, second, COMMAND_LINE, "a power cut")
    corrections.replay(engine, again, COMMAND_LINE, "another power cut")
    simulated_arena.wave()
    corrections.disqualify(engine, tournament.id, "bot4@1", COMMAND_LINE, "cheating")
    corrections.void(engine, third, COMMAND_LINE, "a power cut")
    findings = checked(simulated_arena, simulated_arena.play_out(tournament))
    assert findings.pairing_checked
    assert findings.matches[MatchState.VOID] > 4


def test_without_a_tournament_seed_every_match_has_its_own(simulated_arena: SimulatedArena) -> None:
    tournament = simulated_arena.play_out(
        simulated_arena.begin("round-robin", simulated_arena.bots(2), seed=None)
    )
    assert checked(simulated_arena, tournament).seeded is None


def test_a_cancelled_tournament_verifies(simulated_arena: SimulatedArena) -> None:
    tournament = simulated_arena.begin("swiss", simulated_arena.bots(4), settings={"rounds": 2})
    simulated_arena.wave(1)
    lifecycle.cancel(simulated_arena.engine, tournament.id)
    findings = checked(simulated_arena, tournament)
    assert findings.matches == {MatchState.CLOSED: 1, MatchState.CANCELLED: 1}


def test_the_bundle_of_a_running_tournament_contains_no_secrets(
    simulated_arena: SimulatedArena,
) -> None:
    secret = b"\x5a" * 32
    tournament = simulated_arena.begin(
        "round-robin", simulated_arena.bots(3), boards=2, seed=secret
    )
    over, begun, untouched = match_leases.due(simulated_arena.engine)
    simulated_arena.play(over)
    simulated_arena.play(begun, most=3)
    findings = checked(simulated_arena, tournament)
    assert findings.matches == {MatchState.CLOSED: 1, MatchState.RUNNING: 1, MatchState.PENDING: 1}
    assert findings.seeded is None
    where = simulated_arena.folder / tournament.id
    assert [path.stem for path in (where / "matches").iterdir()] == [over]
    assert read((where / "matches" / f"{over}.jsonl").read_text()).seed is not None
    all_text = "".join(path.read_text() for path in where.rglob("*") if path.is_file())
    assert secret.hex() not in all_text
    with database.reading(simulated_arena.engine) as connection:
        for match in (begun, untouched):
            assert match in all_text
            assert rows.spec(connection, match).seed.hex() not in all_text


@pytest.mark.parametrize("installed", [True, False])
def test_a_bundle_of_a_large_ladder_without_scipy_verifies_without_its_strengths(
    simulated_arena: SimulatedArena, monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    monkeypatch.setattr(fit, "MAX_DENSE_ENTRANTS", 2)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "scipy", None)
        bots = simulated_arena.bots(3)
        tournament = simulated_arena.play_out(simulated_arena.begin("round-robin", bots))
        bundle = gather(simulated_arena.engine, tournament.id)
    assert bundle.standings is not None
    assert bundle.standings["unfitted"] == SCIPY_MISSING
    if not installed:
        monkeypatch.setitem(sys.modules, "scipy", None)
    assert audit(bundle).problems == ()
    lines = bundle.standings["standings"]
    forged = [{**line, "elo": line["elo"] + 1} for line in lines]
    changed = replace(bundle, standings={**bundle.standings, "standings": forged})
    assert len(audit(changed).problems) == 3
    # Strengths of few entrants cannot be missing.
    monkeypatch.setattr(fit, "MAX_DENSE_ENTRANTS", 3)
    assert "standings: unfitted is unknown" in audit(bundle).problems


def test_strengths_of_many_entrants_are_not_verified_without_scipy(
    simulated_arena: SimulatedArena, monkeypatch: pytest.MonkeyPatch
) -> None:
    bots = simulated_arena.bots(3)
    tournament = simulated_arena.play_out(simulated_arena.begin("round-robin", bots))
    bundle = gather(simulated_arena.engine, tournament.id)
    monkeypatch.setattr(fit, "MAX_DENSE_ENTRANTS", 2)
    monkeypatch.setitem(sys.modules, "scipy", None)
    [problem] = audit(bundle).problems
    assert "large-ladders" in problem


@pytest.mark.long
@pytest.mark.parametrize("adaptive", [50, 0])
def test_a_ladder_verifies_while_a_match_of_an_old_round_is_replayed(
    simulated_arena: SimulatedArena, adaptive: int
) -> None:
    settings = {"batch": 2, "adaptive": adaptive}
    tournament = simulated_arena.begin("ladder", simulated_arena.bots(4), settings=settings)
    for _ in range(4):
        simulated_arena.wave()
    first = listing.matches(simulated_arena.engine, tournament=tournament.id)[0]
    corrections.replay(simulated_arena.engine, first.id, COMMAND_LINE, "a power cut")
    assert checked(simulated_arena, tournament).pairing_checked
