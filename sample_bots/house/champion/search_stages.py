"""Successive halving: each stage plays fewer candidates in more worlds.

A *world* is one random deal of the cards that the seat does not see. All candidates of a stage are
played in the same worlds, so their difference has less noise than their values.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from search_interface import DeadlineCheck

Stages = Sequence[tuple[int, int]]
"""For each stage: its maximum number of candidates, and its number of playouts."""
MIN_WORLDS_PER_STAGE = 4
Candidate = TypeVar("Candidate")


def best_in_stages(
    candidates: Sequence[Candidate],
    stages: Stages,
    nodes: float,
    out_of_time: DeadlineCheck,
    sum_values: Callable[[list[Candidate], int], NDArray[np.float64]],
) -> tuple[Candidate, float, int]:
    """Return the best candidate, its mean value on the scale of -1 to 1, and the playouts.

    The values of all stages are added, so later stages refine the means of earlier ones.

    Args:
        candidates: the candidates, the most promising first.
        stages: the stages.
        nodes: factor of the numbers of playouts.
        out_of_time: checked before each stage; ends the search.
        sum_values: plays candidates in a number of new worlds. Returns for each candidate the sum
            of its results over these worlds; a result is between 0 (lost) and 1 (won).
    """
    alive, totals = list(candidates), np.zeros(len(candidates))
    worlds, playouts = 0, 0
    for max_candidates, stage_playouts in stages:
        if out_of_time() or len(alive) == 1:
            break
        alive, totals = alive[:max_candidates], totals[:max_candidates]
        stage_worlds = max(MIN_WORLDS_PER_STAGE, round(stage_playouts * nodes / len(alive)))
        totals = totals + sum_values(alive, stage_worlds)
        worlds += stage_worlds
        playouts += stage_worlds * len(alive)
        # Rounding keeps the order independent of the last digits of the sums.
        order = np.argsort(-np.round(totals, 9), kind="stable")
        alive, totals = [alive[index] for index in order], totals[order]
    value = 2 * float(totals[0]) / worlds - 1 if worlds else 0.0
    return alive[0], value, playouts
