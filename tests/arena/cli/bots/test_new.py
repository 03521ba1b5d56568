"""A starter bot: `pokearena new`."""

import re
import shutil
import tomllib
from pathlib import Path

import pytest

from arena.bots import manifest
from arena.bots.resolver import house_folder
from arena.cli.bots import new
from referee.games.registry import GAMES
from tests.arena.cli.terminal import Cli

LANGUAGES = new.languages()
every_language = pytest.mark.parametrize("language", LANGUAGES)


def test_a_starter_plays_at_once(cli: Cli) -> None:
    said = cli("new", "my_bot")
    assert said.status == 0
    assert said.last == "next  pokearena play poke ./my_bot sample:random --watch"
    assert cli("play", "poke", "my_bot", "sample:meek").status == 0
    assert cli("play", "saint_poker", "my_bot", "sample:meek").status == 0


def test_a_starter_plays_every_game(cli: Cli) -> None:
    cli("new", "mine")
    said = tomllib.loads(Path("mine/bot.toml").read_text())
    assert set(said["games"]) == set(GAMES)


def test_hints_work_as_they_stand_under_uv(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_RUN_RECURSION_DEPTH", "1")
    assert cli("new", "mine").last.startswith("next  uv run pokearena play poke ./mine ")


def test_it_has_everything_a_bot_needs_and_bears_the_name_of_its_folder(cli: Cli) -> None:
    said = cli("new", "Der Bot")
    folder = Path("Der Bot")
    assert 'name = "der-bot"' in (folder / "bot.toml").read_text()
    for file in ("bot.py", "README.md", "pokearena_bot.py", "pokearena/v1/bot_pb2.py"):
        assert (folder / file).is_file()
    protocol = {path.name for path in (folder / "proto").rglob("*.proto")}
    assert protocol == {"bot.proto", *(f"{game}.proto" for game in GAMES)}
    for line in said.out.splitlines():
        assert (folder / line.removeprefix("Der Bot/").split()[0].rstrip(",")).exists()


def test_a_folder_that_holds_something_is_left_alone(cli: Cli) -> None:
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("my thesis")
    said = cli("new", "mine")
    assert said.status == 1
    assert "mine is not empty" in said.err
    assert [path.name for path in Path("mine").iterdir()] == ["thesis.txt"]


def test_an_empty_folder_is_as_good_as_a_new_one(cli: Cli) -> None:
    Path("mine").mkdir()
    assert cli("new", "mine").status == 0


def test_another_language_is_told_which_ones_there_are(cli: Cli) -> None:
    said = cli("new", "mybot", "--lang", "cobol")
    assert said.status == 2
    assert f'no starter for "cobol"; there is one for {", ".join(LANGUAGES)}.' in said.err
    assert not Path("mybot").exists()


def test_there_is_a_starter_for_every_language_that_is_promised() -> None:
    assert {"python", "go", "java", "cpp", "ruby", "c", "shell"} <= set(LANGUAGES)
    assert "house" not in LANGUAGES


@every_language
def test_a_starter_of_any_language_says_what_lies_in_it_and_how_to_see_it_play(
    cli: Cli, language: str
) -> None:
    said = cli("new", "mine", "--lang", language)
    assert said.status == 0
    assert said.last == "next  pokearena play poke ./mine sample:random --watch"
    shown = {
        Path("mine", name).resolve()
        for line in said.out.splitlines()
        for name in re.split(r"\s{2,}", line.removeprefix("mine/"))[0].split(", ")
    }
    assert all(path.exists() for path in shown)
    assert {path.name for path in shown} >= {"bot.toml", "README.md", "proto"}


@every_language
def test_the_bots_of_a_starter_are_called_by_its_folder(cli: Cli, language: str) -> None:
    cli("new", "mine", "--lang", language)
    assert manifest.read(Path("mine")).name == "mine"
    if Path("mine/greedy.toml").exists():
        assert manifest.read(Path("mine"), "greedy.toml").name == "mine-greedy"
    readme = Path("mine/README.md").read_text()
    assert "tournament run poke mine sample:greedy" in readme
    assert f"random-{language}" not in readme


def test_a_language_may_be_called_as_people_call_it(cli: Cli) -> None:
    assert cli("new", "mine", "--lang", "C++").status == 0
    assert manifest.read(Path("mine")).language == "cpp"


def test_what_was_built_in_the_repository_is_no_part_of_a_starter(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = Path("kits/house")
    house.mkdir(parents=True)
    shutil.copytree(house_folder().parent / "shell", "kits/shell")
    for left in ("target/bot", "node_modules/x/index.js", "__pycache__/x.pyc", "Some.lock"):
        Path("kits/shell", left).parent.mkdir(parents=True, exist_ok=True)
        Path("kits/shell", left).write_text("left behind")
    monkeypatch.setattr(new, "house_folder", lambda: house)
    assert cli("new", "mine", "--lang", "shell").status == 0
    assert {path.name for path in Path("mine").iterdir()} == {
        path.name for path in (house_folder().parent / "shell").iterdir()
    } - {"target", "node_modules", "__pycache__"}


def test_a_toolchain_that_is_missing_is_no_error_but_told(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    said = cli("new", "mine", "--lang", "java")
    assert said.status == 0
    assert "There is no java and no mvn on the PATH yet. Needed: Java 17 or newer" in said.err
    assert said.last.startswith("next  pokearena play")
    assert "on the PATH" not in cli("new", "other").err
