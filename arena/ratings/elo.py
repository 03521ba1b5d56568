"""Elo ratings computed by the `elo` package, with a round of a tournament as the rating period.

Where the package is not installed, `arena.ratings.elo_formulas` computes the same digits.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, Self

from arena.ratings.closed_match import MatchScore, RatedMatch, canonical_order, pairwise
from referee.games.shared.coded_errors import InvalidValue

try:
    from elo import Elo
except ModuleNotFoundError:
    from arena.ratings.elo_formulas import Elo

# Gaps are limited to this multiple of 2 * beta; each multiple is a factor of ten in the odds.
# Beyond the limit, the expected score of the weaker side is lost in rounding. The package overflows
# at about 308.
WIDEST_GAP = 16

OPEN_ROUNDS = 16
"""Number of newest rounds that can still get matches; older rounds are rated finally."""


@dataclass(frozen=True, slots=True)
class EloSettings:
    """The parameters of the ratings, to be shown wherever ratings are shown.

    Attributes:
        k: upper bound of the change of a rating by one match; half of it against equals.
        initial: the rating of an entrant before its first match.
        beta: half the gap that makes the odds ten to one.

    Raises:
        ValueError: k or beta is not positive, or a value is not finite.
    """

    k: float = 10.0
    initial: float = 1200.0
    beta: float = 200.0

    def __post_init__(self) -> None:
        for name, value in (("k", self.k), ("beta", self.beta)):
            if not (math.isfinite(value) and value > 0):
                raise InvalidValue(
                    f"Elo's {name} must be a positive number, not {value}", code="not-positive"
                )
        if not math.isfinite(self.initial):
            raise InvalidValue(
                f"Elo's initial rating must be a finite number, not {self.initial}",
                code="not-finite",
            )


class RoundAlreadyRated(Exception):
    """A match belongs to a round that is rated finally: all matches must be rated again."""


class Periods:
    """Ratings to which matches are added; the order within the open rounds does not matter.

    Args:
        settings: the parameters.
        open_rounds: number of newest rounds whose matches are kept, so that more can be added;
            None: all.
    """

    def __init__(
        self, settings: EloSettings | None = None, open_rounds: int | None = OPEN_ROUNDS
    ) -> None:
        self.settings = settings or EloSettings()
        self._open_rounds = open_rounds
        self._settled: dict[str, float] = {}
        self._last: tuple[int, int] | None = None
        self._open: dict[tuple[int, int], list[RatedMatch]] = {}

    def add(self, match: RatedMatch) -> None:
        """Add a match.

        Raises:
            RoundAlreadyRated: its round is older than the open ones.
        """
        period = match.tournament, match.round
        if period in self._open:
            self._open[period].append(match)
            return
        if self._last is not None and period <= self._last:
            raise RoundAlreadyRated(f"the round of match {match.id} is closed")
        self._open[period] = [match]
        if self._open_rounds is not None and len(self._open) > self._open_rounds:
            oldest = min(self._open)
            self._settled = self._after(self._settled, self._open.pop(oldest))
            self._last = oldest

    def state(self) -> dict[str, Any]:
        """Return everything besides the parameters as plain values, for `restored`."""
        return {
            "settled": self._settled,
            "last": self._last,
            "open": [
                [getattr(match, name) for name in MatchScore.__slots__]
                for match in chain(*self._open.values())
            ],
        }

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> Self:
        """Return ratings with the usual parameters from a `state`."""
        periods = cls()
        periods._settled = dict(state["settled"])
        periods._last = state["last"] and (state["last"][0], state["last"][1])
        for name, tournament, number, place, entrants, played, halves in state["open"]:
            results = tuple(entrants), played, tuple(halves)
            match = MatchScore(name, tournament, number, place, *results)
            periods._open.setdefault((match.tournament, match.round), []).append(match)
        return periods

    def ratings(self, entrants: Iterable[str] = ()) -> dict[str, float]:
        """Return the ratings of `entrants` and of everyone who has played, sorted by name.

        The mean of the ratings stays at the initial rating, apart from rounding.
        """
        current = self._settled
        for period in sorted(self._open):
            current = self._after(current, self._open[period])
        everyone = sorted({*current, *entrants})
        return {name: current.get(name, float(self.settings.initial)) for name in everyone}

    def _after(
        self, current: Mapping[str, float], period: Iterable[RatedMatch]
    ) -> dict[str, float]:
        return after_round(current, period, self.settings)


def after_round(
    current: Mapping[str, float], matches: Iterable[RatedMatch], settings: EloSettings
) -> dict[str, float]:
    """Return the ratings after a round; all its matches use the ratings at its start.

    Args:
        current: the ratings at its start; entrants without one have the initial rating.
        matches: its matches, in any order.
        settings: the parameters.
    """
    ordered = sorted(matches, key=canonical_order)
    new = {name: float(settings.initial) for match in ordered for name in match.entrants}
    start = {**new, **current}
    total: dict[str, float] = {}
    for match in ordered:
        for name, change in changes(match, start, settings).items():
            total[name] = total.get(name, 0.0) + change
    return {name: rating + total.get(name, 0.0) for name, rating in start.items()}


def ratings(
    matches: Iterable[RatedMatch],
    settings: EloSettings | None = None,
    entrants: Iterable[str] = (),
) -> dict[str, float]:
    """Return the Elo rating of each entrant, by "name@version", after all matches.

    All matches of a round use the ratings at its start. Therefore the result does not depend on the
    order in which matches were played or are given, in any digit. The mean of the ratings stays at
    the initial rating, apart from rounding.

    Args:
        matches: the matches; their `tournament` determines the order of the tournaments.
        settings: the parameters.
        entrants: further entrants, which may not have played; they have the initial rating.
    """
    periods = Periods(settings, open_rounds=None)
    for match in matches:
        periods.add(match)
    return periods.ratings(entrants)


def changes(
    match: RatedMatch, current: Mapping[str, float], settings: EloSettings
) -> dict[str, float]:
    """Return the change of each entrant's rating by one match, given the ratings before it.

    Each entrant plays a series with its mean score against each opponent. K is divided by the
    number of opponents, so that a table of five changes a rating as much as a table of two.
    """
    rater = _rater(settings, len(match.entrants) - 1)
    limit = WIDEST_GAP * 2 * settings.beta
    scores = pairwise(match)
    added: dict[str, float] = {}
    for seat, name in enumerate(match.entrants):
        mine = current[name]
        series = [
            (scores[seat][opposite], min(max(current[opponent], mine - limit), mine + limit))
            for opposite, opponent in enumerate(match.entrants)
            if opposite != seat
        ]
        added[name] = rater.rate(mine, series) - mine
    return added


@lru_cache
def _rater(settings: EloSettings, opponents: int) -> Elo:
    return Elo(k_factor=settings.k / opponents, beta=settings.beta)
