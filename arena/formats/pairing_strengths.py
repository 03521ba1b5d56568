"""The strengths from which a ladder is paired: those of the published fit, in steps of `STEP`.

Anchors are not used. The rounded strengths are stored with the round, so that its pairing can be
computed again exactly on a machine whose fit differs in the last digits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from itertools import combinations
from typing import Final

from arena.formats.contract import FormatMatch, MatchStatus
from arena.ratings.closed_match import ClosedMatch
from arena.ratings.meetings import Meetings
from arena.ratings.scale import ELO
from arena.ratings.strength import fit
from arena.ratings.strength.settings import StrengthSettings

STEP: Final = 1.0
"""The step of stored strengths, in Elo points."""
MAX_FITTED_ENTRANTS: Final = 2_000
"""Above this number of entrants in a round, all its matches are even, so none needs a strength."""
CENTRE: Final = round(StrengthSettings().centre / STEP)
"""The strength of an entrant without results, in steps."""
PRIOR: Final = 1 / 1.5**2
"""The precision of the prior distribution of strengths in the covariance, in natural units.

The standard deviation of 1.5, about 260 Elo, is that of a usual field. With the wider prior of the
fit, 600 Elo, 7 % (± 5 %) more pairs of 30 simulated bots are inverted after 20 and 40 matches.
"""


def meetings_of(matches: Iterable[FormatMatch]) -> Meetings:
    """Return the sums of the closed ones among some matches."""
    return Meetings.of(
        ClosedMatch("", match.round, match.number, match.entrants, match.games)
        for match in matches
        if match.state is MatchStatus.CLOSED
    )


def fitted_meetings(meetings: Meetings, pool: Collection[str]) -> Meetings:
    """Return the sums that are fitted: of many entrants, only those among the pool."""
    if len(meetings.entrants) <= MAX_FITTED_ENTRANTS:
        return meetings
    return meetings.among(frozenset(pool))


def fit_strengths(meetings: Meetings) -> dict[str, int]:
    """Return the strengths of all entrants that have results, in steps."""
    return {name: round(value / STEP) for name, (value, _) in fit.values(meetings).items()}


def natural(strength: int) -> float:
    """Return a strength, in steps, in natural units: a factor of e in the odds."""
    return strength * STEP / ELO


def games_between(meetings: Meetings) -> Mapping[str, Mapping[str, float]]:
    """Return the numbers of games that count, by entrant and opponent.

    In a match of n entrants each pair counts for games / (n - 1) games.
    """
    games: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for line_up, sums in meetings.sums.items():
        counted = line_up.games * sums.matches / (len(line_up.entrants) - 1)
        for first, second in combinations(line_up.entrants, 2):
            games[first][second] += counted
            games[second][first] += counted
    return games
