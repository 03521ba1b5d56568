"""Detect entrants that score more against others while a certain entrant is at the table.

At a table of three or more, one entrant (the giver) can play in favour of another (the taker). This
cannot be detected in a single game, but the taker then beats *third parties* more often than
without the giver. The test works as follows for each giver and taker:

1. Fit strengths to all matches by least squares. The expected score of a pair is one half plus the
   difference of their strengths.
2. Compute the mean surplus of the taker against third parties, in matches with and without the
   giver. The giver is not a third party in either mean. So both are over the same kind of
   opponents, and an error of the fit affects both.
3. Divide the difference of the means by its standard error (B. L. Welch, 1947). Without gifts the
   quotient has Student's distribution; D. L. Wallace's formula (1959) converts it to a normal one.
4. Correct the probabilities for the number of ordered pairs by S. Holm's method (1979). At a level
   of 1 %, at most 1 % of fair tournaments have a marked line.

Matches are compared as a whole, over mirrored boards: each entrant has held the cards of every
seat, so the luck of the cards cancels out, and matches are independent.

The result is an indication, not a proof: a style of play can also suit another one. Examine the
games.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import copysign, fsum, log1p, sqrt

from arena.ratings.closed_match import ClosedMatch, canonical_order, pairwise
from arena.ratings.scale import normal

MIN_MATCHES = 8
"""A pair is tested if the taker has at least this many matches with and without the giver."""
MAX_SWEEPS = 200
"""Maximum number of passes over all entrants in the fit of strengths."""
CONVERGED = 1e-9
"""The fit stops after a pass in which no strength moved by this much."""


@dataclass(frozen=True, slots=True)
class Gift:
    """The test of one giver and taker.

    Attributes:
        giver: the entrant whose presence is tested.
        taker: the entrant that may profit.
        together: matches of the taker with the giver.
        apart: matches of the taker without the giver.
        gain: mean score (0 to 1) of the taker against third parties with the giver, minus without.
        error: the standard error of the gain.
        z: the gain in standard errors, as a normal deviate.
        chance: probability that any pair of this table has such a gain without gifts (Holm).
    """

    giver: str
    taker: str
    together: int
    apart: int
    gain: float
    error: float
    z: float
    chance: float


@dataclass(slots=True)
class _Sample:
    """A sample for its mean and the variance of the mean."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, value: float) -> None:
        self.count += 1
        self.total += value
        self.squares += value * value

    def without(self, other: "_Sample") -> "_Sample":
        return _Sample(
            self.count - other.count, self.total - other.total, self.squares - other.squares
        )

    @property
    def mean(self) -> float:
        return self.total / self.count

    @property
    def variance(self) -> float:
        """The variance of the mean."""
        scatter = max(self.squares - self.total * self.total / self.count, 0.0)
        return scatter / (self.count - 1) / self.count


def gifts(matches: Iterable[ClosedMatch]) -> tuple[Gift, ...]:
    """Return a line for each giver and taker with enough matches, the least likely first.

    Matches of two sides are ignored. The order of the matches does not matter.
    """
    ordered = sorted((match for match in matches if len(match.entrants) > 2), key=canonical_order)
    tables = [(match.entrants, pairwise(match)) for match in ordered]
    strength = _strengths(tables)
    # `every`: by taker, all matches. `shared`: by giver and taker, the surplus against third
    # parties in their common matches. `among`: the values of the same matches in `every`.
    every: dict[str, _Sample] = defaultdict(_Sample)
    shared: dict[tuple[str, str], _Sample] = defaultdict(_Sample)
    among: dict[tuple[str, str], _Sample] = defaultdict(_Sample)
    for names, scores in tables:
        for seat, taker in enumerate(names):
            beyond = [
                scores[seat][other] - 0.5 - strength[taker] + strength[name]
                for other, name in enumerate(names)
            ]
            # The taker's own entry is exactly zero.
            total = fsum(beyond)
            every[taker].add(total / (len(names) - 1))
            for other, giver in enumerate(names):
                if giver != taker:
                    shared[giver, taker].add((total - beyond[other]) / (len(names) - 2))
                    among[giver, taker].add(total / (len(names) - 1))
    candidates = []
    for (giver, taker), with_giver in shared.items():
        without = every[taker].without(among[giver, taker])
        if min(with_giver.count, without.count) >= MIN_MATCHES:
            candidates.append(_gift(giver, taker, with_giver, without))
    return _holm(candidates)


def _strengths(
    tables: Sequence[tuple[tuple[str, ...], tuple[tuple[float, ...], ...]]],
) -> dict[str, float]:
    """Fit score - 1/2 = difference of strengths by least squares (Gauss-Seidel iteration)."""
    sums: dict[str, dict[str, tuple[float, int]]] = {}
    for names, scores in tables:
        for first, second in permutations(range(len(names)), 2):
            row = sums.setdefault(names[first], {})
            total, count = row.get(names[second], (0.0, 0))
            row[names[second]] = total + scores[first][second] - 0.5, count + 1
    strength = dict.fromkeys(sums, 0.0)
    for _ in range(MAX_SWEEPS):
        moved = 0.0
        for name, row in sums.items():
            total_surplus = fsum(
                total + count * strength[second] for second, (total, count) in row.items()
            )
            new = total_surplus / sum(count for _, count in row.values())
            moved = max(moved, abs(new - strength[name]))
            strength[name] = new
        if moved < CONVERGED:
            break
    return strength


def _gift(giver: str, taker: str, together: _Sample, apart: _Sample) -> Gift:
    gain = together.mean - apart.mean
    error = sqrt(together.variance + apart.variance)
    z = 0.0
    # Results without variance have no error, so a probability cannot be computed.
    if error > 0:
        freedom = error**4 / fsum(
            sample.variance**2 / (sample.count - 1) for sample in (together, apart)
        )
        z = _normal(gain / error, freedom)
    return Gift(giver, taker, together.count, apart.count, gain, error, z, normal(-z))


def _normal(t: float, freedom: float) -> float:
    """Convert a deviate of Student's distribution to a normal one (Wallace 1959)."""
    size = (8 * freedom + 1) / (8 * freedom + 3) * sqrt(freedom * log1p(t * t / freedom))
    return copysign(size, t)


def _holm(candidates: list[Gift]) -> tuple[Gift, ...]:
    """Correct the probabilities for multiple tests by Holm's method."""
    candidates.sort(key=lambda gift: (gift.chance, gift.giver, gift.taker))
    corrected = []
    least = 0.0
    for place, gift in enumerate(candidates):
        least = max(least, min(1.0, gift.chance * (len(candidates) - place)))
        corrected.append(replace(gift, chance=least))
    return tuple(corrected)
