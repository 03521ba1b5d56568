"""Test the training program sample_bots/trained (docs/how-to/training.md) and the trained bot."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from arena.bots.in_process import Choose, load
from bench.strength import MeasuredForm, play, score
from referee.game_checks.random_games import dice
from referee.game_codec import GameCodec
from referee.games.registry import GAMES
from referee.games.shared.cards import DECK
from referee.games.shared.poker import best_hand

TRAINED = Path(__file__).parents[3] / "sample_bots" / "trained"
FORM = MeasuredForm(GAMES["saint_poker"], 2)
Z95 = 1.96


@pytest.fixture
def training(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(TRAINED)
    names = ("train", "policy", "strength")
    import train  # type: ignore[import-not-found]

    yield train
    for name in names:
        sys.modules.pop(name, None)


def duel(first: Choose, other: Choose, boards: int) -> tuple[float, float]:
    """Return the mean score of one bot over mirrored boards, and half of its 95 % interval."""
    codec, means = GameCodec(FORM.game), []
    for board in range(1000, 1000 + boards):
        seatings = ((first, other), (other, first))
        scores = [score(play(FORM, codec, board, s), (0, 1), n) for n, s in enumerate(seatings)]
        means.append(sum(scores) / 2)
    mean = sum(means) / boards
    spread = (sum((value - mean) ** 2 for value in means) / (boards - 1)) ** 0.5
    return mean, Z95 * spread / boards**0.5


def test_its_hand_comparison_matches_the_rules(training: ModuleType) -> None:
    import strength  # type: ignore[import-not-found]

    rng = dice("strength")
    for case in range(1500):
        few = [card for card in DECK if card[1] in "CD"] if case % 2 else list(DECK)
        size = rng.choice((5, 6, 7))
        first, other = rng.sample(few, size), rng.sample(few, size)
        mine, theirs = (strength.worth(strength.counted(hand), hand) for hand in (first, other))
        right, left = best_hand(first), best_hand(other)
        assert (mine > theirs, mine == theirs) == (right > left, right == left), (first, other)


@pytest.mark.long
def test_the_same_seed_trains_the_same_weights(training: ModuleType) -> None:
    assert training.train(8, 3) == training.train(8, 3) != training.train(8, 4)


def test_every_kind_of_decision_has_weights() -> None:
    weights = json.loads((TRAINED / "weights.json").read_text(encoding="utf-8"))
    decided = {f"{n} {phase}" for n in range(1, 9) for phase in ("river", "show", "pick_up")}
    assert set(weights) == decided - {"8 pick_up"}


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_trained_bot_beats_greedy() -> None:
    mean, half = duel(load(TRAINED), load("greedy"), 50)
    assert mean - half > 0.5


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_short_training_beats_random(training: ModuleType, tmp_path: Path) -> None:
    for name in ("bot.py", "policy.py", "strength.py"):
        (tmp_path / name).write_bytes((TRAINED / name).read_bytes())
    training.save(training.train(120, 1), tmp_path / "weights.json")
    mean, half = duel(load(tmp_path), load("random"), 20)
    assert mean - half > 0.5
