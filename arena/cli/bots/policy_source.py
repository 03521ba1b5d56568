"""Read a trained policy and write it into a folder as a bot, for `pokearena new --policy`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from arena.bots import manifest
from arena.bots.manifest import Manifest
from arena.cli.errors import CommandError, usage_error
from arena.presentation import policy
from arena.presentation.policy import Policy, PolicyError
from referee.games.registry import find_game

POLICY: Final = "policy.npz"
ARCHIVE: Final = ".zip"
"""Suffix of the files of Stable-Baselines3 and sb3-contrib."""
BOT: Final = '''"""A bot that plays with a trained policy (`pokearena new --policy`).

`policy.npz` contains the network: for each layer the weights (inputs, outputs) and the biases.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # A decision takes less time than more threads.

from pathlib import Path

from pokearena_bot import run

from arena.presentation.policy import PolicyBot

if __name__ == "__main__":
    run(PolicyBot(Path(__file__).with_name("policy.npz")))
'''
CONTENTS: Final = (
    ("bot.py", "the bot; requires only the packages of pokearena"),
    (manifest.FILE, "its name, its game and the command that runs it"),
    (POLICY, "the network as arrays"),
)
"""The files of an exported bot."""


def read(path: Path, game: str | None, seats: int | None, sampled: bool) -> Policy:
    """Read a policy from arrays (`.npz`) or from a model of sb3-contrib (`.zip`).

    `game` is not needed if the file names it; `seats` is by default the first number of the game. A
    `sampled` policy draws actions with its probabilities.

    Raises:
        PolicyError: the file is not readable or does not fit the game.
    """
    if path.suffix == ARCHIVE:
        if game is None:
            raise usage_error(f"{path} does not name its game; add --game GAME.")
        trained = _from_sb3(path, game, seats or find_game(game).seats[0])
        policy.check(trained)
    else:
        try:
            trained = policy.read(path, game, seats)
        except PolicyError as error:
            if error.code != "no-game":
                raise
            raise usage_error(f"{error} Add --game GAME.", "no-game") from None
        _check_form(path, trained, game, seats)
    return replace(trained, sampled=True) if sampled else trained


def _check_form(path: Path, trained: Policy, game: str | None, seats: int | None) -> None:
    """Raise CommandError if the file names another form than the command."""
    if (game or trained.game, seats or trained.seats) != (trained.game, trained.seats):
        raise usage_error(
            f"{path} is a policy for {trained.game} with {trained.seats} seats; "
            "omit --game and --seats.",
            "other-form",
        )


def write(trained: Policy, folder: Path, name: str) -> None:
    """Write a bot into an empty folder.

    Raises:
        OSError: a file cannot be written.
    """
    described = Manifest(
        name=name, language="python", games=(trained.game,), run=("python", "bot.py")
    )
    (folder / manifest.FILE).write_text(manifest.render(described), encoding="utf-8")
    (folder / "bot.py").write_text(BOT, encoding="utf-8")
    policy.write(trained, folder / POLICY)


def _from_sb3(path: Path, game: str, seats: int) -> Policy:
    """Return the network of a model that `MaskablePPO.save` has written.

    Loading a model runs code that the file contains, so its origin must be trusted.
    """
    try:
        from sb3_contrib import MaskablePPO
    except ModuleNotFoundError as error:
        raise CommandError(
            f"{error.name} is not installed, which {path} requires; install sb3-contrib, or save "
            "the network as arrays (.npz).",
            code="no-sb3",
        ) from None
    try:
        model = MaskablePPO.load(path, device="cpu")
    except OSError as error:
        raise PolicyError(
            f"{path} cannot be read: {error.strerror or error}.", code="unreadable"
        ) from None
    except Exception as error:  # The library raises errors of many types for a damaged file.
        reason = " ".join(str(error).split())[:200]
        raise PolicyError(
            f"{path} is not a model of MaskablePPO: {reason}", code="not-a-model"
        ) from None
    spaces = getattr(model.observation_space, "spaces", None)
    extractor = type(model.policy.features_extractor).__name__
    if extractor not in ("CombinedExtractor", "FlattenExtractor"):
        raise PolicyError(
            f"{path} has the features extractor {extractor}; only networks whose input is the "
            "observation itself can be exported.",
            code="features-extractor",
        )
    inputs = tuple(spaces) if spaces is not None else (policy.OBSERVATION,)
    layers, activation = _network(path, [*model.policy.mlp_extractor.policy_net])
    last = model.policy.action_net
    return Policy(game, seats, (*layers, _layer(last)), activation, inputs)


def _network(path: Path, modules: list[Any]) -> tuple[list[Any], str]:
    """Return the layers of a sequence of modules, and the activation between them."""
    layers, names = [], []
    for module in modules:
        if hasattr(module, "weight"):
            layers.append(_layer(module))
        else:
            names.append(type(module).__name__.lower())
    if len(set(names)) > 1 or len(names) != len(layers):
        raise PolicyError(
            f"{path} has a network other than layers with one activation after each.",
            code="network",
        )
    return layers, names[0] if names else "tanh"


def _layer(module: Any) -> tuple[Any, Any]:
    """Return the weights (inputs, outputs) and biases of a linear layer of PyTorch."""
    weights = module.weight.detach().numpy().T
    biases = np.zeros(weights.shape[1]) if module.bias is None else module.bias.detach().numpy()
    return weights.astype(np.float32), biases.astype(np.float32)
