"""PPO in one file with PyTorch, in the style of CleanRL: SyncVectorEnv, masked logits.

    uv pip install torch
    uv run --no-sync python docs/examples/ppo_cleanrl.py --steps 50000 --output policy.npz
    uv run --no-sync pokearena new mybot --policy policy.npz

After `ppo.py` of CleanRL (Huang et al., 2022, JMLR 23(274)); illegal actions have probability 0.
"""

import argparse
from pathlib import Path

import gymnasium
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

from arena.rl import SeatEnv

DISCOUNT, TRACE, CLIP, ENTROPY, VALUE = 1.0, 0.95, 0.2, 0.01, 0.5
EPOCHS, PARTS, RATE, STEPS = 4, 4, 1e-3, 64


class Agent(nn.Module):
    """A policy and a value function, each with one hidden layer."""

    def __init__(self, inputs: int, actions: int, hidden: int = 64) -> None:
        super().__init__()
        self.policy = nn.Sequential(
            nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, actions)
        )
        self.critic = nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def distribution(self, inputs: torch.Tensor, masks: torch.Tensor) -> Categorical:
        """Return the distribution over the legal actions."""
        # The mask of a finished game is 0 everywhere; its action is ignored.
        masks = masks | ~masks.any(dim=1, keepdim=True)
        return Categorical(logits=self.policy(inputs).masked_fill(~masks, -1e9))

    def value(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the expected rewards of the rest of the game."""
        return self.critic(inputs).squeeze(-1)


def tensors(seen: dict[str, np.ndarray]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the inputs and the masks of a batch of observations."""
    return torch.as_tensor(seen["observation"]), torch.as_tensor(seen["action_mask"]).bool()


def train(game: str, against: str, steps: int, seed: int, count: int = 8) -> Agent:
    """Return the agent after this number of steps in `count` games at a time."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    games = gymnasium.vector.SyncVectorEnv(
        [lambda: SeatEnv(game, against=against, reward="points")] * count
    )
    agent = Agent(games.envs[0].table.width, int(games.single_action_space.n))
    optimizer = torch.optim.Adam(agent.parameters(), RATE, eps=1e-5)
    seen, _ = games.reset(seed=seed)
    # After the end of a game, SyncVectorEnv deals again in the next step and ignores its action.
    over = torch.zeros(count, dtype=torch.bool)
    for update in range(max(1, steps // (STEPS * count))):
        rows, total, ended = [], 0.0, 0
        for _ in range(STEPS):
            inputs, masks = tensors(seen)
            with torch.no_grad():
                chances = agent.distribution(inputs, masks)
                actions, values = chances.sample(), agent.value(inputs)
                logs = chances.log_prob(actions)
            valid = ~over
            seen, rewards, ends, _, _ = games.step(actions.numpy())
            over = torch.as_tensor(ends)
            total += float(rewards.sum())
            ended += int(ends.sum())
            gained = torch.as_tensor(rewards, dtype=torch.float32)
            rows.append((inputs, masks, actions, logs, values, gained, over, valid))
        with torch.no_grad():
            following = agent.value(tensors(seen)[0])
        advantage, targets = torch.zeros(count), []
        for _, _, _, _, values, gained, ends, valid in reversed(rows):
            going_on = torch.where(ends, 0.0, DISCOUNT)
            error = gained + going_on * following - values
            advantage = torch.where(valid, error + going_on * TRACE * advantage, 0.0)
            targets.append(advantage)
            following = values
        kept = torch.cat([row[7] for row in rows])
        inputs, masks, actions, logs, values = (
            torch.cat([row[n] for row in rows])[kept] for n in range(5)
        )
        advantages = torch.cat(targets[::-1])[kept]
        returns = advantages + values
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        for _ in range(EPOCHS):
            for part in torch.randperm(len(inputs)).chunk(PARTS):
                chances = agent.distribution(inputs[part], masks[part])
                ratio = (chances.log_prob(actions[part]) - logs[part]).exp()
                gain = advantages[part]
                surrogate = torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain)
                square = (agent.value(inputs[part]) - returns[part]) ** 2
                loss = (-surrogate - ENTROPY * chances.entropy() + VALUE / 2 * square).mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
        if ended:
            print(f"update {update + 1}: {total / ended:+.3f} in {ended} games", flush=True)
    games.close()
    return agent


def save(agent: Agent, game: str, path: Path) -> None:
    """Write the policy as arrays for `pokearena new --policy`."""
    arrays = {}
    for number, layer in enumerate((agent.policy[0], agent.policy[2])):
        arrays[f"weights_{number}"] = layer.weight.detach().numpy().T
        arrays[f"biases_{number}"] = layer.bias.detach().numpy()
    np.savez(path, game=game, activation="tanh", **arrays)


def main() -> None:
    """Train, and write the policy to a file."""
    parser = argparse.ArgumentParser(description="Train a policy with PPO in PyTorch.")
    parser.add_argument("--game", default="saint_poker")
    parser.add_argument("--against", default="meek", help="house bot, or any other bot")
    parser.add_argument("--steps", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path("policy.npz"))
    given = parser.parse_args()
    save(train(given.game, given.against, given.steps, given.seed), given.game, given.output)


if __name__ == "__main__":
    main()
