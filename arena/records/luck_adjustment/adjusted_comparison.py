"""Compare two versions by luck-adjusted results of their stored matches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Engine

from arena.ladders.ladder_key import LadderKey
from arena.ratings.control_variates import AdjustedMean
from arena.records.analysis.engine import engine_of
from arena.records.luck_adjustment.board_results import BoardResult, adjusted_means, board_results
from arena.records.luck_adjustment.match_luck import MatchLuck, luck_of_match, method_of
from arena.store.idle_results import LUCK
from arena.store.matches import results
from referee.record import read


@dataclass(frozen=True, slots=True)
class AdjustedComparison:
    """Luck-adjusted results of the first version against the second.

    Attributes:
        boards: number of boards; each board with all its games is one observation.
        score: the mean score of a game, 0 to 1.
        points: the mean margin to the table, limited by the clip; None if a game has no scores.
        engine: name and version of the bot whose policy plays the play-outs.
    """

    boards: int
    score: AdjustedMean
    points: AdjustedMean | None
    engine: str

    def to_json(self) -> dict[str, object]:
        """Return it as plain values for JSON."""
        return {
            "boards": self.boards,
            "score": self.score.to_json(),
            "points_per_board": None if self.points is None else self.points.to_json(),
            "engine": self.engine,
        }


def compare_adjusted(
    engine: Engine,
    scope: LadderKey,
    pair: tuple[str, str],
    progress: Callable[[float], None] = lambda share: None,
) -> AdjustedComparison:
    """Compare two versions by their boards in a ladder.

    Args:
        engine: the store.
        scope: the ladder.
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
    score, points = adjusted_means(boards)
    bot = engine_of(scope.game)
    return AdjustedComparison(len(boards), score, points, f"{bot.name} {bot.version}")


def _luck(engine: Engine, match: str, game: str) -> MatchLuck:
    """Return the stored luck of a match, or measure it."""
    stored = LUCK.find(engine, match)
    if stored is not None and stored["method"] == method_of(game):
        return MatchLuck.from_json(stored)
    return luck_of_match(read(results.record(engine, match)))
