"""Pouku: starting points, and the references of three seats (docs/rules/pouku.md, U-8.2, U-1.3)."""

import random
from typing import Any

import pytest

from referee.games.contract import SetupError
from referee.games.pouku import Pouku
from referee.games.pouku.actions import GoOut
from referee.games.registry import form_of
from referee.games.shared.dealing import Seeded
from tests.errors import has_code

GAME = Pouku()


def final(points: int, seed: int, seats: int = 3, **options: object) -> Any:
    """Return the end of a game in which seats go out as soon as they can."""
    chance = random.Random(seed)
    state: Any = GAME.start(Seeded(bytes([seed] * 32)), seats, {"points": points, **options})
    while state.actors:
        legal = state.legal(state.turn)
        action = GoOut() if GoOut() in legal else legal.any(chance)
        state = state.play({state.turn: action})
    return state


def deals_until_one_has_none(state: Any, points: int) -> int:
    """Return the first number of deals after which a seat has no points left."""
    totals = [points] * len(state.totals)
    for number, deal in enumerate(state.deals, 1):
        totals = [a + b for a, b in zip(totals, deal.points, strict=True)]
        if min(totals) <= 0:
            return number
    pytest.fail("everybody has points left")


@pytest.mark.parametrize("seats", [3, 4])
@pytest.mark.parametrize("points", [1, 6, 12])
def test_a_game_with_points_ends_after_the_deal_that_leaves_a_seat_with_none(
    seats: int, points: int
) -> None:
    """U-8.2."""
    for seed in range(3):
        state = final(points, seed, seats)
        assert len(state.deals) == deals_until_one_has_none(state, points)
        gained = [sum(deal.points[seat] for deal in state.deals) for seat in range(seats)]
        assert state.totals == tuple(points + each for each in gained)
        assert min(state.totals) <= 0
        assert state.view(0).points == state.public().points == points


@pytest.mark.parametrize(("seats", "most"), [(3, 30), (4, 40)])
def test_with_points_everyone_deals_ten_times_at_most(seats: int, most: int) -> None:
    """U-8.2."""
    state = final(1_000_000, 1, seats)
    assert len(state.deals) == most
    assert state.actors == ()
    assert max(state.totals) > 0


def test_teams_begin_with_the_points_each() -> None:
    """U-8.2, U-7.1."""
    options = {"teams": True, "points": 9}
    state: Any = GAME.start(Seeded(bytes(32)), 4, options)
    assert state.totals == (9, 9, 9, 9)
    ended = final(9, 3, 4, teams=True)
    assert ended.totals[0] == ended.totals[2]
    assert ended.totals[1] == ended.totals[3]


def test_without_points_a_game_has_two_rounds_of_dealers() -> None:
    """U-8.1, U-1.2."""
    state = final(0, 2)
    assert len(state.deals) == 6
    assert state.view(0).points == 0


def test_only_points_above_0_are_part_of_the_name_of_a_form() -> None:
    """U-8.2: ladders of earlier releases keep their form."""
    assert form_of("pouku", 3, GAME.settle({})) == "pouku-3"
    assert form_of("pouku", 3, GAME.settle({"points": 0})) == "pouku-3"
    assert form_of("pouku", 3, GAME.settle({"points": 30})) == "pouku-3-points=30"


def test_new_matches_of_three_seats_refuse_the_reference_to_the_left() -> None:
    """U-1.3: it has no effect there; earlier matches are replayed with it."""
    left = GAME.settle({"reference": "left"})
    with pytest.raises(SetupError, match="reference", check=has_code("no-effect")):
        GAME.check_new(3, left)
    assert not GAME.allows(3, left)
    assert GAME.allows(4, left)
    GAME.check_seats(3, left)
    assert GAME.start(Seeded(bytes(32)), 3, left).actors
