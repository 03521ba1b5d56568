"""Boards played by policies of engines with random actions, and the luck of their games."""

import random
from collections.abc import Callable, Sequence
from itertools import combinations
from statistics import fmean
from typing import Final

import numpy as np
from numpy.typing import NDArray

from arena.records.analysis.engine import engine_of
from arena.records.luck_adjustment.match_luck import Move, luck_difference, luck_of_game
from arena.records.luck_adjustment.values import values_of
from bench.strength import MeasuredForm, score
from referee.games.contract import Action, State
from referee.games.shared.dealing import Seeded, board_seed, derive

PAIRS: Final = tuple(combinations((0, 3, 6, 12, 25, 50, 100), 2))[:20]
"""Pairs of policies, by their percentages of random actions."""
SEED: Final = (2).to_bytes(32, "big")
Floats = NDArray[np.float64]
Mover = Callable[[State, int, int], Action]
"""Returns the action of a seat in a position; the last argument seeds random choices."""


def mover(form: MeasuredForm, percent: int = 0) -> Mover:
    """Return the playout policy of a game, which plays a percentage of its actions at random."""
    engine = engine_of(form.game.id)

    def move(state: State, seat: int, luck: int) -> Action:
        dice = random.Random(luck)
        if dice.random() < percent / 100:
            return state.legal(seat).any(dice)
        random.seed(luck)
        return engine.move(state, seat)

    return move


def played(form: MeasuredForm, board: int, movers: Sequence[Mover]) -> list[Move]:
    """Play a board and return all its positions with the actions; none in the last one."""
    seed = board_seed(SEED, board)
    base = int.from_bytes(derive(seed, "luck", 0)[:7], "big")
    state, decision = form.game.start(Seeded(seed), form.seats, form.given), 0
    game: list[Move] = []
    while state.actors:
        moves: dict[int, Action] = {}
        for seat in state.actors:
            moves[seat] = movers[seat](state, seat, base + (decision << 3 | seat))
            decision += 1
        game.append((state, moves))
        state = state.after(moves)
    return [*game, (state, {})]


def boards_of(
    form: MeasuredForm, percents: tuple[int, int], boards: range, playouts: int
) -> tuple[Floats, Floats]:
    """Play boards with the first policy on every side in turn.

    Args:
        form: the form of the game.
        percents: the percentages of random actions of both policies.
        boards: the numbers of the boards.
        playouts: the number of playouts for each position.

    Returns:
        The results of the first policy by board, seating and kind (score, points), and their
        control variates by board, seating, kind of result and kind of chance event.
    """
    first, second = (mover(form, percent) for percent in percents)
    results, controls = [], []
    for board in boards:
        games = []
        for side in sorted(set(form.sides)):
            movers = [first if other == side else second for other in form.sides]
            games.append(_game_of(form, board, side, movers, playouts))
        results.append([result for result, _ in games])
        controls.append([luck for _, luck in games])
    return np.array(results), np.array(controls)


def _game_of(
    form: MeasuredForm, board: int, side: int, movers: Sequence[Mover], playouts: int
) -> tuple[tuple[float, float], Floats]:
    """Return the score and the lead in points of a side, and their control variates."""
    *game, (end, _) = played(form, board, movers)
    outcome = form.game.outcome(end, form.sides)
    points = dict(zip(form.sides, outcome.scores, strict=True))
    lead = points.pop(side) - fmean(points.values())
    luck = luck_of_game(
        form.game,
        form.seats,
        form.game.settle(form.given),
        values_of(form.game.id, form.sides),
        game,
        derive(board_seed(SEED, board), "luck-adjustment", side),
        playouts,
    )
    theirs = [form.sides.index(other) for other in points]
    difference = luck_difference(luck, [form.sides.index(side)], theirs)
    return (score(outcome.places, form.sides, side), lead), difference
