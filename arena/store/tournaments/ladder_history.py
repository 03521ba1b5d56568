"""Read a ladder as its format requires it: a stored summary of old rounds, and the newer matches.

The summary is a cache beside the matches. It is used only if the number of matches in its rounds
and the number of corrections are still the same; otherwise all matches are read again. A crash
between two writes therefore costs only the reading of more matches.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from itertools import groupby
from typing import Final

from sqlalchemy import Connection, Engine, delete, func, insert, select

from arena.formats.contract import (
    REPLAY,
    FormatEntrant,
    FormatMatch,
    history,
    without_replayed,
)
from arena.formats.ladder import LadderFormat
from arena.formats.ladder_summary import LadderSummary
from arena.store import schema
from arena.store.access import audit_log
from arena.store.database import now, reading, writing
from arena.store.schema import OPEN
from arena.store.tournaments.format_history import count_before, read_matches

FEWEST: Final = 5_000
"""A summary is stored after at least this many new matches, and ..."""
SHARE: Final = 0.0025
"""... after this share of all its matches. A process that starts reads about as many, which takes a
second for 5,000. To store two million matches takes as long as to play a few hundred."""
MIN_OLD_MATCHES: Final = 20_000
"""Number of old matches from which they are added before the format receives the others."""
_MATCHES_AT_ONCE: Final = 5_000


class LadderHistory:
    """The matches of one ladder; those of old rounds are summed up, and read only once.

    Args:
        engine: the store.
        tournament: id of the ladder.
        rules: its format.
    """

    def __init__(self, engine: Engine, tournament: str, rules: LadderFormat) -> None:
        self._engine = engine
        self._tournament = tournament
        self._rules = rules
        self.summary = LadderSummary()
        self._loaded = False
        self._corrections = 0
        # Number of matches in the rounds of the summary, and the rounds of the other matches.
        self._matches = 0
        self._later: list[int] = []
        self._stored = 0

    def is_waiting(self) -> bool:
        """Return whether the format can only wait for open matches (`LadderFormat.resume`).

        This reads only numbers of rounds. While a round is played, each of its matches that ends
        would otherwise cause another reading of all of them.
        """
        with reading(self._engine) as connection:
            first_open, newest = _round_numbers(connection, self._tournament)
            if first_open is None or newest is None:
                return False
            return first_open < newest or self._is_complete(connection)

    def _is_complete(self, connection: Connection) -> bool:
        """Return whether the ladder has all matches up to its limit; replays do not count."""
        if not self._rules.limit:
            return False
        table = schema.matches
        query = select(func.count()).where(
            table.c.tournament == self._tournament, table.c.number < REPLAY
        )
        return bool(connection.execute(query).scalar_one() >= self._rules.limit)

    def catch_up(self, entrants: Sequence[FormatEntrant], seconds: float) -> bool:
        """Add old rounds to `summary` for some time, and store it.

        Without a stored summary, all matches of the ladder are read. Meanwhile the caller can do
        other work between two calls, and a process that starts continues from the stored summary.

        Args:
            entrants: all entrants of the ladder.
            seconds: time after which no further rounds are read.

        Returns:
            Whether all old rounds are added, so that `matches` reads few rounds.
        """
        self._count_added()
        with reading(self._engine) as connection:
            self._check_summary(connection, entrants)
            is_complete = self._add_old(connection, entrants, seconds)
        self._later = []
        if not is_complete:
            self.save(entrants, max(FEWEST, self._matches // 10))
        return is_complete

    def matches(self, entrants: Sequence[FormatEntrant]) -> tuple[FormatMatch, ...]:
        """Return the matches that are not in `summary`, of replayed ones only the latest replay.

        Args:
            entrants: all entrants of the ladder.
        """
        self._count_added()
        with reading(self._engine) as connection:
            self._check_summary(connection, entrants)
            self._add_old(connection, entrants)
            later = list(read_matches(connection, self._tournament, self.summary.round))
        self._later = [match.round for match in later]
        return tuple(without_replayed(later))

    def save(self, entrants: Sequence[FormatEntrant], fewest: int | None = None) -> bool:
        """Store the summary if it has many more matches than the stored one.

        Args:
            entrants: all entrants of the ladder.
            fewest: the number of new matches from which it is stored; `FEWEST` by default.

        Returns:
            Whether it was stored.
        """
        self._count_added()
        fewest = FEWEST if fewest is None else fewest
        if self._matches - self._stored < max(fewest, SHARE * self._matches):
            return False
        table = schema.ladder_summaries
        row = {
            "tournament": self._tournament,
            "matches": self._matches,
            "corrections": self._corrections,
            "data": self.summary.stored(self._rules, entrants),
        }
        with writing(self._engine, "store_ladder_summary") as connection:
            # Lock the row, so that concurrent schedulers do not insert it twice.
            tournaments = schema.tournaments
            locked = (
                select(tournaments.c.id)
                .where(tournaments.c.id == self._tournament)
                .with_for_update()
            )
            connection.execute(locked)
            connection.execute(delete(table).where(table.c.tournament == self._tournament))
            connection.execute(insert(table).values(**row, stored=now()))
        self._stored = self._matches
        return True

    def _count_added(self) -> None:
        """Count the matches that the format has added to the summary."""
        self._matches += sum(number < self.summary.round for number in self._later)
        self._later = [number for number in self._later if number >= self.summary.round]

    def _check_summary(self, connection: Connection, entrants: Sequence[FormatEntrant]) -> None:
        """Load the stored summary once; empty the summary if it does not hold any more."""
        corrections = audit_log.corrections(connection)
        if not self._loaded:
            self._load(connection, entrants)
        before = count_before(connection, self._tournament, self.summary.round)
        if (self._corrections, self._matches) != (corrections, before):
            self.summary, self._matches, self._stored = LadderSummary(), 0, 0
            self._corrections = corrections

    def _load(self, connection: Connection, entrants: Sequence[FormatEntrant]) -> None:
        table = schema.ladder_summaries
        query = select(table.c.matches, table.c.corrections, table.c.data)
        row = connection.execute(query.where(table.c.tournament == self._tournament)).one_or_none()
        self._loaded = True
        summary = LadderSummary.read(row.data, self._rules, entrants) if row is not None else None
        if row is not None and summary is not None:
            self.summary, self._corrections = summary, row.corrections
            self._matches = self._stored = row.matches

    def _add_old(
        self,
        connection: Connection,
        entrants: Sequence[FormatEntrant],
        seconds: float = math.inf,
    ) -> bool:
        """Add the rounds that no later match can change, a few at a time to save memory.

        Returns:
            Whether all are added; False after this number of seconds.
        """
        give_up = time.monotonic() + seconds
        until = _first_unfinished_round(connection, self._tournament)
        if count_before(connection, self._tournament, until) - self._matches < MIN_OLD_MATCHES:
            return True
        waiting: list[FormatMatch] = []
        with closing(read_matches(connection, self._tournament, self.summary.round)) as rows:
            for number, of_round in groupby(rows, lambda match: match.round):
                if number >= until:
                    break
                waiting.extend(of_round)
                if len(waiting) >= _MATCHES_AT_ONCE:
                    self._add(entrants, waiting)
                    waiting = []
                    if time.monotonic() > give_up:
                        return False
        self._add(entrants, waiting)
        return True

    def _add(self, entrants: Sequence[FormatEntrant], matches: list[FormatMatch]) -> None:
        self.summary.add(self._rules, entrants, history(entrants, without_replayed(matches)))
        self._matches += len(matches)


def delete_summaries(engine: Engine, tournaments: Iterable[str]) -> None:
    """Remove the stored summaries of some tournaments; the matches are read again."""
    table = schema.ladder_summaries
    with writing(engine, "delete_ladder_summaries") as connection:
        connection.execute(delete(table).where(table.c.tournament.in_(list(tournaments))))


def _first_unfinished_round(connection: Connection, tournament: str) -> int:
    """Return the first round that has an open match; without one, the newest round."""
    first_open, newest = _round_numbers(connection, tournament)
    return min((number for number in (first_open, newest) if number is not None), default=0)


def _round_numbers(connection: Connection, tournament: str) -> tuple[int | None, int | None]:
    """Return the first round that has an open match, and the newest round, if there are any."""
    table = schema.matches
    first_open = select(func.min(table.c.round)).where(
        table.c.tournament == tournament, table.c.state.in_(OPEN)
    )
    newest = select(func.max(table.c.round)).where(table.c.tournament == tournament)
    row = connection.execute(select(first_open.scalar_subquery(), newest.scalar_subquery())).one()
    return row[0], row[1]
