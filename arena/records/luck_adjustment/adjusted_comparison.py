"""Compare two versions by luck-adjusted results of their stored matches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Engine

from arena.ladders.ladder_key import LadderKey
from arena.records.analysis.engine import engine_of
from arena.records.luck_adjustment.board_results import (
    AdjustedResult,
    BoardResult,
    adjusted_result,
    board_results,
)
from arena.records.luck_adjustment.match_luck import MatchLuck, luck_of_match, method_of
from arena.store.idle_results import LUCK
from arena.store.matches import results
from referee.record import read


@dataclass(frozen=True, slots=True)
class AdjustedComparison:
    """Luck-adjusted results of the first version against the second.

    Attributes:
        result: the results of the first version.
        engine: name and version of the bot whose policy plays the playouts.
    """

    result: AdjustedResult
    engine: str

    def to_json(self) -> dict[str, object]:
        return {**self.result.to_json(), "engine": self.engine}


def compare_adjusted(
    engine: Engine,
    scope: LadderKey,
    pair: tuple[str, str],
    progress: Callable[[float], None] = lambda share: None,
) -> AdjustedComparison:
    """Compare two versions by their boards in a ladder.

    Args:
        pair: versions as ``name@number``.
        progress: receives the share of the work that is done.

    Raises:
        NoEngine: no engine plays the game.
        ValueError: there are too few boards.
    """
    matches = [
        match
        for match in results.closed(engine, scope.tournaments, pair)
        if set(pair) <= set(match.entrants)
    ]
    boards: list[BoardResult] = []
    for number, match in enumerate(matches):
        progress(number / len(matches))
        first, second = map(match.entrants.index, pair)
        luck = _luck(engine, match.id, scope.game)
        boards += board_results(match, luck, first, (second,), scope.clip)
    bot = engine_of(scope.game)
    return AdjustedComparison(adjusted_result(boards), f"{bot.name} {bot.version}")


def _luck(engine: Engine, match: str, game: str) -> MatchLuck:
    """Return the stored luck of a match, or measure it."""
    stored = LUCK.find(engine, match)
    if stored is not None and stored["method"] == method_of(game):
        return MatchLuck.from_json(stored)
    return luck_of_match(read(results.record(engine, match)))
