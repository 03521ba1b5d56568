"""The arena's own formulas of Elo, compared with the package `elo` in every digit."""

import subprocess
import sys
from importlib import util

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.ratings import elo as elo_ratings
from arena.ratings.elo_formulas import Elo

IS_INSTALLED = util.find_spec("elo") is not None
needs_package = pytest.mark.skipif(
    not IS_INSTALLED and sys.version_info >= (3, 12), reason="elo 0.1.1 builds on Python 3.11 only"
)
RATING = st.floats(allow_nan=False, width=64)
USUAL = st.floats(-5000, 5000)
SCORES = st.floats(0, 1)
SERIES = st.lists(st.tuples(SCORES, RATING), max_size=6)
POSITIVE = st.floats(min_value=0, exclude_min=True, allow_infinity=False)

KNOWN: tuple[tuple[float, list[tuple[float, float]], float, float, float], ...] = (
    (1200.0, [(1.0, 1200.0)], 10.0, 200.0, 1205.0),
    (800.0, [(1.0, 1200.0)], 10.0, 200.0, 809.0909090909091),
    (1500.0, [(0.1, 1000.3), (0.7, 1999.9), (0.3, 1501.1)], 3.3, 200.0, 1498.685415674184),
    (1234.5, [], 10.0, 200.0, 1234.5),
)
"""Rating, series, K, beta and the rating that the package returns on Python 3.11."""


def test_a_checkout_on_python_3_11_uses_the_package() -> None:
    from_package = sys.version_info < (3, 12)
    assert from_package == IS_INSTALLED
    module = "elo" if from_package else "arena.ratings.elo_formulas"
    assert vars(elo_ratings)["Elo"].__module__ == module


@pytest.mark.parametrize(("rating", "series", "k", "beta", "after"), KNOWN)
def test_the_formulas_return_the_digits_of_the_package_on_every_python(
    rating: float, series: list[tuple[float, float]], k: float, beta: float, after: float
) -> None:
    assert Elo(k_factor=k, beta=beta).rate(rating, series).hex() == after.hex()


def outcome(rater: object, rating: float, series: list[tuple[float, float]]) -> tuple[str, ...]:
    """Return the digits of every expected score and of the new rating, or the errors' names."""
    results = []
    calls = [("expect", (rating, other)) for _, other in series] + [("rate", (rating, series))]
    for name, values in calls:
        try:
            results.append(float(getattr(rater, name)(*values)).hex())
        except ArithmeticError as error:
            results.append(type(error).__name__)
    return tuple(results)


@needs_package
@given(
    RATING | USUAL,
    SERIES | st.lists(st.tuples(SCORES, USUAL), min_size=1, max_size=6),
    POSITIVE | st.floats(0.1, 100),
    POSITIVE | st.floats(50, 500),
)
@example(0.0, [(1.0, 308.25 * 400)], 10.0, 200.0)
@example(0.0, [(1.0, 1e300)], 10.0, 200.0)
@example(-1.7e308, [(0.0, 1.7e308)], 5e-324, 5e-324)
@example(float("inf"), [(0.5, float("inf")), (0.5, float("-inf"))], 10.0, 200.0)
@example(-0.0, [(0.5, 0.0)] * 6, 1.7e308, 200.0)
def test_the_formulas_equal_the_package_for_usual_and_extreme_values(
    rating: float, series: list[tuple[float, float]], k: float, beta: float
) -> None:
    from elo import Elo as Package

    package = Package(k_factor=k, beta=beta)
    assert outcome(Elo(k_factor=k, beta=beta), rating, series) == outcome(package, rating, series)


def test_without_the_package_the_formulas_are_used() -> None:
    code = (
        "import sys; sys.modules['elo'] = None\n"
        "import arena.ratings.elo; print(arena.ratings.elo.Elo.__module__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "arena.ratings.elo_formulas\n"
