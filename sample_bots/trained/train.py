"""Train the policy against `greedy`: a few minutes on one core (docs/how-to/training.md).

    uv run --extra rl python sample_bots/trained/train.py --games 2800 --seed 1

The program plays games in the training environment. For every choice it stores the features and the
points gained from there to the end. It fits weights to them by least squares, for each round and
each kind of decision, and continues with the new weights. A share of the choices is random.
"""

import argparse
import json
import random
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import policy

from arena.rl import SeatEnv
from referee.presentation.registry import presentation_of

GAME = "saint_poker"
GENERATIONS = 8
"""Number of times that weights are fitted."""
REMEMBERED = 4
"""Number of latest generations whose games are used in a fit."""
AT_RANDOM = 0.06
RIDGE = 3.0

Lesson = tuple[str, policy.Features, float]
"""A kind of decision, the features of the choice, and the points gained from there on."""


def play(env: SeatEnv, weights: policy.Weights, chance: random.Random) -> list[Lesson]:
    """Play one game; return its lessons."""
    env.reset()
    made: list[tuple[str, policy.Features]] = []
    ahead: list[float] = []
    over = False
    while not over:
        view = env.table.view(env.seat)
        numbers = {_cards(group[0]): n for n, group in env.table.groups(env.seat).items()}
        features = policy.choices(view, [cards[0] for cards in numbers])
        choice = _chosen(features, weights.get(policy.kind(view)), chance)
        made.append((policy.kind(view), features[choice]))
        _, reward, over, _, _ = env.step(numbers[choice])
        ahead.append(reward * presentation_of(GAME).clip)
    to_come = np.cumsum(ahead[::-1])[::-1]
    lessons = zip(made, to_come, strict=True)
    return [(kind, features, float(gain)) for (kind, features), gain in lessons]


def _cards(action: Any) -> tuple[str, ...]:
    """Return the cards of an action."""
    return tuple(action.cards) if hasattr(action, "cards") else (action.card,)


def _chosen(
    features: dict[tuple[str, ...], policy.Features], weights: Any, chance: random.Random
) -> tuple[str, ...]:
    if weights is None or chance.random() < AT_RANDOM:
        return chance.choice(list(features))
    return max(features, key=lambda choice: policy.value(weights, features[choice]))


def fitted(lessons: list[Lesson]) -> dict[str, list[float]]:
    """Return the weights that fit the results of the choices best."""
    by_kind = defaultdict(list)
    for kind, features, gain in lessons:
        by_kind[kind].append((features, gain))
    weights = {}
    for kind, rows in sorted(by_kind.items()):
        table = np.array([features for features, _ in rows])
        gains = np.array([gain for _, gain in rows])
        inner = table.T @ table + RIDGE * np.eye(table.shape[1])
        weights[kind] = [round(float(w), 3) for w in np.linalg.solve(inner, table.T @ gains)]
    return weights


def train(games: int, seed: int, against: str = "greedy") -> dict[str, list[float]]:
    """Return the weights after this number of games; the same for the same seed."""
    env = SeatEnv(GAME, seats=2, against=against, reward="points")
    env.reset(seed=seed)
    chance = random.Random(seed)
    weights: dict[str, list[float]] = {}
    generations: list[list[Lesson]] = []
    began = time.process_time()
    for generation in range(GENERATIONS):
        lessons = []
        ahead = 0.0
        for _ in range(games // GENERATIONS):
            played = play(env, weights, chance)
            ahead += played[0][2]
            lessons += played
        generations = [*generations, lessons][-REMEMBERED:]
        weights = fitted([lesson for lessons in generations for lesson in lessons])
        mean = ahead / max(1, games // GENERATIONS)
        print(f"generation {generation + 1}: {mean:+.2f} points a game, "
              f"{time.process_time() - began:.0f} s", flush=True)  # fmt: skip
    return weights


def save(weights: policy.Weights, path: Path) -> None:
    """Write weights to a file, with a line for each kind of decision."""
    rows = (f'"{kind}": {json.dumps(values)}' for kind, values in weights.items())
    path.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


def main() -> None:
    """Train, and write the weights beside the bot."""
    parser = argparse.ArgumentParser(description="Train the policy of the bot `trained`.")
    parser.add_argument("--games", type=int, default=2800)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("weights.json"))
    given = parser.parse_args()
    save(train(given.games, given.seed), given.output)


if __name__ == "__main__":
    main()
