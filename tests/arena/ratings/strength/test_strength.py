"""Test the strengths: published figures, another implementation, and invariances."""

import itertools
import math
import random
import subprocess
import sys
from collections import Counter
from itertools import combinations, permutations
from statistics import mean
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.ratings.closed_match import ClosedMatch
from arena.ratings.meetings import Meetings
from arena.ratings.scale import ELO, expected_score
from arena.ratings.strength.fit import Strengths, strengths
from arena.ratings.strength.misfit import f_tail
from arena.ratings.strength.settings import StrengthSettings, Weighting
from tests.arena.ratings.played_matches import match, together, tournaments
from tests.errors import has_code
from tests.examples import examples

LIKELIEST = StrengthSettings(centre=0.0, prior=1e9, weighting="matches")
"""Nearly plain maximum likelihood, as in other programs."""


def wins(table: dict[str, int]) -> Meetings:
    """Return single games: {"a>b": 3} means that a beat b three times; {"a=b": 1} is a draw."""
    played: list[ClosedMatch] = []
    for (first, sign, second), times in [(list(result), times) for result, times in table.items()]:
        places = (1, 2) if sign == ">" else (1, 1)
        played += [match(len(played) + n, (first, second), places) for n in range(times)]
    return Meetings.of(played)


def values(fitted: Strengths) -> dict[str, float]:
    return {line.entrant: line.value for line in fitted.lines}


def test_the_fit_reproduces_open_spiel() -> None:
    """Wins [[0,4,2],[1,0,2],[3,3,0]]: gaps of 147.19 Elo, and the first equals the third."""
    table = {"a>b": 4, "a>c": 2, "b>a": 1, "b>c": 2, "c>a": 3, "c>b": 3}
    by_name = values(strengths(wins(table), LIKELIEST))
    assert by_name["a"] == pytest.approx(by_name["c"], abs=1e-6)
    assert f"{by_name['a'] - by_name['b']:.2f}" == "147.19"


@pytest.mark.long
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.repetition) for seed in (1, 2))]
)
@pytest.mark.parametrize("strictness", [0.0, 0.05, 0.5])
def test_the_fit_agrees_with_choix(seed: int, strictness: float) -> None:
    """The penalty of choix, `strictness` times the sum of squares, is a normal prior."""
    # The import takes a second.
    import choix

    dice = random.Random(seed)
    table = {
        f"{first}>{second}": dice.randint(1, 9)
        for first, second in itertools.permutations("abcdefgh", 2)
    }
    beaten = [(ord(r[0]) - 97, ord(r[2]) - 97) for r, times in table.items() for _ in range(times)]
    oracle = choix.opt_pairwise(8, beaten, alpha=strictness, tol=1e-12)
    prior = ELO / math.sqrt(2 * strictness) if strictness else 1e9
    settings = StrengthSettings(centre=0.0, prior=prior, weighting="matches")
    expected = dict(zip("abcdefgh", ELO * (oracle - oracle.mean()), strict=True))
    by_name = values(strengths(wins(table), settings))
    mean = sum(by_name.values()) / 8
    assert {name: value - mean for name, value in by_name.items()} == pytest.approx(
        expected, abs=1e-3
    )


@pytest.mark.long
def test_tables_of_four_agree_with_plackett_luce() -> None:
    """Compare both fits with the true strengths: pairs lose some information of a ranking."""
    import choix

    dice = np.random.default_rng(1)
    truth = np.linspace(-1.0, 1.0, 8)
    rankings = []
    for _ in range(2000):
        table = dice.permutation(8)[:4]
        luck = truth[table] + dice.gumbel(size=4)
        rankings.append(tuple(int(entrant) for entrant in table[np.argsort(-luck)]))
    played = [
        match(number, tuple("abcdefgh"[entrant] for entrant in ranking), (1, 2, 3, 4))
        for number, ranking in enumerate(rankings)
    ]
    by_name = values(strengths(Meetings.of(played), LIKELIEST))
    ours = np.array([by_name[name] for name in "abcdefgh"]) / ELO - truth
    oracle = choix.ilsr_rankings(8, rankings) - truth
    assert np.abs(ours - oracle).max() < 0.05
    assert np.sqrt(np.mean(ours**2)) < 1.2 * np.sqrt(np.mean(oracle**2)) + 0.01


@given(tournaments(), st.randoms(use_true_random=False))
@settings(max_examples=examples(40))
def test_the_fit_does_not_depend_on_the_order_of_its_input(
    matches: list[ClosedMatch], dice: random.Random
) -> None:
    shuffled = []
    for played in dice.sample(matches, len(matches)):
        order = dice.sample(range(len(played.entrants)), len(played.entrants))
        games = dice.sample(played.games, len(played.games))
        shuffled.append(
            match(
                played.number,
                tuple(played.entrants[place] for place in order),
                *(tuple(game.places[place] for place in order) for game in games),
            )
        )
    assert strengths(Meetings.of(matches)) == strengths(Meetings.of(shuffled))


@given(tournaments(), st.integers(0, 12))
@settings(max_examples=examples(40))
def test_matches_can_be_added_one_by_one_or_table_to_table(
    matches: list[ClosedMatch], cut: int
) -> None:
    whole = Meetings.of(matches)
    table = Meetings()
    for played in matches:
        table = together(table, Meetings.of([played]))
    assert table == whole
    assert together(Meetings.of(matches[:cut]), Meetings.of(matches[cut:])) == whole
    assert whole.matches == len(matches)


@given(tournaments())
@settings(max_examples=examples(40))
def test_the_table_is_consistent_for_any_matches(matches: list[ClosedMatch]) -> None:
    fitted = strengths(Meetings.of(matches))
    linked = [line for line in fitted.lines if line.group == 0]
    mean = sum(line.value * line.matches for line in linked) / sum(line.matches for line in linked)
    assert mean == pytest.approx(1200, abs=1e-4)
    for row, line in enumerate(fitted.lines):
        assert line.low < line.value < line.high
        assert 1 <= line.first <= row + 1 <= line.last <= len(fitted.lines)
        for column, other in enumerate(fitted.lines):
            likely = fitted.gaps.superiority(row, column)
            assert likely + fitted.gaps.superiority(column, row) == pytest.approx(1, abs=1e-5)
            assert (likely >= 0.5) == (line.value >= other.value)


def test_a_draw_is_half_a_win_for_each() -> None:
    drawn = values(strengths(wins({"a>b": 3, "b>a": 1, "a=b": 2})))
    shared = values(strengths(wins({"a>b": 4, "b>a": 2})))
    assert drawn == shared


@pytest.mark.parametrize("draws", [0.1, 0.3, 0.5])
def test_half_points_for_draws_approximate_the_davidson_model(draws: float) -> None:
    """Davidson's model has a parameter for draws.

    If it is set so that equal entrants draw at this rate, its mean score as a function of the gap
    differs by at most 0.011 from the logistic function with the same slope at 0.
    """
    ties = 2 * draws / (1 - draws)
    for gap in np.linspace(-5, 5, 101):
        stretched = gap * (2 + ties) / 4
        weights = math.exp(stretched), ties, math.exp(-stretched)
        davidson = (weights[0] + ties / 2) / sum(weights)
        assert davidson == pytest.approx(1 / (1 + math.exp(-gap)), abs=0.011)


def test_the_number_of_games_of_a_match_does_not_change_its_weight() -> None:
    short = [match(n, ("a", "b"), (1, 2) if n % 3 else (2, 1)) for n in range(30)]
    long = [match(n, ("a", "b"), *[(1, 2) if n % 3 else (2, 1)] * 10) for n in range(30)]
    assert strengths(Meetings.of(short)).lines == strengths(Meetings.of(long)).lines


def test_balanced_games_within_matches_reduce_the_error() -> None:
    apart = [match(n, ("a", "b"), (1, 2) if n % 2 else (2, 1)) for n in range(60)]
    mirrored = [match(n, ("a", "b"), (1, 2), (2, 1)) for n in range(60)]
    assert strengths(Meetings.of(mirrored)).lines[0].error < 0.5 * (
        strengths(Meetings.of(apart)).lines[0].error
    )


def test_more_matches_reduce_the_error() -> None:
    errors = [
        strengths(wins({"a>b": 3 * times, "b>a": times})).lines[0].error for times in (1, 4, 16, 64)
    ]
    assert errors == sorted(errors, reverse=True)
    assert errors[2] == pytest.approx(2 * errors[3], rel=0.1)


def test_an_undefeated_entrant_has_a_finite_provisional_strength() -> None:
    fitted = strengths(wins({"a>b": 5, "b>c": 20, "c>b": 20}))
    line = fitted.of("a")
    assert 1200 < line.value < 2000
    assert line.provisional
    assert line.error > 100


def test_the_bound_of_an_undefeated_entrant_makes_its_run_a_one_in_twenty_chance() -> None:
    known = StrengthSettings(anchors=(("b", 1200.0),))
    winner = strengths(wins({"a>b": 5}), known).of("a").bound
    loser = strengths(wins({"b>a": 5}), known).of("a").bound
    assert winner is not None
    assert loser is not None
    assert (winner.side, loser.side) == ("above", "below")
    assert expected_score(winner.value - 1200) ** 5 == pytest.approx(0.05, rel=1e-4)
    assert winner.value - 1200 == pytest.approx(1200 - loser.value, abs=0.01)


def test_bounds_at_tables_of_more_than_two_follow_from_the_model_of_rankings() -> None:
    anchors = {"b": 1200.0, "c": 1100.0, "d": 1300.0}
    known = StrengthSettings(anchors=tuple(anchors.items()))
    places = {"above": (1, 2, 3, 4), "below": (4, 1, 2, 3)}
    for side, ranks in places.items():
        matches = [match(number, ("a", *anchors), ranks) for number in range(3)]
        bound = strengths(Meetings.of(matches), known).of("a").bound
        assert bound is not None
        assert bound.side == side
        odds = {name: 10 ** (value / 400) for name, value in {"a": bound.value, **anchors}.items()}
        chance = sum(
            math.prod(
                odds[name] / sum(odds[left] for left in order[at:]) for at, name in enumerate(order)
            )
            for order in permutations(odds)
            if order[0 if side == "above" else -1] == "a"
        )
        assert chance**3 == pytest.approx(0.05, rel=1e-4)


def test_uncertain_opponents_lower_the_bound_of_an_undefeated_entrant() -> None:
    bounds = [
        strengths(wins({"a>b": 5, "b>c": times, "c>b": times})).of("a").bound for times in (5, 500)
    ]
    assert bounds[0] is not None
    assert bounds[1] is not None
    assert bounds[0].value < bounds[1].value


def test_only_entrants_that_won_or_lost_everything_have_a_bound() -> None:
    results = wins({"a>b": 5, "b>c": 20, "c>b": 20})
    assert [bool(line.bound) for line in strengths(results).lines] == [True, False, False]
    anchored = strengths(results, StrengthSettings(anchors=(("a", 1400.0),)))
    assert not any(line.bound for line in anchored.lines)
    assert not strengths(results, entrants=["new"]).of("new").bound


def test_an_entrant_without_matches_has_the_prior_strength_and_error() -> None:
    fitted = strengths(wins({"a>b": 40, "b>a": 40}), entrants=["new"])
    line = fitted.of("new")
    assert fitted.of("a").error < 45
    assert line.value == pytest.approx(1200, abs=1e-4)
    assert (line.matches, line.opponents, line.provisional) == (0, 0, True)
    assert line.error == pytest.approx(600 * math.sqrt(3 / 2), rel=0.02)


def test_no_entrants_and_no_matches_give_an_empty_table() -> None:
    assert strengths(Meetings()).lines == ()


def test_one_anchor_shifts_all_strengths_equally() -> None:
    table = wins({"a>b": 9, "b>a": 4, "b>c": 8, "c>b": 5, "a>c": 7, "c>a": 2})
    free = strengths(table)
    held = strengths(table, StrengthSettings(anchors=(("b", 1000.0),)))
    shift = 1000.0 - free.of("b").value
    assert values(held) == pytest.approx({k: v + shift for k, v in values(free).items()}, abs=1e-4)
    line = held.of("b")
    assert (line.value, line.error, line.anchored, line.provisional) == (1000.0, 0.0, True, False)
    assert held.of("a").error > free.of("a").error
    rows = {entry.entrant: row for row, entry in enumerate(held.lines)}
    was = {entry.entrant: row for row, entry in enumerate(free.lines)}
    assert held.gaps.error(rows["a"], rows["c"]) == pytest.approx(
        free.gaps.error(was["a"], was["c"]), abs=1e-4
    )


def test_a_loose_anchor_is_between_a_fixed_anchor_and_none() -> None:
    table = wins({"a>b": 12, "b>a": 8, "b>c": 15, "c>b": 5})
    free = values(strengths(table))
    fixed = values(strengths(table, StrengthSettings(anchors=(("a", 1500.0), ("c", 1300.0)))))

    def loose(deviation: float) -> dict[str, float]:
        anchors = (("a", 1500.0, deviation), ("c", 1300.0, deviation))
        return values(strengths(table, StrengthSettings(loose_anchors=anchors)))

    assert loose(0.01) == pytest.approx(fixed, abs=0.1)
    gaps = [held["a"] - held["c"] for held in (free, loose(1e5), loose(50), fixed)]
    assert gaps[0] == pytest.approx(gaps[1], abs=0.1)
    assert gaps[3] == 200
    assert sorted(gaps[1:]) in (gaps[1:], gaps[:0:-1])


def test_the_strength_of_a_loose_anchor_without_matches_is_its_prior() -> None:
    settled = StrengthSettings(prior=1e6, loose_anchors=(("a", 1500.0, 80.0),))
    line = strengths(wins({"b=c": 2}), settled, entrants=["a"]).of("a")
    assert line.value == pytest.approx(1500, abs=0.01)
    assert line.error == pytest.approx(80, abs=0.01)
    assert not line.anchored


@pytest.mark.long
def test_intervals_with_loose_anchors_cover_95_percent() -> None:
    dice = random.Random(11)
    held: list[bool] = []
    means = {"a": 1300.0, "b": 1200.0, "c": 1100.0}
    settled = StrengthSettings(
        loose_anchors=tuple((name, mean, 80.0) for name, mean in means.items())
    )
    for _ in range(400):
        truth = {name: dice.gauss(mean, 80) for name, mean in means.items()}
        results: Counter[str] = Counter()
        for first, second in combinations(truth, 2):
            for _ in range(20):
                won = dice.random() < expected_score(truth[first] - truth[second])
                results[f"{first}>{second}" if won else f"{second}>{first}"] += 1
        lines = strengths(wins(dict(results)), settled).lines
        held += [line.low <= truth[line.entrant] <= line.high for line in lines]
    assert 0.93 <= mean(held) <= 0.97


def test_two_anchors_keep_their_distance() -> None:
    anchors = (("a", 1500.0), ("b", 1100.0))
    fitted = strengths(wins({"a>b": 1, "b>a": 9, "b=c": 4}), StrengthSettings(anchors=anchors))
    assert fitted.of("a").value - fitted.of("b").value == 400.0
    order = [line.entrant for line in fitted.lines]
    assert fitted.gaps.superiority(order.index("a"), order.index("b")) == 1.0
    with pytest.raises(ValueError, check=has_code("unknown-anchor")):
        strengths(wins({"a=b": 1}), StrengthSettings(anchors=(("x", 1.0),)))


def test_indistinguishable_bots_share_a_range_of_ranks() -> None:
    fitted = strengths(
        wins({"a>b": 51, "b>a": 49, "a>c": 90, "c>a": 10, "b>c": 90, "c>b": 10}),
    )
    assert [(line.first, line.last) for line in fitted.lines] == [(1, 2), (1, 2), (3, 3)]


def test_unconnected_groups_are_listed_and_smaller_ones_provisional() -> None:
    table = {"a>b": 400, "b>a": 400, "b>c": 400, "c>b": 400, "x>y": 400, "y>x": 400}
    fitted = strengths(wins(table))
    assert fitted.groups == (("a", "b", "c"), ("x", "y"))
    assert {line.entrant for line in fitted.lines if line.provisional} == {"x", "y"}
    assert fitted.of("x").group == 1
    order = [line.entrant for line in fitted.lines]
    assert fitted.gaps.error(order.index("x"), order.index("y")) < 30
    assert fitted.gaps.error(order.index("x"), order.index("a")) > 300


CIRCLE = {"a>b": 15, "b>a": 5, "b>c": 15, "c>b": 5, "c>a": 15, "a>c": 5}


@pytest.mark.parametrize(
    ("weighting", "least", "most"),
    [("pairs", 1200, 1200), ("random-effects", 1200, 1215), ("matches", 1220, 1300)],
)
def test_meeting_weak_opponents_more_often_hardly_helps(
    weighting: Weighting, least: float, most: float
) -> None:
    often = CIRCLE | {"a>b": 1500, "b>a": 500}
    fitted = strengths(wins(often), StrengthSettings(weighting=weighting))
    assert least - 1e-4 < fitted.of("a").value < most + 1e-4


def test_frequent_pairs_count_fully_if_strengths_explain_the_results() -> None:
    fair = {"a>b": 200, "b>a": 100, "b>c": 20, "c>b": 10, "a>c": 24, "c>a": 6}
    fitted = strengths(wins(fair))
    assert fitted.pair_deviation == 0.0
    by_matches = strengths(wins(fair), StrengthSettings(weighting="matches"))
    assert values(fitted) == values(by_matches)


@pytest.mark.long
@pytest.mark.parametrize("deviation", [0.0, 60.0])
def test_the_deviation_of_pairs_is_estimated(deviation: float) -> None:
    dice = random.Random(5)
    estimates = []
    for _ in range(30):
        strength = {name: dice.gauss(0, 150) for name in "abcdefgh"}
        results: dict[str, int] = {}
        for first, second in combinations("abcdefgh", 2):
            gap = strength[first] - strength[second] + dice.gauss(0, deviation)
            matches = dice.choice((40, 400))
            won = sum(dice.random() < expected_score(gap) for _ in range(matches))
            results |= {f"{first}>{second}": won, f"{second}>{first}": matches - won}
        fitted = strengths(wins(results)).pair_deviation
        assert fitted is not None
        estimates.append(fitted**2)
    assert mean(estimates) == pytest.approx(deviation**2, abs=500)


def test_cyclic_results_have_a_lack_of_fit() -> None:
    misfit = strengths(wins(CIRCLE)).lack_of_fit
    assert misfit is not None
    assert misfit.p_value < 0.001
    assert misfit.freedom == (1, 57)
    assert {pair.score for pair in misfit.worst} <= {0.75, 0.25}


def test_results_drawn_from_strengths_have_no_lack_of_fit() -> None:
    fair = {"a>b": 20, "b>a": 10, "b>c": 20, "c>b": 10, "a>c": 24, "c>a": 6}
    misfit = strengths(wins(fair)).lack_of_fit
    assert misfit is not None
    assert misfit.p_value > 0.9


def test_two_entrants_have_no_lack_of_fit() -> None:
    assert strengths(wins({"a>b": 9, "b>a": 5})).lack_of_fit is None


@pytest.mark.long
@pytest.mark.parametrize("upper", [1, 2, 5, 30, 1000])
@pytest.mark.parametrize("lower", [5, 30, 1000])
def test_the_tail_of_the_f_distribution_is_accurate_to_a_hundredth(upper: int, lower: int) -> None:
    from scipy.stats import f

    for ratio in (0.3, 0.8, 1.0, 1.3, 2.0, 4.0, 8.0):
        assert f_tail(ratio, upper, lower) == pytest.approx(f.sf(ratio, upper, lower), abs=0.01)


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"centre": math.nan}, "not-finite"),
        ({"anchors": (("a", math.inf),)}, "not-finite"),
        ({"anchors": (("a", 1.0), ("a", 2.0))}, "anchor-twice"),
        ({"anchors": (("a", 1.0),), "loose_anchors": (("a", 1.0, 2.0),)}, "anchor-twice"),
        ({"loose_anchors": (("a", 1.0, 0.0),)}, "anchor-deviation"),
        ({"anchors": (("a", -2000.0), ("b", 3000.0))}, "anchors-apart"),
    ],
)
def test_invalid_settings_are_refused(wrong: dict[str, Any], code: str) -> None:
    with pytest.raises(ValueError, check=has_code(code)):
        StrengthSettings(**wrong)


def test_importing_strength_does_not_load_numpy() -> None:
    code = "import sys, arena.ratings.strength.fit; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
