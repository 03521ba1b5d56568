"""Read closed matches from their games."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, null, select

from arena.ratings.closed_match import ClosedMatch
from arena.ratings.decision_histogram import DecisionHistogram
from arena.store import schema
from arena.store.database import id_batches
from arena.store.matches.games import stored_game, total_thinking


@dataclass(frozen=True, slots=True)
class StoredMatch:
    """A match whose games are over.

    Attributes:
        tournament: id of its tournament.
        game: id of its game.
        match: its result; `tournament` is 0 in it.
        thinking: the decision times of its entrants; empty unless all games have them.
        closed: when it closed, in seconds since 1970; None if it has become void.
    """

    tournament: str
    game: str
    match: ClosedMatch
    thinking: tuple[DecisionHistogram, ...]
    closed: float | None


def with_ids(
    connection: Connection, ids: Sequence[str], *, with_thinking: bool = True
) -> dict[str, StoredMatch]:
    """Return the matches with these ids whose games are over, also void ones; by id.

    The results of an open match must not be shown.

    Args:
        connection: a connection to the store.
        ids: the matches.
        with_thinking: whether decision times are read, which takes a third of the time.
    """
    found = {}
    matches, tournaments = schema.matches, schema.tournaments
    sides, games = schema.match_entrants, schema.games
    for batch in id_batches(ids):
        entrants: dict[str, list[str]] = {}
        closed: dict[str, float | None] = {}
        query = select(*sides.c["match", "version", "closed"]).where(sides.c.match.in_(batch))
        for row in connection.execute(query.order_by(sides.c.match, sides.c.position)):
            entrants.setdefault(row.match, []).append(row.version)
            closed[row.match] = row.closed
        chosen = (
            select(
                *matches.c["id", "tournament", "round", "number"],
                tournaments.c.game.label("rules"),
                *games.c["game", "places", "scores", "verdicts", "faults"],
                games.c.thinking if with_thinking else null().label("thinking"),
            )
            .join(tournaments, tournaments.c.id == matches.c.tournament)
            .join(games, games.c.match == matches.c.id)
            .where(matches.c.id.in_(batch))
            .order_by(matches.c.id, games.c.game)
        )
        for name, group in groupby(connection.execute(chosen), lambda row: row.id):
            found[name] = _played(list(group), tuple(entrants[name]), closed[name])
    return found


def _played(rows: Sequence[Any], entrants: tuple[str, ...], closed: float | None) -> StoredMatch:
    first = rows[0]
    games = tuple(map(stored_game, rows))
    return StoredMatch(
        first.tournament,
        first.rules,
        ClosedMatch(first.id, first.round, first.number, entrants, games),
        total_thinking(games),
        closed,
    )
