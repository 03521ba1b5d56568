"""Train a linear agent against lowest bids; print its mean reward before and after."""

from random import Random

import numpy as np

from arena.rl import SeatEnv, env

GAMES, RATE = 150, 0.05


def opponent(turn):
    return turn.legal[0]


def probabilities(weights, seen):
    logits = np.where(seen["action_mask"] == 1, weights @ seen["observation"], -np.inf)
    raised = np.exp(logits - logits.max())
    return raised / raised.sum()


def played(table, weights, seed, learn):
    """Play a game; return the reward, and learn from it by REINFORCE."""
    chance = np.random.default_rng(seed)
    seen, _ = table.reset(seed=seed)
    steps, reward, over = [], 0.0, False
    while not over:
        chances = probabilities(weights, seen)
        number = int(chance.choice(len(chances), p=chances))
        steps.append((seen["observation"], chances, number))
        seen, change, over, _, _ = table.step(number)
        reward += change
    for observation, chances, number in steps if learn else ():
        push = -chances
        push[number] += 1
        weights += RATE * reward * np.outer(push, observation)
    return reward


def mean(table, weights):
    return sum(played(table, weights, 10_000 + seed, False) for seed in range(100)) / 100


def main():
    walk = env("goofspiel", seats=3, render_mode="ansi")
    walk.reset(seed=1)
    chance = Random(1)
    for _ in walk.agent_iter():
        seen, _, terminated, truncated, _ = walk.last()
        legal = np.flatnonzero(seen["action_mask"])
        walk.step(None if terminated or truncated else int(chance.choice(legal)))
    print(walk.render().splitlines()[0])
    table = SeatEnv("goofspiel", against=opponent, reward="places")
    weights = np.zeros((table.action_space.n, table.observation_space["observation"].shape[0]))
    before = mean(table, weights)
    for seed in range(GAMES):
        played(table, weights, seed, True)
    print(before, mean(table, weights))


main()
