"""List the closed matches and the faults of some versions, newest first, by page."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, Row, Select, func, select

from arena.ratings.closed_match import FINISHED, PlayedFault, PlayedGame, means, scores
from arena.ratings.decision_histogram import DecisionHistogram
from arena.store import schema
from arena.store.database import reading
from arena.store.matches import closed_matches
from arena.store.schema import OPEN, MatchState


def kinds(engine: Engine, of: Collection[str]) -> dict[str, int]:
    """Count the faults of some versions by verdict, the most frequent first.

    Args:
        engine: the store.
        of: versions as ``name@number``.
    """
    table = schema.faults
    selected = _selected_faults(select(table.c.verdict, func.count()), of, "")
    query = selected.group_by(table.c.verdict)
    with reading(engine) as connection:
        counts = [(str(word), int(count)) for word, count in connection.execute(query)]
    return dict(sorted(counts, key=lambda each: (-each[1], each[0])))


def faults(
    engine: Engine, of: Collection[str], kind: str = "", offset: int = 0, limit: int = 50
) -> tuple[PlayedFault, ...]:
    """Return a page of the faults of some versions.

    Args:
        engine: the store.
        of: versions as ``name@number``.
        kind: only faults with this verdict; empty: all.
        offset: number of faults to skip.
        limit: maximum number of faults.
    """
    table, matches = schema.faults, schema.matches
    columns = [name for name in PlayedFault.__slots__ if name != "tournament"]
    selected = select(matches.c.tournament, *(table.c[name] for name in columns))
    query = _selected_faults(selected, of, kind)
    query = query.order_by(matches.c.ended.desc(), table.c.match, table.c.game, table.c.number)
    with reading(engine) as connection:
        rows = connection.execute(query.offset(offset).limit(limit)).all()
    return tuple(PlayedFault(**row._mapping) for row in rows)


def _selected_faults(query: Select[Any], of: Collection[str], kind: str) -> Select[Any]:
    table, matches = schema.faults, schema.matches
    query = query.select_from(table.join(matches, matches.c.id == table.c.match)).where(
        table.c.version.in_(of), matches.c.state.not_in(OPEN)
    )
    return query.where(table.c.verdict == kind) if kind else query


@dataclass(frozen=True, slots=True)
class PlayedMatch:
    """A closed match; tuples are in the order of its entrants.

    Attributes:
        match: its id.
        tournament: id of its tournament.
        name: name of its tournament.
        form: the form that it played.
        round: its round, from 0.
        closed: when it closed, in seconds since 1970.
        entrants: versions as ``name@number``.
        games: the results of its games.
        thinking: decision times of the entrants; empty if they were not counted.
    """

    match: str
    tournament: str
    name: str
    form: str
    round: int
    closed: float
    entrants: tuple[str, ...]
    games: tuple[PlayedGame, ...]
    thinking: tuple[DecisionHistogram, ...]

    def score(self, entrant: str) -> float:
        """Return the mean score of an entrant against its opponents, from 0 to 1."""
        return means(scores(self.games))[self.entrants.index(entrant)]

    def faults(self) -> dict[str, dict[str, int]]:
        """Count the games that faults ended, by entrant and verdict; only entrants with faults."""
        counts: dict[str, dict[str, int]] = {}
        for game in self.games:
            for name, verdict in zip(self.entrants, game.verdicts, strict=True):
                if verdict != FINISHED:
                    kinds = counts.setdefault(name, {})
                    kinds[verdict] = kinds.get(verdict, 0) + 1
        return counts

    def opponents(self, entrant: str) -> tuple[str, ...]:
        """Return all entrants except this one."""
        return tuple(name for name in self.entrants if name != entrant)


def count(engine: Engine, sitting: Sequence[Collection[str]], of: Collection[str] = ()) -> int:
    """Return the number of matches that `matches` would return without a limit."""
    query = select(func.count()).select_from(_chosen(sitting, of).subquery())
    with reading(engine) as connection:
        return int(connection.execute(query).scalar_one())


def matches(
    engine: Engine,
    sitting: Sequence[Collection[str]],
    of: Collection[str] = (),
    offset: int = 0,
    limit: int = 50,
) -> tuple[PlayedMatch, ...]:
    """Return closed matches, newest first.

    Args:
        engine: the store.
        sitting: collections of versions (``name@number``). The match must have an entrant of each.
        of: only matches of these tournaments; empty: of all.
        offset: number of matches to skip.
        limit: maximum number of matches.
    """
    chosen = _chosen(sitting, of)
    order = chosen.selected_columns
    return _read(
        engine, chosen.order_by(order.closed.desc(), order.match).offset(offset).limit(limit)
    )


def latest(engine: Engine, tournament: str, limit: int) -> tuple[PlayedMatch, ...]:
    """Return the matches of a tournament that closed last, newest first."""
    table = schema.matches
    chosen = (
        select(table.c.id.label("match"))
        .where(table.c.state == MatchState.CLOSED, table.c.tournament == tournament)
        .order_by(table.c.ended.desc(), table.c.id)
        .limit(limit)
    )
    return _read(engine, chosen)


def find_played_match(engine: Engine, match: str) -> PlayedMatch | None:
    """Return a closed match; None if it does not exist or has no result."""
    chosen = select(schema.results.c.match).where(schema.results.c.match == match)
    return next(iter(_read(engine, chosen)), None)


def _read(engine: Engine, chosen: Select[Any]) -> tuple[PlayedMatch, ...]:
    """Read the selected matches, newest first."""
    results = schema.results
    page = chosen.subquery()
    query = (
        _played_matches()
        .join(page, page.c.match == results.c.match)
        .order_by(results.c.closed.desc(), results.c.match)
    )
    with reading(engine) as connection:
        return _played(connection, connection.execute(query).all())


def by_ids(connection: Connection, ids: Sequence[str]) -> tuple[PlayedMatch, ...]:
    """Return the closed ones of these matches, in this order; at most 500 ids."""
    query = _played_matches().where(schema.results.c.match.in_(ids))
    rows = connection.execute(query).all()
    played = {match.match: match for match in _played(connection, rows)}
    return tuple(played[match] for match in ids if match in played)


def _played_matches() -> Select[Any]:
    results, matches, tournaments = schema.results, schema.matches, schema.tournaments
    return (
        select(
            *results.c["match", "closed"],
            *matches.c["tournament", "round"],
            *tournaments.c["name", "game", "seats", "options"],
        )
        .select_from(results)
        .join(matches, matches.c.id == results.c.match)
        .join(tournaments, tournaments.c.id == matches.c.tournament)
    )


def _chosen(sitting: Sequence[Collection[str]], of: Collection[str]) -> Select[Any]:
    """Select matches and their closing times, through the index on versions and closing times."""
    matches, sides = schema.matches, schema.match_entrants
    first, *others = sitting
    query = select(*sides.c["match", "closed"]).where(
        sides.c.version.in_(first), sides.c.closed.is_not(None)
    )
    if len(first) > 1:
        # A match with two of these versions would otherwise appear twice.
        query = query.distinct()
    for chosen in others:
        beside = sides.alias()
        sat = select(beside.c.match).where(
            beside.c.match == sides.c.match, beside.c.version.in_(chosen)
        )
        query = query.where(sat.exists())
    if of:
        in_tournaments = select(matches.c.id).where(
            matches.c.id == sides.c.match, matches.c.tournament.in_(of)
        )
        query = query.where(in_tournaments.exists())
    return query


def _played(connection: Connection, rows: Sequence[Row[Any]]) -> tuple[PlayedMatch, ...]:
    from referee.games.registry import form_of

    found = closed_matches.with_ids(connection, [row.match for row in rows])
    return tuple(
        PlayedMatch(
            match=row.match,
            tournament=row.tournament,
            name=row.name,
            form=form_of(row.game, row.seats, row.options),
            round=row.round,
            closed=float(row.closed),
            entrants=found[row.match].match.entrants,
            games=found[row.match].match.games,
            thinking=found[row.match].thinking,
        )
        for row in rows
    )
