"""Read and write the rows of one match: its specification, games and result."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from sqlalchemy import (
    BindParameter,
    Connection,
    Insert,
    Select,
    Update,
    bindparam,
    func,
    insert,
    select,
    update,
)

from arena.store import schema
from arena.store.database import now
from arena.store.matches.games import CommittedGame, MatchSummary, PlayedGame, summarize
from arena.store.matches.listing import not_found
from arena.store.matches.spec import Clock, Entrant, MatchSpec


def spec(connection: Connection, match: str) -> MatchSpec:
    """Return the specification of a match, including the secret seed.

    Raises:
        NotFound: the match does not exist.
    """
    row = connection.execute(_spec_query(), {"of_match": match}).one_or_none()
    if row is None:
        raise not_found(match)
    return MatchSpec(
        id=row.id,
        tournament=row.tournament,
        round=row.round,
        number=row.number,
        game=row.game,
        options=row.options,
        seats=row.seats,
        boards=row.boards,
        clock=Clock(row.start_ms, row.allowance_ms, row.bank_ms),
        policy=row.policy,
        entrants=_entrants(connection, match),
        commitment=row.commitment,
        seed=row.seed,
    )


def committed(connection: Connection, match: str) -> tuple[CommittedGame, ...]:
    """Return the stored games, in order of their numbers."""
    columns = ("game", "table_number", "board", "tally")
    rows = connection.execute(_games_query(*columns), {"of_match": match})
    return tuple(CommittedGame(*row) for row in rows)


def has_game(connection: Connection, match: str, game: int) -> bool:
    """Return whether a game of a match is stored."""
    values = {"of_match": match, "of_game": game}
    return connection.execute(_game_query(), values).first() is not None


def count_games(connection: Connection, match: str) -> int:
    """Return the number of stored games of a match."""
    number: int = connection.execute(_count_query(), {"of_match": match}).scalar_one()
    return number


def insert_game(connection: Connection, match: str, attempt: int, game: PlayedGame) -> None:
    """Insert a game and its faults."""
    connection.execute(
        _game_insert(),
        {
            "match": match,
            "game": game.game,
            "table_number": game.table,
            "board": game.board,
            "attempt": attempt,
            "record": game.record,
            "places": list(game.places),
            "scores": None if game.scores is None else list(game.scores),
            "verdicts": list(game.verdicts),
            "faults": list(game.faults),
            "tally": {word: list(value) for word, value in game.tally.items()},
            "thinking": [times.stored() for times in game.thinking],
        },
    )
    rows: list[Mapping[str, Any]] = [
        {
            "match": match,
            "game": game.game,
            "number": number,
            "decision": fault.decision,
            "seat": fault.seat,
            "version": fault.version,
            "verdict": fault.verdict,
            "sentence": fault.sentence,
            "ended": fault.ended,
            "output": fault.output,
        }
        for number, fault in enumerate(game.faulted)
    ]
    if rows:
        connection.execute(insert(schema.faults), rows)


def insert_result(connection: Connection, match: str, attempt: int) -> None:
    """Insert the result, computed from all stored games; the primary key admits only one."""
    result = _result(connection, match)
    values = {
        "match": match,
        "attempt": attempt,
        "outcome": result.outcome,
        "digest": result.digest,
        "thinking": result.thinking,
    }
    connection.execute(_result_insert(), values)
    connection.execute(_closed_update(), {"of_match": match})


def _result(connection: Connection, match: str) -> MatchSummary:
    """Summarize the stored games of a match."""
    values = {"of_match": match}
    entrants = connection.execute(_sides_query(), values).scalars()
    columns = ("game", "places", "scores", "verdicts", "faults", "thinking")
    played = connection.execute(_games_query(*columns), values)
    rows = [dict(game._mapping) for game in played]
    thinking = [row.pop("thinking") for row in rows]
    kind = connection.execute(_kind_query(), values).scalar_one()
    return summarize(kind, match, list(entrants), rows, thinking)


def _entrants(connection: Connection, match: str) -> tuple[Entrant, ...]:
    rows = connection.execute(_entrants_query(), {"of_match": match})
    return tuple(Entrant(*row) for row in rows)


# The statements, built once for the process: building one takes longer than executing it.

_OF_MATCH: Final[BindParameter[str]] = bindparam("of_match")


@cache
def _spec_query() -> Select[*tuple[Any, ...]]:
    matches, tournaments = schema.matches, schema.tournaments
    return (
        select(
            *matches.c["id", "tournament", "round", "number", "boards", "commitment", "seed"],
            *tournaments.c["game", "options", "seats", "policy"],
            *tournaments.c["start_ms", "allowance_ms", "bank_ms"],
        )
        .join(tournaments, tournaments.c.id == matches.c.tournament)
        .where(matches.c.id == _OF_MATCH)
    )


@cache
def _entrants_query() -> Select[*tuple[Any, ...]]:
    sides, versions = schema.match_entrants, schema.versions
    return (
        select(*versions.c["id", "content_hash", "folder", "manifest"])
        .join(sides, sides.c.version == versions.c.id)
        .where(sides.c.match == _OF_MATCH)
        .order_by(sides.c.position)
    )


@cache
def _games_query(*columns: str) -> Select[*tuple[Any, ...]]:
    games = schema.games
    chosen = [games.c[name] for name in columns]
    return select(*chosen).where(games.c.match == _OF_MATCH).order_by(games.c.game)


@cache
def _game_query() -> Select[*tuple[Any, ...]]:
    games = schema.games
    its = games.c.match == _OF_MATCH
    return select(games.c.game).where(its, games.c.game == bindparam("of_game"))


@cache
def _count_query() -> Select[*tuple[Any, ...]]:
    games = schema.games
    return select(func.count()).select_from(games).where(games.c.match == _OF_MATCH)


@cache
def _game_insert() -> Insert:
    return insert(schema.games).values(committed=now())


@cache
def _result_insert() -> Insert:
    return insert(schema.results).values(closed=now())


@cache
def _closed_update() -> Update:
    results, sides = schema.results, schema.match_entrants
    closed = select(results.c.closed).where(results.c.match == _OF_MATCH).scalar_subquery()
    return update(sides).where(sides.c.match == _OF_MATCH).values(closed=closed)


@cache
def _sides_query() -> Select[*tuple[Any, ...]]:
    sides = schema.match_entrants
    return select(sides.c.version).where(sides.c.match == _OF_MATCH).order_by(sides.c.position)


@cache
def _kind_query() -> Select[*tuple[Any, ...]]:
    matches, tournaments = schema.matches, schema.tournaments
    query = select(tournaments.c.game).join(matches, matches.c.tournament == tournaments.c.id)
    return query.where(matches.c.id == _OF_MATCH)
