"""Test the typed part of the Python kit and its examples, one for each game."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pokearena_bot
import pytest
from pokearena.v1.bot_pb2 import Action, ActRequest
from pokearena_bot import Bot, PokeAction, PokeChoice, PokeTurn, by_game

from arena.cli.bots.new import copy_kit
from referee.games.registry import GAMES
from tests.arena.cli.terminal import in_own_process
from tests.sample_bots.processes import question

MISTAKES = """
from pokearena_bot import PokeAction, PokeChoice, PokeTurn, PokinoTurn, run

def misspelt(turn: PokeTurn) -> PokeChoice:
    print(turn.poke.hands)
    return turn.legal[0]

def other_game(turn: PokinoTurn) -> PokeChoice:
    return PokeAction.Stand()

run(poke=misspelt, pokino=other_game)
"""
"""A program with two errors: line 5 names an unknown member, line 11 returns another game's action.
"""


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    """Return a starter bot in Python, as `pokearena new` writes it."""
    copy_kit("python", tmp_path / "mine")
    return tmp_path / "mine"


def mypy(folder: Path, *paths: str) -> list[str]:
    """Return the lines that ``mypy --strict`` prints about files of a folder."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", *paths]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=100
    )
    assert not done.stderr
    return done.stdout.splitlines()


@pytest.mark.long
def test_a_starter_bot_in_python_passes_strict_type_checks(kit: Path) -> None:
    assert mypy(kit, ".") == []
    (kit / "mistakes.py").write_text(MISTAKES)
    lines = [line.split(":")[1] for line in mypy(kit, "mistakes.py") if ": error:" in line]
    assert lines == ["5", "11"]


@pytest.mark.long
@pytest.mark.parametrize(
    "game",
    [pytest.param(name, marks=[pytest.mark.long] * (name != "poke")) for name in GAMES],
)
def test_the_example_of_each_game_beats_random_play(kit: Path, tmp_path: Path, game: str) -> None:
    sides = min(GAMES[game].seats)
    bots = [kit / "greedy.toml", *["sample:random"] * (sides - 1)]
    words = ("play", game, *bots, "--seats", sides, "-n", 2, "--seed", 7, "--json")
    done = in_own_process(tmp_path, words)
    assert done.status == 0, done.err
    example, *others = json.loads(done.out)["bots"]
    assert example["wins"] > max(bot["wins"] for bot in others)


def test_the_kit_has_a_typed_question_for_every_game() -> None:
    for game in GAMES:
        turn = ActRequest(view={game: {}})
        with pytest.raises(NotImplementedError):
            Bot().act(turn)
        assert hasattr(pokearena_bot, f"{GAMES[game].title.replace(' ', '')}Turn")


def test_a_typed_question_has_the_members_of_its_actions() -> None:
    turn = PokeTurn(question(game=3, decision=4))
    stand, draw, *_ = turn.legal
    assert isinstance(stand, PokeAction.Stand)
    assert isinstance(draw, PokeAction.Draw)
    assert list(draw.discards) == ["2C"]
    assert (turn.game, turn.decision, turn.seat) == (3, 4, 0)
    assert turn.poke.phase == "draw"


def test_actions_of_a_game_are_wrapped_with_their_notes() -> None:
    def with_note(turn: PokeTurn) -> tuple[PokeChoice, str]:
        return PokeAction.Draw(discards=["2C", "5D"]), "two low cards"

    expected = Action(poke={"draw": {"discards": ["2C", "5D"]}})
    assert by_game(poke=with_note)(question()) == (expected, "two low cards")
    assert by_game(poke=lambda turn: turn.legal[2])(question()) == question().legal[2]


def test_a_bot_with_memory_has_a_method_for_each_game() -> None:
    class Alternating(Bot):
        number = 0

        def poke(self, turn: PokeTurn) -> PokeChoice:
            self.number += 1
            return turn.legal[self.number]

    bot = Alternating()
    assert [bot.act(question()) for _ in range(2)] == list(question().legal[1:3])


@pytest.mark.parametrize("answer", [None, b"stand", PokeAction(stand={})])
def test_an_answer_that_is_not_an_action_of_the_game_is_an_error(answer: object) -> None:
    choose = by_game(poke=lambda turn: answer)
    with pytest.raises(TypeError):
        choose(question())


def test_a_random_choice_from_the_typed_actions_is_legal() -> None:
    choose = by_game(poke=lambda turn: random.choice(turn.legal))
    assert choose(question()) in question().legal
