"""Test the files with the types of a game that `pokearena new --game` writes."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, Literal, NewType

import pytest
from pokearena.v1 import bot_pb2

from arena.bots import resolver
from arena.cli.bots.game_types import type_file
from arena.cli.bots.new import entered
from referee.games.game_packages import SETTING
from referee.games.registry import find_game
from tests.arena.cli.terminal import Cli
from tests.game_package import installed_packages
from tests.sample_games.installation import SAMPLES, install_package

folder = pytest.fixture(installed_packages)
Square = NewType("Square", str)


@dataclass(frozen=True)
class Piece:
    """A "piece" of \\ a player */."""

    at_square: Square
    worth: float | None


@dataclass(frozen=True)
class BoardView:
    pieces: tuple[Piece, ...]
    last: tuple[int, Literal["x", "o"]] | None
    is_over: bool


@dataclass(frozen=True)
class MovePiece:
    to: Piece


class Board:
    id = "board_game"
    title = "Board"
    view_type = BoardView
    action_types: ClassVar = (MovePiece,)


@pytest.fixture
def goofspiel(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_package(folder, SAMPLES / "goofspiel")
    monkeypatch.setenv(SETTING, "goofspiel-pokearena")


def module(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(text, "types", "exec"), names)  # the file under test
    return names


def test_every_type_of_a_field_is_written_for_python() -> None:
    name, text = type_file(Board(), "python")  # type: ignore[arg-type]
    assert name == "board_game_types.py"
    assert "last: tuple[int, Literal['x', 'o']] | None" in text
    written = module(text)
    assert list(written["Piece"].__annotations__) == ["atSquare", "worth"]
    assert list(written["BoardView"].__annotations__) == ["pieces", "last", "isOver"]
    assert list(written["BoardGameAction"].__annotations__) == ["movePiece"]


def test_every_type_of_a_field_is_written_for_typescript() -> None:
    _, text = type_file(Board(), "typescript")  # type: ignore[arg-type]
    for line in (
        '  "atSquare": string;',
        '  "worth": number | null;',
        '  "pieces": Piece[];',
        '  "last": [number, "x" | "o"] | null;',
        '  "isOver": boolean;',
        'export type BoardGameAction = { "movePiece": MovePiece };',
    ):
        assert line in text.splitlines()
    assert text.count("*/") == text.count("/*")


def test_the_functions_for_python_read_questions_and_write_actions(goofspiel: None) -> None:
    _, text = type_file(find_game("goofspiel"), "python")
    written = module(text)
    action = written["move"]({"bid": {"card": "2C"}})
    assert action.generic.game == "goofspiel"
    turn = SimpleNamespace(
        view=bot_pb2.View(generic=bot_pb2.GenericView(game="goofspiel", json='{"stock":5}')),
        legal=[action],
    )
    assert written["view_of"](turn) == {"stock": 5}
    assert written["actions_of"](turn) == [{"bid": {"card": "2C"}}]


def test_other_kits_get_a_sample_question_with_types(goofspiel: None) -> None:
    name, text = type_file(find_game("goofspiel"), "go")
    sample = json.loads(text)
    assert name == "goofspiel.json"
    view = sample["question"]["view"]["goofspiel"]
    assert view.keys() == sample["types"]["GoofspielView"].keys()
    assert sample["answer"]["action"] == sample["question"]["legal"][0]
    assert sample["types"]["GoofspielAction"] == {"bid?": "Bid"}


def test_a_new_bot_for_a_game_plays_only_this_game(cli: Cli, goofspiel: None) -> None:
    done = cli("new", "mybot", "--game", "goofspiel")
    assert done.status == 0
    assert "pokearena play goofspiel" in done.err + done.out
    assert 'games = ["goofspiel"]' in Path("mybot/bot.toml").read_text("utf-8").splitlines()
    readme = Path("mybot/README.md").read_text("utf-8")
    assert "| `goofspiel_types.py` |" in readme
    assert "    pokearena play goofspiel . sample:random --watch" in readme.splitlines()
    assert "greedy.toml ." not in readme
    tournament = "    pokearena tournament run goofspiel mybot sample:goofspiel-match sample:random"
    assert tournament in readme.splitlines()
    agents = Path("mybot/AGENTS.md").read_text("utf-8")
    assert "`pokearena play goofspiel . sample:goofspiel-match -n 20 --seed 7 --json`" in agents
    for text in (readme, agents):
        bots = re.findall(r"sample:[\w-]+", text)
        assert all(resolver.resolve(bot).plays("goofspiel") for bot in bots)
    assert cli("new", "other", "--game", "poke", "--lang", "sh").status == 0
    assert 'games = ["poke"]' in Path("other/bot.toml").read_text("utf-8").splitlines()
    assert cli("new", "third", "--game", "whist").status == 2
    assert cli("new", "third", "--game", "poke", "--model").status == 2
    assert not Path("third").exists()


class Quartet(Board):
    id = "quartet"
    seats = (4,)

    def settle(self, options: dict[str, Any]) -> dict[str, Any]:
        return options

    def side_count(self, seats: int, options: dict[str, Any]) -> int:
        return seats


def test_a_tournament_has_enough_different_bots_for_a_table() -> None:
    command = "    pokearena tournament run quartet mybot sample:greedy sample:random\n"
    *added, line = entered(command, Quartet()).splitlines()  # type: ignore[arg-type]
    assert added == ["    pokearena bot add . --name mybot-2"]
    bots = line.split()[4:]
    assert bots == ["mybot", "mybot-2", "sample:meek", "sample:random"]


def test_the_next_step_of_a_new_bot_names_enough_bots_for_a_table(cli: Cli) -> None:
    assert cli("new", "mybot", "--game", "pouku").status == 0
    assert cli("bot", "add", "mybot").err.splitlines()[-1].split()[-2:] == [
        "sample:greedy",
        "sample:random",
    ]
