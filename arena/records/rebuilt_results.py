"""Recompute results from the records, to check or correct the stored values.

The record of a game is authoritative; all other stored values of the game follow from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Engine, delete, insert, select, update

from arena.ratings.closed_match import PlayedGame
from arena.store import schema
from arena.store.database import read_rows, writing
from arena.store.matches import games, raw_rows
from arena.store.matches.raw_rows import MatchRows
from arena.store.schema import MatchState
from referee.numbering import game_text

_OF_GAMES: Final = (
    "places",
    "scores",
    "verdicts",
    "faults",
    "corrections",
    "defaults",
    "thinking",
    "tally",
    "table_number",
    "board",
)
_PLAIN: Final = ("table_number", "board")
"""Columns that do not contain JSON."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A closed match, computed from its records alone.

    Attributes:
        is_readable: whether all its records can be read.
        games: number of stored games.
        differences: a clause for each stored value that differs from the records.
        missing: whether the database is older than the decision times, so that they are empty.
        rows: the correct values of the row of each game, by the game's number.
        faults: the correct rows of `faults`.
    """

    match: str
    is_readable: bool
    games: int
    differences: tuple[str, ...]
    missing: bool
    rows: Mapping[int, Mapping[str, Any]]
    faults: tuple[Mapping[str, Any], ...] = ()


def rebuilt(engine: Engine, of: Sequence[str]) -> Iterator[Rebuilt]:
    """Yield the closed matches of tournaments (oldest first) in canonical order; change nothing."""
    table = schema.matches
    for tournament in of:
        query = (
            select(table.c.id)
            .where(table.c.tournament == tournament, table.c.state == MatchState.CLOSED)
            .order_by(table.c.round, table.c.number)
        )
        names = list(read_rows(engine, query).scalars())
        for start in range(0, len(names), raw_rows.BATCH):
            with raw_rows.reading_invalid_text(engine) as connection:
                batch = raw_rows.read(connection, names[start : start + raw_rows.BATCH])
            for match in batch:
                yield rebuild(raw_rows.with_records(engine, match))


def store_rebuilt(engine: Engine, rebuilt: Rebuilt) -> None:
    """Store the recomputed values; do nothing if a record cannot be read."""
    if not rebuilt.is_readable:
        return
    table, faults = schema.games, schema.faults
    with writing(engine, "rebuild") as connection:
        for number, row in rebuilt.rows.items():
            of_game = (table.c.match == rebuilt.match, table.c.game == number)
            connection.execute(update(table).where(*of_game).values(**row))
        connection.execute(delete(faults).where(faults.c.match == rebuilt.match))
        if rebuilt.faults:
            connection.execute(insert(faults), list(rebuilt.faults))


def rebuild(match: MatchRows) -> Rebuilt:
    """Compute a closed match from its records and compare it with the stored values. Pure."""
    try:
        played = {row["game"]: read_game(match, row) for row in match.games}
        planned = match.match["games"]
        if sorted(played) != list(range(planned)):
            raise ValueError(f"{len(played)} of its {planned} games are stored")
        rows = {number: games.game_values(game) for number, game in played.items()}
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        reason = str(error) if isinstance(error, ValueError) else repr(error)
        problem = (f"match {match.id} cannot be made anew: {reason}",)
        return Rebuilt(match.id, False, len(match.games), problem, False, {})
    differences = list(game_differences(match, played))
    if match.result is None:
        differences.append(f"match {match.id} is closed and has no result")
    return Rebuilt(
        match.id,
        True,
        len(match.games),
        tuple(differences),
        any(_is_missing(row, "thinking") for row in match.games),
        rows,
        tuple(
            fault
            for number, game in sorted(played.items())
            for fault in games.fault_values(match.id, game)
        ),
    )


def read_game(match: MatchRows, row: Mapping[str, Any]) -> PlayedGame:
    """Return the game in the record of a row of `games`.

    Raises:
        ValueError: the record is not valid or not that of this game.
    """
    try:
        game = games.read(row["record"], match.versions)
    except (TypeError, LookupError, AttributeError, RecursionError) as error:
        raise ValueError(f"{game_text(row['game'])}: its record is not valid: {error!r}") from None
    except ValueError as error:
        raise ValueError(f"{game_text(row['game'])}: {error}") from None
    if game.game != row["game"]:
        raise ValueError(f"{game_text(row['game'])}: its record is that of {game_text(game.game)}")
    return game


def game_differences(match: MatchRows, played: Mapping[int, PlayedGame]) -> Iterator[str]:
    """Yield the differences between the records and the rows of games and faults.

    Args:
        played: the games of the records that could be read, by number.
    """
    for row in match.games:
        if (game := played.get(row["game"])) is None:
            continue
        name = game_text(game.game)
        for column in _differing(row, games.game_values(game), _OF_GAMES):
            yield f"match {match.id}: {column} of {name} are not those of the record"
        stored = [fault for fault in match.faults if fault["game"] == game.game]
        if stored != games.fault_values(match.id, game):
            yield f"match {match.id}: the faults of {name} are not those of the record"


def _differing(
    stored: Mapping[str, Any], true: Mapping[str, Any], names: Sequence[str]
) -> Iterator[str]:
    for name in names:
        if _is_missing(stored, name):
            continue
        try:
            value = stored[name] if name in _PLAIN else raw_rows.decoded(stored[name])
        except (ValueError, RecursionError):
            yield name
            continue
        if _canonical(value) != _canonical(true[name]):
            yield name


def _canonical(value: Any) -> str:
    """Return the value as JSON text: unlike in Python, 1, 1.0 and true differ."""
    return json.dumps(value, sort_keys=True)


def _is_missing(row: Mapping[str, Any], name: str) -> bool:
    """Return whether the value was never computed: older databases lack decision times."""
    return name == "thinking" and row[name] is None
