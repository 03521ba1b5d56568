"""Tournaments: create them with their first matches, read them, and count their progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, Row, and_, func, insert, select

from arena.errors import Conflict, NotFound, StoreError, check_name
from arena.formats.contract import Fixture, FormatEntrant
from arena.store import closings, ids, schema
from arena.store.bots.owners import check_if_new
from arena.store.database import now, read_rows, reading, writing
from arena.store.match_settings import TournamentPlan, game_of_ladder, is_of_ladder
from arena.store.matches import lease_times
from arena.store.postgresql import lock_rows
from arena.store.schema import ClosingKind, MatchState, TournamentState
from arena.store.tournaments import schedule
from referee.games.registry import form_of

# Count a tournament's matches by state, without reading the closed ones.
#
# A tournament may have millions of closed matches. Their number is the total in the tournament's
# row minus the matches in all other states.

OTHERS: Final = tuple(state for state in MatchState if state is not MatchState.CLOSED)
"""All states except the one in which most matches end."""


class MatchCount(NamedTuple):
    """A number of matches, and the number of their games."""

    matches: int
    games: int


def by_state(connection: Connection, tournament: str) -> Mapping[MatchState, MatchCount]:
    """Return the count of each state; an empty mapping if the tournament does not exist.

    One statement reads everything, so the counts are consistent.
    """
    table, matches = schema.tournaments, schema.matches
    query = (
        select(
            *table.c["matches", "games"],
            matches.c.state,
            func.count(matches.c.state).label("number"),
            func.coalesce(func.sum(matches.c.games), 0).label("planned"),
        )
        .select_from(
            table.outerjoin(
                matches, and_(matches.c.tournament == table.c.id, matches.c.state.in_(OTHERS))
            )
        )
        .where(table.c.id == tournament)
        .group_by(*table.c["id", "matches", "games"], matches.c.state)
    )
    rows = connection.execute(query).all()
    if not rows:
        return {}
    counts = dict.fromkeys(MatchState, MatchCount(0, 0))
    closed = MatchCount(rows[0].matches, rows[0].games)
    for row in rows:
        if row.state is not None:
            match_count = counts[MatchState(row.state)] = MatchCount(row.number, int(row.planned))
            closed = MatchCount(
                closed.matches - match_count.matches, closed.games - match_count.games
            )
    counts[MatchState.CLOSED] = closed
    return counts


@dataclass(frozen=True, slots=True)
class Tournament:
    """A tournament in its current state."""

    id: str
    plan: TournamentPlan
    entries: tuple[FormatEntrant, ...]
    """Its entrants, in the order of their seeds."""
    state: TournamentState
    created: float
    ended: float | None
    seed: bytes | None
    """The random seed of all deals, if one was given; None until the tournament is closed."""

    @property
    def entrants(self) -> tuple[str, ...]:
        """Its versions as ``name@number``."""
        return tuple(entry.name for entry in self.entries)


@dataclass(frozen=True, slots=True)
class TournamentProgress:
    """The progress of a tournament: matches by state, and games."""

    pending: int
    running: int
    closed: int
    void: int
    cancelled: int
    games: int
    """Committed games."""
    planned: int
    """Games of all its matches."""

    @property
    def matches(self) -> int:
        return self.pending + self.running + self.closed + self.void + self.cancelled

    @property
    def open(self) -> int:
        """Matches that may still be played."""
        return self.pending + self.running


def create_tournament(
    engine: Engine,
    plan: TournamentPlan,
    entries: Sequence[FormatEntrant],
    fixtures: Iterable[Fixture],
    seed: bytes | None = None,
    check: Callable[[Connection], None] = lambda _: None,
    *,
    paused: bool = False,
) -> Tournament:
    """Create a tournament with its first matches, which are due at once.

    Args:
        plan: its settled settings, which are not checked again.
        entries: its entrants; their names are versions as ``name@number``.
        fixtures: the matches that are fixed from the start.
        seed: the random seed of all deals. Without one each match gets 32 random bytes.
        check: is called in the same transaction before anything is stored; raises to refuse.
        paused: start no match until the tournament is resumed.

    Raises:
        NotFound: an entrant is not registered.
        Conflict: an entrant is retired or in quarantine.
        BadName: the name of an owner is not valid.
        StoreError: an entrant is named twice.
    """
    from arena.formats import registry

    names = [entry.name for entry in entries]
    if len(set(names)) < len(names):
        raise StoreError(
            "an entrant is named twice; each version enters a tournament once.", code="named-twice"
        )
    plan = replace(plan, settings=registry.with_present_pairing(plan.format, plan.settings))
    with writing(engine, "schedule") as connection:
        check(connection)
        keep_versions(connection, names)
        admit(connection, names)
        name = _free_id(connection)
        _insert(connection, name, plan, seed, paused)
        closings.add_closing(connection, ClosingKind.TOURNAMENT_STARTED, tournament=name)
        enter(connection, name, entries, first=0)
        schedule.store_fixtures(connection, name, plan, fixtures, seed)
    return find_tournament(engine, name)


def find_tournament(engine: Engine, tournament: str) -> Tournament:
    """Return the tournament with this id.

    Raises:
        NotFound: it does not exist.
    """
    with reading(engine) as connection:
        tournaments = _select(connection, schema.tournaments.c.id == tournament)
    if not tournaments:
        raise not_found(tournament)
    return tournaments[0]


def list_tournaments(
    engine: Engine,
    *,
    game: str | None = None,
    state: TournamentState | None = None,
    over: bool | None = None,
) -> tuple[Tournament, ...]:
    """Return the tournaments, oldest first, optionally of one game, one state, or (not) over."""
    table = schema.tournaments
    conditions = []
    if game is not None:
        conditions.append(table.c.game == game)
    if state is not None:
        conditions.append(table.c.state == state)
    if over is not None:
        conditions.append(table.c.ended.is_not(None) if over else table.c.ended.is_(None))
    with reading(engine) as connection:
        return _select(connection, *conditions)


def plans(connection: Connection, *, game: str, over: bool) -> list[TournamentPlan]:
    """Return the settings of the tournaments of a game that are (not) over, in a transaction."""
    table = schema.tournaments
    ended = table.c.ended.is_not(None) if over else table.c.ended.is_(None)
    rows = connection.execute(select(table).where(table.c.game == game, ended))
    return [TournamentPlan.of_row(row._asdict()) for row in rows]


def ids_of_ladder(connection: Connection, name: str) -> list[str]:
    """Return the ids of the tournaments of a form or a ladder (`match_settings.is_of_ladder`)."""
    table = schema.tournaments
    columns = table.c["id", "game", "seats", "options", "allowance_ms", "bank_ms"]
    rows = connection.execute(select(*columns).where(table.c.game == game_of_ladder(name)))
    return [row.id for row in rows if is_of_ladder(row, name)]


def states(engine: Engine) -> dict[str, TournamentState]:
    """Return the states of the tournaments that are not over, by id, the oldest first.

    Their entrants, which may be thousands, are not read.
    """
    table = schema.tournaments
    query = select(table.c.id, table.c.state).where(table.c.ended.is_(None))
    rows = read_rows(engine, query.order_by(table.c.created, table.c.id)).all()
    return {row.id: TournamentState(row.state) for row in rows}


@dataclass(frozen=True, slots=True)
class TournamentName:
    """A tournament without its entrants and settings."""

    id: str
    name: str
    form: str
    state: TournamentState
    created: float


def names(engine: Engine, words: str, limit: int = 20) -> tuple[TournamentName, ...]:
    """Return the tournaments whose id, name or form contains every word, newest first.

    Args:
        words: the search words; upper and lower case are not distinguished.
    """
    table = schema.tournaments
    columns = table.c["id", "name", "game", "seats", "options", "state", "created"]
    query = select(*columns).order_by(table.c.created.desc(), table.c.id)
    named: list[TournamentName] = []
    with reading(engine) as connection:
        for row in connection.execute(query):
            form = form_of(row.game, row.seats, row.options)
            text = f"{row.id} {row.name} {form}".lower()
            if all(word in text for word in words.lower().split()):
                state = TournamentState(row.state)
                named.append(TournamentName(row.id, row.name, form, state, row.created))
                if len(named) == limit:
                    break
    return tuple(named)


def last_closed(engine: Engine, limit: int, without: str = "") -> tuple[Tournament, ...]:
    """Return the tournaments that closed last, the newest first.

    Args:
        without: a format whose tournaments are left out.
    """
    table = schema.tournaments
    query = select(table.c.id).where(
        table.c.state == TournamentState.CLOSED, table.c.format != without
    )
    with reading(engine) as connection:
        ids = connection.execute(query.order_by(table.c.ended.desc()).limit(limit)).scalars().all()
        by_id = {each.id: each for each in _select(connection, table.c.id.in_(ids))}
    return tuple(by_id[name] for name in ids)


def progress(engine: Engine, tournament: str) -> TournamentProgress:
    """Count a tournament's matches and games.

    Raises:
        NotFound: the tournament does not exist.
    """
    matches, games = schema.matches, schema.games
    # All games of a closed match are committed. There may be millions, so they are not counted
    # here.
    others = [state for state in MatchState if state is not MatchState.CLOSED]
    committed = (
        select(func.count())
        .select_from(games.join(matches, matches.c.id == games.c.match))
        .where(matches.c.tournament == tournament, matches.c.state.in_(others))
    )
    with reading(engine) as connection:
        counted = by_state(connection, tournament)
        done = int(connection.execute(committed).scalar_one())
    if not counted:
        raise not_found(tournament)
    return TournamentProgress(
        **{state.lower(): count.matches for state, count in counted.items()},
        games=done + counted[MatchState.CLOSED].games,
        planned=sum(count.games for count in counted.values()),
    )


def has_leased_match(engine: Engine) -> bool:
    """Return whether a worker holds an unexpired lease of any match."""
    matches = schema.matches
    leased = select(matches.c.id).where(lease_times.is_leased())
    return read_rows(engine, leased.limit(1)).first() is not None


def not_found(tournament: str) -> NotFound:
    """Return the error for an unknown tournament id."""
    return NotFound(
        f"unknown tournament {tournament}; `pokearena tournament list` lists all.",
        code="unknown-tournament",
    )


def _select(connection: Connection, *conditions: ColumnElement[bool]) -> tuple[Tournament, ...]:
    table, entrants = schema.tournaments, schema.entrants
    rows = connection.execute(
        select(table).where(*conditions).order_by(table.c.created, table.c.id)
    ).all()
    sides = connection.execute(
        select(*entrants.c["tournament", "version", "owner", "joined", "withdrawn"])
        .join(table, table.c.id == entrants.c.tournament)
        .where(*conditions)
        .order_by(entrants.c.tournament, entrants.c.position)
    ).all()
    entries = {
        name: tuple(FormatEntrant(*row[1:]) for row in group)
        for name, group in groupby(sides, lambda row: row[0])
    }
    return tuple(_tournament(row, entries.get(row.id, ())) for row in rows)


def _tournament(row: Row[*tuple[Any, ...]], entries: tuple[FormatEntrant, ...]) -> Tournament:
    state = TournamentState(row.state)
    return Tournament(
        id=row.id,
        plan=TournamentPlan.of_row(row._asdict()),
        entries=entries,
        state=state,
        created=row.created,
        ended=row.ended,
        seed=row.seed if state is TournamentState.CLOSED else None,
    )


def keep_versions(connection: Connection, names: Sequence[str]) -> None:
    """Lock versions, so that none is retired or quarantined while they enter a tournament."""
    versions = schema.versions
    rows = select(versions.c.id).where(versions.c.id.in_(names)).order_by(versions.c.id)
    lock_rows(connection, rows, shared=True)


def admit(connection: Connection, names: Sequence[str]) -> None:
    """Check that versions may enter a tournament.

    Raises:
        NotFound: a version is not registered.
        Conflict: a version is retired or in quarantine.
    """
    versions = schema.versions
    query = select(*versions.c["id", "retired", "quarantined", "quarantine_reason"])
    known = {row.id: row for row in connection.execute(query.where(versions.c.id.in_(names)))}
    for version in names:
        if version not in known:
            raise NotFound(
                f"unknown version {version}; `pokearena bot list` lists all.",
                code="unknown-version",
            )
        if known[version].retired is not None:
            raise Conflict(f"{version} is retired and enters no more tournaments.", code="retired")
        if known[version].quarantined is not None:
            raise Conflict(
                f"{version} is in quarantine: {known[version].quarantine_reason.rstrip('.')}; "
                f"`pokearena bot release {version} --reason TEXT` lets it play again.",
                code="in-quarantine",
            )


def enter(connection: Connection, name: str, entries: Sequence[FormatEntrant], first: int) -> None:
    """Store entrants of a tournament at the positions from `first` on.

    Raises:
        BadName: the name of an owner is not valid.
    """
    for entry in entries:
        if entry.owner:
            check_name("an owner", entry.owner)
            check_if_new(connection, entry.owner)
    rows: list[Mapping[str, object]] = [
        {
            "tournament": name,
            "position": position,
            "version": entry.name,
            "owner": entry.owner,
            "joined": entry.joined,
            "withdrawn": entry.withdrawn,
        }
        for position, entry in enumerate(entries, first)
    ]
    if rows:
        connection.execute(insert(schema.entrants), rows)
    for entry in entries:
        closings.add_closing(connection, ClosingKind.ENTERED, tournament=name, version=entry.name)


def _free_id(connection: Connection) -> str:
    table = schema.tournaments
    while True:
        name = ids.tournament_id()
        if connection.execute(select(table.c.id).where(table.c.id == name)).first() is None:
            return name


def _insert(
    connection: Connection, name: str, plan: TournamentPlan, seed: bytes | None, paused: bool
) -> None:
    connection.execute(
        insert(schema.tournaments).values(
            id=name,
            **plan.columns(),
            seed=seed,
            state=TournamentState.PAUSED if paused else TournamentState.RUNNING,
            created=now(),
        )
    )
