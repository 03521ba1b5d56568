"""Compare two versions by luck-adjusted results of their stored matches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from sqlalchemy import Engine

from arena.ladders.ladder_key import LadderKey
from arena.ratings.control_variates import AdjustedMean, adjusted_mean
from arena.records.analysis.engine import engine_of
from arena.records.luck_adjustment.chance_luck import Move, luck_of_game
from arena.records.luck_adjustment.values import CHANCE, POINTS, Floats, values_of
from arena.store.matches import games, results
from referee.games.registry import find
from referee.games.shared.dealing import derive
from referee.record import GameRecord, MatchRecord, read
from referee.replay import codec_of, steps

PLAYOUTS: Final = 16
"""Play-outs of a position after a chance event, and other results of each event."""


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


@dataclass(frozen=True, slots=True)
class _Game:
    """Result of a game for the first version, and its control variates."""

    score: float
    margin: float | None
    controls: Floats


def controls_of(luck: Floats, mine: Sequence[int], theirs: Sequence[int]) -> Floats:
    """Return the luck of some seats minus that of others, by kind of value and of event."""
    return np.asarray((luck[..., mine].mean(axis=-1) - luck[..., theirs].mean(axis=-1)).T)


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
    boards: list[list[_Game]] = []
    for number, match in enumerate(matches):
        progress(number / len(matches))
        by_board: dict[int, list[_Game]] = {}
        record = read(results.record(engine, match.id))
        for game in record.games:
            measured = _measured(record, game, pair, scope.clip)
            by_board.setdefault(int(game.game["board"]), []).append(measured)
        boards += by_board.values()
    controls = np.array([np.mean([game.controls for game in board], axis=0) for board in boards])
    scores = [float(np.mean([game.score for game in board])) for board in boards]
    margins = [[game.margin for game in board if game.margin is not None] for board in boards]
    complete = all(game.margin is not None for board in boards for game in board)
    bot = engine_of(scope.game)
    return AdjustedComparison(
        len(boards),
        adjusted_mean(scores, controls[:, CHANCE]),
        adjusted_mean([float(np.mean(board)) for board in margins], controls[:, POINTS])
        if complete
        else None,
        f"{bot.name} {bot.version}",
    )


def _measured(record: MatchRecord, game: GameRecord, pair: tuple[str, str], clip: int) -> _Game:
    """Return the result of a game for the first of two versions, and its control variates."""
    names = [str(name) for name, _ in record.match["entrants"]]
    first, second = map(names.index, pair)
    played = games.read(game.text, names)
    better = played.places[first] < played.places[second]
    score = better + (played.places[first] == played.places[second]) / 2
    margin = None
    if played.scores is not None:
        others = [points for at, points in enumerate(played.scores) if at != first]
        margin = float(np.clip(played.scores[first] - np.mean(others), -clip, clip))
    seating = list(map(str, game.game["seating"]))
    mine, theirs = ([at for at, name in enumerate(seating) if name == each] for each in pair)
    return _Game(score, margin, controls_of(_luck(record, game), mine, theirs))


def _luck(record: MatchRecord, game: GameRecord) -> Floats:
    rules, match = find(record.match["game"]), record.match
    assert record.seed is not None
    options = rules.settle(match["options"])
    values = values_of(rules.id, rules.sides(match["seats"], options))
    seed = derive(record.seed, "luck-adjustment", game.number)
    moves = _moves(record, game, record.seed)
    return luck_of_game(rules, match["seats"], options, values, moves, seed, PLAYOUTS)


def _moves(record: MatchRecord, game: GameRecord, seed: bytes) -> Iterator[Move]:
    """Yield the positions of a game; after a fault, the last one may lack actions.

    The position after a chance event is included in any case: whether a bot fails in it may depend
    on the cards, so that leaving it out would make the luck of the others biased.
    """
    codec = codec_of(find(record.match["game"]))
    for step in steps(record.match, game, seed):
        actions = {line["seat"]: codec.decode_json(line["action"]) for line in step.lines}
        if step.state.actors:
            yield step.state, actions
