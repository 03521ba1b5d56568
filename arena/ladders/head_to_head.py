"""Two versions against each other: all their matches, counted as chess engine testing does."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from arena.formats.sprt_match import PairCounts, pair_counts, summed
from arena.ladders.key import Scope
from arena.ratings import duel as duels
from arena.ratings.closed_match import ClosedMatch
from arena.ratings.duel import Duel, Interval, pentanomial
from arena.ratings.points import Points, PointSums
from arena.ratings.sprt import Sprt, Verdict, log_likelihood_ratio
from arena.store.bots import versions
from arena.store.matches import results

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.ratings.closed_match import ClosedMatch
    from arena.ratings.sprt import Sprt


# Two versions against each other, found in the store.


class NotMet(LookupError):
    """Two have not met. Its text is a sentence for people."""


class NoBoards(ValueError):
    """Their boards cannot be counted. Its text is a clause for people."""


class Uneven(ValueError):
    """Their matches cannot be counted alike. Its text is a clause for people."""


@dataclass(frozen=True, slots=True)
class Found:
    """A comparison, and the form it is of."""

    form: str
    comparison: Comparison

    def to_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {"form": self.form, **self.comparison.to_json()}


def have_met(engine: Engine, scope: Scope, pair: tuple[str, str]) -> bool:
    """Whether a match of two is closed."""
    return any(True for _ in results.closed(engine, scope.tournaments, pair, limit=1))


def compare_stored(
    engine: Engine,
    scope: Scope,
    pair: tuple[str, str],
    unit: str | None = None,
    test: Sprt | None = None,
) -> Found:
    """The comparison of two versions in a ladder.

    unit: what is counted: "board", "match", or None for boards where that can be.

    Raises:
        NotMet: they have not met there.
        Uneven: their matches differ in length.
        NoBoards: boards are wanted, and cannot be counted.
    """
    first, second = pair
    matches = list(results.closed(engine, scope.tournaments, pair))
    if not matches:
        raise NotMet(f"{first} and {second} have not met here.")
    by = _unit(engine, matches, pair, unit)
    try:
        return Found(scope.form, compare(matches, first, second, by, scope.clip, test))
    except ValueError as error:
        raise Uneven(str(error)) from None


def _unit(
    engine: Engine, matches: Sequence[ClosedMatch], pair: tuple[str, str], wanted: str | None
) -> Unit:
    # A remote bot cannot be made to forget, so its tables play boards of their own.
    mirrored = all(versions.find(engine, name).folder for name in pair)
    boards = mirrored and all(len(match.entrants) == 2 for match in matches)
    if wanted == "board" and not boards:
        raise NoBoards("boards are counted where two sides play them in both seatings")
    return "board" if boards and wanted != "match" else "match"


Unit = Literal["board", "match"]
"""What is taken for independent of the others: a mirrored board (a pair of games), or a match."""


@dataclass(frozen=True, slots=True)
class Test:
    """What a sequential test says.

    ratio: the log-likelihood ratio of all that was played. verdict: the first that the matches,
    taken in canonical order, have come to; later ones do not undo it. decided: after how many
    matches that was, and with which ratio; None while it is open.
    """

    settings: Sprt
    ratio: float
    verdict: Verdict
    decided: tuple[int, float] | None

    def to_json(self) -> dict[str, object]:
        """Return it as plain values."""
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
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """The first version as seen against the second.

    wins, draws, losses: games in which it had the better place than the other, the same, the worse.
    pairs: boards by result (LL, LD, WL, DD, WD, WW), if boards are the unit.
    points: points a board ahead of the table; None without games that have scores.
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
    test: Test | None

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
        """The likelihood that the first is stronger, from 0 to 1; None if nothing says it."""
        return duels.superiority(self.duel) if self.duel.error else None

    def _known(self, interval: Interval) -> Interval:
        """The same without ends if all results were alike: they do not say how results scatter."""
        if self.duel.error:
            return interval
        return Interval(interval.value, -math.inf, math.inf)

    def to_json(self) -> dict[str, object]:
        """Return it as plain values."""
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
    test: Sprt | None = None,
) -> Comparison:
    """Compare two versions.

    Args:
        matches: in canonical order; those in which not both sat are passed over.
        unit: boards only if every match is of two entrants, and both seatings play the same boards.
        clip: at which points per board are clipped.

    Raises:
        ValueError: they have not met, or whole matches are to be counted that differ in length.
    """
    both = [match for match in matches if {first, second} <= set(match.entrants)]
    if not both:
        raise ValueError(f"{first} and {second} have not met")
    # Half games won: 2 is a game won, 1 a shared place.
    won = [half for match in both for half in _halves(match, first, second)]
    points = {one.entrant: one for one in PointSums.of(both, clip).points()}
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
        points.get(first),
        _test(both, first, second, unit, test) if test else None,
    )


def _halves(match: ClosedMatch, first: str, second: str) -> Iterator[int]:
    one, other = match.entrants.index(first), match.entrants.index(second)
    for game in match.games:
        yield game.halves(one, other)


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


def _test(both: Sequence[ClosedMatch], first: str, second: str, unit: Unit, test: Sprt) -> Test:
    decided: tuple[int, float] | None = None
    verdict: Verdict = "open"
    ratio = math.nan
    counts: list[int] = []
    for played, match in enumerate(both, 1):
        own = _duel([match], first, second, unit)
        counts = [a + b for a, b in zip(counts or [0] * len(own.counts), own.counts, strict=True)]
        so_far = replace(own, counts=tuple(counts))
        if decided is None or played == len(both):
            ratio = log_likelihood_ratio(test, so_far)
        if decided is None and test.verdict(ratio) != "open":
            verdict, decided = test.verdict(ratio), (played, ratio)
    return Test(test, ratio, verdict, decided)
