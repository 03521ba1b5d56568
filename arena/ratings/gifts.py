"""Who does better than usual against the others when a certain one sits at the table.

At a table of three and more, one entrant can play for another: it cannot be seen in any single
game, but the other then beats *third parties* more often than it does without the giver. So for
each giver and taker two means are compared: how much better than expected the taker did against
third parties in matches with the giver, and in matches without. What is compared is whole matches
over mirrored boards: everyone has held the cards of every seat, so that luck of the cards is gone,
and matches are independent of each other.

Expected is the difference of two strengths, fitted to all matches by least squares. The giver is
a third party in neither mean, so both are over the same kind of opponents, and an error of the fit
is in both of them. The difference divided by its error (B. L. Welch, 1947) follows Student's
distribution if nobody gives anything; it is made normal by D. L. Wallace's formula (1959). There
is a test for each ordered pair, so the chances are corrected by S. Holm's method (1979): that a
line of a fair tournament is marked at a level of 1 % happens in at most 1 % of tournaments.

It points out, and proves nothing: a style of play can suit another one too. Look at the games.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import copysign, fsum, log1p, sqrt

from arena.ratings.closed_match import Scored, canonical_order, pairwise
from arena.ratings.scale import normal

LEAST = 8
"""A pair is judged if the taker has so many matches with the giver, and so many without."""
SWEEPS = 200
CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class Gift:
    """What a taker has from a giver's presence.

    together, apart: matches of the taker with the giver and without.
    gain: by how much its mean score (0 to 1) against third parties is higher with the giver.
    error: the standard error of that. z: gain in errors, on the scale of the normal distribution.
    chance: how likely some pair of this table has as much without any giving (Holm).
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
    """Numbers of which the mean and its variance are wanted."""

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
        """Of the mean."""
        scatter = max(self.squares - self.total * self.total / self.count, 0.0)
        return scatter / (self.count - 1) / self.count


def gifts(matches: Iterable[Scored]) -> tuple[Gift, ...]:
    """Return a line for each giver and taker that can be judged, the least likely first.

    Matches of two sides say nothing here and are left out. The order of matches does not matter.
    """
    ordered = sorted((match for match in matches if len(match.entrants) > 2), key=canonical_order)
    tables = [(match.entrants, pairwise(match)) for match in ordered]
    strength = _strengths(tables)
    # By taker: all matches. By taker and giver: what was scored against third parties with the
    # giver, and what the same matches count among all.
    every: dict[str, _Sample] = defaultdict(_Sample)
    shared: dict[tuple[str, str], _Sample] = defaultdict(_Sample)
    among: dict[tuple[str, str], _Sample] = defaultdict(_Sample)
    for names, scores in tables:
        for one, taker in enumerate(names):
            beyond = [
                scores[one][other] - 0.5 - strength[taker] + strength[name]
                for other, name in enumerate(names)
            ]
            # The taker's own place is exactly nought.
            total = fsum(beyond)
            every[taker].add(total / (len(names) - 1))
            for other, giver in enumerate(names):
                if giver != taker:
                    shared[giver, taker].add((total - beyond[other]) / (len(names) - 2))
                    among[giver, taker].add(total / (len(names) - 1))
    found = []
    for (giver, taker), with_giver in shared.items():
        without = every[taker].without(among[giver, taker])
        if min(with_giver.count, without.count) >= LEAST:
            found.append(_gift(giver, taker, with_giver, without))
    return _holm(found)


def _strengths(
    tables: Sequence[tuple[tuple[str, ...], tuple[tuple[float, ...], ...]]],
) -> dict[str, float]:
    """Fit score - 1/2 = difference of strengths by least squares, one strength at a time."""
    sums: dict[str, dict[str, tuple[float, int]]] = {}
    for names, scores in tables:
        for one, other in permutations(range(len(names)), 2):
            row = sums.setdefault(names[one], {})
            total, count = row.get(names[other], (0.0, 0))
            row[names[other]] = total + scores[one][other] - 0.5, count + 1
    strength = dict.fromkeys(sums, 0.0)
    for _ in range(SWEEPS):
        moved = 0.0
        for name, row in sums.items():
            wanted = fsum(total + count * strength[other] for other, (total, count) in row.items())
            new = wanted / sum(count for _, count in row.values())
            moved = max(moved, abs(new - strength[name]))
            strength[name] = new
        if moved < CLOSE:
            break
    return strength


def _gift(giver: str, taker: str, together: _Sample, apart: _Sample) -> Gift:
    gain = together.mean - apart.mean
    error = sqrt(together.variance + apart.variance)
    z = 0.0
    # Results that never vary have no error: nothing can be said of chance.
    if error > 0:
        freedom = error**4 / sum(
            sample.variance**2 / (sample.count - 1) for sample in (together, apart)
        )
        z = _normal(gain / error, freedom)
    return Gift(giver, taker, together.count, apart.count, gain, error, z, normal(-z))


def _normal(t: float, freedom: float) -> float:
    """Return the normal deviate that is as unlikely as this one of Student's."""
    size = (8 * freedom + 1) / (8 * freedom + 3) * sqrt(freedom * log1p(t * t / freedom))
    return copysign(size, t)


def _holm(found: list[Gift]) -> tuple[Gift, ...]:
    """Correct the chances for their number."""
    found.sort(key=lambda gift: (gift.chance, gift.giver, gift.taker))
    corrected = []
    least = 0.0
    for place, gift in enumerate(found):
        least = max(least, min(1.0, gift.chance * (len(found) - place)))
        corrected.append(replace(gift, chance=least))
    return tuple(corrected)
