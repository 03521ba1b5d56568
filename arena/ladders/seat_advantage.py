"""Estimate what each seat is worth: the mean result at a seat over all entrants.

A match has a table for each rotation of its entrants, so each of them plays the same boards at each
seat. Therefore strengths cancel out, and the mean result at a seat differs from that at the others
only by the worth of the seat and by chance:

1. In a game, the score at a seat is the mean over the other seats of 1 for a better place, one half
   for an equal one and 0 for a worse one. The margin is the number of points minus the mean of the
   others.
2. The values of a match are the means over its games. The error of their mean follows from the
   variation between matches, because the games of a match depend on each other.
3. Matches with a fault or a forfeit are omitted: the bot caused the result, not the seat.

Seats of one side, such as those of partners, count together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from arena.formats.round_robin import seatings
from arena.ladders.columns import Column
from arena.presentation.wording import percent, signed, with_interval
from arena.ratings.closed_match import FINISHED, ClosedMatch, PlayedGame
from arena.ratings.scale import DECIMALS, Z95, gap_of

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.ladders.ladder_key import LadderKey


@dataclass(frozen=True, slots=True)
class MeanWithInterval:
    """A mean over matches and its 95 % interval; a single match, for example, has no interval."""

    mean: float
    low: float | None
    high: float | None

    def to_json(self) -> dict[str, object]:
        interval = None if self.low is None else [self.low, self.high]
        return {"mean": self.mean, "interval": interval}


@dataclass(frozen=True, slots=True)
class SeatAdvantage:
    """The estimated worth of the seats of one side.

    Attributes:
        seats: the seats, from 0.
        matches: number of matches.
        score: the mean score against the others, from 0 to 1; one half without an advantage.
        elo: the difference in Elo points between equal bots with this score; None if the score is 0
            or 1.
        points: the mean margin to the others, in the game's own points.
    """

    seats: tuple[int, ...]
    matches: int
    score: MeanWithInterval
    elo: MeanWithInterval | None
    points: MeanWithInterval


def _text(mean: MeanWithInterval | None, text: Callable[[float], str]) -> str:
    return with_interval(text, mean.mean, mean.low, mean.high) if mean else ""


SEATS: list[Column[SeatAdvantage]] = [
    Column(
        "seats",
        "seat",
        lambda line: list(line.seats),
        "seats of the side, from 0; tables count from 1",
        text=lambda line: ", ".join(str(seat + 1) for seat in line.seats),
        is_left=True,
    ),
    Column("matches", "matches", lambda line: line.matches, "matches in all seatings"),
    Column(
        "score",
        "score",
        lambda line: line.score.to_json(),
        "mean score against the others, over all bots, with its 95 % interval",
        text=lambda line: _text(line.score, lambda share: percent(share, 1)),
    ),
    Column(
        "elo",
        "Elo",
        lambda line: line.elo and line.elo.to_json(),
        "difference between equal bots with this score, in Elo points",
        text=lambda line: _text(line.elo, signed),
    ),
    Column(
        "points",
        "points per game",
        lambda line: line.points.to_json(),
        "mean margin to the others, in the game's own points",
        text=lambda line: _text(line.points, signed),
    ),
]
"""The columns of what seats are worth."""


def of_ladder(engine: Engine, scope: LadderKey) -> tuple[SeatAdvantage, ...]:
    """Return what the seats of a ladder's form are worth; empty without suitable matches."""
    from arena.store.matches import results
    from arena.store.tournaments import tournaments
    from referee.games.registry import find_game

    plan = tournaments.find_tournament(engine, scope.tournaments[0]).plan
    sides = find_game(plan.game).sides(plan.seats, plan.options)
    return advantages(results.closed(engine, scope.tournaments), sides)


def advantages(matches: Iterable[ClosedMatch], sides: Sequence[int]) -> tuple[SeatAdvantage, ...]:
    """Return what the seats of each side are worth.

    Args:
        sides: the side of each seat.
    """
    count = len(set(sides))
    values = [
        _of_match(match)
        for match in matches
        if len(match.entrants) == count and _is_complete(match.games, count)
    ]
    if not values:
        return ()
    return tuple(
        _advantage(
            tuple(seat for seat, its_side in enumerate(sides) if its_side == side),
            [scores[side] for scores, _ in values],
            [margins[side] for _, margins in values],
        )
        for side in range(count)
    )


def _is_complete(games: Sequence[PlayedGame], sides: int) -> bool:
    """Return whether there are boards for each seating, without faults."""
    return not len(games) % sides and all(
        game.scores is not None and set(game.verdicts) == {FINISHED} for game in games
    )


def _of_match(match: ClosedMatch) -> tuple[list[float], list[float]]:
    """Return the mean scores and the mean margins by side."""
    sides = len(match.entrants)
    games = sorted(match.games, key=lambda game: game.game)
    scores: list[list[float]] = [[] for _ in range(sides)]
    margins: list[list[float]] = [[] for _ in range(sides)]
    boards = len(games) // sides
    for table, seating in enumerate(seatings(sides)):
        for game in games[table * boards : (table + 1) * boards]:
            assert game.scores is not None
            total = sum(game.scores)
            for side, entrant in enumerate(seating):
                others = [other for other in seating if other != entrant]
                halves = sum(game.halves(entrant, other) for other in others)
                scores[side].append(halves / 2 / len(others))
                points = game.scores[entrant]
                margins[side].append(points - (total - points) / len(others))
    return [fmean(each) for each in scores], [fmean(each) for each in margins]


def _advantage(
    seats: tuple[int, ...], scores: Sequence[float], margins: Sequence[float]
) -> SeatAdvantage:
    score = _mean(scores)
    return SeatAdvantage(seats, len(scores), score, _in_elo(score), _mean(margins))


def _mean(values: Sequence[float]) -> MeanWithInterval:
    count, mean = len(values), fmean(values)
    rounded = round(mean, DECIMALS)
    if count < 2:
        return MeanWithInterval(rounded, None, None)
    squares = math.fsum((value - mean) ** 2 for value in values)
    margin = _student95(count - 1) * math.sqrt(squares / (count - 1) / count)
    return MeanWithInterval(rounded, round(mean - margin, DECIMALS), round(mean + margin, DECIMALS))


def _student95(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's distribution.

    Fisher's expansion (Abramowitz and Stegun 1964, 26.7.5). It is 11 % too small with one degree of
    freedom, and correct to 1 % from two on.
    """
    z = Z95
    return (
        z
        + (z**3 + z) / 4 / freedom
        + (5 * z**5 + 16 * z**3 + 3 * z) / 96 / freedom**2
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384 / freedom**3
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160 / freedom**4
    )


def _in_elo(score: MeanWithInterval) -> MeanWithInterval | None:
    """Convert a score and its interval; without an interval if an end has no finite difference."""
    # Adding 0.0 changes a negative zero to a positive one.
    gaps = [
        round(gap_of(value), DECIMALS) + 0.0 if value is not None and 0 < value < 1 else None
        for value in (score.mean, score.low, score.high)
    ]
    mean, low, high = gaps
    if mean is None:
        return None
    return (
        MeanWithInterval(mean, low, high)
        if None not in gaps
        else MeanWithInterval(mean, None, None)
    )
