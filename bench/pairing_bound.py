"""Estimate what the best schedule saves in inverted pairs, in a ladder of very many bots.

    uv run python -m bench.pairing_bound

With many bots of normally distributed strength, the strengths close to a bot have the same density
everywhere. The expected number of inverted pairs is then proportional to the integral of
f(x)**2 s(x). Here f is the density of strengths, and s the standard error of a strength at x.

1. After n games s is sqrt(J / n) / H (Huber 1967). H is the curvature of the fit to pairs, and J
   the variance of the score, both for one game.
2. Random tables have opponents from the whole distribution. The number of matches of a bot is
   nearly Poisson distributed, so the mean of 1 / sqrt(matches) is larger by 1 + 3 / (8 matches).
3. Tables of equal bots have the least s. If numbers of matches are free, the integral is least for
   numbers proportional to f(x)**(2/3).

The best schedule has to know the true strengths. A ladder does not know them, but it can react to
results, which matters as long as there are few bots within one standard error.
"""

from math import sqrt

import numpy as np

from arena.ratings.scale import ELO
from arena.ratings.strength.meeting_arrays import Floats
from bench.pairing_quality import SPREAD, STRICT

STRENGTHS = np.linspace(-3, 3, 61)
"""Strengths at which the integral is evaluated, in standard deviations."""
TABLES = 20_000


def error(tables: Floats, dice: np.random.Generator) -> float:
    """Return the standard error of the first bot after one game, if its opponents are known.

    Args:
        tables: strengths in natural units: (tables, seats).
        dice: draws the results.
    """
    scores = 1 / (1 + np.exp(tables[:, 1:] - tables[:, :1]))
    luck = tables + dice.gumbel(size=tables.shape)
    beaten = (luck[:, :1] > luck[:, 1:]).sum(axis=1)
    curvature = float((scores * (1 - scores)).sum(axis=1).mean())
    scatter = float(((beaten - scores.sum(axis=1)) ** 2).mean())
    return sqrt(scatter) / curvature


def savings(seats: int, dice: np.random.Generator) -> tuple[float, float]:
    """Return the shares of inverted pairs saved by tables of equals, and by the best schedule."""
    density = np.exp(-(STRENGTHS**2) / 2)
    spread = SPREAD / ELO
    errors = []
    for strength in STRENGTHS:
        tables = spread * dice.normal(size=(TABLES, seats))
        tables[:, 0] = spread * strength
        errors.append(error(tables, dice))
    close = error(np.zeros((20 * TABLES, seats)), dice)
    matches = density ** (2 / 3)
    matches /= (density * matches).sum() / density.sum()
    random = float((density**2 * np.array(errors)).sum())
    equal = close * float((density**2).sum())
    best = close * float((density**2 / np.sqrt(matches)).sum())
    return 1 - equal / random, 1 - best / random


def main() -> None:
    """Print the savings by seats and matches per bot."""
    for seats in (2, 4):
        equal, best = savings(seats, np.random.default_rng(1))
        print(f"{seats} seats: tables of equals {equal:.1%}, best numbers of matches {best:.1%}")
        for matches in STRICT:
            share = 1 - (1 - best) / (1 + 3 / (8 * matches))
            print(f"  {matches} matches per bot, with random numbers as well: {share:.1%}")


if __name__ == "__main__":
    main()
