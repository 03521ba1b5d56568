"""Immutable snapshot of the arena for the pages: ladders, histories, tournaments, live matches.

A background task reads a new snapshot after a change. A page's cost is therefore only its
rendering, for any size of the ladders.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Engine, func, select
from sqlalchemy.exc import DBAPIError

from arena.errors import Unreachable
from arena.ladders import ladder_key as scopes
from arena.ladders import ladder_rows, rater
from arena.ladders.ladder_rows import Ladder
from arena.ladders.rating_history import RatingHistory, read_rating_history
from arena.store import schema
from arena.store.access import audit_log
from arena.store.bots import versions
from arena.store.bots.versions import Version
from arena.store.database import current_time, now, reading
from arena.store.matches import listing
from arena.store.matches.listing import Match
from arena.store.schema import MatchState, TournamentState
from arena.store.tournaments import tournaments
from arena.store.tournaments.tournaments import Tournament, TournamentProgress
from arena.web import charts
from arena.web.charts import Sparkline
from arena.web.data.time_estimates import TimeEstimates, TimeEstimator

log = logging.getLogger("arena.web")

RATE_AFTER_SECONDS = 3.0
"""Age of a new result from which this server rates ladders itself, because no service does."""


@dataclass(frozen=True, slots=True)
class RatingChart:
    """Rating history of one ladder.

    Args:
        sparks: sparklines by entrant, for entrants with at least two points.
    """

    past: RatingHistory = field(default_factory=RatingHistory)
    sparks: Mapping[str, Sparkline] = field(default_factory=dict, compare=False)

    def moved(self, entrant: str, place: int) -> int | None:
        """Return the places an entrant gained since yesterday; None if it was not ranked then."""
        was = self.past.yesterday.get(entrant)
        return None if was is None else was - place


def _sparks(past: RatingHistory) -> dict[str, Sparkline]:
    strengths: dict[str, list[float]] = {}
    for point in past.points:
        for name, value in point.values.items():
            strengths.setdefault(name, []).append(value.strength)
    return {name: charts.spark(values) for name, values in strengths.items() if len(values) > 1}


@dataclass(frozen=True, slots=True)
class ArenaSnapshot:
    """The arena at one moment.

    Args:
        at: time of the database, in seconds since 1970; 0 before the first read.
        ladders: by form.
        archives: the ladders of archived seasons, by form and season.
        versions: all versions by ID, with the retired ones.
        time_estimates: time estimates of the open tournaments, by ID.
        charts: the histories of the ladders, by form.
        lone_bots: the names of bots with one version, which pages show without its number.
    """

    at: float = 0.0
    ladders: Mapping[str, Ladder] = field(default_factory=dict)
    archives: Mapping[tuple[str, int], Ladder] = field(default_factory=dict)
    versions: Mapping[str, Version] = field(default_factory=dict)
    running: tuple[Match, ...] = ()
    open_tournaments: tuple[tuple[Tournament, TournamentProgress], ...] = ()
    time_estimates: Mapping[str, TimeEstimates] = field(default_factory=dict)
    charts: Mapping[str, RatingChart] = field(default_factory=dict)
    lone_bots: frozenset[str] = frozenset()


class SnapshotReader:
    """Reads snapshots of the store; unchanged ladders are the same objects."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._estimator = TimeEstimator(engine)
        self._marks: Any = None
        self._is_rated = True
        self._known: dict[str, tuple[Any, Ladder, RatingChart]] = {}

    def read(self) -> ArenaSnapshot | None:
        """Return a new snapshot; None if nothing has changed since the last call."""
        self._rate()
        latest_marks = marks(self._engine)
        if latest_marks == self._marks:
            return None
        snapshot = self._snapshot()
        self._marks = latest_marks
        return snapshot

    def _rate(self) -> None:
        """Rate if nobody else does. A store that cannot be written is shown as it is rated."""
        try:
            if self._is_rated:
                self._is_rated = rater.advance_if_behind(self._engine, RATE_AFTER_SECONDS)
            else:
                self._is_rated = rater.advance(self._engine)
        except (DBAPIError, Unreachable) as error:
            log.warning("ladders cannot be rated; the pages show earlier ones: %s", error)

    def _snapshot(self) -> ArenaSnapshot:
        engine = self._engine
        at = current_time(engine)
        ladders = [ladder for ladder in self._ladders() if ladder.table.lines]
        listed = tournaments.list_tournaments(engine, over=False)
        open_tournaments = tuple(
            (tournament, tournaments.progress(engine, tournament.id)) for tournament in listed
        )
        self._estimator.forget_others([tournament.id for tournament in listed])
        every = versions.list_versions(engine, retired=True)
        counts = Counter(version.name for version in every)
        return ArenaSnapshot(
            at=at,
            ladders={ladder.scope.name: ladder for ladder in ladders if not ladder.scope.archived},
            archives={
                (ladder.scope.name, ladder.scope.season): ladder
                for ladder in ladders
                if ladder.scope.archived
            },
            versions={version.id: version for version in every},
            lone_bots=frozenset(name for name, number in counts.items() if number == 1),
            running=listing.matches(engine, states=(MatchState.RUNNING,)),
            open_tournaments=open_tournaments,
            time_estimates={
                tournament.id: self._estimator.estimate(tournament, progress, at)
                for tournament, progress in open_tournaments
            },
            charts={
                ladder.scope.name: self._known[ladder.scope.id][2]
                for ladder in ladders
                if not ladder.scope.archived
            },
        )

    def _ladders(self) -> list[Ladder]:
        """Return the ladders of all seasons; those whose rows have changed are read."""
        table = schema.ladder_fits
        query = select(*table.c["ladder", "seq", "at"])
        with reading(self._engine) as connection:
            rows = {row.ladder: (row.seq, row.at) for row in connection.execute(query)}
        keys = [key for key in scopes.of_seasons(self._engine) if key.id in rows]
        for key in keys:
            mark = (key, rows[key.id])
            if key.id not in self._known or self._known[key.id][0] != mark:
                ladder = ladder_rows.read_ladder(self._engine, key)
                past = read_rating_history(self._engine, ladder)
                self._known[key.id] = mark, ladder, RatingChart(past, _sparks(past))
        return [self._known[key.id][1] for key in keys]


def marks(engine: Engine) -> tuple[Any, ...]:
    """Return values that differ if the content of any page can differ."""
    matches, games, tournament_table = schema.matches, schema.games, schema.tournaments
    remotes = schema.remotes
    # Closed tournaments do not change any more.
    unclosed = select(tournament_table.c.id).where(
        tournament_table.c.state != TournamentState.CLOSED
    )
    queries = (
        select(func.max(schema.closings.c.seq)),
        # The rows of ladders follow later.
        select(func.count(), func.max(schema.ladder_fits.c.at)),
        select(
            func.count(),
            func.sum(tournament_table.c.matches),
            func.max(tournament_table.c.created),
            func.max(tournament_table.c.ended),
        ),
        select(tournament_table.c.state, func.count())
        .group_by(tournament_table.c.state)
        .order_by(tournament_table.c.state),
        # Closed matches are too numerous to count. They follow from the total and the other states.
        select(matches.c.state, func.count())
        .where(matches.c.tournament.in_(unclosed), matches.c.state.in_(tournaments.OTHERS))
        .group_by(matches.c.state)
        .order_by(matches.c.state),
        select(func.count(), func.max(schema.versions.c.created)),
        select(func.max(schema.versions.c.retired), func.count(schema.versions.c.quarantined)),
        select(func.count()).where(schema.bots.c.owner != ""),
        select(func.count(), func.max(remotes.c.since)).where(remotes.c.until > now()),
        select(func.count())
        .select_from(games.join(matches, matches.c.id == games.c.match))
        .where(matches.c.state == MatchState.RUNNING),
    )
    with reading(engine) as connection:
        seen = tuple(tuple(map(tuple, connection.execute(query))) for query in queries)
        return *seen, audit_log.corrections(connection)
