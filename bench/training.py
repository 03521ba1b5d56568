"""Measure the training environments with random play, in steps per second on one core.

    uv run --group bench python -m bench training

A step includes the observation and the mask of the seat to act. `raw_env` plays one game at a time;
`SelfPlayVectorEnv` plays 64, and is compared with random play by the rules alone, which needs no
observations. The targets of `raw_env` are twice the figures before observations were declared as
fields; those of the vectorised environment are ratios. Similar games of other libraries are
measured beside them.
"""

import random
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from arena.presentation.registry import presentation_of
from arena.rl import SelfPlayVectorEnv, raw_env
from bench.figure import Figure, FigureTarget, left_out
from bench.peers import peer_rate
from bench.rules import rate
from referee.games.registry import GAMES

UNIT = "steps a second"
SECONDS = 1.0
GAMES_AT_ONCE = 64
BEFORE = {"poke": 3430, "saint_poker": 3136, "pokex": 2233, "pouku": 2023, "pokino": 583}
"""Steps per second on 2026-11-24, on two shared cores."""
OF_RULES = 0.3
"""Required ratio of the vectorised environment to random play by the rules alone."""


def single_rate(game: str) -> float:
    """Return steps per second of processor time of the environment of all seats."""
    environment, chance = raw_env(game), random.Random(1)
    steps, seed, began = 0, 0, time.process_time()
    while time.process_time() < began + SECONDS:
        environment.reset(seed=seed)
        seed += 1
        while not any(environment.terminations.values()):
            mask = environment.observe(environment.agent_selection)["action_mask"]
            environment.step(chance.choice(np.flatnonzero(mask).tolist()))
            steps += 1
    return steps / (time.process_time() - began)


def vector_rate(game: str) -> float:
    """Return steps per second of processor time of the vectorised environment."""
    environment: Any = SelfPlayVectorEnv(game, GAMES_AT_ONCE, copy=False)
    chance = np.random.default_rng(1)
    observation, _ = environment.reset(seed=1)
    steps, began = 0, time.process_time()
    while time.process_time() < began + SECONDS:
        masks = observation["action_mask"]
        actions = (masks * chance.random(masks.shape)).argmax(axis=1)
        observation, *_ = environment.step(actions)
        steps += GAMES_AT_ONCE
    return steps / (time.process_time() - began)


def figures(rounds: int) -> Iterator[Figure]:
    """Yield both environments for each game, and its peers."""
    for game in GAMES:
        single, vector, rules = [], [], []
        for _ in range(rounds):
            single.append(single_rate(game))
            vector.append(vector_rate(game))
            rules.append(rate(game, seconds=SECONDS))
        target = FigureTarget(2 * BEFORE[game]) if game in BEFORE else None
        yield Figure(game, UNIT, single, "the rules alone", rules, target)
        ratio = FigureTarget(OF_RULES, of_ratio=True)
        name = f"{game}, {GAMES_AT_ONCE} games"
        yield Figure(name, UNIT, vector, "the rules alone", rules, ratio)
        for peer in presentation_of(game).peers:
            yield _beside(game, peer, rounds)


def _beside(game: str, peer: str, rounds: int) -> Figure:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pairs = [(vector_rate(game), peer_rate(peer)) for _ in range(rounds)]
    except Exception as error:
        why = str(error).strip().partition("\n")[0]
        return left_out(f"{game} beside {peer}", f"{type(error).__name__}: {why}")
    name = f"{game}, {GAMES_AT_ONCE} games"
    return Figure(name, UNIT, [ours for ours, _ in pairs], peer, [theirs for _, theirs in pairs])
