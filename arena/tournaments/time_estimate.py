"""Estimate the number of matches and the duration of a tournament."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from operator import add
from random import Random
from typing import TYPE_CHECKING, Final

from arena.formats.contract import Fixture, FormatEntrant, FormatMatch, MatchStatus, NextMatches
from arena.formats.sprt_match import SprtFormat, board_counts
from arena.ratings.closed_match import FINISHED, PlayedGame
from arena.ratings.duel import of_boards
from arena.ratings.sprt_length import SprtUnit, elo_of, length
from arena.store.match_settings import TournamentPlan
from arena.store.matches import results
from arena.store.tournaments import tournaments
from arena.tournaments.scheduler import format_of

if TYPE_CHECKING:
    from sqlalchemy import Engine

ENDLESS: Final = frozenset(("ladder", "sprt"))
"""Formats that end at an unknown time, unless they have a limit."""
EXACT: Final = frozenset(("round-robin", "gauntlet", "swiss", "challenge"))
"""Formats whose number of matches is fixed, unless entrants join or withdraw."""
_TABLE_SECONDS: Final = 0.5
"""The time to start the bots of a table."""
_RECENT: Final = 200


def matches(
    plan: TournamentPlan, entrants: Sequence[FormatEntrant], played: Sequence[FormatMatch] = ()
) -> int | None:
    """Return the estimated total number of matches; None if it cannot be estimated.

    Unplayed matches get random results. The estimate is exact for a round robin, a gauntlet and a
    Swiss tournament, and one possible outcome where the number depends on results.

    Raises:
        ValueError: the entrants cannot play the format.
    """
    if plan.format in ENDLESS:
        format_of(plan).next(entrants, ())
        return int(plan.settings.get("limit", 0)) or None
    luck = Random(0)
    rules = format_of(plan)
    known = {match.place: match for match in played}
    for place, match in known.items():
        if match.state is MatchStatus.OPEN:
            known[place] = replace(
                match, state=MatchStatus.CLOSED, games=_toss(match.entrants, luck)
            )
    while isinstance(step := rules.next(entrants, known.values()), NextMatches):
        for fixture in step.fixtures:
            match = _played(fixture, luck)
            known[match.place] = match
    return len(known)


@dataclass(frozen=True, slots=True)
class SprtForecast:
    """The expected numbers of matches of a sequential test.

    Attributes:
        low: if the difference is `low`.
        middle: if it is halfway between the bounds, where tests take longest.
        high: if it is `high`.
        measured: number of boards from which the variance is estimated. 0: the variance is that of
            independent games without draws, so the numbers are upper estimates.
    """

    low: int
    middle: int
    high: int
    measured: int

    def to_json(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in ("low", "middle", "high", "measured")}


def sprt_forecast(
    engine: Engine | None, plan: TournamentPlan, entrants: Sequence[FormatEntrant]
) -> SprtForecast | None:
    """Return the expected length of a test; None for other formats.

    The variance of a board is that of the boards that both entrants have played against each other
    in this form, at most 200 matches.
    """
    rules = format_of(plan)
    if not isinstance(rules, SprtFormat):
        return None
    test = rules.test
    pair = entrants[0].name, entrants[1].name
    boards = [0] * (2 * rules.sides + 1)
    for counts in _boards_between(engine, plan, pair):
        boards = list(map(add, boards, counts))
    duel = of_boards(boards) if sum(boards) else None
    measured = duel is not None and duel.variance > 0
    variance = duel.variance if duel and measured else 1 / (4 * rules.sides)
    unit = SprtUnit(variance, rules.sides)
    middle = (rules.low + rules.high) / 2
    low, half, high = (
        ceil(length(test, unit, elo_of(test, unit, difference)).units / plan.boards)
        for difference in (rules.low, middle, rules.high)
    )
    return SprtForecast(low, half, high, sum(boards) if measured else 0)


def _boards_between(
    engine: Engine | None, plan: TournamentPlan, pair: tuple[str, str]
) -> Iterator[tuple[int, ...]]:
    if engine is None:
        return
    same_form = [
        tournament.id
        for tournament in tournaments.list_tournaments(engine)
        if tournament.plan.form == plan.form
    ]
    for match in results.closed(engine, same_form, pair, limit=_RECENT):
        yield board_counts(match.entrants, match.games, pair)


def games(plan: TournamentPlan, number: int) -> int:
    """Return the number of games of this many matches."""
    return number * plan.boards * plan.sides


def duration(seconds: float) -> str:
    """Format a duration, such as "40 s", "12 min" or "3 h 20 min"."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def _played(fixture: Fixture, luck: Random) -> FormatMatch:
    return FormatMatch(
        fixture.round,
        fixture.number,
        fixture.entrants,
        MatchStatus.CLOSED,
        _toss(fixture.entrants, luck),
    )


def _toss(entrants: Sequence[str], luck: Random) -> tuple[PlayedGame, ...]:
    places = list(range(1, len(entrants) + 1))
    luck.shuffle(places)
    every = len(entrants)
    return (PlayedGame(0, tuple(places), None, (FINISHED,) * every, (0,) * every),)
