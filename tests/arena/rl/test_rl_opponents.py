"""Test bots in processes of their own as opponents in the environments."""

import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from arena.errors import BotError
from arena.rl import Clock, OpponentFault, SeatEnv, raw_env
from referee.games.shared.coded_errors import InvalidValue
from tests.arena.cli.terminal import in_own_process
from tests.errors import has_code

BOT = """
import random, sys, time
from pokearena.v1 import bot_pb2
from pokearena_bot import run

def choose(turn):
{choose}

run(choose)
"""
FIRST = "    return turn.legal[0]"


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A data folder of its own, and a check that no process is left."""
    monkeypatch.setenv("POKEARENA_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("DATABASE_URL", raising=False)
    before = children()
    yield tmp_path / "data"
    assert children() <= before


def children() -> set[str]:
    """Return the ids of this process's child processes."""
    task = Path(f"/proc/{os.getpid()}/task")
    return {n for path in task.glob("*/children") for n in path.read_text().split()}


def written(folder: Path, choose: str = FIRST, games: str = "saint_poker") -> Path:
    folder.mkdir()
    (folder / "bot.py").write_text(BOT.format(choose=choose), encoding="utf-8")
    (folder / "bot.toml").write_text(
        f'name = "{folder.name}"\nlanguage = "python"\ngames = ["{games}"]\n'
        'run = ["python", "bot.py"]\n',
        encoding="utf-8",
    )
    return folder


def play(env: SeatEnv, seed: int) -> tuple[list[float], int]:
    """Play a game at random; return the rewards and the number of decisions of all seats."""
    observation, _ = env.reset(seed=seed)
    chance = random.Random(seed)
    rewards, over = [], False
    while not over:
        number = chance.choice(np.flatnonzero(observation["action_mask"]).tolist())
        observation, reward, over, _, info = env.step(number)
        assert "fault" not in info
        rewards.append(reward)
    return rewards, len(rewards)


def test_a_bot_in_a_process_plays_like_the_same_bot_in_this_process(tmp_path: Path) -> None:
    folder = written(tmp_path / "first")
    inside = SeatEnv("saint_poker", against=lambda turn: turn.legal[0])
    outside = SeatEnv("saint_poker", against=folder)
    for seed in (1, 2):
        assert play(outside, seed) == play(inside, seed)
        assert outside.table.state == inside.table.state
    outside.close()


@pytest.mark.long
def test_a_stored_version_is_an_opponent(tmp_path: Path, data: Path) -> None:
    folder = written(tmp_path / "first")
    added = in_own_process(tmp_path, ("bot", "add", folder, "--data", data))
    assert added.status == 0, added.err
    env = SeatEnv("saint_poker", against="first@1", data=data, seat=0)
    inside = SeatEnv("saint_poker", against=lambda turn: turn.legal[0], seat=0)
    assert play(env, 3) == play(inside, 3)
    env.close()


def test_bots_have_seats_in_the_environment_of_pettingzoo(tmp_path: Path) -> None:
    folder = str(written(tmp_path / "first"))
    game = raw_env("saint_poker", seats=3, bots={0: folder, 2: lambda turn: turn.legal[0]})
    game.reset(seed=1)
    assert game.agents == ["seat_1"]
    for agent in game.agent_iter():
        observation, _, terminated, _, _ = game.last()
        legal = np.flatnonzero(observation["action_mask"])
        assert agent == "seat_1"
        game.step(None if terminated else int(legal[0]))
    assert not game.table.state.actors
    game.close()


def test_the_environment_starts_again_after_it_was_closed(tmp_path: Path) -> None:
    env = SeatEnv("saint_poker", against=written(tmp_path / "first"))
    first = play(env, 1)
    env.close()
    assert play(env, 1) == first
    env.close()


@pytest.mark.parametrize(
    ("choose", "sentence"),
    [
        ("    sys.exit('no more cards')", r"exited with status 1(.|\n)*no more cards"),
        ("    time.sleep(60)", "did not answer within 350 ms"),
        ("    return bot_pb2.Action()", "holds no action"),
        ("    return bot_pb2.Action(poke={'stand': {}})", "is an action of poke"),
        (
            "    return bot_pb2.Action(saint_poker={'river': {'card': 'AS'}})\\\n"
            "        if 'AS' not in turn.view.saint_poker.hand\\\n"
            "        else bot_pb2.Action(saint_poker={'river': {'card': 'KS'}})",
            "not legal",
        ),
    ],
)
def test_a_fault_of_a_bot_is_an_error_with_its_reason(
    choose: str, sentence: str, tmp_path: Path
) -> None:
    clock = Clock(allowance_ms=200, bank_ms=150) if "sleep" in choose else None
    env = SeatEnv("saint_poker", against=written(tmp_path / "bad", choose), seat=0, clock=clock)
    with pytest.raises(OpponentFault, match=sentence) as caught:
        play(env, 1)
    assert str(caught.value).startswith("bad: ")
    env.close()


def test_a_bot_that_does_not_start_is_an_error_with_its_output(tmp_path: Path) -> None:
    folder = written(tmp_path / "bad")
    (folder / "bot.py").write_text("raise SystemExit('not today')", encoding="utf-8")
    env = SeatEnv("saint_poker", against=folder)
    with pytest.raises(OpponentFault, match=r"bad: did not start(.|\n)*not today"):
        env.reset(seed=1)
    env.close()


def test_after_a_fault_the_next_game_starts_the_bot_again(tmp_path: Path) -> None:
    env = SeatEnv(
        "saint_poker",
        against=written(
            tmp_path / "bad", "    assert turn.game == 1 or turn.decision < 3\n" + FIRST
        ),
    )
    with pytest.raises(OpponentFault):
        play(env, 1)
    play(env, 1)
    env.close()


def test_bots_that_cannot_be_used_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(BotError, check=has_code("unknown-bot")):
        SeatEnv("saint_poker", against="gredy")
    with pytest.raises(BotError, check=has_code("not-played")):
        SeatEnv("poke", against=written(tmp_path / "first"))
    with pytest.raises(InvalidValue, check=has_code("bot-seats")):
        raw_env("poke", bots={0: "greedy", 1: "greedy"})
    with pytest.raises(InvalidValue, check=has_code("bot-seats")):
        raw_env("poke", bots={2: "greedy"})


@pytest.mark.long
def test_the_example_of_the_page_runs(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "mybot")
    assert in_own_process(tmp_path, ("bot", "add", "mybot", "--data", data)).status == 0
    page = Path(__file__).parents[3] / "docs" / "how-to" / "training.md"
    code = re.findall(r"^```py\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    (example,) = (text for text in code if "mybot@1" in text)
    exec(example, {})
