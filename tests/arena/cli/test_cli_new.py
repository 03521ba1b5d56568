"""A starter bot: `pokearena new`."""

import tomllib
from pathlib import Path

import pytest

from referee.games.registry import GAMES
from tests.arena.cli.terminal import Cli


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
        assert (folder / line.removeprefix("Der Bot/").split()[0]).exists()


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
    assert 'no starter for "cobol" yet; there is one for python' in said.err
    assert not Path("mybot").exists()
