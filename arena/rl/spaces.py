"""The spaces of both environments, and how a table fills them."""

from typing import Any

import numpy as np
from gymnasium import spaces

from arena.rl.table import STANDINGS, Standing, Table

Observation = dict[str, Any]
"""``observation``: numbers from -1 to 1; ``action_mask``: 1 for each action that is legal."""


def observation_space(table: Table) -> spaces.Dict:
    """The space of what a seat of a table observes."""
    return spaces.Dict(
        {
            "observation": spaces.Box(-1, 1, (table.width,), np.float32),
            "action_mask": spaces.Box(0, 1, (table.encoding.size,), np.int8),
        }
    )


def action_space(table: Table) -> spaces.Discrete:
    """The space of what a seat does."""
    return spaces.Discrete(table.encoding.size)


def observed(table: Table, seat: int) -> Observation:
    """What a seat observes; nothing is legal for one that is not asked."""
    mask = np.zeros(table.encoding.size, np.int8)
    mask[list(table.groups(seat))] = 1
    return {"observation": table.observe(seat), "action_mask": mask}


def standing(reward: str) -> Standing:
    """What is rewarded.

    Raises:
        ValueError: there is no such reward.
    """
    if reward not in STANDINGS:
        raise ValueError(f'reward is "{reward}"; it must be {" or ".join(STANDINGS)}')
    return STANDINGS[reward]
