"""Tournaments: made with all their matches in one transaction, paused, resumed, cancelled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Row, func, insert, select, update

from arena.pairings import Pairing
from arena.store import keys, schedule, schema
from arena.store.database import now, reading, writing
from arena.store.errors import Conflict, NotFound, StoreError
from arena.store.schema import OPEN, MatchState, TournamentState
from arena.store.spec import Clock, Plan


@dataclass(frozen=True, slots=True)
class Tournament:
    """A tournament as it stands."""

    id: str
    plan: Plan
    entrants: tuple[str, ...]
    """Versions as ``name@number``; pairings name them by their position here."""
    state: TournamentState
    created: float
    ended: float | None
    seed: bytes | None
    """What all its deals follow from, if it was given one; None until it is closed."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a tournament is: its matches by state, its games."""

    pending: int
    running: int
    closed: int
    void: int
    cancelled: int
    games: int
    """How many are committed."""
    planned: int
    """How many games its matches have in all."""

    @property
    def matches(self) -> int:
        """How many matches it has."""
        return self.pending + self.running + self.closed + self.void + self.cancelled

    @property
    def open(self) -> int:
        """How many matches may still be played."""
        return self.pending + self.running


def create(
    engine: Engine,
    plan: Plan,
    entrants: Sequence[str],
    pairings: Iterable[Pairing],
    seed: bytes | None = None,
) -> Tournament:
    """Makes a tournament and all its matches; they are due at once.

    Args:
        entrants: versions as ``name@number``.
        pairings: its matches, in rounds; their order within a round is the matches' order.
        seed: what all deals follow from; without one every match gets 32 bytes of its own.

    Raises:
        NotFound: an entrant is not registered.
        Conflict: an entrant is retired.
        StoreError: an entrant is named twice, or there is nothing to play.
    """
    if len(set(entrants)) < len(entrants):
        raise StoreError("an entrant is named twice; each version enters a tournament once.")
    numbered = schedule.numbered(pairings)
    if not numbered or plan.boards < 1:
        raise StoreError("a tournament needs at least one match of at least one board.")
    with writing(engine) as connection:
        contents = _contents(connection, entrants)
        name = _free_id(connection)
        _insert(connection, name, plan, entrants, seed)
        rows, sides = schedule.rows(name, plan, entrants, contents, numbered, seed)
        connection.execute(insert(schema.matches), rows)
        connection.execute(insert(schema.match_entrants), sides)
    return find(engine, name)


def find(engine: Engine, tournament: str) -> Tournament:
    """The tournament of this id.

    Raises:
        NotFound: there is none.
    """
    with reading(engine) as connection:
        found = _select(connection, schema.tournaments.c.id == tournament)
    if not found:
        raise _not_found(tournament)
    return found[0]


def listing(
    engine: Engine, *, game: str | None = None, state: TournamentState | None = None
) -> tuple[Tournament, ...]:
    """The tournaments, oldest first; only those of a game or in a state, if one is given."""
    table = schema.tournaments
    conditions = []
    if game is not None:
        conditions.append(table.c.game == game)
    if state is not None:
        conditions.append(table.c.state == state)
    with reading(engine) as connection:
        return _select(connection, *conditions)


def progress(engine: Engine, tournament: str) -> Progress:
    """How far it is.

    Raises:
        NotFound: there is no such tournament.
    """
    matches, games = schema.matches, schema.games
    counts = (
        select(matches.c.state, func.count(), func.sum(matches.c.games))
        .where(matches.c.tournament == tournament)
        .group_by(matches.c.state)
    )
    committed = (
        select(func.count())
        .select_from(games.join(matches, matches.c.id == games.c.match))
        .where(matches.c.tournament == tournament)
    )
    with reading(engine) as connection:
        rows = connection.execute(counts).all()
        done = connection.execute(committed).scalar_one()
    if not rows:
        raise _not_found(tournament)
    by_state = {state: number for state, number, _ in rows}
    return Progress(
        **{state.lower(): by_state.get(state, 0) for state in MatchState},
        games=done,
        planned=int(sum(planned for _, _, planned in rows)),
    )


def pause(engine: Engine, tournament: str) -> Tournament:
    """Lets no further match begin; matches that are being played are finished.

    Raises:
        NotFound: there is no such tournament.
        Conflict: it is over.
    """
    with writing(engine) as connection:
        _turn(connection, tournament, TournamentState.PAUSED)
    return find(engine, tournament)


def resume(engine: Engine, tournament: str) -> Tournament:
    """Lets a paused tournament go on. One that runs is left as it is.

    Raises:
        NotFound: there is no such tournament.
        Conflict: it is over.
    """
    with writing(engine) as connection:
        _turn(connection, tournament, TournamentState.RUNNING)
    return find(engine, tournament)


def cancel(engine: Engine, tournament: str) -> Tournament:
    """Ends it. What is being played now may still be finished, nothing else is begun.

    Raises:
        NotFound: there is no such tournament.
        Conflict: it is over already.
    """
    matches = schema.matches
    with writing(engine) as connection:
        # Matches before the tournament, as everywhere: two orders could lock each other out.
        connection.execute(
            update(matches)
            .where(matches.c.tournament == tournament, matches.c.state == MatchState.PENDING)
            .values(state=MatchState.CANCELLED, ended=now())
        )
        _turn(connection, tournament, TournamentState.CANCELLED, ended=now())
    return find(engine, tournament)


def close_if_over(connection: Connection, tournament: str) -> bool:
    """Closes it if no match is open any more; to be called when a match has ended."""
    table, matches = schema.tournaments, schema.matches
    # Of two last matches that end at once, one waits here until it sees the other's end.
    connection.execute(select(table.c.id).where(table.c.id == tournament).with_for_update())
    still_open = select(matches.c.id).where(
        matches.c.tournament == tournament, matches.c.state.in_(OPEN)
    )
    if connection.execute(still_open.limit(1)).first() is not None:
        return False
    changed = connection.execute(
        update(table)
        .where(table.c.id == tournament, table.c.ended.is_(None))
        .values(state=TournamentState.CLOSED, ended=now())
    )
    return changed.rowcount == 1


def _turn(
    connection: Connection,
    tournament: str,
    state: TournamentState,
    **values: ColumnElement[float],
) -> None:
    table = schema.tournaments
    changed = connection.execute(
        update(table)
        .where(table.c.id == tournament, table.c.ended.is_(None))
        .values(state=state, **values)
    )
    if changed.rowcount == 1:
        return
    found = connection.execute(select(table.c.state).where(table.c.id == tournament)).scalar()
    if found is None:
        raise _not_found(tournament)
    raise Conflict(f"tournament {tournament} is {found}; only one that is not over can change.")


def _not_found(tournament: str) -> NotFound:
    return NotFound(
        f"there is no tournament {tournament}; `pokearena tournament list` shows those there are."
    )


def _select(connection: Connection, *conditions: ColumnElement[bool]) -> tuple[Tournament, ...]:
    table, entrants = schema.tournaments, schema.entrants
    rows = connection.execute(
        select(table).where(*conditions).order_by(table.c.created, table.c.id)
    ).all()
    sides = connection.execute(
        select(entrants.c.tournament, entrants.c.version)
        .join(table, table.c.id == entrants.c.tournament)
        .where(*conditions)
        .order_by(entrants.c.tournament, entrants.c.position)
    ).all()
    versions = {
        name: tuple(version for _, version in group)
        for name, group in groupby(sides, lambda row: row[0])
    }
    return tuple(_tournament(row, versions[row.id]) for row in rows)


def _tournament(row: Row[*tuple[Any, ...]], versions: tuple[str, ...]) -> Tournament:
    state = TournamentState(row.state)
    return Tournament(
        id=row.id,
        plan=Plan(
            name=row.name,
            game=row.game,
            options=row.options,
            seats=row.seats,
            boards=row.boards,
            cycles=row.cycles,
            format=row.format,
            clock=Clock(row.start_ms, row.allowance_ms, row.bank_ms),
            policy=row.policy,
        ),
        entrants=versions,
        state=state,
        created=row.created,
        ended=row.ended,
        seed=row.seed if state is TournamentState.CLOSED else None,
    )


def _contents(connection: Connection, entrants: Sequence[str]) -> list[str]:
    """The content hashes of versions that may enter a tournament."""
    versions = schema.versions
    query = select(versions.c.id, versions.c.content_hash, versions.c.retired)
    found = {row.id: row for row in connection.execute(query.where(versions.c.id.in_(entrants)))}
    for version in entrants:
        if version not in found:
            raise NotFound(
                f"there is no version {version}; `pokearena bot list` shows those there are."
            )
        if found[version].retired is not None:
            raise Conflict(f"{version} is retired and enters no more tournaments.")
    return [found[version].content_hash for version in entrants]


def _free_id(connection: Connection) -> str:
    table = schema.tournaments
    while True:
        name = keys.tournament_id()
        if connection.execute(select(table.c.id).where(table.c.id == name)).first() is None:
            return name


def _insert(
    connection: Connection, name: str, plan: Plan, entrants: Sequence[str], seed: bytes | None
) -> None:
    connection.execute(
        insert(schema.tournaments).values(
            id=name,
            name=plan.name,
            game=plan.game,
            options=dict(plan.options),
            seats=plan.seats,
            boards=plan.boards,
            cycles=plan.cycles,
            format=plan.format,
            **asdict(plan.clock),
            policy=plan.policy,
            seed=seed,
            state=TournamentState.RUNNING,
            created=now(),
        )
    )
    connection.execute(
        insert(schema.entrants),
        [
            {"tournament": name, "position": position, "version": version}
            for position, version in enumerate(entrants)
        ],
    )
