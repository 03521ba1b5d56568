"""Estimate the number of matches and the duration of a tournament."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Final

from sqlalchemy import func, select

from arena.formats.contract import Fixture, FormatEntrant, FormatMatch, MatchStatus, NextMatches
from arena.presentation.registry import presentation_of
from arena.ratings.closed_match import FINISHED, ClosedGame
from arena.store import schema
from arena.store.database import reading
from arena.store.matches.spec import TournamentPlan
from arena.store.schema import MatchState
from arena.tournaments.scheduler import format_of
from referee.games.registry import find

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

    Args:
        plan: the settings of the tournament.
        entrants: its entrants.
        played: its matches so far.

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
            made = _played(fixture, luck)
            known[made.place] = made
    return len(known)


def games(plan: TournamentPlan, number: int) -> int:
    """Return the number of games of this many matches."""
    return number * plan.boards * find(plan.game).side_count(plan.seats, plan.options)


def duration(seconds: float) -> str:
    """Format a duration, such as "40 s", "12 min" or "3 h 20 min"."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def seconds_per_game(engine: Engine | None, plan: TournamentPlan) -> tuple[float, int]:
    """Return the seconds that one worker needs for a game, and the number of matches measured.

    Measured are the most recent matches (at most 200) of this game and number of seats that closed
    at their first attempt. Without any, the time is a default from measurements of the house bots,
    and the number is 0.
    """
    guess = presentation_of(plan.game).seconds + _TABLE_SECONDS / plan.boards
    if engine is None:
        return guess, 0
    matches, tournaments = schema.matches, schema.tournaments
    recent = (
        select((matches.c.ended - matches.c.leased).label("seconds"), matches.c.games)
        .join(tournaments, tournaments.c.id == matches.c.tournament)
        .where(matches.c.state == MatchState.CLOSED, matches.c.attempt == 1)
        .where(tournaments.c.game == plan.game, tournaments.c.seats == plan.seats)
        .order_by(matches.c.ended.desc())
        .limit(_RECENT)
        .subquery()
    )
    query = select(func.count(), func.sum(recent.c.seconds), func.sum(recent.c.games))
    with reading(engine) as connection:
        number, seconds, played = connection.execute(query).one()
    return (seconds / played, number) if number else (guess, 0)


def _played(fixture: Fixture, luck: Random) -> FormatMatch:
    return FormatMatch(
        fixture.round,
        fixture.number,
        fixture.entrants,
        MatchStatus.CLOSED,
        _toss(fixture.entrants, luck),
    )


def _toss(entrants: Sequence[str], luck: Random) -> tuple[ClosedGame, ...]:
    places = list(range(1, len(entrants) + 1))
    luck.shuffle(places)
    every = len(entrants)
    return (ClosedGame(0, tuple(places), None, (FINISHED,) * every, (0,) * every),)
