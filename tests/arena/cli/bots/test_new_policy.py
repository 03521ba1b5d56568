"""`pokearena new --policy`: a trained policy as a bot."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from arena.bots import manifest
from arena.cli.errors import USAGE
from arena.presentation.encodings import encoding_of
from tests.arena.cli.terminal import Cli, in_own_process

EXAMPLE = Path(__file__).parents[4] / "docs" / "examples" / "ppo_numpy.py"


@pytest.fixture(scope="module")
def ppo() -> ModuleType:
    """Import the example of the documentation."""
    spec = importlib.util.spec_from_file_location("ppo_numpy", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def save(ppo: ModuleType, file: Path, steps: int) -> None:
    """Train for some steps and save the policy as the example does."""
    net, _ = ppo.train("saint_poker", 2, "meek", steps, 1)
    np.savez(file, game="saint_poker", seats=2, **net)


@pytest.mark.long
def test_a_policy_trained_for_a_few_steps_plays_a_match(
    cli: Cli, ppo: ModuleType, tmp_path: Path
) -> None:
    save(ppo, tmp_path / "policy.npz", 1)
    command = cli("new", "learner", "--policy", "policy.npz")
    assert command.status == 0, command.err
    assert command.last == "next  pokearena test ./learner --quick"
    assert manifest.read(Path("learner")).games == ("saint_poker",)
    played = cli("play", "saint_poker", "learner", "sample:meek", "-n", "2", "--seed", "7")
    assert played.status == 0, played.out + played.err
    assert cli("bot", "add", "learner").status == 0


@pytest.mark.long
def test_an_exported_policy_passes_the_test_command(ppo: ModuleType, tmp_path: Path) -> None:
    save(ppo, tmp_path / "policy.npz", 1)
    new = in_own_process(tmp_path, ("new", "learner", "--policy", "policy.npz", "--sample"))
    assert new.status == 0, new.err
    result = in_own_process(tmp_path, ("test", "learner", "--quick"))
    assert result.status == 0, result.out + result.err
    assert in_own_process(tmp_path, ("bot", "push", "learner", "--dry-run")).status == 0


@pytest.mark.long
@pytest.mark.repetition
def test_ppo_in_numpy_learns(ppo: ModuleType) -> None:
    _, means = ppo.train("saint_poker", 2, "meek", 10_000, 1)
    quarter = len(means) // 4
    assert np.mean(means[-quarter:]) > np.mean(means[:quarter]) + 0.1


def test_the_gradients_of_the_example_are_those_of_its_loss(ppo: ModuleType) -> None:
    """Central differences of the loss over each parameter."""
    rng = np.random.default_rng(3)
    net = {name: rng.normal(0, 0.5, np.shape(a)) for name, a in ppo.network(4, 3, rng, 5).items()}
    masks = np.array([[1, 1, 0], [1, 0, 1], [1, 1, 1], [0, 1, 1]], bool)
    batch = {
        "inputs": rng.normal(size=(4, 4)),
        "masks": masks,
        "actions": np.array([0, 2, 1, 1]),
        "chances": np.array([0.5, 0.4, 0.3, 0.6]),
        "advantages": np.array([0.3, -0.2, 1.0, -1.0]),
        "returns": rng.normal(size=4),
    }

    def loss() -> float:
        _, chances, values = ppo.forward(net, batch["inputs"], masks)
        ratio = chances[np.arange(4), batch["actions"]] / batch["chances"]
        gain = batch["advantages"]
        surrogate = np.minimum(ratio * gain, np.clip(ratio, 1 - ppo.CLIP, 1 + ppo.CLIP) * gain)
        logs = np.log(np.where(chances > 0, chances, 1))
        entropy = -(chances * logs).sum(axis=1)
        squares = (values - batch["returns"]) ** 2
        return float((-surrogate - ppo.ENTROPY * entropy + ppo.VALUE / 2 * squares).mean())

    slopes = ppo.gradients(net, batch)
    for name, array in net.items():
        for place in np.ndindex(array.shape):
            kept, losses = array[place], []
            for change in (1e-5, -1e-5):
                array[place] = kept + change
                losses.append(loss())
            array[place] = kept
            assert slopes[name][place] == pytest.approx((losses[0] - losses[1]) / 2e-5, abs=1e-6)


def test_the_game_is_required_if_the_file_does_not_name_it(cli: Cli, tmp_path: Path) -> None:
    encoding = encoding_of("poke", 2)
    weights = np.zeros((encoding.layout.width, encoding.size))
    np.savez(tmp_path / "policy.npz", weights_0=weights)
    refused = cli("new", "mine", "--policy", "policy.npz")
    assert (refused.status, refused.code) == (USAGE, "no-game")
    assert not Path("mine").exists()
    assert cli("new", "mine", "--policy", "policy.npz", "--game", "poke").status == 0


def test_a_policy_for_another_form_is_refused(cli: Cli, tmp_path: Path) -> None:
    np.savez(tmp_path / "policy.npz", game="poke", weights_0=np.zeros((341, 32)))
    refused = cli("new", "mine", "--policy", "policy.npz", "--game", "saint_poker")
    assert (refused.status, refused.code) == (USAGE, "other-form")


def test_options_of_policies_require_a_policy(cli: Cli) -> None:
    assert cli("new", "mine", "--seats", "2").status == USAGE
    assert cli("new", "mine", "--sample").status == USAGE


def test_a_model_without_its_library_is_refused_with_the_name_of_the_library(
    cli: Cli, tmp_path: Path
) -> None:
    if importlib.util.find_spec("sb3_contrib") is not None:
        pytest.skip("sb3-contrib is installed")
    (tmp_path / "model.zip").write_bytes(b"")
    refused = cli("new", "mine", "--policy", "model.zip", "--game", "poke")
    assert refused.code == "no-sb3"
    assert "sb3_contrib" in refused.err


def test_a_language_cannot_be_combined_with_a_policy(cli: Cli) -> None:
    refused = cli("new", "learner", "--policy", "policy.npz", "--lang", "go")
    assert refused.status == 2
    assert not Path("learner").exists()
