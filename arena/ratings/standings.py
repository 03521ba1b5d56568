"""The standings of a ladder or tournament, computed from its closed matches."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Self

from arena.ratings import elo, meetings, points
from arena.ratings.closed_match import FAULTS, FORFEIT
from arena.ratings.decision_histogram import DecisionHistogram
from arena.ratings.match_digest import Digest
from arena.ratings.meetings import Meetings
from arena.ratings.points import Points
from arena.ratings.strength.fit import Strength, Strengths, strengths
from arena.ratings.strength.settings import StrengthSettings
from referee.games.shared.coded_errors import InvalidValue

MEAN_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class StandingsLine:
    """One line of the standings.

    Attributes:
        entrant: the version as "name@version".
        strength: its strength and possible ranks; the standings are sorted by it.
        elo: its Elo rating.
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


@dataclass(frozen=True, slots=True)
class Standings:
    """The standings, the strongest first, with the parameters and sums they were computed from.

    Attributes:
        lines: the lines.
        strengths: the fitted strengths.
        elo: the parameters of Elo.
        clip: limit of margins for points per board.
        meetings: the sums of the matches by line-up.
        thinking: decision times by entrant. They are excluded from comparisons, because two runs of
            a tournament never take the same time.
    """

    lines: tuple[StandingsLine, ...]
    strengths: Strengths
    elo: elo.EloSettings
    clip: int
    meetings: Meetings = field(repr=False)
    thinking: Mapping[str, DecisionHistogram] = field(compare=False, repr=False)

    @property
    def entrants(self) -> tuple[str, ...]:
        """All entrants, the strongest first."""
        return tuple(line.entrant for line in self.lines)


@dataclass(slots=True)
class _EntrantCounts:
    """The counts of one entrant.

    `shares` maps each denominator to the sum of numerators of its mean scores. These are integers,
    so the order of addition does not matter.
    """

    matches: int = 0
    games: int = 0
    wins: int = 0
    draws: int = 0
    points: int = 0
    shares: Counter[int] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    bins: dict[int, int] = field(default_factory=dict)

    def state(self) -> list[Any]:
        """Return the counts as plain values; JSON has no numbers as keys."""
        numbers = [self.matches, self.games, self.wins, self.draws, self.points]
        return [*numbers, [*self.shares.items()], self.verdicts, [*self.bins.items()]]

    @classmethod
    def restored(cls, state: Sequence[Any]) -> Self:
        matches, games, wins, draws, points, shares, verdicts, bins = state
        numbers = matches, games, wins, draws, points
        return cls(*numbers, Counter(dict(shares)), Counter(verdicts), dict(bins))

    @property
    def mean(self) -> float | None:
        if not self.matches:
            return None
        common = math.lcm(*self.shares)
        total = sum(got * (common // most) for most, got in self.shares.items())
        return round(total / (common * self.matches), MEAN_DECIMALS)


class StandingsSums:
    """The sums of closed matches, to which matches are added in any order.

    Args:
        clip: limit of the margins.
        settings: the parameters of Elo.
        open_rounds: number of newest rounds that accept matches. An older match raises
            `elo.RoundAlreadyRated`: then all matches must be added to a new object, because Elo
            depends on the order of rounds. None: all matches are kept, and any match is accepted.
    """

    def __init__(
        self,
        clip: int,
        settings: elo.EloSettings | None = None,
        open_rounds: int | None = elo.OPEN_ROUNDS,
    ) -> None:
        self.clip = clip
        self._elo = elo.Periods(settings, open_rounds)
        self._meetings = meetings.MeetingsSum()
        self._points = points.MarginsSum(clip)
        self._tallies: dict[str, _EntrantCounts] = {}

    def add(self, match: Digest, thinking: Mapping[str, DecisionHistogram] | None = None) -> None:
        """Add a match with the decision times of its entrants.

        Raises:
            elo.RoundAlreadyRated: its round is older than the open ones; the match was not added.
            ValueError: its margins have another clip.
        """
        if match.clip != self.clip:
            raise InvalidValue(
                f"match {match.id} is summed up with points clipped at {match.clip}, "
                f"not at {self.clip}; `pokearena ladder rebuild` does it anew",
                code="other-clip",
            )
        self._elo.add(match)
        self._meetings.add(match)
        self._points.add(match.entrants, match.margins)
        won = _won(match)
        most = 2 * match.played * (len(match.entrants) - 1)
        for place, name in enumerate(match.entrants):
            tally = self._tallies.get(name)
            if tally is None:
                tally = self._tallies[name] = _EntrantCounts()
            tally.matches += 1
            tally.games += match.played
            tally.wins += match.wins[place]
            tally.draws += match.draws[place]
            tally.points += match.points[place]
            tally.shares[most] += won[place]
            if match.verdicts[place]:
                tally.verdicts.update(match.verdicts[place])
            if thinking and name in thinking:
                thinking[name].add_to(tally.bins)

    @property
    def entrants(self) -> tuple[str, ...]:
        """All entrants of any match, sorted by name."""
        return tuple(sorted(self._tallies))

    def state(self) -> dict[str, Any]:
        """Return everything besides clip, parameters and meetings as plain values."""
        return {
            "elo": self._elo.state(),
            "points": self._points.state(),
            "counts": {name: counts.state() for name, counts in self._tallies.items()},
        }

    @classmethod
    def restored(cls, clip: int, state: Mapping[str, Any], pair_sums: Meetings) -> Self:
        """Return the sums with this `state` and these meetings, and the usual parameters."""
        sums = cls(clip)
        sums._elo = elo.Periods.restored(state["elo"])
        sums._meetings = meetings.MeetingsSum.of(pair_sums)
        sums._points = points.MarginsSum.restored(clip, state["points"])
        counts = state["counts"].items()
        sums._tallies = {name: _EntrantCounts.restored(values) for name, values in counts}
        return sums

    def table(
        self, entrants: Iterable[str] = (), settings: StrengthSettings | None = None
    ) -> Standings:
        """Return the standings, sorted by strength, equal ones by name.

        Args:
            entrants: further entrants, which may not have played.
            settings: the parameters of strength; anchors that are not among the entrants are
                omitted.

        Raises:
            ValueError: as `strengths` raises it.
        """
        named = sorted({*self._tallies, *entrants})
        meetings = self._meetings.meetings()
        fitted = strengths(meetings, settings.among(named) if settings else None, named)
        ratings = self._elo.ratings(named)
        boards = {points.entrant: points for points in self._points.sums().points()}
        return Standings(
            tuple(
                _standing(
                    line,
                    ratings[line.entrant],
                    boards.get(line.entrant),
                    self._tallies.get(line.entrant, _EntrantCounts()),
                )
                for line in fitted.lines
            ),
            fitted,
            self._elo.settings,
            self.clip,
            meetings,
            {
                name: DecisionHistogram(tally.bins)
                for name, tally in self._tallies.items()
                if tally.bins
            },
        )


def table(
    matches: Iterable[Digest],
    clip: int,
    settings: elo.EloSettings | None = None,
    entrants: Iterable[str] = (),
    strength: StrengthSettings | None = None,
) -> Standings:
    """Return the standings of matches given in any order.

    Args:
        matches: digests of the matches.
        clip: limit of their margins.
        settings: the parameters of Elo.
        entrants: further entrants, which may not have played.
        strength: the parameters of strength.
    """
    fold = StandingsSums(clip, settings, open_rounds=None)
    for match in matches:
        fold.add(match)
    return fold.table(entrants, strength)


def _won(match: Digest) -> list[int]:
    """Return the half points of each entrant against all others together."""
    won = [0] * len(match.entrants)
    for (first, second), got in zip(combinations(range(len(won)), 2), match.halves, strict=True):
        won[first] += got
        won[second] += 2 * match.played - got
    return won


def _standing(
    line: Strength, rating: float, board: Points | None, tally: _EntrantCounts
) -> StandingsLine:
    return StandingsLine(
        entrant=line.entrant,
        strength=line,
        elo=rating,
        matches=tally.matches,
        games=tally.games,
        wins=tally.wins,
        draws=tally.draws,
        losses=tally.games - tally.wins - tally.draws,
        points=tally.points,
        board=board,
        mean=tally.mean,
        faults={word: tally.verdicts[word] for word in FAULTS if tally.verdicts[word]},
        forfeits=tally.verdicts[FORFEIT],
    )
