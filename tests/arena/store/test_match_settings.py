"""Settings of new matches: numbers of seats and options that games refuse."""

import pytest

from arena.errors import InvalidSettings
from arena.store.match_settings import usual_seats
from arena.submissions.open_ladders import plan_of
from referee.games.contract import SetupError
from referee.games.registry import GAMES
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
