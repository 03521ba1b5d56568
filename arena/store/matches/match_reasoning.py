"""Store the reasoning and usage of bots beside the records, which contain the hashes.

Each row has the line of one seat in one game (`referee.reasoning`), so that the data of one owner
can be read and deleted without that of the opponents. Reasoning can describe hidden cards, and is
the work of its author: the functions return nothing while a match is open, and the caller names the
versions that it may show.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Collection
from typing import Any, Final

from sqlalchemy import Engine, or_, select

from arena.ratings.closed_match import PlayedGame
from arena.store import schema
from arena.store.database import read_rows
from arena.store.schema import MatchState

_GZIP_LEVEL: Final = 6


def reasoning_values(match: str, game: PlayedGame) -> list[dict[str, Any]]:
    """Return the rows of `reasoning` for a game of this match."""
    if not any(game.reasoning):
        return []
    head, _, _ = game.record.partition("\n")
    seating = json.loads(head)["seating"]
    return [
        {
            "match": match,
            "game": game.game,
            "seat": seat,
            "version": seating[seat],
            "line": gzip.compress(line.encode(), _GZIP_LEVEL, mtime=0),
        }
        for seat, line in enumerate(game.reasoning)
        if line
    ]


def reasoning_lines(
    engine: Engine,
    match: str,
    *,
    game: int | None = None,
    versions: Collection[str] | None = None,
) -> tuple[str, ...]:
    """Return the lines of a closed match, by game and seat; empty for a match in another state.

    Args:
        versions: only the lines of these versions, as ``name@number``; None: of all, which only the
            organiser may see.
    """
    table, matches = schema.reasoning, schema.matches
    query = (
        select(table.c.line)
        .join(matches, matches.c.id == table.c.match)
        .where(table.c.match == match, matches.c.state == MatchState.CLOSED)
        .order_by(table.c.game, table.c.seat)
    )
    if game is not None:
        query = query.where(table.c.game == game)
    if versions is not None:
        query = query.where(table.c.version.in_(versions))
    return tuple(gzip.decompress(line).decode() for line in read_rows(engine, query).scalars())


def readable_versions(engine: Engine, match: str, owner: str = "") -> tuple[str, ...]:
    """Return the versions of a match whose reasoning an owner may read.

    Args:
        owner: the name of the owner; empty: everybody, who may read published reasoning.
    """
    sides, versions, bots = schema.match_entrants, schema.versions, schema.bots
    is_readable = bots.c.publishes_reasoning == 1
    if owner:
        is_readable = or_(is_readable, bots.c.owner == owner)
    query = (
        select(sides.c.version)
        .join(versions, versions.c.id == sides.c.version)
        .join(bots, bots.c.name == versions.c.name)
        .where(sides.c.match == match, is_readable)
        .order_by(sides.c.position)
    )
    return tuple(read_rows(engine, query).scalars())
