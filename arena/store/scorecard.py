"""The games of a match that is over, as one reads them off a card: results without the records."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sqlalchemy import Engine, select

from arena.results import ClosedGame
from arena.store import schema
from arena.store.database import reading
from arena.store.schema import OPEN
from arena.thinking import Thinking


@dataclass(frozen=True, slots=True)
class ScoredGame:
    """A game of a match.

    thinking: how long each entrant took for its decisions; empty if it was never counted.
    slowest_ms: the longest decision of any seat, if that was counted.
    committed: when it was stored, in seconds since 1970.
    """

    game: int
    table: int
    board: int
    result: ClosedGame
    thinking: tuple[Thinking, ...]
    slowest_ms: float
    committed: float


def scorecard(engine: Engine, match: str) -> tuple[ScoredGame, ...]:
    """The games of a match by their numbers; none while it is open, or where there is no match."""
    games, matches = schema.games, schema.matches
    query = (
        select(
            *games.c["game", "table_number", "board", "places", "scores", "verdicts", "faults"],
            *games.c["thinking", "tally", "committed"],
        )
        .join(matches, matches.c.id == games.c.match)
        .where(games.c.match == match, matches.c.state.not_in(OPEN))
        .order_by(games.c.game)
    )
    with reading(engine) as connection:
        rows = connection.execute(query).all()
    return tuple(
        ScoredGame(
            row.game,
            row.table_number,
            row.board,
            ClosedGame(
                row.game,
                tuple(row.places),
                None if row.scores is None else tuple(row.scores),
                tuple(row.verdicts),
                tuple(row.faults),
            ),
            tuple(map(Thinking.read, row.thinking or ())),
            max(row.tally.get("slowest_ms", (math.inf,))),
            row.committed,
        )
        for row in rows
    )
