"""Read closed matches as digests, and compute and update the sums of ladders from them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, Self

from sqlalchemy import ColumnElement, Connection, Engine, Row, select, true

from arena.presentation.contract import UNCLIPPED
from arena.ratings.closed_match import ClosedMatch
from arena.ratings.decision_histogram import DecisionHistogram
from arena.ratings.elo import RoundAlreadyRated
from arena.ratings.match_digest import SEPARATOR, Digest, digest, read, read_score
from arena.ratings.meetings import ALIKE, Meetings, MeetingsSum
from arena.ratings.standings import StandingsSums
from arena.store import schema
from arena.store.access import audit_log
from arena.store.closed_counts import OVERLAP_SECONDS
from arena.store.database import reading, unindexed
from arena.store.matches.games import games_of
from arena.store.tournaments import tournaments

_BATCH_SIZE = 5000


def digests(engine: Engine, of: Sequence[str], clip: int) -> Iterator[Digest]:
    """Yield the digests of the closed matches of tournaments, in canonical order.

    Args:
        engine: the store.
        of: tournaments, the oldest first.
        clip: limit of margins for results that were stored without a digest.
    """
    with reading(engine) as connection:
        for row in _rows(connection, of):
            yield _told(connection, row, of, clip)[0]


def meetings(
    engine: Engine, of: Sequence[str], after: float = -math.inf, until: float = math.inf
) -> Meetings:
    """Sum up the closed matches of tournaments by line-up, which is all that strength requires.

    Args:
        engine: the store.
        of: tournaments.
        after: only matches that closed after this time.
        until: only matches that closed at this time or before.
    """
    summing = MeetingsSum()
    alike: Counter[str] = Counter()
    without_digest = False

    def settle() -> None:
        for score, times in alike.items():
            summing.count(*read_score(score), times)
        alike.clear()

    # A single column and no order: for a million rows these would take most of the time.
    results, matches = schema.results, schema.matches
    within = results.c.closed <= until if math.isfinite(until) else true()
    tournament: ColumnElement[str] = matches.c.tournament
    if math.isfinite(after):
        within &= results.c.closed > after
        tournament = unindexed(tournament)
    query = (
        select(results.c.digest)
        .join(matches, matches.c.id == results.c.match)
        .where(tournament.in_(of), within)
    )
    with reading(engine) as connection:
        with connection.execution_options(yield_per=_BATCH_SIZE).execute(query) as rows:
            for text in rows.scalars():
                if text is None:
                    without_digest = True
                    continue
                alike[text.partition(SEPARATOR)[0]] += 1
                if len(alike) >= ALIKE:
                    settle()
        if without_digest:
            for row in _rows(connection, of, results.c.digest.is_(None) & within):
                summing.add(_old(connection, row, 0, UNCLIPPED))
    settle()
    return summing.meetings()


class LadderSums:
    """The sums of some tournaments, updated incrementally: each match is normally read once.

    Args:
        engine: the store.
        of: tournaments, the oldest first.
        clip: limit of margins.
    """

    def __init__(self, engine: Engine, of: Sequence[str], clip: int) -> None:
        self._engine = engine
        self._of = tuple(of)
        self._clip = clip
        self._fold = StandingsSums(clip)
        self._stored: Callable[[], StandingsSums] | None = None
        self._folded = 0
        self._corrections = 0
        self._newest = 0.0
        # Recently closed matches with their times; the overlapping query returns them again.
        self._recent: dict[str, float] = {}
        self._seen: dict[str, float] = {}

    @classmethod
    def restored(
        cls,
        engine: Engine,
        of: Sequence[str],
        position: Mapping[str, Any],
        fold: Callable[[], StandingsSums],
        clip: int,
    ) -> Self:
        """Return stored sums, to which `now` adds what has closed since.

        Args:
            engine: the store.
            of: the tournaments at that time, and any later ones.
            position: the `position` of the stored sums.
            fold: returns them; it is called by the first `now`.
            clip: limit of margins.
        """
        sums = cls(engine, of, clip)
        sums._folded, sums._corrections = position["matches"], position["corrections"]
        sums._newest, sums._recent = position["newest"], dict(position["recent"])
        sums._seen, sums._stored = dict(position["seen"]), fold
        return sums

    @property
    def position(self) -> dict[str, Any]:
        """The position up to which the sums hold, as plain values, for `restored`."""
        return {
            "matches": self._folded,
            "corrections": self._corrections,
            "newest": self._newest,
            "recent": self._recent,
            "seen": self._seen,
        }

    def extend(self, of: Sequence[str]) -> bool:
        """Add newer tournaments; return False if `of` does not begin with the present ones."""
        begins = tuple(of[: len(self._of)]) == self._of
        self._of = tuple(of) if begins else self._of
        return begins

    @property
    def fold(self) -> StandingsSums:
        """The sums as the last call of `now` returned them, or as they were stored."""
        self._load()
        return self._fold

    @property
    def tournaments(self) -> tuple[str, ...]:
        """The tournaments, the oldest first."""
        return self._of

    @property
    def seen(self) -> Mapping[str, float]:
        """The time at which each entrant's last match closed, in seconds since 1970."""
        return dict(self._seen)

    @property
    def folded(self) -> int:
        """The number of matches in the sums."""
        return self._folded

    @property
    def revision(self) -> tuple[int, int]:
        """A value that changes whenever the sums change."""
        return self._folded, self._corrections

    def now(self) -> StandingsSums:
        """Return the sums of all matches closed by now; the next call changes the same object."""
        self._load()
        with reading(self._engine) as connection:
            closed = tournaments.closed(connection, self._of)
            corrections = audit_log.corrections(connection)
            if corrections != self._corrections:
                self._corrections, self._folded = corrections, -1
            elif closed != self._folded:
                try:
                    self._take(connection)
                except RoundAlreadyRated:
                    self._folded = -1
            if closed != self._folded:
                self._anew(connection)
        return self._fold

    def _load(self) -> None:
        if self._stored is not None:
            self._fold, self._stored = self._stored(), None

    def _take(self, connection: Connection) -> None:
        """Add the matches that have closed since the last call."""
        late = schema.results.c.closed > self._newest - OVERLAP_SECONDS
        # RoundAlreadyRated can end the loop early; close the query before the next one.
        with closing(_rows(connection, self._of, late, is_recent=True)) as rows:
            for row in rows:
                if row.match not in self._recent:
                    self._add(connection, row)
        since = self._newest - OVERLAP_SECONDS
        self._recent = {name: at for name, at in self._recent.items() if at > since}

    def _anew(self, connection: Connection) -> None:
        """Read all matches again, because one is from an old round or became visible very late."""
        self._fold, self._folded, self._newest = StandingsSums(self._clip), 0, 0.0
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
        if row.closed > self._newest - OVERLAP_SECONDS:
            self._recent[row.match] = row.closed


def sum_up(engine: Engine, of: Sequence[str], clip: int) -> StandingsSums:
    """Return the sums of all closed matches of tournaments.

    Args:
        engine: the store.
        of: tournaments, the oldest first.
        clip: limit of margins.
    """
    return LadderSums(engine, of, clip).now()


def _rows(
    connection: Connection,
    of: Sequence[str],
    only: ColumnElement[bool] | None = None,
    is_recent: bool = False,
) -> Generator[Row[Any], None, None]:
    """Yield rows of closed matches in canonical order.

    Args:
        connection: a connection to the store.
        of: tournaments, the oldest first.
        only: a condition.
        is_recent: whether the condition is a recent closing time, which has an index.
    """
    results, matches = schema.results, schema.matches
    column = unindexed(matches.c.tournament) if is_recent else matches.c.tournament
    for tournament in of:
        query = (
            select(
                *matches.c["tournament", "round", "number"],
                *results.c["match", "closed", "digest", "thinking"],
            )
            .join(results, results.c.match == matches.c.id)
            .where(column == tournament)
            .order_by(matches.c.round, matches.c.number)
        )
        if only is not None:
            query = query.where(only)
        with connection.execution_options(yield_per=_BATCH_SIZE).execute(query) as rows:
            yield from rows


def _told(
    connection: Connection, row: Row[Any], of: Sequence[str], clip: int
) -> tuple[Digest, dict[str, DecisionHistogram]]:
    age = of.index(row.tournament)
    if row.digest is None:
        stored = _old(connection, row, age, clip)
    else:
        stored = read(row.digest, row.match, age, row.round, row.number)
    times = map(DecisionHistogram.read, row.thinking or ())
    return stored, dict(zip(stored.entrants, times, strict=False))


def _old(connection: Connection, row: Row[Any], age: int, clip: int) -> Digest:
    """Compute the digest of a result that was stored without one."""
    results = schema.results
    query = select(results.c.outcome).where(results.c.match == row.match)
    outcome = connection.execute(query).scalar_one()
    entrants = tuple(outcome["entrants"])
    match = ClosedMatch(row.match, row.round, row.number, entrants, games_of(outcome), age)
    return digest(match, clip)
