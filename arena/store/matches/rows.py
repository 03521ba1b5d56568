"""Read and write the rows of one match: its specification, games and result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, insert, select, update

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
    matches, tournaments = schema.matches, schema.tournaments
    row = connection.execute(
        select(
            *matches.c["id", "tournament", "round", "number", "boards", "commitment", "seed"],
            *tournaments.c["game", "options", "seats", "policy"],
            *tournaments.c["start_ms", "allowance_ms", "bank_ms"],
        )
        .join(tournaments, tournaments.c.id == matches.c.tournament)
        .where(matches.c.id == match)
    ).one_or_none()
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
    games = schema.games
    rows = connection.execute(
        select(*games.c["game", "table_number", "board", "tally"])
        .where(games.c.match == match)
        .order_by(games.c.game)
    )
    return tuple(CommittedGame(*row) for row in rows)


def insert_game(connection: Connection, match: str, attempt: int, game: PlayedGame) -> None:
    """Insert a game and its faults."""
    connection.execute(
        insert(schema.games).values(
            match=match,
            game=game.game,
            table_number=game.table,
            board=game.board,
            attempt=attempt,
            record=game.record,
            places=list(game.places),
            scores=None if game.scores is None else list(game.scores),
            verdicts=list(game.verdicts),
            faults=list(game.faults),
            tally={word: list(value) for word, value in game.tally.items()},
            committed=now(),
            thinking=[times.stored() for times in game.thinking],
        )
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
    results, sides = schema.results, schema.match_entrants
    connection.execute(
        insert(results).values(
            match=match,
            attempt=attempt,
            outcome=result.outcome,
            closed=now(),
            digest=result.digest,
            thinking=result.thinking,
        )
    )
    closed = select(results.c.closed).where(results.c.match == match).scalar_subquery()
    connection.execute(update(sides).where(sides.c.match == match).values(closed=closed))


def _result(connection: Connection, match: str) -> MatchSummary:
    """Summarize the stored games of a match."""
    games, sides = schema.games, schema.match_entrants
    entrants = connection.execute(
        select(sides.c.version).where(sides.c.match == match).order_by(sides.c.position)
    ).scalars()
    played = connection.execute(
        select(*games.c["game", "places", "scores", "verdicts", "faults", "thinking"])
        .where(games.c.match == match)
        .order_by(games.c.game)
    )
    rows = [dict(game._mapping) for game in played]
    thinking = [row.pop("thinking") for row in rows]
    kind = connection.execute(
        select(schema.tournaments.c.game)
        .join(schema.matches, schema.matches.c.tournament == schema.tournaments.c.id)
        .where(schema.matches.c.id == match)
    ).scalar_one()
    return summarize(kind, match, list(entrants), rows, thinking)


def _entrants(connection: Connection, match: str) -> tuple[Entrant, ...]:
    sides, versions = schema.match_entrants, schema.versions
    rows = connection.execute(
        select(*versions.c["id", "content_hash", "folder", "manifest"])
        .join(sides, sides.c.version == versions.c.id)
        .where(sides.c.match == match)
        .order_by(sides.c.position)
    )
    return tuple(Entrant(*row) for row in rows)
