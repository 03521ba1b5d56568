"""The commands `pokearena game`."""

import sys
from pathlib import Path

import pytest

from referee.game_checks.suite import REDEALING
from referee.games.contract import NOT_REDEALT
from referee.games.game_packages import BUILT_IN, SETTING
from tests.arena.cli.terminal import Cli
from tests.game_package import install_game, installed_packages
from tests.sample_games.installation import SAMPLES, TIC_TAC_TOE, install_package

folder = pytest.fixture(installed_packages)
NAME = "three_cards"


def test_a_new_game_is_the_template_with_its_names(cli: Cli, cwd: Path) -> None:
    assert cli("game", "new", NAME).status == 0
    written = {path.relative_to(cwd / NAME).as_posix() for path in (cwd / NAME).rglob("*.*")}
    assert f"{NAME}/game.py" in written
    assert f"{NAME}/{NAME}.md" in written
    assert f"tests/test_{NAME}.py" in written
    texts = [(cwd / NAME / path).read_text(encoding="utf-8").lower() for path in written]
    assert not any(
        "high" + space + "card" in text for text in texts for space in ("_", "-", " ", "")
    )
    assert "three-cards-pokearena" in (cwd / NAME / "pyproject.toml").read_text(encoding="utf-8")


@pytest.mark.long
def test_a_new_game_passes_its_tests_and_the_suite(
    program: Cli, cwd: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert program("game", "new", NAME).status == 0
    install_package(folder, cwd / NAME)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    tested = program("game", "test", NAME, "--json")
    assert tested.status == 0, tested.out
    assert tested.json["passed"]
    played = program("play", NAME, "sample:random", "sample:meek", "-n", "1", "--record", "m.jsonl")
    assert played.status == 0, played.err
    assert '"fault"' not in (cwd / "m.jsonl").read_text(encoding="utf-8")


@pytest.mark.long
def test_a_game_with_an_error_fails(
    program: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaked = {"return self._seen(())": "return self._seen(self.hands[0])"}
    install_package(folder, SAMPLES / "high_card", leaked)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    tested = program("game", "test", "high_card", "--json")
    assert tested.status == 1
    problems = {each["check"]: each["problems"] for each in tested.json["checks"]}
    assert problems["secrecy"]
    assert not problems["listing"]


@pytest.mark.long
def test_a_game_that_deals_nothing_again_passes_and_is_not_analysed(
    program: Cli, cwd: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SETTING, install_package(folder, TIC_TAC_TOE))
    monkeypatch.setenv("PYTHONPATH", str(folder))
    tested = program("game", "test", "tic_tac_toe", "--json")
    assert tested.status == 0, tested.out
    checks = tested.json["checks"]
    assert {each["check"] for each in checks if each["left_out"]} == set(REDEALING)
    words = ("sample:random", "sample:meek", "-n", "4", "--record", "m.jsonl")
    assert program("play", "tic_tac_toe", *words).status == 0
    assert program("verify", "m.jsonl").status == 0
    analysed = program("analyse", "m.jsonl")
    assert analysed.status == 1
    assert NOT_REDEALT in " ".join(analysed.err.split())


@pytest.mark.parametrize("name", ["Whist", "2up", "../whist", "high-card", "poke", "json", "class"])
def test_a_name_that_cannot_be_an_id_is_refused(cli: Cli, cwd: Path, name: str) -> None:
    result = cli("game", "new", name)
    assert (result.status, result.code) == (2, "game-id")
    assert not any(cwd.glob("*.toml"))


def test_a_folder_is_not_overwritten(cli: Cli, cwd: Path) -> None:
    (cwd / NAME).mkdir()
    assert cli("game", "new", NAME).code == "not-empty"
    assert not any((cwd / NAME).iterdir())


def test_the_list_has_games_that_are_not_allowed_and_imports_none(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_game(folder, "race-a", {"race": ""})
    monkeypatch.setenv(SETTING, "race-b")
    listed = cli("game", "list", "--json").json
    assert [row["game"] for row in listed] == [*BUILT_IN, "race"]
    assert (listed[-1]["package"], listed[-1]["allowed"]) == ("race-a", False)
    assert "race_a" not in sys.modules
