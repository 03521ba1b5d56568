"""Test differences between entrants, which are computed on demand, and the ranks they imply."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ratings.scale import ELO
from arena.ratings.strength.solver import DenseCovariance, StrengthDifferences

# The documented certainty of ranks (docs/explanation/ratings.md), and its quantile in any table.
CERTAIN = 0.975
QUANTILE = 1.959964


def gaps(values: list[float], errors: list[float]) -> StrengthDifferences:
    return StrengthDifferences(values, DenseCovariance(np.diag(np.square(np.array(errors) / ELO))))


@given(
    st.lists(
        st.tuples(
            st.floats(-300, 300).map(lambda value: round(value, 6)),
            st.sampled_from((0.0, 0.000_001, 1.0, 30.0, 80.0)),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_ranks_count_the_certainly_stronger_entrants(
    strengths: list[tuple[float, float]],
) -> None:
    strengths = sorted(strengths, reverse=True)
    differences = gaps([value for value, _ in strengths], [error for _, error in strengths])
    for place in range(len(strengths)):
        row = differences.superiorities(place)
        first = 1 + sum(likely < 1 - CERTAIN for likely in row)
        last = len(row) - sum(likely > CERTAIN for likely in row)
        assert differences.ranks(place) == (first, last)


@pytest.mark.parametrize("off", [-2e-5, -1e-6, 0.0, 1e-6, 2e-5])
def test_a_rank_at_the_threshold_uses_the_reported_likelihood(off: float) -> None:
    differences = gaps([(QUANTILE + off) * 50, 0.0], [30.0, 40.0])
    likely = differences.superiority(0, 1)
    assert differences.ranks(0) == (1, 1 if likely > CERTAIN else 2)
    assert differences.ranks(1)[0] == (2 if differences.superiority(1, 0) < 1 - CERTAIN else 1)


@pytest.mark.parametrize(("quantiles", "last"), [(1.64, 2), (1.9599, 2), (1.9601, 1), (2.58, 1)])
def test_a_difference_is_certain_beyond_its_95_percent_interval(
    quantiles: float, last: int
) -> None:
    differences = gaps([quantiles * 50, 0.0], [30.0, 40.0])
    assert (differences.ranks(0), differences.ranks(1)) == ((1, last), (3 - last, 2))


def test_exactly_known_strengths_are_ordered_or_equal() -> None:
    differences = gaps([10.0, 10.0, 4.0], [0.0, 0.0, 0.0])
    assert differences.superiorities(0) == [0.5, 0.5, 1.0]
    assert differences.superiorities(2) == [0.0, 0.0, 0.5]
    assert [differences.ranks(place) for place in range(3)] == [(1, 2), (1, 2), (3, 3)]


def test_gaps_are_equal_if_their_reported_values_are_equal() -> None:
    differences = gaps([5.0, 1.0], [30.0, 40.0])
    assert differences == gaps([5.0, 1.0], [30.0, 40.0 + 1e-9])
    assert differences != gaps([5.0, 1.0], [30.0, 41.0])
    assert differences != gaps([5.0, 2.0], [30.0, 40.0])
    assert (differences.error(0, 1), differences.errors(1)) == (50.0, [50.0, 0.0])
