"""Test the house bot `champion`: legal and repeatable actions, its time limit, a won position."""

import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pokearena.v1 import bot_pb2

from arena.bots.resolver import house_folder
from bench.strength import MeasuredForm, load
from referee.game_codec import GameCodec
from referee.games.contract import State
from referee.games.registry import GAMES
from referee.games.shared.dealing import Seeded, board_seed
from tests.examples import examples
from tests.sample_bots.saint_poker_positions import third_king_in_round_7

ASKED = examples(12, 4)
"""Number of questions per form in these tests."""
every_form = pytest.mark.parametrize(
    "form",
    [
        MeasuredForm(GAMES["poke"], 2),
        pytest.param(
            MeasuredForm(GAMES["poke"], 2, {"must_beat": False}), marks=[pytest.mark.long]
        ),
        *(
            pytest.param(MeasuredForm(GAMES["saint_poker"], seats), marks=[pytest.mark.long])
            for seats in GAMES["saint_poker"].seats
        ),
        *(
            pytest.param(MeasuredForm(GAMES["pokex"], seats), marks=[pytest.mark.long])
            for seats in GAMES["pokex"].seats
        ),
        pytest.param(MeasuredForm(GAMES["pokino"], 2), marks=[pytest.mark.long]),
        pytest.param(MeasuredForm(GAMES["pokino"], 6), marks=[pytest.mark.long]),
        pytest.param(
            MeasuredForm(GAMES["pokino"], 2, dict.fromkeys(GAMES["pokino"].options, True)),
            marks=[pytest.mark.long],
        ),
        MeasuredForm(GAMES["pouku"], 3),
        pytest.param(MeasuredForm(GAMES["pouku"], 4), marks=[pytest.mark.long]),
        pytest.param(MeasuredForm(GAMES["pouku"], 4, {"teams": True}), marks=[pytest.mark.long]),
    ],
    ids=str,
)


def question(
    form: MeasuredForm, state: State, seat: int, clock: bot_pb2.Clock | None = None
) -> bot_pb2.ActRequest:
    """Return a question as the referee sends it, without the list of legal actions."""
    head = bot_pb2.ActRequest(seat=seat, luck=7, clock=clock)
    return bot_pb2.ActRequest.FromString(GameCodec(form.game).question(head, state.view(seat), ()))


def positions(form: MeasuredForm) -> Iterator[tuple[State, int]]:
    """Yield positions from all parts of a game played at random, each with a seat that acts."""
    chance = random.Random(str(form))
    state = form.game.start(Seeded(board_seed(bytes(32), 1)), form.seats, form.given)
    passed = []
    while state.actors:
        passed.append(state)
        state = state.play({s: chance.choice(list(state.legal(s))) for s in state.actors})
    phases = Counter(getattr(state, "phase", "") for state in passed)
    for phase in sorted(phases):
        of_phase = [state for state in passed if getattr(state, "phase", "") == phase]
        for position in chance.sample(of_phase, min(ASKED, len(of_phase))):
            yield position, chance.choice(position.actors)


@every_form
def test_champion_plays_legally_and_deterministically(form: MeasuredForm) -> None:
    choose, again = (load("champion", form.start(0)) for _ in range(2))
    codec = GameCodec(form.game)
    for state, seat in positions(form):
        action, note = choose(question(form, state, seat))
        assert codec.decode(action) in state.legal(seat)
        assert again(question(form, state, seat)) == (action, note)


@every_form
def test_champion_answers_at_once_without_time(form: MeasuredForm) -> None:
    choose, codec = load("champion", form.start(0)), GameCodec(form.game)
    late = bot_pb2.Clock(allowance_ms=0, bank_ms=0)
    for state, seat in positions(form):
        action, note = choose(question(form, state, seat, late))
        assert codec.decode(action) in state.legal(seat)
        assert note == ""


@pytest.mark.long
def test_champion_shows_a_deciding_third_king() -> None:
    """Round 7 decides: with 19 points to 10, the last round does not matter."""
    state = third_king_in_round_7((12, 10))
    form = MeasuredForm(GAMES["saint_poker"], 2)
    action, _ = load("champion", form.start(0))(question(form, state, 0))
    assert "KC" in GameCodec(form.game).decode(action).cards


@pytest.mark.long
def test_training_continues_from_its_checkpoint(tmp_path: Path) -> None:
    """A run that is stopped after one generation ends with the weights of a run without a stop."""
    folder = tmp_path / "champion"
    shutil.copytree(house_folder() / "champion", folder, ignore=shutil.ignore_patterns("*.npz"))

    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}

    def trained(name: str, *generations: int) -> dict[str, Any]:
        output = tmp_path / name
        for number in generations:
            command = [sys.executable, "train_saint_poker.py", "--games", "40", "--output"]
            more = ["--generations", str(number), "--seats", "2"]
            subprocess.run([*command, str(output), *more], cwd=folder, env=env, check=True)
        with np.load(output) as stored:
            return dict(stored)

    at_once, stopped = trained("at_once.npz", 2), trained("stopped.npz", 1, 2)
    assert at_once.keys() == stopped.keys()
    for name, values in at_once.items():
        np.testing.assert_allclose(values, stopped[name], rtol=1e-9, atol=1e-9)
