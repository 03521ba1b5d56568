"""Test how games of installed packages are found, allowed and refused."""

import subprocess
import sys
from pathlib import Path

import pytest

from referee.games import game_packages
from referee.games.contract import SetupError
from referee.games.game_packages import SETTING
from referee.games.registry import GAMES, find_game
from tests.game_package import install_game, installed_packages

folder = pytest.fixture(installed_packages)


def refused(game: str) -> str:
    with pytest.raises(SetupError) as error:
        find_game(game)
    return error.value.code


def test_a_game_of_an_allowed_package_is_registered_after_the_built_in_ones(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_game(folder, "race-a", {"race": ""})
    monkeypatch.setenv(SETTING, "other, Race_A")
    assert list(GAMES) == [*game_packages.BUILT_IN, "race"]
    assert len(GAMES) == 6
    assert "race_a" not in sys.modules
    assert find_game("race").title == "Race"


def test_an_installed_package_that_is_not_allowed_is_named_and_not_imported(folder: Path) -> None:
    install_game(folder, "race-a", {"race": ""})
    assert "race" not in GAMES
    assert refused("race") == "absent-game"
    assert "race_a" not in sys.modules


@pytest.mark.parametrize("setting", ["race-a", "race-a poke-x"])
def test_an_allowed_package_that_is_not_installed_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    monkeypatch.setenv(SETTING, setting)
    assert game_packages.missing_packages() == tuple(sorted(setting.split()))
    assert refused("race") == "absent-game"
    assert find_game("poke").id == "poke"


def test_every_installed_package_is_allowed_on_the_machine_of_an_author(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_game(folder, "race-a", {"race": ""})
    monkeypatch.setenv(SETTING, game_packages.ALL)
    assert "race" in GAMES
    assert not game_packages.missing_packages()


def test_two_packages_with_one_game_are_an_error_that_names_both(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_game(folder, "race-a", {"race": ""})
    install_game(folder, "race-b", {"race": ""})
    monkeypatch.setenv(SETTING, "race-a race-b")
    with pytest.raises(SetupError, match=r"race-a and race-b") as error:
        list(GAMES)
    assert error.value.code == "game-twice"
    monkeypatch.setenv(SETTING, "race-b")
    assert find_game("race").title == "Race"


@pytest.mark.parametrize("game", ["poke", "saint_poker"])
def test_a_built_in_game_is_not_replaced(
    folder: Path, monkeypatch: pytest.MonkeyPatch, game: str
) -> None:
    install_game(folder, "race-a", {game: ""})
    monkeypatch.setenv(SETTING, "race-a")
    with pytest.raises(SetupError) as error:
        list(GAMES)
    assert error.value.code == "built-in-game"


@pytest.mark.parametrize("game", ["Race", "race-2", "race_2", "2race", "race.", "_race", "race_"])
def test_an_id_has_one_form_in_json_and_in_names_of_forms(
    folder: Path, monkeypatch: pytest.MonkeyPatch, game: str
) -> None:
    install_game(folder, "race-a", {game: ""})
    monkeypatch.setenv(SETTING, "race-a")
    with pytest.raises(SetupError) as error:
        list(GAMES)
    assert error.value.code == "game-id"


@pytest.mark.parametrize(
    ("game", "value"),
    [
        ("race", "race_a:Missing"),
        ("race", "race_missing:Race"),
        ("race", "race_a:Step"),
        ("race", "race_a:Game"),
        ("other", "race_a:Race"),
    ],
)
def test_an_entry_point_that_is_not_the_game_is_an_error_of_the_game_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch, game: str, value: str
) -> None:
    install_game(folder, "race-a", {game: value})
    monkeypatch.setenv(SETTING, "race-a")
    assert game in GAMES
    assert refused(game) == "game-not-loaded"
    assert find_game("poke").id == "poke"


def test_the_hash_of_the_code_follows_its_content(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_game(folder, "race-a", {"race": ""})
    monkeypatch.setenv(SETTING, "race-a")
    game = game_packages.packaged_games()["race"]
    before = game.code_hash
    assert game.code_hash == before
    with (folder / "race_a.py").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert game.code_hash != before


def test_a_list_of_the_games_reads_no_metadata_without_packages() -> None:
    program = (
        "import sys; from referee.games.registry import GAMES; assert 'poke' in GAMES; list(GAMES);"
        "print('importlib.metadata' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env={}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
