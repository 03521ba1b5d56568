"""Results of an entrant on the boards of a match, and their means adjusted for its luck."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arena.ratings.closed_match import ClosedMatch, PlayedGame
from arena.ratings.control_variates import AdjustedMean, adjusted_mean
from arena.records.luck_adjustment.match_luck import MatchLuck
from arena.records.luck_adjustment.values import CHANCE, POINTS, Floats


@dataclass(frozen=True, slots=True)
class BoardResult:
    """Means over the games of a board.

    Attributes:
        score: mean score of a game against the chosen others, 0 to 1.
        margin: mean margin to the table, limited by the clip; None if a game has no scores.
        luck: mean luck against the chosen others, by kind of value and of event.
    """

    score: float
    margin: float | None
    luck: Floats


@dataclass(frozen=True, slots=True)
class AdjustedResult:
    """Means of an entrant's results, adjusted for luck; each board is one observation.

    Attributes:
        boards: number of boards.
        score: mean score of a game, 0 to 1.
        points: mean margin to the table, limited by the clip; None if a game has no scores.
    """

    boards: int
    score: AdjustedMean
    points: AdjustedMean | None

    def to_json(self) -> dict[str, object]:
        return {
            "boards": self.boards,
            "score": self.score.to_json(),
            "points_per_board": None if self.points is None else self.points.to_json(),
        }


def board_results(
    match: ClosedMatch, luck: MatchLuck, first: int, others: tuple[int, ...], clip: int
) -> list[BoardResult]:
    """Return the results of an entrant on each board of a match.

    Args:
        first: the entrant, as a place in the match's list.
        others: the entrants that it is compared with.
    """
    results = {game.game: game for game in match.games}
    by_board: dict[int, list[BoardResult]] = {}
    for game in luck.games:
        played = results[game.game]
        result = BoardResult(
            float(np.mean([played.halves(first, other) / 2 for other in others])),
            _margin(played, first, clip),
            game.difference(first, others),
        )
        by_board.setdefault(game.board, []).append(result)
    return [_mean(games) for games in by_board.values()]


def _margin(game: PlayedGame, first: int, clip: int) -> float | None:
    if game.scores is None:
        return None
    others = [points for entrant, points in enumerate(game.scores) if entrant != first]
    return float(np.clip(game.scores[first] - np.mean(others), -clip, clip))


def _mean(games: list[BoardResult]) -> BoardResult:
    margins = [game.margin for game in games if game.margin is not None]
    return BoardResult(
        float(np.mean([game.score for game in games])),
        float(np.mean(margins)) if len(margins) == len(games) else None,
        np.mean([game.luck for game in games], axis=0),
    )


def adjusted_result(boards: list[BoardResult]) -> AdjustedResult:
    """Return the means over boards, with the luck of each board as control variates.

    Raises:
        ValueError: there are too few boards.
    """
    luck = np.array([board.luck for board in boards])
    score = adjusted_mean([board.score for board in boards], luck[:, CHANCE])
    margins = [board.margin for board in boards if board.margin is not None]
    complete = len(margins) == len(boards)
    points = adjusted_mean(margins, luck[:, POINTS]) if complete else None
    return AdjustedResult(len(boards), score, points)
