"""Settings of matches: values that are refused, and conversions to rows and messages."""

from dataclasses import replace

import pytest
from sqlalchemy import Engine

from arena.errors import InvalidSettings
from arena.presentation import shipped_docs
from arena.store.match_settings import Clock, TournamentPlan, usual_seats
from arena.store.matches.spec import Entrant, single_match
from arena.store.tournaments import tournaments
from arena.submissions.open_ladders import plan_of
from referee.games.contract import SetupError
from referee.games.registry import GAMES
from referee.presentation.question_text import TEXT_VERSION
from tests.errors import has_code

LEFT = {"reference": "left"}


def test_the_seats_follow_the_entrants_and_the_options() -> None:
    pouku = GAMES["pouku"]
    assert usual_seats(pouku, pouku.settle({}), 3) == 3
    assert usual_seats(pouku, pouku.settle(LEFT), 5) == 4
    assert usual_seats(pouku, pouku.settle({"teams": True}), 2) == 4


def test_three_entrants_cannot_begin_pouku_with_the_reference_to_the_left() -> None:
    """U-1.3."""
    pouku = GAMES["pouku"]
    with pytest.raises(SetupError, match="option reference", check=has_code("no-effect")):
        usual_seats(pouku, pouku.settle(LEFT), 3)


def test_a_new_ladder_of_pouku_with_the_reference_to_the_left_has_four_seats() -> None:
    """U-1.3."""
    assert plan_of("pouku", options=LEFT).seats == 4
    with pytest.raises(InvalidSettings, check=has_code("no-effect")):
        plan_of("pouku", 3, LEFT)


PLAN = TournamentPlan(
    name="cup",
    game="pouku",
    options=GAMES["pouku"].settle(LEFT),
    seats=4,
    boards=3,
    clock=Clock(start_ms=5, allowance_ms=6, bank_ms=7),
    faults="unforgiving",
    format="swiss",
    settings={"rounds": 2, "pairing": 2},
)


def test_a_stored_plan_is_read_unchanged(store: Engine) -> None:
    assert tournaments.create_tournament(store, PLAN, (), ()).plan == PLAN


def test_the_clock_of_an_arena_is_the_documented_one() -> None:
    assert Clock() == Clock(start_ms=10_000, allowance_ms=200, bank_ms=10_000)


@pytest.mark.parametrize(
    ("allowance_ms", "bank_ms", "clock_class"),
    [
        (0, 0, "fast"),
        (999, 60_000, "fast"),
        (1_000, 60_000, "slow"),
        (999, 60_001, "slow"),
        (15_000, 900_000, "slow"),
        (15_001, 900_000, "model"),
        (15_000, 900_001, "model"),
        (0, 900_001, "model"),
    ],
)
def test_the_class_of_a_clock_follows_from_allowance_and_bank(
    allowance_ms: int, bank_ms: int, clock_class: str
) -> None:
    clock = Clock(allowance_ms=allowance_ms, bank_ms=bank_ms)
    assert clock.clock_class == clock_class
    suffix = "" if clock_class == "fast" else f"~{clock_class}"
    assert replace(PLAN, clock=clock).ladder == f"{PLAN.form}{suffix}"


def test_the_first_message_contains_the_settings() -> None:
    request = PLAN.start_request("m-1", seat=2)
    assert (request.match, request.game, request.seats, request.seat, request.games) == (
        *("m-1", "pouku", 4, 2, 3),
    )
    assert request.options["reference"] == "left"
    assert request.rules == shipped_docs.rules("pouku")
    assert request.text_version == TEXT_VERSION
    assert (request.clock.allowance_ms, request.clock.bank_ms) == (6, 7)
    assert PLAN.clock.message(2.9).bank_ms == 2


def test_agreed_settings_are_those_of_the_keys_of_matches() -> None:
    """Records and bundles of earlier versions have keys that depend on these names."""
    assert PLAN.agreed() == {
        "game": "pouku",
        "options": dict(PLAN.options),
        "seats": 4,
        "boards": 3,
        "clock": {"start_ms": 5, "allowance_ms": 6, "bank_ms": 7},
        "policy": "unforgiving",
    }


def test_a_local_match_depends_on_its_settings_and_its_seed() -> None:
    entrants = [Entrant("a@1", "0" * 64, "/a", {}), Entrant("b@1", "1" * 64, "/b", {})]
    match = single_match("play", PLAN, bytes(32), entrants)
    assert match.agreed() == PLAN.agreed()
    assert match == single_match("play", PLAN, bytes(32), entrants)
    others = [
        single_match("play", replace(PLAN, boards=4), bytes(32), entrants),
        single_match("play", PLAN, bytes(31) + b"\1", entrants),
        single_match("test", PLAN, bytes(32), entrants),
        single_match("play", PLAN, bytes(32), entrants[::-1]),
    ]
    assert len({each.id for each in (match, *others)}) == 5
