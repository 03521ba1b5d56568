"""Test that every form of every game is a PettingZoo environment."""

import random
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, performance_benchmark, seed_test

from arena.rl import ArenaEnv, env, raw_env
from arena.rl.encoded_game import STANDINGS
from referee.game_checks.tables import Table
from referee.games.contract import IllegalAction, SetupError
from referee.games.registry import GAMES
from referee.games.shared.dealing import Seeded, board_seed
from tests.conformance.tables import TABLES, every_table
from tests.errors import has_code

SEED_CYCLES = 60
every_reward = pytest.mark.parametrize("reward", STANDINGS)
a_mask_makes_it_a_dict = pytest.mark.filterwarnings(
    # PettingZoo has a list of its own games with action masks, and warns about all others.
    "ignore:Observation is not a NumPy array",
    "ignore:Observation space for each agent probably should be gymnasium.spaces.box",
)


def made(table: Table, **settings: Any) -> ArenaEnv:
    return raw_env(table.game.id, seats=table.seats, options=table.options, **settings)


def wrapped(table: Table) -> Any:
    return env(table.game.id, seats=table.seats, options=table.options)


def play(environment: ArenaEnv, seed: int) -> list[dict[str, float]]:
    """Play a game at random and return the rewards of every step."""
    environment.reset(seed=seed)
    chance = random.Random(seed)
    rewards = []
    while not any(environment.terminations.values()):
        observation = environment.observe(environment.agent_selection)
        environment.step(chance.choice(np.flatnonzero(observation["action_mask"]).tolist()))
        rewards.append(dict(environment.rewards))
    return rewards


@a_mask_makes_it_a_dict
@every_table
def test_environments_pass_the_api_test_of_pettingzoo(table: Table) -> None:
    api_test(wrapped(table), num_cycles=1000)


@every_table
def test_environments_pass_the_seed_test_of_pettingzoo(table: Table) -> None:
    seed_test(lambda: wrapped(table), num_cycles=SEED_CYCLES)


@pytest.mark.long
@pytest.mark.parametrize(
    "table",
    [
        pytest.param(table, marks=[pytest.mark.repetition] * (number > 0), id=str(table))
        for number, table in enumerate(TABLES)
    ],
)
def test_environments_run_the_performance_test_of_pettingzoo(
    table: Table, capsys: pytest.CaptureFixture[str]
) -> None:
    """The benchmark measures for five seconds and has no threshold."""
    performance_benchmark(wrapped(table))
    assert "turns per second" in capsys.readouterr().out


@every_reward
@every_table
def test_rewards_sum_to_zero_and_are_at_most_one(table: Table, reward: str) -> None:
    environment = made(table, reward=reward)
    rewards = play(environment, 3)
    reward_matrix = np.array(
        [[step[agent] for agent in environment.possible_agents] for step in rewards]
    )
    first_of_side = [
        environment.table.sides.index(side) for side in sorted(set(environment.table.sides))
    ]
    assert np.allclose(reward_matrix[:, first_of_side].sum(axis=1), 0)
    assert np.abs(reward_matrix.sum(axis=0)).max() <= 1 + 1e-9
    assert np.allclose(reward_matrix.sum(axis=0), STANDINGS[reward](environment.table))


def test_first_place_is_rewarded_with_1_and_last_place_with_minus_1() -> None:
    environment = raw_env("poke")
    rewards = play(environment, 5)
    places = environment.table.game.outcome(environment.table.state, environment.table.sides).places
    assert sorted(places) == [1, 2]
    assert [rewards[-1][f"seat_{seat}"] for seat in (places.index(1), places.index(2))] == [1, -1]
    assert not any(value for step in rewards[:-1] for value in step.values())


def test_partners_get_equal_rewards() -> None:
    environment = raw_env("pokex", seats=4, reward="points")
    for step in play(environment, 1):
        assert step["seat_0"] == step["seat_2"]
        assert step["seat_1"] == step["seat_3"]


def test_simultaneous_choices_are_hidden_from_each_other() -> None:
    environment = raw_env("saint_poker", seats=3)
    environment.reset(seed=1)
    before = environment.observe("seat_1"), environment.observe("seat_2")
    assert environment.agent_selection == "seat_0"
    environment.step(4)
    assert environment.agent_selection == "seat_1"
    after = environment.observe("seat_1"), environment.observe("seat_2")
    for earlier, later in zip(before, after, strict=True):
        assert np.array_equal(earlier["observation"], later["observation"])


def test_an_illegal_action_does_not_change_the_raw_environment() -> None:
    environment = raw_env("poke")
    environment.reset(seed=1)
    state = environment.table.state
    with pytest.raises(IllegalAction, check=has_code("unknown-number")):
        environment.step(31)
    assert environment.table.state is state


def test_an_illegal_action_ends_the_wrapped_game_with_minus_1() -> None:
    environment: Any = env("poke")
    environment.reset(seed=1)
    agent = environment.agent_selection
    environment.step(31)
    assert environment.terminations[agent]
    assert environment.rewards[agent] == -1


def test_equal_seeds_deal_equal_sequences_of_games() -> None:
    first_row, other = raw_env("pouku"), raw_env("pouku")
    first_row.reset(seed=4)
    other.reset(seed=4)
    assert first_row.table.state == other.table.state
    first = first_row.table.state
    first_row.reset()
    other.reset()
    assert first_row.table.state == other.table.state != first


def test_a_board_of_a_match_can_be_played() -> None:
    luck = Seeded(board_seed(bytes(32), 3))
    environment = raw_env("poke")
    environment.reset(options={"luck": luck})
    assert environment.table.state == GAMES["poke"].start(luck)


def test_render_shows_all_hands() -> None:
    environment = raw_env("poke", render_mode="ansi")
    environment.reset(seed=1)
    drawn = environment.render()
    assert drawn is not None
    for seat in range(2):
        assert " ".join(environment.table.view(seat).hand) in drawn


def test_without_a_render_mode_nothing_is_rendered() -> None:
    environment = raw_env("poke")
    environment.reset(seed=1)
    assert environment.render() is None


def test_invalid_environments_are_refused() -> None:
    with pytest.raises(SetupError, check=has_code("unknown-game")):
        raw_env("bridge")
    with pytest.raises(SetupError, check=has_code("seats")):
        raw_env("pouku", seats=3, options={"teams": True})
    with pytest.raises(ValueError, check=has_code("reward")):
        raw_env("poke", reward="win")


def test_the_number_of_seats_follows_from_the_options() -> None:
    assert raw_env("pouku", options={"teams": True}).possible_agents == [
        "seat_0", "seat_1", "seat_2", "seat_3",
    ]  # fmt: skip


def test_without_the_extra_the_error_names_the_package() -> None:
    code = "import sys; sys.modules['pettingzoo'] = None; import arena.rl"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    line = done.stderr.splitlines()[-1]
    assert line.endswith(
        'pettingzoo is not installed; arena.rl requires pip install "pokearena[rl]"'
    )
