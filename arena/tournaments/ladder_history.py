"""Read a ladder as its format requires it: the schedule, and the sums of its results.

    matches --> schedule (in memory) --+
                                       +--> pairing --> matches, pairing_strengths
    line_ups, closings --> strengths --+

1. The schedule follows from the pairings alone, so it is read once and then continued.
2. A round is paired from the results of all rounds but the last: the sums of the rater, plus the
   events that it has not added yet, minus the results of the last round.
3. The strengths are stored with the matches, in one transaction.
"""

from __future__ import annotations

from contextlib import closing
from itertools import groupby
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, func, select

from arena.formats.contract import REPLAY, FormatMatch, Step, without_replayed
from arena.formats.ladder_schedule import LadderSchedule
from arena.ladders import result_sums
from arena.store import schema
from arena.store.database import reading
from arena.store.schema import OPEN
from arena.store.tournaments.format_history import read_matches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Engine

    from arena.formats.contract import FormatEntrant
    from arena.formats.ladder import LadderFormat
    from arena.ratings.meetings import Meetings
    from arena.store.tournaments.tournaments import Tournament

_MATCHES_AT_ONCE: Final = 5_000
"""Number of matches that are read before they are added to the schedule, to save memory."""


class LadderHistory:
    """The matches of one ladder; those of old rounds are read only once.

    Args:
        engine: the store.
        tournament: id of the ladder.
        rules: its format.
    """

    def __init__(self, engine: Engine, tournament: str, rules: LadderFormat) -> None:
        self._engine = engine
        self._tournament = tournament
        self._rules = rules
        self._schedule = LadderSchedule()

    def is_waiting(self) -> bool:
        """Return whether the format can only wait for open matches (`LadderFormat.resume`).

        This reads only numbers of rounds. Otherwise each match that ends would cause another
        reading of all matches of its round.
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

    def next(self, tournament: Tournament) -> Step:
        """Return the format's step for the current matches."""
        with reading(self._engine) as connection:
            later = self._continue_schedule(connection, tournament.entries)
        return self._rules.resume(tournament.entries, self._schedule, later, self._results_before)

    def _results_before(self, number: int) -> tuple[int, Meetings]:
        with reading(self._engine) as connection:
            return result_sums.meetings_before(connection, self._tournament, number)

    def _continue_schedule(
        self, connection: Connection, entrants: Sequence[FormatEntrant]
    ) -> list[FormatMatch]:
        """Add the rounds that no later match can change; return the matches of the others."""
        first_open, newest = _round_numbers(connection, self._tournament)
        until = min((number for number in (first_open, newest) if number is not None), default=0)
        old: list[FormatMatch] = []
        later: list[FormatMatch] = []
        matches = read_matches(
            connection, self._tournament, self._schedule.round, with_results=False
        )
        with closing(matches):
            for number, of_round in groupby(matches, lambda match: match.round):
                (old if number < until else later).extend(without_replayed(of_round))
                if len(old) >= _MATCHES_AT_ONCE:
                    self._schedule.add(self._rules, entrants, old)
                    old = []
        self._schedule.add(self._rules, entrants, old)
        return later


def _round_numbers(connection: Connection, tournament: str) -> tuple[int | None, int | None]:
    """Return the first round that has an open match, and the newest round, if there are any."""
    table = schema.matches
    first_open = select(func.min(table.c.round)).where(
        table.c.tournament == tournament, table.c.state.in_(OPEN)
    )
    newest = select(func.max(table.c.round)).where(table.c.tournament == tournament)
    row = connection.execute(select(first_open.scalar_subquery(), newest.scalar_subquery())).one()
    return row[0], row[1]
