"""Test the fit of large ladders, with small ladders whose fit by matrices is known."""

import random
import tracemalloc
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.ratings.closed_match import ClosedMatch
from arena.ratings.meetings import Meetings
from arena.ratings.strength import fit
from arena.ratings.strength.fit import Strengths, strengths, values
from arena.ratings.strength.meeting_arrays import columns, score_scatter
from arena.ratings.strength.pair_graph import PairGraph, pair_graph
from arena.ratings.strength.sampled_covariance import (
    SignedSums,
    absorbed,
    roots_of,
    sampled_scatter,
)
from arena.ratings.strength.settings import StrengthSettings
from arena.ratings.strength.solver import curvature, priors
from arena.ratings.strength.solver import expected_scores as all_expected_scores
from arena.ratings.strength.sparse_curvature import PairCurvature
from arena.ratings.strength.sparse_fit import expected_scores, labels, most_plausible
from tests.arena.ratings.played_matches import match, places_of, together
from tests.examples import examples, quick_cases

Table = list[ClosedMatch]
WON = (1, 2)


def ladder(bots: int, matches: int, seats: tuple[int, ...] = (2,), seed: int = 1) -> Meetings:
    """Return random matches of one or two games; most are between neighbours in strength."""
    dice = random.Random(seed)
    truth = sorted((dice.gauss(0, 1) for _ in range(bots)), reverse=True)
    played: Table = []
    for number in range(matches):
        size = dice.choice(seats)
        middle = dice.randrange(bots)
        near = [place for place in range(middle - 4, middle + 5) if 0 <= place < bots]
        chosen = dice.sample(near if dice.random() < 0.7 else range(bots), size)
        places = [
            places_of([truth[place] + dice.gauss(0, 1.5) for place in chosen])
            for _ in range(dice.choice((1, 2)))
        ]
        played.append(match(number, [f"bot{place:03}" for place in chosen], *places))
    return Meetings.of(played)


def by_graph(
    monkeypatch: pytest.MonkeyPatch, table: Meetings, given: StrengthSettings | None = None
) -> Strengths:
    """Fit like a ladder of more than `fit.MAX_DENSE_ENTRANTS` entrants."""
    with monkeypatch.context() as patched:
        patched.setattr(fit, "MAX_DENSE_ENTRANTS", 0)
        return strengths(table, given)


def bread_of(graph: PairGraph, precision: float) -> tuple[PairCurvature, np.ndarray, np.ndarray]:
    """Return a matrix in both forms, and its values by pair."""
    spread = np.linspace(0.1, 2.0, len(graph))
    dense = np.zeros((graph.size, graph.size))
    dense[graph.first, graph.second] = dense[graph.second, graph.first] = spread
    centring = np.eye(graph.size) - 1 / graph.size
    matrix = curvature(dense) + precision * centring
    return PairCurvature(graph, spread, priors(graph.size, precision)), matrix, spread


def inverse_of(matrix: np.ndarray) -> np.ndarray:
    """Return the pseudoinverse of a matrix whose only null direction is the constant one.

    NumPy's default limit for a singular value that counts as zero lies at the rounding error of the
    largest, so that the direction is inverted on some processors and left out on others.
    """
    return np.linalg.pinv(matrix, rcond=1e-10, hermitian=True)


ANCHORS = (("bot001", 1300.0), ("bot030", 1100.0))


@pytest.mark.parametrize("seats", quick_cases([(2, 3, 4), (2,)], 1))
@pytest.mark.parametrize(
    ("given", "tolerance"),
    [
        # The deviation between pairs follows from a trace that is estimated.
        (StrengthSettings(), 0.01),
        (StrengthSettings(weighting="pairs"), 1e-6),
        (StrengthSettings(weighting="matches", prior=200.0), 1e-6),
        (StrengthSettings(weighting="matches", anchors=ANCHORS), 1e-6),
        (StrengthSettings(weighting="pairs", loose_anchors=(("bot001", 1300.0, 40.0),)), 1e-6),
    ],
)
def test_the_strengths_equal_those_by_matrices(
    monkeypatch: pytest.MonkeyPatch,
    seats: tuple[int, ...],
    given: StrengthSettings,
    tolerance: float,
) -> None:
    table = ladder(40, 2500, seats)
    dense, sparse = strengths(table, given), by_graph(monkeypatch, table, given)
    assert [line.entrant for line in sparse.lines] == [line.entrant for line in dense.lines]
    assert sparse.groups == dense.groups
    for ours, theirs in zip(sparse.lines, dense.lines, strict=True):
        assert ours.value == pytest.approx(theirs.value, abs=tolerance)
        assert ours.error == pytest.approx(theirs.error, rel=0.1)
        assert (ours.matches, ours.opponents) == (theirs.matches, theirs.opponents)
        assert (ours.anchored, ours.group) == (theirs.anchored, theirs.group)
        assert abs(ours.first - theirs.first) <= 2
        assert abs(ours.last - theirs.last) <= 2
    for first, second in combinations(range(0, 40, 5), 2):
        theirs_error = dense.gaps.error(first, second)
        assert sparse.gaps.error(first, second) == pytest.approx(theirs_error, rel=0.1)
        assert sparse.gaps.errors(first)[second] == pytest.approx(theirs_error, rel=0.1)


@pytest.mark.parametrize("seats", [(2,), (3, 4)])
def test_the_deviation_of_pairs_equals_that_by_matrices(
    monkeypatch: pytest.MonkeyPatch, seats: tuple[int, ...]
) -> None:
    """A cycle A, B, C deviates from any strengths, so the weights of pairs differ from 1."""
    table = ladder(8, 1500, seats)
    cycle: Table = []
    for winner, loser in (("bot000", "bot001"), ("bot001", "bot002"), ("bot002", "bot000")):
        cycle += [match(n, (winner, loser), WON) for n in range(30)]
    table = together(table, Meetings.of(cycle))
    dense, sparse = strengths(table), by_graph(monkeypatch, table)
    assert dense.pair_deviation
    assert sparse.pair_deviation == pytest.approx(dense.pair_deviation, rel=0.02)
    assert dense.lack_of_fit is not None
    assert sparse.lack_of_fit is not None
    assert sparse.lack_of_fit.ratio == pytest.approx(dense.lack_of_fit.ratio, rel=0.02)
    assert sparse.lack_of_fit.freedom == dense.lack_of_fit.freedom
    assert [pair.one for pair in sparse.lack_of_fit.worst] == [
        pair.one for pair in dense.lack_of_fit.worst
    ]
    for ours in sparse.lines:
        assert ours.value == pytest.approx(dense.of(ours.entrant).value, abs=0.2)


def test_separate_groups_bounds_and_newcomers_equal_those_by_matrices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played = [match(n, ("x", "y"), places_of((n % 3, 1.0))) for n in range(9)]
    played += [match(n, ("best", "bot000"), WON) for n in range(6)]
    table = together(ladder(12, 400), Meetings.of(played))
    dense, sparse = strengths(table), by_graph(monkeypatch, table)
    assert sparse.groups == dense.groups
    assert len(sparse.groups) == 2
    bound, theirs = sparse.of("best").bound, dense.of("best").bound
    assert bound is not None
    assert theirs is not None
    assert bound.side == "above"
    assert bound.value == pytest.approx(theirs.value, abs=2)


def test_the_same_matches_give_the_same_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit, "MAX_DENSE_ENTRANTS", 0)
    table = ladder(20, 300, (2, 3))
    turned = Meetings(dict(reversed(list(table.sums.items()))))
    assert strengths(table) == strengths(turned)
    assert values(table) == {
        line.entrant: (line.value, line.error) for line in strengths(table).lines
    }


@pytest.mark.long
def test_a_large_ladder_has_no_arrays_of_everyone_against_everyone() -> None:
    dice = random.Random(1)
    bots = 3000
    played = [
        match(
            number,
            (f"bot{first:04}", f"bot{(first + step) % bots:04}"),
            places_of((dice.random(), 0.5)),
        )
        for number, (first, step) in enumerate(
            (first, step) for first in range(bots) for step in (1, 2, 30)
        )
    ]
    table = Meetings.of(played)
    strengths(ladder(3, 9))
    tracemalloc.start()
    fitted = strengths(table)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(fitted.lines) == bots
    assert peak < 8 * bots**2


@st.composite
def small_tables(draw: st.DrawFn) -> Meetings:
    """Draw matches of two to four of seven entrants; line-ups repeat."""
    matches: Table = []
    for number in range(draw(st.integers(1, 12))):
        entrants = draw(st.lists(st.sampled_from("abcdefg"), min_size=2, max_size=4, unique=True))
        score = st.tuples(*[st.integers(0, 2)] * len(entrants))
        scores = draw(st.lists(score, min_size=1, max_size=2))
        matches.append(match(number, entrants, *map(places_of, scores)))
    return Meetings.of(matches)


@given(small_tables())
@settings(max_examples=examples(60))
def test_the_graph_has_the_pairs_that_have_met(table: Meetings) -> None:
    arrays = columns(table, "abcdefg")
    graph = pair_graph(arrays)
    first, second = graph.first, graph.second
    assert sorted(zip(first.tolist(), second.tolist(), strict=True)) == [
        tuple(pair) for pair in np.argwhere(np.triu(arrays.count)).tolist()
    ]
    assert graph.count.tolist() == arrays.count[first, second].tolist()
    assert graph.score == pytest.approx(arrays.score[first, second])
    assert graph.opponents.tolist() == np.count_nonzero(arrays.count, axis=1).tolist()
    assert graph.points[0].tolist() == arrays.count.sum(axis=1).tolist()
    assert graph.points[1] == pytest.approx(arrays.score.sum(axis=1))


@given(small_tables())
@settings(max_examples=examples(60))
def test_entrants_have_a_common_label_if_matches_connect_them(table: Meetings) -> None:
    label = labels(pair_graph(columns(table, "abcdefg")))
    linked = np.eye(7, dtype=bool)
    for line_up in table.sums:
        for one, other in permutations(line_up.entrants, 2):
            linked["abcdefg".index(one), "abcdefg".index(other)] = True
    for _ in range(7):
        linked = linked @ linked
    assert np.array_equal(label[:, None] == label, linked)
    assert all(label[place] == np.flatnonzero(linked[place])[0] for place in range(7))


def test_conjugate_gradients_solve_the_linear_system() -> None:
    graph = pair_graph(columns(ladder(30, 200), [f"bot{place:03}" for place in range(30)]))
    bread, matrix, _ = bread_of(graph, 0.1)
    columns_of = np.random.default_rng(1).normal(size=(30, 3))
    columns_of -= columns_of.mean(axis=0)
    assert bread.times(columns_of) == pytest.approx(matrix @ columns_of, rel=1e-6, abs=1e-5)
    solved = bread.solved(columns_of, 1e-10)
    assert solved == pytest.approx(inverse_of(matrix) @ columns_of, abs=1e-6)


def test_samples_of_pairs_have_the_covariance_of_their_curvature() -> None:
    graph = pair_graph(columns(ladder(6, 60), [f"bot{place:03}" for place in range(6)]))
    _, matrix, spread = bread_of(graph, 0.0)
    samples = SignedSums(6, 12_800, 1).of_pairs(graph, spread)
    observed = samples @ samples.T / samples.shape[1]
    assert observed == pytest.approx(matrix, abs=0.05 * matrix.max())
    assert samples.sum(axis=0) == pytest.approx(0, abs=1e-4)


def test_the_scatter_of_line_ups_is_that_by_matrices_and_their_samples_have_it() -> None:
    names = [f"bot{place:03}" for place in range(7)]
    table = columns(ladder(7, 60, (2, 3, 4)), names)
    graph = pair_graph(table)
    strength = most_plausible(graph, np.ones(len(graph)), priors(7, 0.1))
    every = np.ones((7, 7))
    expected = score_scatter(table, every, all_expected_scores(strength))
    scatter = sampled_scatter(
        table,
        graph,
        np.ones(len(graph)),
        expected_scores(graph, strength),
        SignedSums(7, 6_400, 1),
    )
    assert scatter.diagonal == pytest.approx(np.diag(expected))
    assert scatter.at_pairs == pytest.approx(expected[graph.first, graph.second])
    observed = scatter.samples @ scatter.samples.T / scatter.samples.shape[1]
    assert observed == pytest.approx(expected, abs=0.06 * expected.max())


def test_roots_of_matrices_without_a_sum_multiply_to_them() -> None:
    factors = np.random.default_rng(1).normal(size=(50, 4, 2))
    factors -= factors.mean(axis=1, keepdims=True)
    matrices = factors @ factors.transpose(0, 2, 1)
    matrices[0] = 0.0
    roots = roots_of(matrices)
    assert roots @ roots.transpose(0, 2, 1) == pytest.approx(matrices, abs=1e-9)


def test_the_trace_is_estimated() -> None:
    graph = pair_graph(columns(ladder(40, 2000), [f"bot{place:03}" for place in range(40)]))
    bread, matrix, spread = bread_of(graph, 0.0)
    squares = spread**2
    dense = np.zeros((40, 40))
    dense[graph.first, graph.second] = dense[graph.second, graph.first] = squares
    samples = SignedSums(40, 64, 9).of_pairs(graph, squares)
    trace = absorbed(bread, graph.sums(squares), samples)
    assert trace == pytest.approx(np.trace(inverse_of(matrix) @ curvature(dense)), rel=0.03)
