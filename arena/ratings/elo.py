"""Elo ratings, by the `elo` package, with a round of the tournament as the rating period."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from elo import Elo

from arena.results import ClosedMatch, canonical_order, pairwise

# A gap of so many times 2 * beta (each is a factor of ten in the odds) is as good as any wider
# one: the weaker side's expected score is already lost in the rounding. The package overflows
# at about 308.
WIDEST_GAP = 16


@dataclass(frozen=True, slots=True)
class EloSettings:
    """The parameters of the ratings, to be shown wherever ratings are shown.

    k: what one match can move a rating at the very most; against equals it is half of this.
    initial: the rating of an entrant before its first match.
    beta: half the gap that makes the odds ten to one.

    Raises ValueError if k or beta is not positive, or anything is not finite.
    """

    k: float = 10.0
    initial: float = 1200.0
    beta: float = 200.0

    def __post_init__(self) -> None:
        for name, value in (("k", self.k), ("beta", self.beta)):
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"Elo's {name} must be a positive number, not {value}")
        if not math.isfinite(self.initial):
            raise ValueError(f"Elo's initial rating must be a finite number, not {self.initial}")


def ratings(
    matches: Iterable[ClosedMatch],
    settings: EloSettings | None = None,
    entrants: Iterable[str] = (),
) -> dict[str, float]:
    """Return the Elo rating of every entrant, by "name@version", after all the matches.

    All matches of a round are rated against the ratings at its start, so neither the order in
    which they were played nor the order in which they are given changes a digit. Tournaments
    follow one another as their matches' `tournament` says.
    `entrants` may name some that have not played yet; they have the initial rating.
    The ratings' mean stays at the initial rating but for rounding.
    """
    settings = settings or EloSettings()
    ordered = sorted(matches, key=canonical_order)
    names = {name for match in ordered for name in match.entrants} | set(entrants)
    current = dict.fromkeys(sorted(names), float(settings.initial))
    for _, period in groupby(ordered, key=lambda match: (match.tournament, match.round)):
        total = dict.fromkeys(current, 0.0)
        for match in period:
            for name, change in changes(match, current, settings).items():
                total[name] += change
        current = {name: rating + total[name] for name, rating in current.items()}
    return current


def changes(
    match: ClosedMatch, current: Mapping[str, float], settings: EloSettings
) -> dict[str, float]:
    """Return what one match adds to the rating of each of its entrants, given their ratings.

    Each plays one series: its mean score against every opponent. K is divided by the number of
    opponents, so that a table of five moves a rating no further than a table of two.
    """
    rater = Elo(
        k_factor=settings.k / (len(match.entrants) - 1),
        rating_class=float,
        initial=settings.initial,
        beta=settings.beta,
    )
    limit = WIDEST_GAP * 2 * settings.beta
    scores = pairwise(match)
    added: dict[str, float] = {}
    for one, name in enumerate(match.entrants):
        mine = current[name]
        series = [
            (scores[one][other], min(max(current[opponent], mine - limit), mine + limit))
            for other, opponent in enumerate(match.entrants)
            if other != one
        ]
        added[name] = rater.rate(mine, series) - mine
    return added
