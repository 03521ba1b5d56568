"""The Elo ratings: the effect of a match, and invariance under order."""

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.ratings.closed_match import VERDICTS, ClosedMatch, PlayedGame, pairwise
from arena.ratings.elo import EloSettings, changes, ratings
from referee.faults import Verdict
from tests.arena.ratings.played_matches import match, tournaments
from tests.errors import has_code

try:
    from elo import Elo
except ModuleNotFoundError:
    from arena.ratings.elo_formulas import Elo


ANY_ROUNDS = tournaments(rounds=4)


def test_a_pairwise_score_is_the_mean_over_the_games_of_win_draw_and_loss() -> None:
    played = match(0, ("a", "b", "c"), (1, 2, 3), (1, 1, 3), (2, 1, 3), (1, 2, 2))
    assert pairwise(played) == ((0.5, 0.625, 1.0), (0.375, 0.5, 0.875), (0.0, 0.125, 0.5))


def test_two_entrants_get_the_published_ratings_of_the_elo_package() -> None:
    rater = Elo(k_factor=10)
    published = rater.rate(800.0, [(1.0, 1200.0)]), rater.rate(1200.0, [(0.0, 800.0)])
    ours = changes(match(0, ("a", "b"), (1, 2)), {"a": 800.0, "b": 1200.0}, EloSettings(k=10))
    assert published == pytest.approx((809.0909, 1190.9091), abs=1e-4)
    assert (800 + ours["a"], 1200 + ours["b"]) == pytest.approx(published, abs=1e-9)


def test_at_a_table_of_three_each_opponent_counts_half() -> None:
    published = Elo(k_factor=10).rate(1500.0, [(1.0, 1000.0), (1.0, 2000.0)])
    start = {"a": 1500.0, "b": 1000.0, "c": 2000.0}
    ours = changes(match(0, ("a", "b", "c"), (1, 2, 2)), start, EloSettings(k=10))
    assert published == pytest.approx(1510.0, abs=1e-9)
    assert 1500 + ours["a"] == pytest.approx(1505.0, abs=1e-9)


def test_equal_entrants_with_equal_wins_keep_their_rating() -> None:
    assert ratings([match(0, ("a", "b"), (1, 2), (2, 1))]) == {"a": 1200.0, "b": 1200.0}


def test_a_win_against_an_equal_is_worth_half_of_k_at_a_table_of_any_size() -> None:
    two = ratings([match(0, ("a", "b"), (1, 2))], EloSettings(k=32))
    five = ratings([match(0, "abcde", (1, 2, 3, 4, 5))], EloSettings(k=32))
    assert two["a"] == pytest.approx(1216.0)
    assert five["a"] == pytest.approx(1216.0)


def test_matches_of_one_round_are_all_rated_against_the_ratings_at_its_start() -> None:
    first = match(0, "ab", (1, 2))
    second = match(1, "ac", (1, 2))
    together = ratings([first, second])
    assert together["a"] == pytest.approx(1210.0)
    assert together["b"] == together["c"] == pytest.approx(1195.0)


def test_a_later_round_is_rated_against_the_ratings_after_the_earlier_one() -> None:
    first = match(0, ("a", "b"), (1, 2), in_round=0)
    second = match(0, ("a", "c"), (1, 2), in_round=1)
    assert ratings([first, second])["a"] < 1210.0
    assert ratings([first, second])["c"] > 1195.0


def test_rounds_are_rated_by_number_in_any_order_of_arrival() -> None:
    matches = [match(0, ("a", "b"), (1, 2), in_round=number) for number in range(12)]
    assert ratings(reversed(matches)) == ratings(matches)


def test_the_first_round_of_a_later_tournament_comes_after_the_last_of_an_earlier_one() -> None:
    earlier = match(0, ("a", "b"), (1, 2), in_round=3)
    later = replace(match(0, ("b", "c"), (1, 2), in_round=0), tournament=1)
    in_one = [earlier, match(0, ("b", "c"), (1, 2), in_round=4)]
    assert ratings([later, earlier]) == ratings(in_one)
    same_round = replace(later, round=3)
    assert ratings([same_round, earlier]) == ratings(in_one)


@given(ANY_ROUNDS, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_matches_does_not_matter(
    matches: list[ClosedMatch], dice: random.Random
) -> None:
    shuffled = matches.copy()
    dice.shuffle(shuffled)
    assert ratings(shuffled) == ratings(matches)


@given(ANY_ROUNDS)
@settings(deadline=None)
def test_rating_changes_sum_to_zero(matches: list[ClosedMatch]) -> None:
    result = ratings(matches)
    assert math.fsum(result.values()) == pytest.approx(1200 * len(result), abs=1e-8)


def test_an_entrant_without_a_match_has_the_initial_rating() -> None:
    result = ratings([match(0, ("a", "b"), (1, 2))], EloSettings(initial=1000), entrants=["c", "a"])
    assert result["c"] == 1000.0
    assert result["a"] > 1000.0


def test_no_matches_and_no_entrants_give_no_ratings() -> None:
    assert ratings([]) == {}


def test_an_absurd_gap_is_rated_where_the_package_alone_overflows() -> None:
    with pytest.raises(OverflowError):
        Elo().expect(-1e6, 1e6)
    start = {"a": -1e6, "b": 1e6}
    upset = changes(match(0, ("a", "b"), (1, 2)), start, EloSettings(k=10))
    assert upset == pytest.approx({"a": 10.0, "b": -10.0})
    expected = changes(match(0, ("a", "b"), (2, 1)), start, EloSettings(k=10))
    assert expected == pytest.approx({"a": 0.0, "b": 0.0})


@pytest.mark.parametrize("entrants", [("a",), ("a", "a")])
def test_a_match_needs_two_different_entrants(entrants: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, check=has_code("entrants")):
        match(0, entrants, tuple(range(1, len(entrants) + 1)))


def test_a_closed_match_has_a_game() -> None:
    with pytest.raises(ValueError, check=has_code("no-game")):
        match(0, ("a", "b"))


def test_a_game_has_a_place_for_every_entrant() -> None:
    with pytest.raises(ValueError, check=has_code("entrant-count")):
        match(0, ("a", "b"), (1, 2, 3))
    with pytest.raises(ValueError, check=has_code("values-missing")):
        PlayedGame(4, (1, 2), (10,), ("finished", "finished"), (0, 0))


def test_verdict_names_are_those_of_the_referee() -> None:
    assert {str(verdict) for verdict in Verdict} == VERDICTS


def test_a_verdict_is_a_verdict_name_of_the_record() -> None:
    with pytest.raises(ValueError, check=has_code("unknown-verdict")):
        PlayedGame(0, (1, 2), None, ("finished", "bored"), (0, 0))
