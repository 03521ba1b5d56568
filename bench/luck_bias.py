"""Test that the luck adjustment has no bias: 20 pairs of policies on many boards each.

    uv run python -m bench.luck_bias saint_poker-2 --boards 2000

The policies are the playout policy of `strong` with different shares of random actions, so the
playouts resemble some bots and not others. Each board is played once, with A on every side in
turn. The adjustment uses one playout per position; its expectation does not depend on the number.

For each pair, the difference of raw and adjusted results is divided by its standard error, with a
multiple of one for all control variates (the luck itself) and with the estimated multiples of
`compare --adjusted`. Without bias these deviations have a standard normal distribution and the sum
of their squares a chi-square distribution. The test requires p > 0.001 and no deviation beyond
four. A pair whose results are all equal has no deviation (nan) and does not count.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from typing import Final

import numpy as np

from arena.ratings.control_variates import adjusted_results
from bench.arguments import at_least
from bench.luck_adjustment import Floats, game_of, mover
from bench.mirroring import PAIRS, rotations
from bench.strength import MeasuredForm, forms

TESTS: Final = ("luck: score", "luck: points", "adjusted: score", "adjusted: points")
SMALLEST_P: Final = 0.001
LARGEST_DEVIATION: Final = 4.0
_BOARDS_OF_PAIR: Final = 1_000_000


def deviations_of_pair(form: MeasuredForm, number: int, boards: int) -> Floats:
    """Return the differences of raw and adjusted results in standard errors, as in `TESTS`.

    Args:
        form: the form of the game.
        number: the number of the pair in `PAIRS`.
        boards: how many boards to play.
    """
    bots = {
        bot: mover(form, f"policy%{share}") for bot, share in zip("AB", PAIRS[number], strict=True)
    }
    seatings = rotations(form)
    first = number * _BOARDS_OF_PAIR
    games = [
        game_of(form, board, seatings[board % len(seatings)], bots, 1)
        for board in range(first, first + boards)
    ]
    results, controls = (np.array(column) for column in zip(*games, strict=True))
    controls = controls[:, 0]
    adjusted = [adjusted_results(results[:, kind], controls[:, kind]) for kind in range(2)]
    differences = np.hstack([controls.sum(axis=2), results - np.transpose(adjusted)])
    errors = differences.std(axis=0, ddof=1) / len(differences) ** 0.5
    with np.errstate(invalid="ignore"):
        return np.asarray(differences.mean(axis=0) / errors)


def chi_square_p(deviations: Sequence[float] | Floats) -> float:
    """Return the probability of a larger sum of squares of so many standard normal deviations."""
    degrees = len(deviations)
    half = sum(float(each) ** 2 for each in deviations) / 2
    exponents = [degrees / 2 - number for number in range(1, degrees // 2 + 1)]
    terms = (math.pow(half, exponent) / math.gamma(exponent + 1) for exponent in exponents)
    odd = math.erfc(math.sqrt(half)) if degrees % 2 else 0.0
    return odd + math.exp(-half) * sum(terms)


def main() -> None:
    """Print the deviations of each pair, and the result of the test, by form."""
    known = {str(form): form for form in forms()}
    parser = argparse.ArgumentParser(description="Test that luck-adjusted results have no bias.")
    parser.add_argument("form", nargs="+", choices=known)
    parser.add_argument("--boards", type=at_least(40), default=2000)
    given = parser.parse_args()
    for name in given.form:
        begun = time.process_time()
        print(f"{name}, {given.boards} boards per pair: {', '.join(TESTS)}", flush=True)
        pairs = []
        for number, pair in enumerate(PAIRS):
            pairs.append(deviations_of_pair(known[name], number, given.boards))
            cells = " ".join(f"{deviation:6.2f}" for deviation in pairs[-1])
            print(f"{pair[0]:3} % {pair[1]:3} %: {cells}", flush=True)
        for test, deviations in zip(TESTS, np.transpose(pairs), strict=True):
            counted = deviations[~np.isnan(deviations)]
            p, largest = chi_square_p(counted), np.abs(counted).max()
            passed = p > SMALLEST_P and largest <= LARGEST_DEVIATION
            verdict = "passed" if passed else "BIASED"
            print(f"{test}: chi-square p {p:.3f}, largest {largest:.2f}: {verdict}", flush=True)
        print(f"{time.process_time() - begun:.0f} s of CPU", flush=True)


if __name__ == "__main__":
    main()
