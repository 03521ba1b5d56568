"""Elo ratings computed by the `elo` package, with a round of a tournament as the rating period.

Where the package is not installed, `arena.ratings.elo_formulas` computes the same digits.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from arena.ratings.closed_match import ClosedMatch, canonical_order, pairwise

try:
    from elo import Elo
except ModuleNotFoundError:
    from arena.ratings.elo_formulas import Elo

# Gaps are limited to this multiple of 2 * beta; each multiple is a factor of ten in the odds.
# Beyond the limit, the expected score of the weaker side is lost in rounding. The package overflows
# at about 308.
WIDEST_GAP = 16


@dataclass(frozen=True, slots=True)
class EloSettings:
    """The parameters of the ratings, to be shown wherever ratings are shown.

    Attributes:
        k: upper bound of the change of a rating by one match; half of it against equals.
        initial: the rating of an entrant before its first match.
        beta: half the gap that makes the odds ten to one.
    """

    k: float = 10.0
    initial: float = 1200.0
    beta: float = 200.0


def after_round(
    current: Mapping[str, float], matches: Iterable[ClosedMatch], settings: EloSettings
) -> dict[str, float]:
    """Return the ratings after a round; all its matches use the ratings at its start.

    Args:
        current: the ratings at its start; entrants without one have the initial rating.
        matches: its matches, in any order.
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
    matches: Iterable[ClosedMatch],
    settings: EloSettings | None = None,
    entrants: Iterable[str] = (),
) -> dict[str, float]:
    """Return the Elo rating of each entrant, by "name@version", after all matches.

    All matches of a round use the ratings at its start. Therefore the result does not depend on the
    order in which matches were played or are given, in any digit. The mean of the ratings stays at
    the initial rating, apart from rounding.

    Args:
        matches: the matches; their `tournament` determines the order of the tournaments.
        entrants: further entrants, which may not have played; they have the initial rating.
    """
    settings = settings or EloSettings()
    rounds: dict[tuple[int, int], list[ClosedMatch]] = {}
    for match in matches:
        rounds.setdefault((match.tournament, match.round), []).append(match)
    current: Mapping[str, float] = {}
    for number in sorted(rounds):
        current = after_round(current, rounds[number], settings)
    everyone = sorted({*current, *entrants})
    return {name: current.get(name, float(settings.initial)) for name in everyone}


def changes(
    match: ClosedMatch, current: Mapping[str, float], settings: EloSettings
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
