"""The standings of a ladder or tournament, computed from its closed matches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from arena.ratings import elo, entrant_sums
from arena.ratings.call_figures import CallFigures
from arena.ratings.closed_match import FAULTS, FORFEIT, ClosedMatch
from arena.ratings.decision_histogram import DecisionHistogram
from arena.ratings.entrant_sums import EntrantSums
from arena.ratings.meetings import Meetings
from arena.ratings.points import Points
from arena.ratings.strength.fit import Groups, Strength, Strengths, strengths
from arena.ratings.strength.kept_strengths import KnownStrengths
from arena.ratings.strength.lack_of_fit import LackOfFit
from arena.ratings.strength.settings import StrengthSettings


@dataclass(frozen=True, slots=True)
class StandingsLine:
    """One line of the standings.

    Attributes:
        entrant: the version as "name@version".
        strength: its strength and possible ranks; the standings are sorted by it.
        matches: number of matches.
        games: number of games.
        wins: games with the first place alone.
        draws: games with a shared first place.
        losses: the other games.
        points: sum of the scores, in the game's own points, over games with scores.
        board: points per board; None before the first game with scores.
        mean: mean over the matches of the mean score against the opponents, from 0 to 1; None
            before the first match.
        faults: number of games ended by each kind of fault, by verdict; without zeros.
        forfeits: games lost because of faults in earlier ones.
        corrections: answers that it corrected.
        defaults: default actions that it played instead of its own decision.
    """

    entrant: str
    strength: Strength
    elo: float
    matches: int
    games: int
    wins: int
    draws: int
    losses: int
    points: int
    board: Points | None
    mean: float | None
    faults: dict[str, int]
    forfeits: int
    corrections: int = 0
    defaults: int = 0


@dataclass(frozen=True, slots=True)
class Standings:
    """The standings, the strongest first.

    Attributes:
        clip: limit of margins for points per board.
        matches: number of matches.
        groups: groups of entrants connected by matches, the largest first. Strengths are comparable
            only within a group.
        lack_of_fit: the test whether strengths explain the results; None without enough matches.
        pair_deviation: see `Strengths.pair_deviation`.
        unfitted: see `Strengths.unfitted`.
        thinking: decision times by entrant. They are excluded from comparisons, because two runs of
            a tournament never take the same time.
        usage: the calls of models by entrant, as measured; only for the clock class `model`, and
            excluded from comparisons too.
    """

    lines: tuple[StandingsLine, ...]
    settings: StrengthSettings
    clip: int
    matches: int = 0
    groups: Groups = ()
    lack_of_fit: LackOfFit | None = None
    pair_deviation: float | None = None
    unfitted: str | None = None
    thinking: Mapping[str, DecisionHistogram] = field(
        default_factory=dict, compare=False, repr=False
    )
    usage: Mapping[str, CallFigures] = field(default_factory=dict, compare=False, repr=False)

    @property
    def entrants(self) -> tuple[str, ...]:
        """All entrants, the strongest first."""
        return tuple(line.entrant for line in self.lines)

    @property
    def ranked(self) -> list[tuple[int, StandingsLine]]:
        """The lines with their places, from 1.

        The largest group is first, because strengths of different groups cannot be compared; lines
        without a match are the last. A line that another one follows than by strength has no
        superiority to it.
        """
        ordered = sorted(self.lines, key=lambda line: (not line.matches, line.strength.group > 0))
        pairs = {(line.entrant, after.entrant) for line, after in pairwise(self.lines)}
        moved = {
            line.entrant
            for line, after in pairwise(ordered)
            if (line.entrant, after.entrant) not in pairs
        }
        return [
            (place, _without_superiority(line) if line.entrant in moved else line)
            for place, line in enumerate(ordered, 1)
        ]


def _without_superiority(line: StandingsLine) -> StandingsLine:
    return replace(line, strength=replace(line.strength, superiority_to_next=None))


@dataclass(frozen=True, slots=True)
class FittedStandings:
    """Standings that have just been computed, with what is not stored.

    Attributes:
        strengths: the fitted strengths, with the differences of each two.
        meetings: the sums of the matches by line-up.
    """

    table: Standings
    strengths: Strengths
    meetings: Meetings


def fitted_standings(
    pair_sums: Meetings,
    sums: Mapping[str, EntrantSums],
    ratings: Mapping[str, float],
    clip: int,
    entrants: Iterable[str] = (),
    settings: StrengthSettings | None = None,
    known: KnownStrengths | None = None,
) -> FittedStandings:
    """Compute standings, sorted by strength, equal ones by name.

    Args:
        pair_sums: the sums of the matches by line-up.
        ratings: the Elo ratings by entrant; those without one have the initial rating.
        entrants: further entrants, which may not have played.
        settings: the parameters of strength; anchors that are not among the entrants are omitted.
        known: the strengths of a ladder that is too large to be fitted, as in `strengths`.

    Raises:
        ValueError: as `strengths` raises it.
    """
    named = sorted({*sums, *entrants})
    fitted = strengths(pair_sums, settings.among(named) if settings else None, named, known)
    nothing, initial = EntrantSums(), elo.EloSettings().initial
    table = Standings(
        tuple(
            _line(line, ratings.get(line.entrant, initial), sums.get(line.entrant, nothing))
            for line in fitted.lines
        ),
        fitted.settings,
        clip,
        pair_sums.matches,
        fitted.groups,
        fitted.lack_of_fit,
        fitted.pair_deviation,
        fitted.unfitted,
        {name: DecisionHistogram(of.thinking) for name, of in sums.items() if of.thinking},
    )
    return FittedStandings(table, fitted, pair_sums)


def _line(line: Strength, rating: float, sums: EntrantSums) -> StandingsLine:
    return StandingsLine(
        entrant=line.entrant,
        strength=line,
        elo=rating,
        matches=sums.matches,
        games=sums.games,
        wins=sums.wins,
        draws=sums.draws,
        losses=sums.games - sums.wins - sums.draws,
        points=sums.points,
        board=sums.points_per_board(line.entrant),
        mean=sums.mean,
        faults={word: sums.verdicts[word] for word in FAULTS if sums.verdicts[word]},
        forfeits=sums.verdicts[FORFEIT],
        corrections=sums.corrections,
        defaults=sums.defaults,
    )


def of_matches(
    matches: Iterable[ClosedMatch],
    clip: int,
    entrants: Iterable[str] = (),
    settings: StrengthSettings | None = None,
    known: KnownStrengths | None = None,
) -> FittedStandings:
    """Compute the standings of matches given in any order.

    Args:
        entrants: further entrants, which may not have played.
        known: the strengths of a ladder that is too large to be fitted, as in `strengths`.
    """
    played = tuple(matches)
    sums: dict[str, EntrantSums] = {}
    for match in played:
        for name, counted in entrant_sums.of_match(match, clip).items():
            sums.setdefault(name, EntrantSums()).add(counted)
    named = tuple(entrants)
    ratings = elo.ratings(played, entrants=named)
    return fitted_standings(Meetings.of(played), sums, ratings, clip, named, settings, known)
