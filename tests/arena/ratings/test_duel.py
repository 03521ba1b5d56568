"""Test the comparison of two versions against figures that fastchess publishes."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ratings.duel import (
    Duel,
    elo_difference,
    normalized_elo,
    of_matches,
    pentanomial,
    superiority,
    trinomial,
)
from tests.arena.ratings.played_matches import match
from tests.errors import has_code

CENT = 0.00501
"""The published figures have two decimals."""


@pytest.mark.parametrize(
    ("duel", "elo", "normalized", "likely"),
    [
        (trinomial(136, 96, 111), (40.70, 30.43), (49.77, 36.77), "99.60 %"),
        (trinomial(76, 89, 123), None, (-20.76, 40.13), "15.53 %"),
        (trinomial(34, 356, 0), None, (-508.44, 34.48), "0.00 %"),
        (pentanomial(34, 54, 31, 32, 64, 75), (55.58, 27.65), (57.94, 28.28), "100.00 %"),
        (pentanomial(332, 433, 457, 41, 333, 334), (-8.64, 10.33), (-9.17, 10.96), "5.05 %"),
        (pentanomial(7895, 8757, 5485, 200, 568, 9999), (-21.04, 2.95), (-19.01, 2.65), "0.00 %"),
    ],
)
def test_values_agree_with_fastchess(
    duel: Duel,
    elo: tuple[float, float] | None,
    normalized: tuple[float, float],
    likely: str,
) -> None:
    interval = normalized_elo(duel)
    assert (interval.value, interval.margin) == pytest.approx(normalized, abs=CENT)
    if elo:
        interval = elo_difference(duel)
        assert (interval.value, interval.margin) == pytest.approx(elo, abs=CENT)
    assert f"{superiority(duel):.2%}".replace("%", " %") == likely


def test_an_infinite_difference_is_null_in_json() -> None:
    duel = trinomial(5, 0, 0)
    assert elo_difference(duel).value == math.inf
    assert normalized_elo(duel).low == math.inf
    assert superiority(duel) == 1.0
    assert elo_difference(duel).to_json() == {"value": None, "low": None, "high": None}


def test_only_draws_are_a_difference_of_zero() -> None:
    duel = trinomial(0, 0, 4)
    assert elo_difference(duel).value == normalized_elo(duel).value == 0.0
    assert superiority(duel) == 0.5


@given(st.lists(st.integers(0, 50), min_size=5, max_size=5).filter(any))
def test_swapping_the_sides_negates_the_difference(counts: list[int]) -> None:
    scores = (0.0, 0.25, 0.5, 0.75, 1.0)
    first, second = Duel(scores, tuple(counts), 2), Duel(scores, tuple(reversed(counts)), 2)
    assert elo_difference(first).value == pytest.approx(-elo_difference(second).value, abs=1e-9)
    assert normalized_elo(first).low == pytest.approx(-normalized_elo(second).high, abs=1e-9)
    assert superiority(first) == pytest.approx(1 - superiority(second), abs=1e-9)


def test_a_match_of_one_board_is_a_pair_of_games() -> None:
    played = [
        match(0, ("a", "b"), (1, 2), (1, 2)),
        match(1, ("b", "a"), (1, 2), (1, 2)),
        match(2, ("a", "b"), (1, 2), (2, 1)),
        match(3, ("a", "b"), (1, 1), (1, 2)),
        match(4, ("a", "c"), (1, 2), (1, 2)),
    ]
    assert of_matches(played, "a", "b") == pentanomial(ll=1, ld=0, wl=1, dd=0, wd=1, ww=1)


def test_matches_of_different_length_cannot_be_units() -> None:
    played = [match(0, ("a", "b"), (1, 2)), match(1, ("a", "b"), (1, 2), (1, 2))]
    with pytest.raises(ValueError, check=has_code("game-counts")):
        of_matches(played, "a", "b")
    with pytest.raises(ValueError, check=has_code("never-met")):
        of_matches(played, "a", "c")


@pytest.mark.parametrize(
    ("scores", "counts", "code"),
    [
        ((0.0, 1.0), (1,), "counts"),
        ((0.0, 1.0), (-1, 2), "counts"),
        ((1.0, 0.0), (1, 1), "scores"),
        ((0.0, 1.0), (0, 0), "no-result"),
    ],
)
def test_a_duel_refuses_invalid_counts(
    scores: tuple[float, ...], counts: tuple[int, ...], code: str
) -> None:
    with pytest.raises(ValueError, check=has_code(code)):
        Duel(scores, counts)
