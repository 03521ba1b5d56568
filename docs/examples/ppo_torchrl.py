"""PPO with TorchRL: its environments, collector, masked distribution and loss.

uv pip install torchrl
uv run --no-sync python docs/examples/ppo_torchrl.py --steps 20000 --output policy.npz
uv run --no-sync pokearena new mybot --policy policy.npz
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import SerialEnv
from torchrl.envs.libs.gym import GymWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from arena.rl import SeatEnv

FRAMES, PART, EPOCHS = 512, 128, 4


def train(game: str, against: str, steps: int, seed: int, count: int = 4) -> nn.Sequential:
    """Return the network of the policy after this number of steps in `count` games at a time."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)

    def make() -> GymWrapper:
        env = SeatEnv(game, against=against, reward="points")
        return GymWrapper(env, categorical_action_encoding=True)

    table = SeatEnv(game).table
    actions = table.encoding.size
    network = nn.Sequential(nn.Linear(table.width, 64), nn.Tanh(), nn.Linear(64, actions))
    values = nn.Sequential(nn.Linear(table.width, 64), nn.Tanh(), nn.Linear(64, 1))
    actor = ProbabilisticActor(
        TensorDictModule(network, ["observation"], ["logits"]),
        in_keys={"logits": "logits", "mask": "mask"},
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    masked = TensorDictModule(lambda mask: mask.bool(), ["action_mask"], ["mask"])
    whole = TensorDictSequential(masked, actor)
    critic = ValueOperator(values, in_keys=["observation"])
    advantage = GAE(gamma=1.0, lmbda=0.95, value_network=critic, average_gae=True)
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01)
    optimizer = torch.optim.Adam(loss.parameters(), 1e-3)
    env = SerialEnv(count, make)
    env.set_seed(seed)
    collector = Collector(
        env,
        whole,
        frames_per_batch=FRAMES,
        total_frames=steps,
        auto_register_policy_transforms=True,
    )
    for number, batch in enumerate(collector):
        for _ in range(EPOCHS):
            advantage(batch)
            rows = batch.reshape(-1)
            for part in torch.randperm(len(rows)).split(PART):
                terms = loss(rows[part])
                total = terms["loss_objective"] + terms["loss_critic"] + terms["loss_entropy"]
                optimizer.zero_grad()
                total.backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
        ended = int(batch["next", "done"].sum())
        if ended:
            mean = float(batch["next", "reward"].sum()) / ended
            print(f"batch {number + 1}: {mean:+.3f} in {ended} games", flush=True)
    collector.shutdown()
    return network


def save(network: nn.Sequential, game: str, path: Path) -> None:
    """Write the policy as arrays for `pokearena new --policy`."""
    arrays = {}
    for number, layer in enumerate((network[0], network[2])):
        arrays[f"weights_{number}"] = layer.weight.detach().numpy().T
        arrays[f"biases_{number}"] = layer.bias.detach().numpy()
    np.savez(path, game=game, activation="tanh", **arrays)


def main() -> None:
    """Train, and write the policy to a file."""
    parser = argparse.ArgumentParser(description="Train a policy with TorchRL.")
    parser.add_argument("--game", default="saint_poker")
    parser.add_argument("--against", default="meek", help="house bot, or any other bot")
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path("policy.npz"))
    given = parser.parse_args()
    save(train(given.game, given.against, given.steps, given.seed), given.game, given.output)


if __name__ == "__main__":
    main()
