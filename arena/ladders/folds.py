"""Ladders from the store: closed matches as digests, folds of them, and folds kept up to date."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Row, and_, select, true

from arena.presentation.clips import UNKNOWN
from arena.ratings.closed_match import ClosedMatch
from arena.ratings.decision_histogram import Thinking
from arena.ratings.elo import TooLate
from arena.ratings.match_digest import SEPARATOR, Digest, digest, read, read_score
from arena.ratings.meetings import ALIKE, Meetings, Summing
from arena.ratings.standings import Fold
from arena.store import schema
from arena.store.database import reading
from arena.store.matches.outcome import games_of
from arena.store.tournaments import counts

_AT_ONCE = 5000
_OVERLAP_SECONDS = 60.0
"""A match may be seen so much later than one that says it closed after it, at the very most."""


def digests(engine: Engine, of: Sequence[str], clip: int) -> Iterator[Digest]:
    """The closed matches of tournaments (the oldest first), summed up, in canonical order.

    clip: at which margins are clipped in results that were not summed up when they were stored.
    """
    with reading(engine) as connection:
        for row in _rows(connection, of):
            yield _told(connection, row, of, clip)[0]


def meetings(
    engine: Engine, of: Sequence[str], after: float = -math.inf, until: float = math.inf
) -> Meetings:
    """Who met whom in the closed matches of tournaments: all that strength needs, and no more.

    after, until: only matches that closed later than the one, and not later than the other.
    """
    summing = Summing()
    alike: Counter[str] = Counter()

    def settle() -> None:
        for score, times in alike.items():
            summing.count(*read_score(score), times)
        alike.clear()

    # No more columns than this one, and no order: for a million rows that is most of the time.
    results, matches = schema.results, schema.matches
    within = and_(
        results.c.closed > after if math.isfinite(after) else true(),
        results.c.closed <= until if math.isfinite(until) else true(),
    )
    query = (
        select(results.c.digest)
        .join(matches, matches.c.id == results.c.match)
        .where(matches.c.tournament.in_(of), within)
    )
    with reading(engine) as connection:
        with connection.execution_options(yield_per=_AT_ONCE).execute(query) as rows:
            for text in rows.scalars():
                if text is not None:
                    alike[text.partition(SEPARATOR)[0]] += 1
                    if len(alike) >= ALIKE:
                        settle()
        for row in _rows(connection, of, and_(results.c.digest.is_(None), within)):
            summing.add(_old(connection, row, 0, UNKNOWN))
    settle()
    return summing.meetings()


class Following:
    """The fold of some tournaments, kept up to date: what is in it is not read again.

    of: the tournaments, the oldest first. clip: at which margins are clipped.
    """

    def __init__(self, engine: Engine, of: Sequence[str], clip: int) -> None:
        self._engine = engine
        self._of = tuple(of)
        self._clip = clip
        self._fold = Fold(clip)
        self._folded = 0
        self._newest = 0.0
        # Those that closed last, with their times: they may be met again.
        self._recent: dict[str, float] = {}
        self._seen: dict[str, float] = {}

    @property
    def seen(self) -> Mapping[str, float]:
        """When the last match of everyone in the fold closed, in seconds since 1970."""
        return dict(self._seen)

    @property
    def folded(self) -> int:
        """How many matches are in the fold."""
        return self._folded

    def now(self) -> Fold:
        """The fold of all matches that are closed by now; it is changed by the next call."""
        with reading(self._engine) as connection:
            closed = counts.closed(connection, self._of)
            if closed != self._folded:
                try:
                    self._take(connection)
                except TooLate:
                    self._folded = -1
            if closed != self._folded:
                self._anew(connection)
        return self._fold

    def _take(self, connection: Connection) -> None:
        """Adds what has closed since."""
        since = self._newest - _OVERLAP_SECONDS
        results = schema.results
        # By the ids: else SQLite goes through all matches of the tournament.
        late = select(results.c.match).where(results.c.closed > since)
        # Closed when one of them is too late, before anything else is asked.
        with closing(_rows(connection, self._of, schema.matches.c.id.in_(late))) as rows:
            for row in rows:
                if row.match not in self._recent:
                    self._add(connection, row)
        since = self._newest - _OVERLAP_SECONDS
        self._recent = {name: at for name, at in self._recent.items() if at > since}

    def _anew(self, connection: Connection) -> None:
        """Reads everything: a match is of a round long past, or was seen very late."""
        self._fold, self._folded, self._newest = Fold(self._clip), 0, 0.0
        self._recent, self._seen = {}, {}
        for row in _rows(connection, self._of):
            self._add(connection, row)

    def _add(self, connection: Connection, row: Row[Any]) -> None:
        match, thinking = _told(connection, row, self._of, self._clip)
        self._fold.add(match, thinking)
        self._folded += 1
        for name in match.entrants:
            self._seen[name] = max(self._seen.get(name, 0.0), row.closed)
        self._newest = max(self._newest, row.closed)
        if row.closed > self._newest - _OVERLAP_SECONDS:
            self._recent[row.match] = row.closed


def fold(engine: Engine, of: Sequence[str], clip: int) -> Fold:
    """The closed matches of tournaments, folded."""
    return Following(engine, of, clip).now()


def _rows(
    connection: Connection, of: Sequence[str], only: ColumnElement[bool] | None = None
) -> Generator[Row[Any], None, None]:
    """What is told of closed matches (or of some only), in canonical order."""
    results, matches = schema.results, schema.matches
    for tournament in of:
        query = (
            select(
                *matches.c["tournament", "round", "number"],
                *results.c["match", "closed", "digest", "thinking"],
            )
            .join(results, results.c.match == matches.c.id)
            .where(matches.c.tournament == tournament)
            .order_by(matches.c.round, matches.c.number)
        )
        if only is not None:
            query = query.where(only)
        with connection.execution_options(yield_per=_AT_ONCE).execute(query) as rows:
            yield from rows


def _told(
    connection: Connection, row: Row[Any], of: Sequence[str], clip: int
) -> tuple[Digest, dict[str, Thinking]]:
    age = of.index(row.tournament)
    if row.digest is None:
        told = _old(connection, row, age, clip)
    else:
        told = read(row.digest, row.match, age, row.round, row.number)
    times = map(Thinking.read, row.thinking or ())
    return told, dict(zip(told.entrants, times, strict=False))


def _old(connection: Connection, row: Row[Any], age: int, clip: int) -> Digest:
    """The digest of a result that was stored when there were none."""
    results = schema.results
    query = select(results.c.outcome).where(results.c.match == row.match)
    outcome = connection.execute(query).scalar_one()
    entrants = tuple(outcome["entrants"])
    match = ClosedMatch(row.match, row.round, row.number, entrants, games_of(outcome), age)
    return digest(match, clip)
