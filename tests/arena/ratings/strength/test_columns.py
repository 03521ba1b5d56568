"""Test that sums over arrays equal sums over single matches."""

import random
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.ratings.closed_match import ClosedMatch, pairwise
from arena.ratings.meetings import Meetings
from arena.ratings.strength.meeting_arrays import MeetingArrays, columns, score_scatter
from tests.arena.ratings.played_matches import match, matches_of_few_line_ups
from tests.examples import examples

NAMES = tuple("abcdef")


def table_of(matches: list[ClosedMatch]) -> MeetingArrays:
    return columns(Meetings.of(matches), NAMES)


@given(matches_of_few_line_ups())
@settings(max_examples=examples(60))
def test_counts_scores_and_squares_match_the_matches(matches: list[ClosedMatch]) -> None:
    table = table_of(matches)
    for i, j in permutations(range(len(NAMES)), 2):
        both = [m for m in matches if {NAMES[i], NAMES[j]} <= set(m.entrants)]
        scores = [pairwise(m)[m.entrants.index(NAMES[i])][m.entrants.index(NAMES[j])] for m in both]
        assert table.count[i, j] == len(both)
        assert table.score[i, j] == pytest.approx(sum(scores))
        if i < j:
            assert table.scatter[i, j] == pytest.approx(sum(score**2 for score in scores))
    played = [sum(name in m.entrants for m in matches) for name in NAMES]
    assert table.matches.tolist() == played


@given(matches_of_few_line_ups(), st.integers(0, 1000))
@settings(max_examples=examples(60))
def test_the_variance_of_scores_matches_the_matches(matches: list[ClosedMatch], seed: int) -> None:
    dice = np.random.default_rng(seed)
    weights = dice.random((6, 6))
    weights += weights.T
    expected = dice.random((6, 6))
    expected = np.triu(expected, 1) + np.tril(1 - expected.T, -1)
    one_by_one = np.zeros((6, 6))
    for played in matches:
        surplus, scores = np.zeros(6), pairwise(played)
        at = [NAMES.index(name) for name in played.entrants]
        for first, second in permutations(range(len(at)), 2):
            off = scores[first][second] - expected[at[first], at[second]]
            surplus[at[first]] += weights[at[first], at[second]] * off
        one_by_one += np.outer(surplus, surplus)
    assert score_scatter(table_of(matches), weights, expected) == pytest.approx(one_by_one)


def test_line_ups_of_twenty_are_sorted_too() -> None:
    names = tuple(f"bot{number:02}" for number in range(30))
    dice = random.Random(1)
    matches = [match(n, dice.sample(names, 20), tuple(range(1, 21))) for n in range(5)]
    (block,) = columns(Meetings.of(matches), names).blocks
    rows = block.entrants.tolist()
    assert rows == sorted(rows)
    assert columns(Meetings.of(matches[::-1]), names).blocks[0].entrants.tolist() == rows
