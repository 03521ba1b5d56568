"""Elo ratings, by the `elo` package, with a round of the tournament as the rating period."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from elo import Elo

from arena.ratings.closed_match import Scored, canonical_order, pairwise

# A gap of so many times 2 * beta (each is a factor of ten in the odds) is as good as any wider
# one: the weaker side's expected score is already lost in the rounding. The package overflows
# at about 308.
WIDEST_GAP = 16

OPEN_ROUNDS = 16
"""So many rounds may be played at the same time; matches of older ones are rated for good."""


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


class TooLate(Exception):
    """A match of a round whose ratings can no longer be changed: all must be folded anew."""


class Periods:
    """Ratings to which matches are added; the order within the last rounds does not matter.

    open_rounds: of so many rounds the matches are kept, so that more can be added to them. With
        None of all.
    """

    def __init__(
        self, settings: EloSettings | None = None, open_rounds: int | None = OPEN_ROUNDS
    ) -> None:
        self.settings = settings or EloSettings()
        self._open_rounds = open_rounds
        self._settled: dict[str, float] = {}
        self._last: tuple[int, int] | None = None
        self._open: dict[tuple[int, int], list[Scored]] = {}

    def add(self, match: Scored) -> None:
        """Add a match; TooLate if its round is older than the open ones."""
        period = match.tournament, match.round
        if period in self._open:
            self._open[period].append(match)
            return
        if self._last is not None and period <= self._last:
            raise TooLate(f"the round of match {match.id} is closed")
        self._open[period] = [match]
        if self._open_rounds is not None and len(self._open) > self._open_rounds:
            oldest = min(self._open)
            self._settled = self._after(self._settled, self._open.pop(oldest))
            self._last = oldest

    def ratings(self, entrants: Iterable[str] = ()) -> dict[str, float]:
        """Return the rating of everyone who has played, and of `entrants`, in the order of names.

        The ratings' mean stays at the initial rating but for rounding.
        """
        current = self._settled
        for period in sorted(self._open):
            current = self._after(current, self._open[period])
        everyone = sorted({*current, *entrants})
        return {name: current.get(name, float(self.settings.initial)) for name in everyone}

    def _after(self, current: Mapping[str, float], period: Iterable[Scored]) -> dict[str, float]:
        """The ratings after a round, every match of which is rated by those at its start."""
        ordered = sorted(period, key=canonical_order)
        new = {name: float(self.settings.initial) for match in ordered for name in match.entrants}
        start = {**new, **current}
        total: dict[str, float] = {}
        for match in ordered:
            for name, change in changes(match, start, self.settings).items():
                total[name] = total.get(name, 0.0) + change
        return {name: rating + total.get(name, 0.0) for name, rating in start.items()}


def ratings(
    matches: Iterable[Scored],
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
    periods = Periods(settings, open_rounds=None)
    for match in matches:
        periods.add(match)
    return periods.ratings(entrants)


def changes(match: Scored, current: Mapping[str, float], settings: EloSettings) -> dict[str, float]:
    """Return what one match adds to the rating of each of its entrants, given their ratings.

    Each plays one series: its mean score against every opponent. K is divided by the number of
    opponents, so that a table of five moves a rating no further than a table of two.
    """
    rater = _rater(settings, len(match.entrants) - 1)
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


@lru_cache
def _rater(settings: EloSettings, opponents: int) -> Elo:
    return Elo(
        k_factor=settings.k / opponents,
        rating_class=float,
        initial=settings.initial,
        beta=settings.beta,
    )
