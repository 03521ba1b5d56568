"""The slowest decision of every entrant of a match that is over, without reading all its games."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Engine

from arena.pace import Decision, made
from arena.store import results
from arena.store.scorecard import ScoredGame
from referee.record import read_games


def slowest(
    engine: Engine, match: str, entrants: Sequence[str], games: Sequence[ScoredGame]
) -> list[Decision | None]:
    """By entrant; None for who made no decision, or whose times were never counted.

    games: the scorecard of the match.
    """
    return [_slowest(engine, match, name, at, games) for at, name in enumerate(entrants)]


def _slowest(
    engine: Engine, match: str, name: str, at: int, games: Sequence[ScoredGame]
) -> Decision | None:
    """Only games that share the last bin of its times can hold it, as a rule one or two."""
    longest = [(game.thinking[at].quantile(1.0) or 0.0, game) for game in games if game.thinking]
    last = max((time for time, _ in longest), default=0.0)
    holding = [game for time, game in longest if time == last > 0]
    found: Decision | None = None
    for game in sorted(holding, key=lambda one: (-one.slowest_ms, one.game)):
        if found is not None and found.ms >= game.slowest_ms:
            break
        (record,) = read_games(results.game_record(engine, match, game.game))
        decisions = [] if found is None else [found]
        found = max([*decisions, *made([record], name)], key=lambda one: one.ms, default=found)
    return found
