"""Test the rules of points per board."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ratings.closed_match import ClosedMatch, PlayedGame
from arena.ratings.entrant_sums import EntrantSums, of_match
from arena.ratings.points import Points, margins


def match(number: int, entrants: str, *scores: tuple[int, ...] | None) -> ClosedMatch:
    size = len(entrants)
    games = tuple(
        PlayedGame(game, tuple(range(1, size + 1)), got, ("finished",) * size, (0,) * size)
        for game, got in enumerate(scores)
    )
    return ClosedMatch(f"m-{number}", 0, number, tuple(entrants), games)


def points(matches: list[ClosedMatch], clip: int) -> tuple[Points, ...]:
    sums: dict[str, EntrantSums] = {}
    for each in matches:
        for name, added in of_match(each, clip).items():
            sums.setdefault(name, EntrantSums()).add(added)
    found = [sums[name].points_per_board(name) for name in sorted(sums)]
    return tuple(each for each in found if each is not None)


def test_a_margin_is_the_score_minus_the_mean_of_the_others() -> None:
    means = {line.entrant: line.mean for line in points([match(0, "abc", (10, 4, 1))], 100)}
    assert means == {"a": 7.5, "b": -1.5, "c": -6.0}


def test_a_match_counts_its_mean_margin_and_every_match_alike() -> None:
    played = [match(0, "ab", (10, 0), (20, 0)), match(1, "ab", (5, 0), (5, 0), (5, 0), (5, 0))]
    a, b = points(played, 100)
    assert (a.mean, a.matches, a.error) == (10.0, 2, 5.0)
    assert (a.low, a.high) == pytest.approx((10 - 9.79982, 10 + 9.79982), abs=1e-4)
    assert b.mean == -10.0


def test_a_margin_beyond_the_clip_counts_as_the_clip() -> None:
    a, b = points([match(0, "ab", (900, 0), (10, 0))], 30)
    assert (a.mean, a.clipped) == (20.0, 1)
    assert (b.mean, b.clipped) == (-20.0, 1)


def test_games_without_scores_and_matches_of_such_are_left_out() -> None:
    played = [match(0, "ab", (10, 0), None), match(1, "ab", None)]
    a, _ = points(played, 100)
    assert (a.mean, a.matches) == (10.0, 1)


def test_one_match_has_no_standard_error() -> None:
    a, _ = points([match(0, "ab", (10, 0))], 100)
    assert (a.error, a.low, a.high) == (None, None, None)
    assert a.to_json()["interval"] is None


@given(
    st.lists(st.tuples(*[st.integers(-50, 50)] * 3), min_size=1, max_size=20),
    st.randoms(use_true_random=False),
)
def test_margins_sum_to_zero_in_any_order_of_matches(
    scores: list[tuple[int, int, int]], dice: random.Random
) -> None:
    played = [match(number, "abc", got) for number, got in enumerate(scores)]
    expected = points(played, 10**6)
    assert expected == points(dice.sample(played, len(played)), 10**6)
    assert sum(line.mean for line in expected) == pytest.approx(0, abs=1e-5)


def test_a_margin_equal_to_the_clip_is_not_limited() -> None:
    games = tuple(
        PlayedGame(number, (1, 2), (points, 0), ("finished", "finished"), (0, 0))
        for number, points in enumerate((9, 10, 11))
    )
    counted = margins(ClosedMatch("m", 0, 0, ("a@1", "b@1"), games), clip=10)
    assert counted == [{3: (1, 29, 29**2, 1)}, {3: (1, -29, 29**2, 1)}]
