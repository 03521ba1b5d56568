"""Test which commands load the games of installed packages, and who allows them."""

import os
import sys
from pathlib import Path

import pytest

from arena.system.structured_file import FileError
from referee.games.game_packages import SETTING
from tests.arena.cli.terminal import Cli
from tests.game_package import install_game, installed_packages

folder = pytest.fixture(installed_packages)


@pytest.fixture
def user_file(cwd: Path) -> Path:
    """Return the path of the user's file."""
    file = cwd / "user/pokearena/config.toml"
    file.parent.mkdir(parents=True)
    return file


def games_check(cli: Cli) -> dict[str, str]:
    checks = cli("doctor", "--json").json["checks"]
    return next(check for check in checks if check["name"] == "games")


def test_an_author_uses_every_installed_game_and_the_variable_is_restored(
    cli: Cli, folder: Path
) -> None:
    install_game(folder, "race-a", {"race": ""})
    result = cli("rules", "--json")
    assert "race" in [game["game"] for game in result.json]
    assert SETTING not in os.environ


def test_other_commands_import_no_package_that_a_bot_or_a_record_names(
    cli: Cli, folder: Path
) -> None:
    install_game(folder, "race-a", {"race": ""})
    result = cli("tournament", "run", "race", "sample:meek", "sample:random")
    assert (result.status, result.code) == (2, "absent-game")
    assert "race-a" in result.err
    assert "race_a" not in sys.modules


def test_the_file_of_the_user_allows_packages_for_all_commands(
    cli: Cli, folder: Path, user_file: Path
) -> None:
    install_game(folder, "race-a", {"race": ""})
    install_game(folder, "race-b", {"race": ""})
    user_file.write_text('games = ["race-b"]', encoding="utf-8")
    check = games_check(cli)
    assert check["state"] == "ok"
    assert "race of race-b 1.0, code" in check["found"]
    assert "race of race-a 1.0, not allowed" in check["found"]
    assert "race" in [game["game"] for game in cli("rules", "--json").json]
    [setting] = cli("config", "--json").json["settings"]
    assert (setting["name"], setting["value"], setting["line"]) == ("games", ["race-b"], 1)


def test_the_variable_precedes_the_file(
    cli: Cli, folder: Path, user_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_game(folder, "race-a", {"race": ""})
    install_game(folder, "race-b", {"race": ""})
    user_file.write_text('games = ["race-b"]', encoding="utf-8")
    monkeypatch.setenv(SETTING, "race-a")
    assert "race of race-a 1.0, code" in games_check(cli)["found"]


@pytest.mark.parametrize("text", ['games = ["race-a"]', "games = []"])
def test_a_project_file_allows_no_package(cli: Cli, cwd: Path, text: str) -> None:
    (cwd / "pokearena.toml").write_text(text, encoding="utf-8")
    result = cli("doctor")
    assert result.status == 2
    assert isinstance(result.error, FileError)


@pytest.mark.parametrize("value", ['"race-a"', "[1]", "true"])
def test_the_packages_are_a_list_of_names(cli: Cli, user_file: Path, value: str) -> None:
    user_file.write_text(f"games = {value}", encoding="utf-8")
    result = cli("doctor")
    assert result.status == 2
    assert isinstance(result.error, FileError)


def test_doctor_names_a_missing_package_and_a_conflict(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SETTING, "race-a")
    missing = games_check(cli)
    assert (missing["state"], missing["fix"]) == ("warn", "pip install race-a")
    install_game(folder, "race-b", {"race": ""})
    install_game(folder, "race-c", {"race": ""})
    monkeypatch.setenv(SETTING, "race-b race-c")
    conflict = games_check(cli)
    assert conflict["state"] == "fail"
    assert "race-b and race-c" in conflict["found"]


BOT = """
from pokearena_bot import run
run(lambda turn: turn.legal[-1])
"""
LINES = """
import sys
for line in sys.stdin:
    is_question = line.startswith('{"choices"')
    print('{"action":{"race":{"step":{"far":1}}}}' if is_question else "{}", flush=True)
"""


@pytest.mark.long
def test_a_game_of_a_package_is_played_and_verified(
    program: Cli, cwd: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_game(folder, "race-a", {"race": ""})
    monkeypatch.setenv("PYTHONPATH", str(folder))
    for name, source, transport in (("any", BOT, "grpc"), ("lines", LINES, "stdio")):
        (cwd / name).mkdir()
        (cwd / name / "bot.py").write_text(source, encoding="utf-8")
        (cwd / name / "bot.toml").write_text(
            f'name = "{name}"\ngames = ["race"]\nrun = ["python", "bot.py"]\n'
            f'transport = "{transport}"\n',
            encoding="utf-8",
        )
    played = program("play", "race", "any", "lines", "-n", "2", "--record", "m.jsonl")
    assert played.status == 0, played.err
    record = (cwd / "m.jsonl").read_text(encoding="utf-8")
    assert record.count('"action":{"race":{"step":{"far":2}}}') == 4
    assert record.count('"action":{"race":{"step":{"far":1}}}') == 4
    assert '"fault"' not in record
    assert program("verify", "m.jsonl").status == 1
    monkeypatch.setenv(SETTING, "race-a")
    assert program("verify", "m.jsonl").status == 0
    with (folder / "race_a.py").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert program("verify", "m.jsonl").status == 1
    assert program("replay", "m.jsonl", "--game", "0", "--no-pause").status == 0
    (folder / "race_a-1.0.dist-info").rename(folder / "race_a-2.0.dist-info")
    metadata = folder / "race_a-2.0.dist-info" / "METADATA"
    metadata.write_text("Metadata-Version: 2.1\nName: race-a\nVersion: 2.0\n", encoding="utf-8")
    for command in (("verify", "m.jsonl"), ("replay", "m.jsonl", "--game", "0", "--no-pause")):
        refused = program(*command)
        assert refused.status == 1
        shown = refused.out + refused.err
        assert "race-a 1.0" in shown
        assert "race-a 2.0" in shown
        assert "pip install race-a==1.0" in shown
