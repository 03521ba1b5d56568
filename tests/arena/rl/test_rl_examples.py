"""Test the examples with PyTorch; skipped if their libraries are not installed.

PyTorch has several gigabytes, so the project does not depend on these libraries. The example
in numpy is tested in tests/arena/cli/bots/test_new_policy.py.
"""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from arena.rl import SeatEnv
from tests.arena.cli.terminal import in_own_process

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
REASON = "the library, which brings PyTorch, is not installed"

pytestmark = [pytest.mark.long, pytest.mark.repetition, pytest.mark.timeout(900)]


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def plays(folder: Path, *words: str) -> None:
    new = in_own_process(folder, ("new", "learner", "--policy", *words))
    assert new.status == 0, new.err
    game = ("play", "saint_poker", "learner", "sample:meek", "--seed", "7", "--data", "data")
    played = in_own_process(folder, game)
    assert played.status == 0, played.out + played.err


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # TorchRL uses its own deprecated names.
@pytest.mark.parametrize(
    ("name", "library"), [("ppo_cleanrl", "torch"), ("ppo_torchrl", "torchrl")]
)
def test_an_example_trains_a_policy_that_plays(name: str, library: str, tmp_path: Path) -> None:
    pytest.importorskip(library, reason=REASON)
    module = example(name)
    trained = module.train("saint_poker", "meek", 1024, 1)
    module.save(trained, "saint_poker", tmp_path / "policy.npz")
    plays(tmp_path, "policy.npz")


def test_an_exported_model_of_sb3_chooses_the_actions_of_the_model(tmp_path: Path) -> None:
    sb3 = pytest.importorskip("sb3_contrib", reason=REASON)
    from arena.cli.bots import policy_source

    env = SeatEnv("saint_poker", against="meek", reward="points")
    model = sb3.MaskablePPO("MultiInputPolicy", env, n_steps=64, seed=1)
    model.learn(64)
    model.save(tmp_path / "policy.zip")
    exported = policy_source.read(tmp_path / "policy.zip", "saint_poker", 2, sampled=False)
    seen, _ = env.reset(seed=4)
    over = False
    while not over:
        action, _ = model.predict(seen, action_masks=env.action_masks(), deterministic=True)
        ratings = exported.ratings(seen["observation"], seen["action_mask"])
        legal = np.flatnonzero(seen["action_mask"])
        assert int(action) == legal[ratings[legal].argmax()]
        seen, _, over, _, _ = env.step(int(action))
    plays(tmp_path, "policy.zip", "--game", "saint_poker")
