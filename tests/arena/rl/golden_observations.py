"""Hash the observations and masks of one random game per form, for `test_rl_golden.py`.

    uv run python -m tests.arena.rl.golden_observations

writes `golden_observations.json` again. Change it only if the encoding is meant to change: trained
policies depend on it.
"""

import json
import random
from hashlib import sha256
from pathlib import Path

import numpy as np

from arena.rl import raw_env
from referee.game_checks.tables import Table
from tests.conformance.tables import TABLES

FILE = Path(__file__).with_suffix(".json")
STEPS = 120


def observation_hash(table: Table) -> str:
    """Return the hash of what every seat observes in the first steps of random games."""
    environment = raw_env(table.game.id, seats=table.seats, options=table.options)
    chance, digest = random.Random(5), sha256()
    environment.reset(seed=5)
    for _ in range(STEPS):
        if any(environment.terminations.values()):
            environment.reset()
        for agent in environment.agents:
            observation = environment.observe(agent)
            digest.update(observation["observation"].tobytes())
            digest.update(observation["action_mask"].tobytes())
        mask = environment.observe(environment.agent_selection)["action_mask"]
        environment.step(chance.choice(np.flatnonzero(mask).tolist()))
    return digest.hexdigest()


if __name__ == "__main__":
    hashes = {str(table): observation_hash(table) for table in TABLES}
    FILE.write_text(json.dumps(hashes, indent=1) + "\n", encoding="utf-8")
