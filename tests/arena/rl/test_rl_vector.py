"""Test that many games of self-play run as one vectorised Gymnasium environment."""

import random

import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv
from numpy.typing import NDArray

from arena.rl import SelfPlayVectorEnv, raw_env
from arena.rl.encoded_game import STANDINGS
from referee.games.registry import GAMES
from tests.errors import has_code

every_game = pytest.mark.parametrize("game", GAMES)
STEPS = 40


def sampled(masks: NDArray[np.int8], chance: random.Random) -> NDArray[np.int64]:
    """Return a random legal action of each game; 0 for a game that is over."""
    return np.array([chance.choice([*np.flatnonzero(mask).tolist()] or [0]) for mask in masks])


@every_game
def test_a_vectorised_game_is_the_same_as_a_single_one(game: str) -> None:
    vector, single, chance = SelfPlayVectorEnv(game, 2), raw_env(game), random.Random(1)
    observation, infos = vector.reset(seed=4)
    single.reset(seed=5)
    for _ in range(STEPS):
        agent = single.agent_selection
        alone = single.observe(agent)
        assert agent == f"seat_{infos['seat'][1]}"
        assert np.array_equal(alone["observation"], observation["observation"][1])
        assert np.array_equal(alone["action_mask"], observation["action_mask"][1])
        actions = sampled(observation["action_mask"], chance)
        single.step(int(actions[1]))
        observation, _, over, _, infos = vector.step(actions)
        assert infos["rewards"][1].tolist() == list(single.rewards.values())
        if over[1]:
            break


@every_game
def test_observations_are_in_the_batched_space(game: str) -> None:
    vector = SelfPlayVectorEnv(game, 3)
    vector.reset(seed=1)
    observation, rewards, over, truncated, _ = vector.step(
        sampled(vector.action_masks().astype(np.int8), random.Random(1))
    )
    assert vector.observation_space.contains(observation)
    assert rewards.shape == over.shape == truncated.shape == (3,)


@pytest.mark.parametrize("reward", STANDINGS)
def test_a_finished_game_is_dealt_again_in_the_next_step(reward: str) -> None:
    vector, chance = SelfPlayVectorEnv("saint_poker", 2, reward=reward), random.Random(2)
    observation, infos = vector.reset(seed=2)
    total, over = np.zeros(2), np.zeros(2, np.bool_)
    while not over[0]:
        acted = infos["seat"][0]
        observation, rewards, over, _, infos = vector.step(
            sampled(observation["action_mask"], chance)
        )
        total += infos["rewards"][0]
        assert rewards[0] == infos["rewards"][0][acted]
    assert np.allclose(total, STANDINGS[reward](vector.tables[0]))
    assert not observation["action_mask"][0].any()
    observation, rewards, over, _, _ = vector.step(sampled(observation["action_mask"], chance))
    assert (rewards[0], over[0]) == (0, False)
    assert observation["action_mask"][0].any()


def test_an_illegal_action_ends_only_its_game() -> None:
    vector = SelfPlayVectorEnv("poke", 2)
    vector.reset(seed=1)
    _, rewards, over, _, _ = vector.step(np.array([31, 0]))
    assert over.tolist() == [True, False]
    assert rewards.tolist() == [-1, 0]


def test_copies_are_not_overwritten() -> None:
    for copy in (True, False):
        vector = SelfPlayVectorEnv("poke", 1, copy=copy)
        before, _ = vector.reset(seed=1)
        after, *_ = vector.step(np.array([0]))
        assert np.array_equal(before["observation"], after["observation"]) == (not copy)


def test_seeds_are_one_for_each_game() -> None:
    first, other = SelfPlayVectorEnv("pouku", 2), SelfPlayVectorEnv("pouku", 2)
    first.reset(seed=3)
    other.reset(seed=[3, 4])
    assert [t.state for t in first.tables] == [t.state for t in other.tables]
    with pytest.raises(ValueError, check=has_code("seed-count")):
        first.reset(seed=[1])


def test_games_against_bots_are_vectorised_by_gymnasium() -> None:
    from arena.rl import SeatEnv

    vector = SyncVectorEnv([lambda: SeatEnv("saint_poker", against="meek")] * 2)
    observation, _ = vector.reset(seed=1)
    masks = vector.call("action_masks")
    assert np.array_equal(np.array(masks, np.int8), observation["action_mask"])
