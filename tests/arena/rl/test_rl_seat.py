"""Test that one seat against house bots is a Gymnasium environment."""

import random
import re
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pokearena.v1 import bot_pb2

from arena.bots.in_process import load
from arena.rl import SeatEnv
from arena.rl.encoded_game import STANDINGS, EncodedGame
from referee.games.registry import GAMES
from tests.errors import has_code

every_game = pytest.mark.parametrize("game", GAMES)


def meek(question: bot_pb2.ActRequest) -> bot_pb2.Action:
    return question.legal[0]


def play(env: SeatEnv, seed: int) -> list[float]:
    observation, _ = env.reset(seed=seed)
    chance = random.Random(seed)
    rewards, over = [], False
    while not over:
        number = chance.choice(np.flatnonzero(observation["action_mask"]).tolist())
        observation, reward, over, truncated, info = env.step(number)
        assert not truncated
        assert "fault" not in info
        rewards.append(reward)
    return rewards


@every_game
def test_environments_pass_the_check_of_gymnasium(game: str) -> None:
    made = gymnasium.make(f"pokearena/{game}-v0", against="meek", render_mode="ansi")
    check_env(made.unwrapped)


@every_game
def test_a_game_against_greedy_ends_with_a_place(game: str) -> None:
    env = SeatEnv(game, against="greedy")
    rewards = play(env, 2)
    places = env.table.game.outcome(env.table.state, env.table.sides).places
    assert rewards[-1] == pytest.approx(
        np.mean(
            [
                np.sign(place - places[env.seat])
                for side, place in set(zip(env.table.sides, places, strict=True))
                if side != env.table.sides[env.seat]
            ]
        )
    )


def test_a_bot_that_requires_start_can_play() -> None:
    """`strong` needs the Start request to determine the game."""
    rewards = play(SeatEnv("poke", against="strong"), 1)
    assert rewards[-1] in (-1, 1)


def test_equal_seeds_and_choices_give_equal_games() -> None:
    first, second = SeatEnv("saint_poker", seats=3), SeatEnv("saint_poker", seats=3)
    assert play(first, 9) == play(second, 9)
    assert first.table.state == second.table.state


def test_bots_do_not_affect_global_random_numbers() -> None:
    env = SeatEnv("poke", against="random", seat=0)
    random.seed(1)
    expected = random.random()
    random.seed(1)
    env.reset(seed=1)
    assert random.random() == expected


def test_an_illegal_action_ends_the_game_with_the_worst_reward() -> None:
    env = SeatEnv("saint_poker", against=meek, reward="points")
    env.reset(seed=1)
    _, reward, over, _, info = env.step(63)
    assert (reward, over) == (-1, True)
    assert info["fault"].startswith("63 stands for nothing here")


@every_game
def test_the_method_for_masked_policies_returns_the_mask_of_the_observation(game: str) -> None:
    env = SeatEnv(game, against="meek")
    observation, _ = env.reset(seed=3)
    over = False
    while not over:
        assert env.action_masks().tolist() == observation["action_mask"].astype(bool).tolist()
        action = int(np.flatnonzero(env.action_masks())[-1])
        observation, _, over, _, _ = env.step(action)
    assert not env.action_masks().any()


@pytest.mark.parametrize("discount", [1.0, 0.9])
@pytest.mark.parametrize("seed", range(3))
def test_shaping_changes_the_discounted_return_by_the_first_potential(
    seed: int, discount: float
) -> None:
    """The difference does not depend on the actions, so optimal policies stay the same."""
    plain = SeatEnv("saint_poker", against=meek)
    shaped = SeatEnv("saint_poker", against=meek, shaping=lead_and_one, discount=discount)
    returns = [
        sum(discount**step * reward for step, reward in enumerate(play(env, seed)))
        for env in (plain, shaped)
    ]
    assert returns[1] - returns[0] == pytest.approx(-1)


def lead_and_one(table: EncodedGame) -> tuple[float, ...]:
    """Return the lead of every seat plus 1, so that the first potential is 1."""
    return tuple(1 + lead for lead in STANDINGS["points"](table))


def test_shaping_by_the_lead_rewards_points_before_the_end() -> None:
    env = SeatEnv("saint_poker", against=meek, shaping="lead")
    plain = SeatEnv("saint_poker", against=meek)
    assert any(play(env, 1)[:-1])
    assert not any(play(plain, 1)[:-1])
    assert sum(play(env, 1)) == pytest.approx(sum(play(plain, 1)))


def test_an_unknown_shaping_is_refused() -> None:
    with pytest.raises(ValueError, check=has_code("shaping")):
        SeatEnv("poke", shaping="score")


def test_the_learner_gets_the_requested_seat() -> None:
    env = SeatEnv("pokino", seats=4, against=meek, seat=2)
    for seed in range(3):
        _, info = env.reset(seed=seed)
        assert info["seat"] == env.table.actor == 2
    _, info = env.reset(options={"seat": 1})
    assert info["seat"] == 1


def test_without_a_request_the_seat_is_random() -> None:
    env = SeatEnv("saint_poker", seats=3, against=meek)
    assert {env.reset(seed=seed)[1]["seat"] for seed in range(20)} == {0, 1, 2}


def test_every_other_seat_can_have_a_different_bot() -> None:
    questions: list[tuple[str, int]] = []

    def noted(name: str, question: bot_pb2.ActRequest) -> bot_pb2.Action:
        questions.append((name, question.seat))
        return meek(question)

    env = SeatEnv(
        "pokex", seats=4, against=[lambda q: noted("a", q), lambda q: noted("b", q), meek], seat=1
    )
    play(env, 1)
    assert set(questions) == {("a", 0), ("b", 2)}


def test_invalid_seats_are_refused() -> None:
    with pytest.raises(ValueError, check=has_code("bot-count")):
        SeatEnv("saint_poker", seats=3, against=["greedy"])
    with pytest.raises(ValueError, check=has_code("seat")):
        SeatEnv("poke", seat=2)


def test_render_shows_only_the_hand_of_the_learner() -> None:
    env = SeatEnv("poke", against=meek, seat=0, render_mode="ansi")
    env.reset(seed=1)
    drawn = env.render()
    assert drawn is not None
    assert " ".join(env.table.view(0).hand) in drawn
    assert not any(card in drawn for card in env.table.view(1).hand)


def test_modules_of_bots_are_isolated(tmp_path: Path) -> None:
    """Both bots have a module of the same name."""
    choosers = []
    for word in ("one", "other"):
        folder = tmp_path / word
        folder.mkdir()
        (folder / "words.py").write_text(f'WORD = "{word}"\n', encoding="utf-8")
        (folder / "bot.py").write_text(
            "import words\nfrom pokearena_bot import run\nrun(lambda turn: words.WORD)\n",
            encoding="utf-8",
        )
        choosers.append(load(folder))
    assert [choose(bot_pb2.ActRequest()) for choose in choosers] == ["one", "other"]


@pytest.mark.parametrize("number", range(3), ids=["all seats", "many games", "one seat"])
def test_examples_of_the_page_run(number: int) -> None:
    page = Path(__file__).parents[3] / "docs" / "how-to" / "training.md"
    code = re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert len(code) == 3
    exec(code[number], {})


@pytest.mark.long
@pytest.mark.repetition
@pytest.mark.timeout(900)
def test_the_example_with_maskable_ppo_runs() -> None:
    pytest.importorskip("sb3_contrib", reason="sb3-contrib, which brings PyTorch, is not installed")
    page = Path(__file__).parents[3] / "docs" / "how-to" / "training.md"
    code = re.findall(r"^```py\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    (example,) = (text for text in code if "MaskablePPO" in text)
    exec(example, {})
