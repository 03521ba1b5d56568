"""A quick guess at strengths, to choose what to play next; `arena.ratings` ranks.

Bradley-Terry with a normal prior, maximum a posteriori, by Newton's method one entrant at a time;
the mean score of a match counts as so many games. The variances are those with all others held
still, which is too small by what they share, and good enough to compare pairs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import permutations
from math import erfc, exp, pi, sqrt

from arena.pairings.contract import Match, State

PRIOR = 1 / 1.5**2
"""The precision of the prior: strengths are within about 1.5 (260 Elo) of each other."""
SWEEPS = 50
CLOSE = 1e-4

Meetings = Mapping[str, Mapping[str, tuple[float, float]]]
"""By entrant and opponent: the sum of scores, and how many games they are of."""


@dataclass(slots=True)
class Guess:
    """What is thought of an entrant: a strength in natural logarithms of odds, and a precision."""

    mean: float = 0.0
    precision: float = PRIOR

    @property
    def variance(self) -> float:
        """How uncertain the strength is."""
        return 1 / self.precision


def meetings(matches: Iterable[Match]) -> Meetings:
    """Return what the closed matches say of every two."""
    table: dict[str, dict[str, tuple[float, float]]] = {}
    for match in matches:
        if match.state is not State.CLOSED:
            continue
        games = len(match.games) / (len(match.entrants) - 1)
        for one, other in permutations(range(len(match.entrants)), 2):
            row = table.setdefault(match.entrants[one], {})
            score, weight = row.get(match.entrants[other], (0.0, 0.0))
            scored = match.scores[one][other] * games
            row[match.entrants[other]] = score + scored, weight + games
    return table


def guess(names: Iterable[str], table: Meetings) -> dict[str, Guess]:
    """Return what is thought of each of these, and of all who have played."""
    guesses = {name: Guess() for name in (*names, *table)}
    for _ in range(SWEEPS):
        moved = [_improve(guesses, guesses[name], row) for name, row in table.items()]
        if max(moved, default=0.0) < CLOSE:
            break
    return guesses


def _improve(
    guesses: Mapping[str, Guess], mine: Guess, row: Mapping[str, tuple[float, float]]
) -> float:
    """Take one step of Newton's; return how far it went."""
    slope, precision = -PRIOR * mine.mean, PRIOR
    for other, (score, games) in row.items():
        chance = 1 / (1 + exp(guesses[other].mean - mine.mean))
        slope += score - games * chance
        precision += games * chance * (1 - chance)
    # A step is held back, so that one-sided results do not throw it far off.
    step = min(max(slope / precision, -1.0), 1.0)
    mine.mean += step
    mine.precision = precision
    return abs(step)


def told(one: Guess, other: Guess, games: float) -> float:
    """Return how much one more match of two says about which of them is the better.

    The expected gain in strength of whom we would place first, by placing them after the match
    instead of now: the knowledge gradient of Frazier, Powell and Dayanik (2008).
    """
    variance = one.variance + other.variance
    gap = abs(one.mean - other.mean)
    chance = 1 / (1 + exp(-gap))
    learned = games * chance * (1 - chance) * variance
    change = sqrt(variance * learned / (1 + learned))
    z = -gap / change
    return change * (exp(-z * z / 2) / sqrt(2 * pi) + z * erfc(-z / sqrt(2)) / 2)


def learn(one: Guess, other: Guess, games: float) -> None:
    """Count a match that is scheduled as if it had been played and changed nothing."""
    chance = 1 / (1 + exp(other.mean - one.mean))
    for guessed in (one, other):
        guessed.precision += games * chance * (1 - chance)
