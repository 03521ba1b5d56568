"""Choose among many candidates in stages: each one plays out fewer candidates more often."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from answer import Hurry
from numpy.typing import NDArray

Stages = Sequence[tuple[int, int]]
"""Candidates of each stage, at most, and the number of its playouts."""
FEWEST_WORLDS = 4
Candidate = TypeVar("Candidate")


def best_in_stages(
    candidates: Sequence[Candidate],
    stages: Stages,
    nodes: float,
    hurry: Hurry,
    values: Callable[[list[Candidate], int], NDArray[np.float64]],
) -> tuple[Candidate, float, int]:
    """Return the best candidate, its mean value on the scale of -1 to 1, and the playouts.

    Args:
        candidates: the candidates, the most promising first.
        stages: the stages.
        nodes: multiplies the numbers of playouts.
        hurry: whether the time is nearly used up, which ends the search before the next stage.
        values: returns the sum of the values, 0 to 1, of each candidate in a number of worlds.
    """
    alive, totals = list(candidates), np.zeros(len(candidates))
    worlds, playouts = 0, 0
    for most, budget in stages:
        if hurry() or len(alive) == 1:
            break
        alive, totals = alive[:most], totals[:most]
        number = max(FEWEST_WORLDS, round(budget * nodes / len(alive)))
        totals = totals + values(alive, number)
        worlds += number
        playouts += number * len(alive)
        # Rounded, so that the last digits of sums do not decide.
        order = np.argsort(-np.round(totals, 9), kind="stable")
        alive, totals = [alive[place] for place in order], totals[order]
    value = 2 * float(totals[0]) / worlds - 1 if worlds else 0.0
    return alive[0], value, playouts
