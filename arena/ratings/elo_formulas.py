"""The two formulas of the package `elo` 0.1.1, for Pythons on which the package does not build.

Source: `elo.Elo.expect` and `elo.Elo.rate` with `rating_class=float`. A test compares every digit.
"""

from collections.abc import Iterable


class Elo:
    """A replacement of `elo.Elo` with the methods that the arena uses.

    Args:
        k_factor: factor of the difference between a score and the expected score.
        beta: half the gap that makes the odds ten to one.
    """

    def __init__(self, k_factor: float = 10, beta: float = 200) -> None:
        self.k_factor = k_factor
        self.beta = beta

    def expect(self, rating: float, other_rating: float) -> float:
        """Return the expected score of the first rating: 1 / (1 + 10^((other - first) / 2 beta)).

        Raises:
            OverflowError: the gap is wider than about 308 times 2 * beta.
        """
        power: float = 10 ** ((float(other_rating) - float(rating)) / (2 * self.beta))
        return 1.0 / (1 + power)

    def rate(self, rating: float, series: Iterable[tuple[float, float]]) -> float:
        """Return the rating after games: rating + K * sum of (score - expected score).

        Args:
            series: score (0 to 1) and rating of the opponent, for each game.
        """
        # Not `sum`, which adds floats with another rounding since Python 3.12.
        total = 0.0
        for score, other_rating in series:
            total += score - self.expect(rating, other_rating)
        return float(rating) + self.k_factor * total
