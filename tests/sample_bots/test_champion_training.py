"""Test that a training of `champion` repeats, and continues after a stop."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arena.bots.resolver import house_folder

pytestmark = pytest.mark.long
SMALL = {
    "poke": ("--deals", "2000", "--opponents", "1"),
    "pokex": ("--deals", "60"),
    "pokino": ("--games", "2"),
    "pouku": ("--deals", "1000"),
}
"""Arguments of a short training, by game."""
Weights = dict[str, Any]


def trained(folder: Path, game: str, name: str, generations: int, *words: str) -> Weights:
    """Train in a copy of the bot without weights, which is reused; return the stored weights."""
    bot, output = folder / "champion", folder / name
    if not bot.exists():
        shutil.copytree(house_folder() / "champion", bot, ignore=shutil.ignore_patterns("*.npz"))
    command = [sys.executable, f"train_{game}.py", "--output", str(output), *words]
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run([*command, "--generations", str(generations)], cwd=bot, env=env, check=True)
    with np.load(output) as stored:
        return dict(stored)


@pytest.mark.parametrize("game", SMALL)
def test_a_training_repeats(game: str, tmp_path: Path) -> None:
    first, second = (
        trained(tmp_path, game, name, 1, *SMALL[game]) for name in ("first.npz", "second.npz")
    )
    assert first.keys() == second.keys()
    for name, values in first.items():
        np.testing.assert_allclose(values, second[name], rtol=1e-6)
    if game == "pouku":
        parts, forms = ("discards", "leads"), (3, 4, "teams")
        assert set(first) == {f"{part}_{form}" for part in parts for form in forms}


def test_a_training_continues_from_its_checkpoint(tmp_path: Path) -> None:
    """A run that is stopped after one generation ends with the weights of a run without a stop."""
    words = ("--games", "40", "--seats", "2")
    at_once = trained(tmp_path, "saint_poker", "at_once.npz", 2, *words)
    trained(tmp_path, "saint_poker", "stopped.npz", 1, *words)
    stopped = trained(tmp_path, "saint_poker", "stopped.npz", 2, *words)
    assert at_once.keys() == stopped.keys()
    for name, values in at_once.items():
        np.testing.assert_allclose(values, stopped[name], rtol=1e-9, atol=1e-9)
