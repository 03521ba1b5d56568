"""PPO in numpy: a network with one hidden layer learns a game against a house bot.

    uv run --extra rl python docs/examples/ppo_numpy.py --game saint_poker --output policy.npz
    uv run pokearena new mybot --policy policy.npz

Proximal policy optimisation (Schulman et al., 2017, arXiv:1707.06347) with generalised advantage
estimation (Schulman et al., 2015, arXiv:1506.02438). Illegal actions have probability 0 (Huang and
Ontañón, 2020, arXiv:2006.14171).
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from arena.rl import SeatEnv

DISCOUNT, TRACE = 1.0, 0.95
CLIP, ENTROPY, VALUE = 0.2, 0.01, 0.5
EPOCHS, BATCH, RATE = 4, 256, 1e-3
ENVIRONMENTS, STEPS = 8, 64
"""Number of games at a time, and steps of each of them between two updates."""

Arrays = dict[str, Any]


def network(inputs: int, actions: int, rng: np.random.Generator, hidden: int = 64) -> Arrays:
    """Return the initial parameters; the names are those of `pokearena new --policy`."""
    return {
        "weights_0": rng.normal(0, 1 / np.sqrt(inputs), (inputs, hidden)),
        "biases_0": np.zeros(hidden),
        "weights_1": rng.normal(0, 0.01, (hidden, actions)),
        "biases_1": np.zeros(actions),
        "value_weights": np.zeros(hidden),
        "value_bias": np.zeros(()),
    }


def forward(net: Arrays, inputs: Any, masks: Any) -> tuple[Any, Any, Any]:
    """Return the hidden layer, the probabilities of the actions and the values."""
    hidden = np.tanh(inputs @ net["weights_0"] + net["biases_0"])
    logits = np.where(masks, hidden @ net["weights_1"] + net["biases_1"], -np.inf)
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances = powers / powers.sum(axis=1, keepdims=True)
    return hidden, chances, hidden @ net["value_weights"] + net["value_bias"]


def gradients(net: Arrays, batch: Arrays) -> Arrays:
    """Return the gradients of the loss of PPO over a batch."""
    hidden, chances, values = forward(net, batch["inputs"], batch["masks"])
    rows, size = np.arange(len(values)), len(values)
    chosen = chances[rows, batch["actions"]]
    ratio = chosen / batch["chances"]
    gain = batch["advantages"]
    clipped = ((gain > 0) & (ratio > 1 + CLIP)) | ((gain < 0) & (ratio < 1 - CLIP))
    # d(-ratio * gain) / d(logits), and the entropy's part, for a softmax over the legal actions
    one_hot = np.zeros_like(chances)
    one_hot[rows, batch["actions"]] = 1
    at_logits = (one_hot - chances) * np.where(clipped, 0, -ratio * gain)[:, None]
    logs = np.log(np.where(chances > 0, chances, 1))
    entropy = -(chances * logs).sum(axis=1, keepdims=True)
    at_logits += ENTROPY * chances * (logs + entropy)
    at_logits /= size
    at_values = VALUE * (values - batch["returns"]) / size
    at_hidden = at_logits @ net["weights_1"].T + np.outer(at_values, net["value_weights"])
    at_hidden *= 1 - hidden**2
    return {
        "weights_0": batch["inputs"].T @ at_hidden,
        "biases_0": at_hidden.sum(axis=0),
        "weights_1": hidden.T @ at_logits,
        "biases_1": at_logits.sum(axis=0),
        "value_weights": hidden.T @ at_values,
        "value_bias": at_values.sum(),
    }


class Adam:
    """Gradient descent with step sizes by moments (Kingma and Ba, 2014, arXiv:1412.6980)."""

    def __init__(self, net: Arrays) -> None:
        self.means = {name: np.zeros_like(array) for name, array in net.items()}
        self.squares = {name: np.zeros_like(array) for name, array in net.items()}
        self.count = 0

    def step(self, net: Arrays, slopes: Arrays) -> None:
        """Change the parameters in place."""
        self.count += 1
        norm = np.sqrt(sum((slope**2).sum() for slope in slopes.values()))
        scale = min(1.0, 0.5 / (norm + 1e-8))
        for name, slope in slopes.items():
            slope = slope * scale
            self.means[name] = 0.9 * self.means[name] + 0.1 * slope
            self.squares[name] = 0.999 * self.squares[name] + 0.001 * slope**2
            mean = self.means[name] / (1 - 0.9**self.count)
            square = self.squares[name] / (1 - 0.999**self.count)
            net[name] = net[name] - RATE * mean / (np.sqrt(square) + 1e-8)


def collect(
    envs: list[SeatEnv], seen: list[Any], sums: Any, net: Arrays, rng: np.random.Generator
) -> tuple[Arrays, list[float]]:
    """Play some steps in every game; return the batch and the rewards of the finished games.

    Args:
        envs: the games.
        seen: the latest observation of each game, which is replaced.
        sums: the rewards of the current games so far, which are changed.
        net: the parameters.
        rng: the source of random numbers.
    """
    rows: list[Arrays] = []
    totals: list[float] = []
    for _ in range(STEPS):
        inputs = np.array([each["observation"] for each in seen])
        masks = np.array([each["action_mask"] for each in seen], bool)
        _, chances, values = forward(net, inputs, masks)
        actions = np.array([rng.choice(len(row), p=row) for row in chances])
        rewards, ends = np.zeros(len(envs)), np.zeros(len(envs), bool)
        for n, env in enumerate(envs):
            seen[n], rewards[n], ends[n], _, _ = env.step(int(actions[n]))
            sums[n] += rewards[n]
            if ends[n]:
                totals.append(float(sums[n]))
                sums[n] = 0
                seen[n], _ = env.reset()
        rows.append(
            {
                "inputs": inputs,
                "masks": masks,
                "actions": actions,
                "chances": chances[np.arange(len(envs)), actions],
                "values": values,
                "rewards": rewards,
                "ends": ends,
            }
        )
    inputs = np.array([each["observation"] for each in seen])
    masks = np.array([each["action_mask"] for each in seen], bool)
    _, _, following = forward(net, inputs, masks)
    advantage = np.zeros(len(envs))
    for row in reversed(rows):
        going_on = np.where(row["ends"], 0.0, DISCOUNT)
        error = row["rewards"] + going_on * following - row["values"]
        advantage = error + going_on * TRACE * advantage
        row["advantages"], row["returns"] = advantage, advantage + row["values"]
        following = row["values"]
    return {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}, totals


def train(
    game: str, seats: int | None, against: str, steps: int, seed: int
) -> tuple[Arrays, list[float]]:
    """Return the parameters and the mean rewards per game between two updates."""
    rng = np.random.default_rng(seed)
    envs = [SeatEnv(game, seats, against=against, reward="points") for _ in range(ENVIRONMENTS)]
    sums = np.zeros(len(envs))
    seen = [env.reset(seed=seed + n)[0] for n, env in enumerate(envs)]
    net = network(envs[0].table.width, int(envs[0].action_space.n), rng)
    adam, means = Adam(net), []
    for update in range(max(1, steps // (STEPS * ENVIRONMENTS))):
        batch, totals = collect(envs, seen, sums, net, rng)
        gain = batch["advantages"]
        batch["advantages"] = (gain - gain.mean()) / (gain.std() + 1e-8)
        for _ in range(EPOCHS):
            for part in np.array_split(rng.permutation(len(gain)), max(1, len(gain) // BATCH)):
                adam.step(net, gradients(net, {name: rows[part] for name, rows in batch.items()}))
        if totals:
            means.append(float(np.mean(totals)))
            print(f"update {update + 1}: {means[-1]:+.3f} in {len(totals)} games", flush=True)
    return net, means


def main() -> None:
    """Train, and write the policy to a file."""
    parser = argparse.ArgumentParser(description="Train a policy with PPO in numpy.")
    parser.add_argument("--game", default="saint_poker")
    parser.add_argument("--seats", type=int)
    parser.add_argument("--against", default="meek", help="house bot")
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path("policy.npz"))
    given = parser.parse_args()
    net, _ = train(given.game, given.seats, given.against, given.steps, given.seed)
    seats = SeatEnv(given.game, given.seats).table.seats
    np.savez(given.output, game=given.game, seats=seats, **net)


if __name__ == "__main__":
    main()
