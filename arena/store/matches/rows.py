"""Read and write the rows of one match: its specification, games and result."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from typing import Any, Final

from sqlalchemy import (
    BindParameter,
    Column,
    ColumnElement,
    Connection,
    Insert,
    Row,
    ScalarSelect,
    Select,
    Text,
    Update,
    bindparam,
    cast,
    delete,
    insert,
    select,
    update,
)

from arena.ratings.closed_match import PlayedGame
from arena.store import schema
from arena.store.database import now
from arena.store.match_settings import stored_values
from arena.store.matches import match_reasoning
from arena.store.matches.games import fault_values, game_values, stored_game
from arena.store.matches.listing import not_found
from arena.store.matches.spec import Entrant, MatchSpec
from referee.record import TAGS


def spec(connection: Connection, match: str) -> MatchSpec:
    """Return the specification of a match, including the secret seed.

    Raises:
        NotFound: the match does not exist.
    """
    row = connection.execute(_spec_query(), {"of_match": match}).one_or_none()
    if row is None:
        raise not_found(match)
    return spec_of(connection, row)


def spec_of(connection: Connection, row: Row[*tuple[Any, ...]]) -> MatchSpec:
    """Return the specification of a match, including the secret seed.

    Args:
        row: a row with `spec_columns`.
    """
    return MatchSpec(
        **stored_values(row._asdict()),
        id=row.id,
        tournament=row.tournament,
        round=row.round,
        number=row.number,
        entrants=_entrants(connection, row.id),
        commitment=row.commitment,
        seed=row.seed,
    )


def committed(connection: Connection, match: str) -> tuple[PlayedGame, ...]:
    """Return the stored games, in order of their numbers."""
    columns = ("game", "table_number", "board", "places", "scores", "verdicts", "faults", "tally")
    rows = connection.execute(_games_query(*columns), {"of_match": match})
    return tuple(map(stored_game, rows))


def game_numbers(connection: Connection, match: str) -> Collection[int]:
    return connection.execute(_games_query("game"), {"of_match": match}).scalars().all()


def insert_game(connection: Connection, match: str, attempt: int, game: PlayedGame) -> None:
    """Insert a game, its faults and the reasoning of its bots."""
    columns = {"match": match, "game": game.game, "attempt": attempt, "record": game.record}
    connection.execute(_game_insert(), columns | game_values(game))
    if faults := fault_values(match, game):
        connection.execute(insert(schema.faults), faults)
    if reasoning := match_reasoning.reasoning_values(match, game):
        connection.execute(insert(schema.reasoning), reasoning)


def insert_result(connection: Connection, match: str, attempt: int) -> None:
    """Insert that a match has a result; the primary key admits only one."""
    connection.execute(_result_insert(), {"match": match, "attempt": attempt})
    connection.execute(_closed_update(), {"of_match": match})
    tallies = connection.execute(_tagged_tallies(), {"of_match": match}).scalars()
    if tags := {tag for tally in tallies for of_seat in tally[TAGS] for tag in of_seat}:
        rows = [{"match": match, "of_match": match, "tag": tag} for tag in sorted(tags)]
        connection.execute(_tag_insert(), rows)


def replace_tags(connection: Connection, match: str, tags: Mapping[int, list[list[str]]]) -> None:
    """Store these tags of the games of a match, by game and seat, in place of the earlier ones."""
    games, of_match = schema.games, schema.match_tags
    query = select(*games.c["game", "tally"]).where(games.c.match == match, _has_tags())
    for game, tally in connection.execute(query).all():
        kept = {name: values for name, values in tally.items() if name != TAGS}
        if any(tags.get(game, ())):
            kept[TAGS] = tags[game]
        of_game = (games.c.match == match, games.c.game == game)
        connection.execute(update(games).where(*of_game).values(tally=kept))
    present = {tag for of_game in tags.values() for of_seat in of_game for tag in of_seat}
    connection.execute(
        delete(of_match).where(of_match.c.match == match, of_match.c.tag.not_in(present))
    )


def _entrants(connection: Connection, match: str) -> tuple[Entrant, ...]:
    rows = connection.execute(_entrants_query(), {"of_match": match})
    return tuple(Entrant(*row) for row in rows)


# The statements, built once for the process: building one takes longer than executing it.

_OF_MATCH: Final[BindParameter[str]] = bindparam("of_match")


def spec_columns() -> tuple[Column[Any], ...]:
    """Return the columns of a match and its tournament that `spec_of` requires."""
    matches, tournaments = schema.matches, schema.tournaments
    return (
        *matches.c["id", "tournament", "round", "number", "boards", "commitment", "seed"],
        *tournaments.c["game", "options", "seats", "policy", "corrections"],
        *tournaments.c["start_ms", "allowance_ms", "bank_ms"],
    )


@cache
def _spec_query() -> Select[*tuple[Any, ...]]:
    matches, tournaments = schema.matches, schema.tournaments
    return (
        select(*spec_columns())
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
def _game_insert() -> Insert:
    return insert(schema.games).values(committed=now())


@cache
def _result_insert() -> Insert:
    return insert(schema.results).values(closed=now())


@cache
def _closed_update() -> Update:
    sides = schema.match_entrants
    return update(sides).where(sides.c.match == _OF_MATCH).values(closed=_closed())


@cache
def _tagged_tallies() -> Select[Any]:
    """Select the tallies with tags, which most games do not have."""
    games = schema.games
    return select(games.c.tally).where(games.c.match == _OF_MATCH, _has_tags())


def _has_tags() -> ColumnElement[bool]:
    return cast(schema.games.c.tally, Text).contains(f'"{TAGS}"')


@cache
def _tag_insert() -> Insert:
    return insert(schema.match_tags).values(closed=_closed())


def _closed() -> ScalarSelect[Any]:
    results = schema.results
    return select(results.c.closed).where(results.c.match == _OF_MATCH).scalar_subquery()
