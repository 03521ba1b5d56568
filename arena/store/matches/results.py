"""Read finished matches: results for ratings, records, and faults.

These functions reveal nothing about the games of an open match, because its remaining tables play
the same cards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import Column, Connection, Engine, Row, select

from arena.errors import NotFound
from arena.ratings.closed_match import ClosedMatch, PlayedFault, PlayedGame, winner
from arena.store import schema
from arena.store.database import read_rows, reading
from arena.store.matches import closed_matches, history, rows
from arena.store.matches.closed_matches import PlayedMatch
from arena.store.matches.games import stored_game
from arena.store.matches.raw_rows import reading_invalid_text
from arena.store.matches.spec import MatchSpec
from arena.store.objects import record_archive
from arena.store.schema import OPEN, MatchState
from referee.numbering import game_text
from referee.record import dump

_MATCHES_AT_ONCE: Final = 500


def scorecard(engine: Engine, match: str) -> tuple[PlayedGame, ...]:
    """Return a match's games by number; empty while the match is open, or if it does not exist."""
    games, matches = schema.games, schema.matches
    query = (
        select(
            *games.c["game", "table_number", "board", "places", "scores", "verdicts", "faults"],
            *games.c["corrections", "defaults", "thinking", "tally", "committed"],
        )
        .join(matches, matches.c.id == games.c.match)
        .where(games.c.match == match, matches.c.state.not_in(OPEN))
        .order_by(games.c.game)
    )
    rows = read_rows(engine, query).all()
    return tuple(map(stored_game, rows))


def closed(
    engine: Engine,
    of: Collection[str] | None = None,
    with_all: Collection[str] = (),
    limit: int | None = None,
) -> Iterator[ClosedMatch]:
    """Yield closed matches in canonical order: by age of the tournament, round and number.

    The matches are read lazily in one transaction: exhaust or close the iterator soon.

    Args:
        of: only matches of these tournaments; None: of all.
        with_all: only matches in which all of these versions played.
        limit: maximum number of matches; None: all.
    """
    matches, tournaments = schema.matches, schema.tournaments
    query = (
        select(*matches.c["id", "tournament"])
        .join(tournaments, tournaments.c.id == matches.c.tournament)
        .where(matches.c.state == MatchState.CLOSED)
        .order_by(tournaments.c.created, tournaments.c.id, matches.c.round, matches.c.number)
        .limit(limit)
    )
    if of is not None:
        query = query.where(matches.c.tournament.in_(of))
    sides = schema.match_entrants
    for version in with_all:
        sat = select(sides.c.match).where(sides.c.version == version)
        query = query.where(matches.c.id.in_(sat))
    ages: dict[str, int] = {}
    with (
        reading(engine) as connection,
        connection.execution_options(yield_per=_MATCHES_AT_ONCE).execute(query) as rows,
    ):
        for batch in rows.partitions():
            names = [row.id for row in batch]
            found = closed_matches.with_ids(connection, names, with_thinking=False)
            for row in batch:
                age = ages.setdefault(row.tournament, len(ages))
                yield replace(found[row.id].result, tournament=age)


def latest_closed(engine: Engine, limit: int, most_games: int) -> tuple[PlayedMatch, ...]:
    """Return the matches that closed last, newest first.

    Args:
        limit: the number of latest matches to consider.
        most_games: matches with more games are left out.
    """
    stored, matches = schema.results, schema.matches
    newest = select(stored.c.match).order_by(stored.c.closed.desc(), stored.c.match).limit(limit)
    with reading(engine) as connection:
        names = connection.execute(newest).scalars().all()
        small = select(matches.c.id).where(matches.c.id.in_(names), matches.c.games <= most_games)
        by_id = closed_matches.with_ids(connection, connection.execute(small).scalars().all())
    return tuple(by_id[name] for name in names if name in by_id)


def winners(engine: Engine, of: Collection[str]) -> dict[str, str]:
    """Return the winner of each closed one of these matches; "" if it shares the first place."""
    return {match.match: winner(match.result) for match in history.of_ids(engine, tuple(of))}


@dataclass(frozen=True, slots=True)
class RecordFrame:
    """A match without its games.

    Attributes:
        line: the first line of its record.
        seed: its seed; None unless the match is closed, or was before it was voided.
        games: the numbers of the games that may be shown.
    """

    line: dict[str, Any]
    seed: bytes | None
    games: tuple[int, ...]


def cover(engine: Engine, match: str) -> RecordFrame:
    """Read a match without the records of its games.

    Raises:
        NotFound: the match does not exist.
    """
    with reading(engine) as connection:
        spec, seed, played = _public_part(connection, match, schema.games.c.game)
    return RecordFrame(spec.line(), seed, tuple(row.game for row in played))


def record(engine: Engine, match: str) -> str:
    """Return the public part of a match's record as text (docs/reference/record.md).

    For an open match that is only the first line. The seed is included only if the match is closed,
    or was before it was voided.

    Raises:
        NotFound: the match does not exist.
        ObjectStorageError: its records are in the object storage, which cannot be used.
    """
    with reading_invalid_text(engine) as connection:
        spec, seed, played = _public_part(connection, match, *schema.games.c["game", "record"])
    records = record_archive.complete(engine, match, {row.game: row.record for row in played})
    lines = [dump(spec.line()), *records.values()]
    if seed is not None:
        lines.append(dump({"type": "seed", "seed": seed.hex()}))
    return "".join(lines)


def _public_part(
    connection: Connection, match: str, *columns: Column[Any]
) -> tuple[MatchSpec, bytes | None, Sequence[Row[*tuple[Any, ...]]]]:
    """Return the public part of a match: spec, seed if closed, and columns of its games."""
    matches, games = schema.matches, schema.games
    spec = rows.spec(connection, match)
    state = connection.execute(select(matches.c.state).where(matches.c.id == match)).scalar_one()
    query = select(*columns).where(games.c.match == match).order_by(games.c.game)
    played = [] if state in OPEN else connection.execute(query).all()
    complete = state == MatchState.VOID and len(played) == spec.games
    return spec, spec.seed if complete or state == MatchState.CLOSED else None, played


def of_match(engine: Engine, match: str) -> ClosedMatch:
    """Return the result of a match; its `tournament` is always 0.

    Raises:
        NotFound: the match does not exist, or has no result.
    """
    found = history.of_ids(engine, [match])
    if not found:
        raise NotFound(f"the match {match} has no result.", code="no-result")
    return found[0].result


def game_record(engine: Engine, match: str, game: int) -> str:
    """Return the record lines of one game of a finished match.

    Raises:
        NotFound: the game does not exist, or its match is still open.
        ObjectStorageError: the record is in the object storage, which cannot be used.
    """
    matches, games = schema.matches, schema.games
    query = (
        select(games.c.record)
        .join(matches, matches.c.id == games.c.match)
        .where(games.c.match == match, games.c.game == game, matches.c.state.not_in(OPEN))
    )
    text: str | None = read_rows(engine, query).scalar_one_or_none()
    if text is None:
        raise NotFound(
            f"{game_text(game)} of match {match} is not available; games are shown when their "
            "match is over.",
            code="no-game",
        )
    return record_archive.complete(engine, match, {game: text})[game]


def faults(engine: Engine, match: str) -> tuple[PlayedFault, ...]:
    """Return the faults in a finished match, in their order; empty while the match is open."""
    table, matches = schema.faults, schema.matches
    query = (
        select(matches.c.tournament, table)
        .join(matches, matches.c.id == table.c.match)
        .where(table.c.match == match, matches.c.state.not_in(OPEN))
        .order_by(table.c.game, table.c.number)
    )
    rows = read_rows(engine, query).all()
    return tuple(
        PlayedFault(**{word: value for word, value in row._mapping.items() if word != "number"})
        for row in rows
    )
