"""Compare two versions by all their matches, with the statistics of chess engine testing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from arena.formats.sprt_match import PairCounts, pair_counts, summed
from arena.ladders.ladder_key import LadderKey
from arena.ratings import duel as duels
from arena.ratings.closed_match import ClosedMatch
from arena.ratings.duel import Duel, Interval, pentanomial
from arena.ratings.entrant_sums import EntrantSums, of_match
from arena.ratings.points import Points
from arena.ratings.sprt import SprtResult, SprtSettings, log_likelihood_ratio
from arena.ratings.sprt_length import stopped
from arena.store.bots import versions
from arena.store.matches import results

if TYPE_CHECKING:
    from sqlalchemy import Engine


class NeverMet(LookupError):
    """Two versions have not met. The text is a sentence for display."""


class NoBoards(ValueError):
    """The boards of two versions cannot be counted. The text is a clause for display."""


class UnequalMatches(ValueError):
    """The matches of two versions cannot be weighted equally. The text is a clause for display."""


@dataclass(frozen=True, slots=True)
class LadderComparison:
    """A comparison with its form."""

    form: str
    comparison: Comparison

    def to_json(self) -> dict[str, Any]:
        return {"form": self.form, **self.comparison.to_json()}


def have_met(engine: Engine, scope: LadderKey, pair: tuple[str, str]) -> bool:
    """Return whether a match of two versions is closed."""
    return any(True for _ in results.closed(engine, scope.tournaments, pair, limit=1))


def compare_stored(
    engine: Engine,
    scope: LadderKey,
    pair: tuple[str, str],
    unit: str | None = None,
    test: SprtSettings | None = None,
) -> LadderComparison:
    """Compare two versions in a ladder.

    Args:
        pair: versions as ``name@number``.
        unit: the unit of counting: "board" or "match"; None for boards where possible.
        test: settings of a sequential test; None for no test.

    Raises:
        NeverMet: they have not met in the ladder.
        UnequalMatches: their matches differ in length.
        NoBoards: boards are requested, and cannot be counted.
    """
    first, second = pair
    matches = list(results.closed(engine, scope.tournaments, pair))
    if not matches:
        raise NeverMet(f"{first} and {second} have not met here.")
    by = _unit(engine, matches, pair, unit)
    try:
        return LadderComparison(scope.name, compare(matches, first, second, by, scope.clip, test))
    except ValueError as error:
        raise UnequalMatches(str(error)) from None


def _unit(
    engine: Engine, matches: Sequence[ClosedMatch], pair: tuple[str, str], requested: str | None
) -> Unit:
    # A remote bot cannot be reset, so its tables do not play the same boards.
    mirrored = all(versions.find_version(engine, name).folder for name in pair)
    boards = mirrored and all(len(match.entrants) == 2 for match in matches)
    if requested == "board" and not boards:
        raise NoBoards("boards are counted where two sides play them in both seatings")
    return "board" if boards and requested != "match" else "match"


Unit = Literal["board", "match"]
"""The independent unit of the statistics: a mirrored board (a pair of games), or a match."""


@dataclass(frozen=True, slots=True)
class SequentialTest:
    """The result of a sequential test.

    Attributes:
        ratio: the log-likelihood ratio of all matches.
        verdict: the first verdict of the matches in canonical order; later matches do not change
            it.
        decided: number of matches until then, and the ratio; None while the test is open.
        elo: the difference in Elo points by the matches until then, corrected for the rule by which
            the test stops (`arena.ratings.sprt_length.stopped`).
    """

    settings: SprtSettings
    ratio: float
    verdict: SprtResult
    decided: tuple[int, float] | None
    elo: Interval

    def to_json(self) -> dict[str, object]:
        s = self.settings
        return {
            "low": s.low,
            "high": s.high,
            "alpha": s.alpha,
            "beta": s.beta,
            "model": s.model,
            "bounds": list(s.bounds),
            "llr": self.ratio,
            "verdict": self.verdict,
            "decided_after_matches": self.decided[0] if self.decided else None,
            "decided_with_llr": self.decided[1] if self.decided else None,
            "elo": self.elo.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """The results of the first version against the second.

    Attributes:
        first: the first version.
        second: the second version.
        unit: the unit of counting.
        matches: number of matches.
        wins: games in which the first version had the better place.
        draws: games with equal places.
        losses: games in which it had the worse place.
        pairs: boards by result (LL, LD, WL, DD, WD, WW), if boards are the unit.
        duel: the distribution of scores.
        points: its margin per board to the mean of the table; None without games with scores.
        test: the sequential test; None without one.
    """

    first: str
    second: str
    unit: Unit
    matches: int
    wins: int
    draws: int
    losses: int
    pairs: PairCounts | None
    duel: Duel
    points: Points | None
    test: SequentialTest | None

    @property
    def elo(self) -> Interval:
        """The difference in Elo points."""
        return self._known(duels.elo_difference(self.duel))

    @property
    def normalized(self) -> Interval:
        """The difference in normalized Elo points."""
        return self._known(duels.normalized_elo(self.duel))

    @property
    def superiority(self) -> float | None:
        """The likelihood, 0 to 1, that the first is stronger; None if it cannot be estimated."""
        return duels.superiority(self.duel) if self.duel.error else None

    def _known(self, interval: Interval) -> Interval:
        """Remove the bounds if all results are equal: their variance is then unknown."""
        if self.duel.error:
            return interval
        return Interval(interval.value, -math.inf, math.inf)

    def to_json(self) -> dict[str, object]:
        return {
            "entrants": [self.first, self.second],
            "unit": self.unit,
            "matches": self.matches,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "score": self.duel.score,
            "pairs": list(self.pairs) if self.pairs else None,
            "elo": self.elo.to_json(),
            "normalized": self.normalized.to_json(),
            "superiority": self.superiority,
            "points_per_board": self.points.to_json() if self.points else None,
            "sprt": self.test.to_json() if self.test else None,
        }


def compare(
    matches: Sequence[ClosedMatch],
    first: str,
    second: str,
    unit: Unit,
    clip: int,
    test: SprtSettings | None = None,
) -> Comparison:
    """Compare two versions.

    Args:
        matches: matches in canonical order; those without both versions are ignored.
        first: the first version.
        second: the second version.
        unit: "board" only if every match has two entrants that play the same boards in both
            seatings.
        test: settings of a sequential test; None for no test.

    Raises:
        ValueError: the versions have not met, or matches are the unit and differ in length.
    """
    both = [match for match in matches if {first, second} <= set(match.entrants)]
    if not both:
        raise ValueError(f"{first} and {second} have not met")
    # Half points of a game: 2 for a better place, 1 for an equal one.
    won = [half for match in both for half in _halves(match, first, second)]
    sums = EntrantSums()
    for match in both:
        sums.add(of_match(match, clip)[first])
    pairs = summed(_pairs(match, first) for match in both) if unit == "board" else None
    return Comparison(
        first,
        second,
        unit,
        len(both),
        won.count(2),
        won.count(1),
        won.count(0),
        pairs,
        _duel(both, first, second, unit),
        sums.points_per_board(first),
        _test(both, first, second, unit, test) if test else None,
    )


def _halves(match: ClosedMatch, first: str, second: str) -> Iterator[int]:
    place, opposite = match.entrants.index(first), match.entrants.index(second)
    for game in match.games:
        yield game.halves(place, opposite)


def _pairs(match: ClosedMatch, first: str) -> PairCounts:
    counts = pair_counts(match.games)
    if match.entrants[0] == first:
        return counts
    ll, ld, wl, dd, wd, ww = counts
    return ww, wd, wl, dd, ld, ll


def _duel(both: Sequence[ClosedMatch], first: str, second: str, unit: Unit) -> Duel:
    if unit == "board":
        return pentanomial(*summed(_pairs(match, first) for match in both))
    return duels.of_matches(both, first, second)


def _test(
    both: Sequence[ClosedMatch], first: str, second: str, unit: Unit, test: SprtSettings
) -> SequentialTest:
    decided: tuple[int, float] | None = None
    verdict: SprtResult = "open"
    ratio = math.nan
    counts: list[int] = []
    until_verdict = _duel(both[:1], first, second, unit)
    for played, match in enumerate(both, 1):
        current = _duel([match], first, second, unit)
        counts = [
            a + b for a, b in zip(counts or [0] * len(current.counts), current.counts, strict=True)
        ]
        so_far = replace(current, counts=tuple(counts))
        if decided is None or played == len(both):
            ratio = log_likelihood_ratio(test, so_far)
        if decided is None:
            until_verdict = so_far
        if decided is None and test.verdict(ratio) != "open":
            verdict, decided = test.verdict(ratio), (played, ratio)
    return SequentialTest(test, ratio, verdict, decided, stopped(test, until_verdict))
