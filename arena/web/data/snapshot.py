"""Immutable snapshot of the arena for the pages: ladders, histories, tournaments, live matches.

A background task creates a new snapshot after a change. A page's cost is therefore only its
rendering, for any size of the ladders.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Engine, func, select

from arena.ladders import ladder_key as scopes
from arena.ladders import stored_ladders
from arena.ladders.ladder_key import LadderKey
from arena.ladders.ladder_sums import LadderSums
from arena.ladders.rating_history import RatingHistories, RatingHistory
from arena.ratings.standings import Standings
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


@dataclass(frozen=True, slots=True)
class RatingChart:
    """Rating history of one ladder.

    Args:
        past: the history.
        sparks: sparklines by entrant, for entrants with at least two points.
    """

    past: RatingHistory = field(default_factory=RatingHistory)
    sparks: Mapping[str, Sparkline] = field(default_factory=dict, compare=False)

    def moved(self, entrant: str, place: int) -> int | None:
        """Return the places an entrant gained since yesterday; None if it was not ranked then."""
        was = self.past.yesterday.get(entrant)
        return None if was is None else was - place


def updated_charts(
    historian: RatingHistories,
    ladders: Mapping[str, LadderSnapshot],
    previous: Mapping[str, RatingChart],
    seconds: float,
) -> tuple[dict[str, RatingChart], bool]:
    """Update the rating histories of ladders.

    Args:
        historian: computes the histories.
        ladders: the ladders by form.
        previous: the previous histories by form.
        seconds: the time limit; histories beyond it keep their previous state.

    Returns:
        The histories by form, and whether all are up to date.
    """
    by_form, is_complete = dict(previous), True
    until = time.monotonic() + seconds
    for form, ladder in ladders.items():
        past = historian.past(ladder.scope, max(until - time.monotonic(), 0.0))
        if past is None:
            is_complete = False
        elif form not in by_form or by_form[form].past != past:
            by_form[form] = RatingChart(past, _sparks(past))
    return by_form, is_complete


def _sparks(past: RatingHistory) -> dict[str, Sparkline]:
    strengths: dict[str, list[float]] = {}
    for point in past.points:
        for name, value in point.values.items():
            strengths.setdefault(name, []).append(value.strength)
    return {name: charts.spark(values) for name, values in strengths.items() if len(values) > 1}


@dataclass(frozen=True, slots=True)
class LadderSnapshot:
    """The ladder of one form.

    Args:
        scope: the ladder's key.
        table: the standings.
        seen: end of each entrant's last closed match, in seconds since 1970.
    """

    scope: LadderKey
    table: Standings
    seen: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ArenaSnapshot:
    """The arena at one moment.

    Args:
        at: time of the database, in seconds since 1970; 0 before the first read.
        ladders: by form.
        archives: the ladders of archived seasons, by form and season.
        versions: all versions by ID, with the retired ones.
        running: the running matches.
        open_tournaments: the open tournaments with their progress.
        time_estimates: time estimates of the open tournaments, by ID.
    """

    at: float = 0.0
    ladders: Mapping[str, LadderSnapshot] = field(default_factory=dict)
    archives: Mapping[tuple[str, int], LadderSnapshot] = field(default_factory=dict)
    versions: Mapping[str, Version] = field(default_factory=dict)
    running: tuple[Match, ...] = ()
    open_tournaments: tuple[tuple[Tournament, TournamentProgress], ...] = ()
    time_estimates: Mapping[str, TimeEstimates] = field(default_factory=dict)


@dataclass(slots=True)
class _TrackedLadder:
    """The sums of a ladder, and its newest snapshot.

    Attributes:
        sums: the sums.
        ladder: the snapshot; None before the first one.
        revision: the revision of the sums that the snapshot was computed from.
        stored: number of matches of the stored ladder.
    """

    sums: LadderSums
    ladder: LadderSnapshot | None = None
    revision: tuple[int, int] = (-1, 0)
    stored: int = 0


class SnapshotReader:
    """Creates snapshots of the store. Stores intermediate results to reuse them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._estimator = TimeEstimator(engine)
        self._marks: Any = None
        self._tracked: dict[tuple[str, int], _TrackedLadder] = {}
        self._is_current = True

    def read(self) -> ArenaSnapshot | None:
        """Return a new snapshot; None if nothing has changed since the last call.

        The first one has the stored ladders, so that it takes a second. The next one has the
        matches that have closed since.
        """
        latest_marks = marks(self._engine)
        if latest_marks == self._marks:
            return None
        self._is_current = True
        snapshot = self._snapshot()
        self._marks = latest_marks if self._is_current else None
        return snapshot

    def store_ladders(self) -> None:
        """Store the ladders that have many more matches than the stored ones."""
        for tracked in self._tracked.values():
            ladder, sums = tracked.ladder, tracked.sums
            if ladder is not None and tracked.revision == sums.revision:
                tracked.stored = stored_ladders.store(
                    self._engine, ladder.scope, sums, ladder.table, tracked.stored
                )

    def _snapshot(self) -> ArenaSnapshot:
        engine = self._engine
        at = current_time(engine)
        every = (self._ladder(scope) for scope in scopes.of_seasons(engine))
        ladders = [ladder for ladder in every if ladder.table.lines]
        listed = tournaments.listing(engine, over=False)
        open_tournaments = tuple(
            (tournament, tournaments.progress(engine, tournament.id)) for tournament in listed
        )
        self._estimator.forget_others([tournament.id for tournament in listed])
        return ArenaSnapshot(
            at=at,
            ladders={ladder.scope.form: ladder for ladder in ladders if not ladder.scope.archived},
            archives={
                (ladder.scope.form, ladder.scope.season): ladder
                for ladder in ladders
                if ladder.scope.archived
            },
            versions={version.id: version for version in versions.listing(engine, retired=True)},
            running=listing.matches(engine, states=(MatchState.RUNNING,)),
            open_tournaments=open_tournaments,
            time_estimates={
                tournament.id: self._estimator.estimate(tournament, progress, at)
                for tournament, progress in open_tournaments
            },
        )

    def _ladder(self, scope: LadderKey) -> LadderSnapshot:
        tracked = self._tracked.get((scope.form, scope.season))
        if tracked is None:
            tracked = self._tracked[scope.form, scope.season] = self._restored(scope)
            if tracked.ladder is not None:
                self._is_current = False
                return tracked.ladder
        # A new tournament of a form changes the ladder's scope.
        if not tracked.sums.extend(scope.tournaments):
            tracked.sums = LadderSums(self._engine, scope.tournaments, scope.clip)
        fold = tracked.sums.now()
        ladder = tracked.ladder
        if ladder is None or ladder.scope != scope or tracked.revision != tracked.sums.revision:
            table = fold.table(scope.entrants, scope.strength)
            ladder = tracked.ladder = LadderSnapshot(scope, table, tracked.sums.seen)
            tracked.revision = tracked.sums.revision
        return ladder

    def _restored(self, scope: LadderKey) -> _TrackedLadder:
        stored = stored_ladders.begin(self._engine, scope)
        sums = stored.sums
        if stored.table is None:
            return _TrackedLadder(sums, stored=sums.folded)
        ladder = LadderSnapshot(scope, stored.table, sums.seen)
        return _TrackedLadder(sums, ladder, sums.revision, sums.folded)


def marks(engine: Engine) -> tuple[Any, ...]:
    """Return values that differ if the content of any page can differ."""
    matches, games, tournament_table = schema.matches, schema.games, schema.tournaments
    remotes = schema.remotes
    # Closed tournaments do not change any more.
    unclosed = select(tournament_table.c.id).where(
        tournament_table.c.state != TournamentState.CLOSED
    )
    queries = (
        select(func.max(schema.results.c.closed)),
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
