"""Compute the next matches of running tournaments with their formats, and store them.

A scheduler only caches what it has read, so any number of them may work on one store. The store
rejects a step that was computed from an older state (`arena.store.tournaments.lifecycle.extend`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeAlias

from sqlalchemy import Connection, func, or_, select

from arena.errors import InvalidSettings
from arena.formats import registry
from arena.formats.contract import (
    REPLAY,
    Fixture,
    Format,
    FormatEntrant,
    FormatMatch,
    FormatOver,
    MatchStatus,
    NextMatches,
    Step,
    without_replayed,
)
from arena.formats.ladder import LadderFormat
from arena.formats.ladder_schedule import LadderSchedule
from arena.ladders import result_sums
from arena.store import schema
from arena.store.bots import versions
from arena.store.database import reading
from arena.store.match_settings import TournamentPlan
from arena.store.schema import OPEN, TournamentState
from arena.store.tournaments import lifecycle, tournaments
from arena.store.tournaments.format_history import FormatHistory, read_matches
from arena.store.tournaments.lifecycle import ChangeMarks
from arena.store.tournaments.tournaments import Tournament
from arena.tournaments import match_pace

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.ratings.meetings import Meetings

_MATCHES_AT_ONCE: Final = 5_000
"""Number of matches that are read before they are added to the schedule, to save memory."""

log = logging.getLogger("arena.scheduler")

_Seen: TypeAlias = tuple[TournamentState, ChangeMarks, frozenset[tuple[int, int]]]
"""The basis of a step: the state, the changes, and the places of late matches."""


def format_of(plan: TournamentPlan) -> Format:
    """Return the format of a tournament with its settings.

    Raises:
        ValueError: the format does not exist, or its settings are not valid; the text is a
            sentence.
    """
    return registry.make(plan.format, plan.sides, plan.settings)


def opening(plan: TournamentPlan, entries: Sequence[FormatEntrant]) -> tuple[Fixture, ...]:
    """Return the first matches of a tournament.

    Raises:
        InvalidSettings: the entrants cannot play the format.
    """
    try:
        step = format_of(plan).next(entries, ())
    except ValueError as error:
        raise InvalidSettings(f"{error}.", code=getattr(error, "code", "")) from None
    return step.fixtures if isinstance(step, NextMatches) else ()


def begin(
    engine: Engine,
    plan: TournamentPlan,
    entrants: Sequence[str],
    seed: bytes | None = None,
    owners: Mapping[str, str] | None = None,
    check: Callable[[Connection], None] = lambda _: None,
    *,
    paused: bool = False,
) -> Tournament:
    """Create a tournament; its first matches are due at once.

    Args:
        entrants: versions as ``name@number`` in order of their seeds, the best first.
        seed: the random seed of all deals; None for a random seed for each match.
        owners: owners by entrant that replace the owners of the bots in this tournament.
        check: is called in the same transaction before anything is stored; raises to refuse.
        paused: start no match until the tournament is resumed.

    Raises:
        InvalidSettings: the entrants cannot play the format.
        StoreError: as `tournaments.create` raises it, including its subclasses.
    """
    entries = enrol(engine, entrants, owners)
    first = opening(plan, entries)
    return tournaments.create_tournament(engine, plan, entries, first, seed, check, paused=paused)


def check_open(tournament: Tournament) -> None:
    """Check that bots can join a tournament after its start.

    Raises:
        InvalidSettings: its format does not accept later entrants.
    """
    if tournament.plan.format in registry.CLOSED:
        raise InvalidSettings(
            f"{tournament.id} is a {tournament.plan.format}, which does not accept later entrants.",
            code="closed-format",
        )


def enrol(
    engine: Engine, entrants: Sequence[str], owners: Mapping[str, str] | None = None
) -> list[FormatEntrant]:
    """Return versions as entrants with their owners.

    Args:
        owners: owners by entrant that replace the owners of the bots.

    Raises:
        NotFound: a version does not exist.
    """
    of_bots = versions.owners(engine, entrants)
    return [FormatEntrant(name, (owners or {}).get(name) or of_bots[name]) for name in entrants]


def current_step(engine: Engine, tournament: Tournament) -> Step:
    """Return the format's step for the current state of a tournament."""
    return _history(engine, tournament).next(tournament)


class _PlainHistory:
    """All matches of a tournament, and its format."""

    def __init__(self, engine: Engine, tournament: str, rules: Format) -> None:
        self._rules = rules
        self._matches = FormatHistory(engine, tournament, with_results=rules.reads_results)

    def late_places(self) -> frozenset[tuple[int, int]]:
        """Return no place: this format waits for all its matches."""
        return frozenset()

    def is_waiting(self, late: frozenset[tuple[int, int]] = frozenset()) -> bool:
        """Return False: this history has to be read to find out whether its format waits."""
        return False

    def next(self, tournament: Tournament, late: frozenset[tuple[int, int]] = frozenset()) -> Step:
        """Return the format's step for the current matches."""
        return self._rules.next(tournament.entries, self._matches.matches())


def _history(engine: Engine, tournament: Tournament) -> _PlainHistory | LadderHistory:
    rules = format_of(tournament.plan)
    if isinstance(rules, LadderFormat):
        return LadderHistory(engine, tournament, rules)
    return _PlainHistory(engine, tournament.id, rules)


class Scheduler:
    """Advances tournaments; skips those that have not changed since the last call.

    Args:
        publish: is called with the id and state of each tournament that is new, has new matches or
            has changed its state.
    """

    def __init__(
        self, engine: Engine, publish: Callable[[str, TournamentState], None] = lambda *_: None
    ) -> None:
        self._engine = engine
        self._publish = publish
        self._states: Mapping[str, TournamentState] = {}
        self._histories: dict[str, _PlainHistory | LadderHistory] = {}
        self._seen: dict[str, _Seen] = {}

    def advance(self) -> int:
        """Store the next matches of all running tournaments, and close the finished ones.

        Returns:
            The number of new matches.

        Raises:
            SQLAlchemyError: the database failed.
            StoreError: the store cannot be used.
        """
        running = tournaments.states(self._engine)
        for closed in self._seen.keys() - running.keys():
            del self._seen[closed]
            self._histories.pop(closed, None)
        self._publish_states(running)
        return sum(self._advance(name, state) for name, state in running.items())

    def _publish_states(self, running: Mapping[str, TournamentState]) -> None:
        before, self._states = self._states, running
        for name, state in running.items():
            if before.get(name) != state:
                self._publish(name, state)
        for name in before.keys() - running.keys():
            self._publish(name, tournaments.find_tournament(self._engine, name).state)

    def _advance(self, name: str, state: TournamentState) -> int:
        marks = lifecycle.marks(self._engine, name)
        history = self._histories.get(name)
        late = history.late_places() if history else frozenset()
        if self._seen.get(name) == (state, marks, late):
            return 0
        if history and history.is_waiting(late):
            self._seen[name] = state, marks, late
            return 0
        # The entrants are read after the marks: if they have changed since, nothing is stored.
        tournament = tournaments.find_tournament(self._engine, name)
        try:
            if name not in self._histories:
                self._histories[name] = _history(self._engine, tournament)
            step = self._histories[name].next(tournament, late)
        except (ArithmeticError, LookupError, ValueError) as error:
            log.warning("tournament %s cannot continue: %s", name, error)
            self._seen[name] = tournament.state, marks, late
            return 0
        created = 0
        match step:
            case NextMatches() if tournament.state is TournamentState.RUNNING:
                created = lifecycle.extend(
                    self._engine, tournament, marks, step.fixtures, step.strengths
                )
            case FormatOver(why=why):
                if lifecycle.close(self._engine, name, marks):
                    log.info("tournament %s is over: %s", name, why)
        if created:
            self._publish(name, tournament.state)
        else:
            # Either nothing was to be done, or a concurrent change made the marks obsolete; the
            # next call reads different marks then.
            self._seen[name] = tournament.state, marks, late
        return created


class LadderHistory:
    """The matches of one ladder; those of old rounds are read only once."""

    def __init__(self, engine: Engine, tournament: Tournament, rules: LadderFormat) -> None:
        self._engine = engine
        self._tournament, self._plan = tournament.id, tournament.plan
        self._rules = rules
        self._schedule = LadderSchedule()

    def late_places(self) -> frozenset[tuple[int, int]]:
        """Return the places of the matches that are late now (`match_pace.late_places`)."""
        return match_pace.late_places(self._engine, self._tournament, self._plan)

    def is_waiting(self, late: frozenset[tuple[int, int]] = frozenset()) -> bool:
        """Return whether the format can only wait for open matches (`LadderFormat.resume`).

        This reads only numbers of rounds. Otherwise each match that ends would cause another
        reading of all matches of its round.
        """
        with reading(self._engine) as connection:
            late |= match_pace.passed_places(connection, self._tournament)
            first_open, newest = _round_numbers(connection, self._tournament, late)
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

    def next(self, tournament: Tournament, late: frozenset[tuple[int, int]] = frozenset()) -> Step:
        """Return the format's step for the current matches.

        Args:
            late: the places of matches for which it does not wait, besides those for which an
                earlier round did not wait.
        """
        with reading(self._engine) as connection:
            late |= match_pace.passed_places(connection, self._tournament)
            later = self._continue_schedule(connection, tournament.entries, late)
        return self._rules.resume(tournament.entries, self._schedule, later, self._results_before)

    def _results_before(self, number: int) -> tuple[int, Meetings]:
        with reading(self._engine) as connection:
            return result_sums.meetings_before(connection, self._tournament, number)

    def _continue_schedule(
        self,
        connection: Connection,
        entrants: Sequence[FormatEntrant],
        late: Collection[tuple[int, int]],
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
        return [
            replace(match, state=MatchStatus.LATE)
            if match.state is MatchStatus.OPEN and match.place in late
            else match
            for match in later
        ]


def _round_numbers(
    connection: Connection, tournament: str, late: Collection[tuple[int, int]] = ()
) -> tuple[int | None, int | None]:
    """Return the first round that has an open match, and the newest round, if there are any.

    Late matches count as over.
    """
    table = schema.matches
    first_open = select(func.min(table.c.round)).where(
        table.c.tournament == tournament,
        table.c.state.in_(OPEN),
        *(
            or_(table.c.round != number, table.c.number % REPLAY != place)
            for number, place in sorted(late)
        ),
    )
    newest = select(func.max(table.c.round)).where(table.c.tournament == tournament)
    row = connection.execute(select(first_open.scalar_subquery(), newest.scalar_subquery())).one()
    return row[0], row[1]
