"""Builds of an author's bots in their own folders."""

from pathlib import Path
from threading import Event

import pytest

from arena.bots.resolver import local
from arena.cli import output
from arena.cli.bots import registration
from arena.cli.workspace import Workspace
from arena.errors import BotError
from tests.arena.cli.terminal import Cli
from tests.errors import has_code

MANIFEST = """
name = "mine"
build = [["mkdir", "-p", "target"], ["sh", "build.sh"]]
run = ["python", "target/bot.py"]
"""
SOURCE = (
    "import random\nfrom pokearena_bot import run\nrun(lambda turn: random.choice(turn.legal))\n"
)


@pytest.fixture
def bot_folder(tmp_path: Path) -> Path:
    """Write a bot whose build copies its source and logs that it ran."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "bot.toml").write_text(MANIFEST)
    (folder / "source.py").write_text(SOURCE)
    (folder / "build.sh").write_text("cp source.py target/bot.py && echo built >> ../builds\n")
    return folder


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "data")


def times(folder: Path) -> int:
    """Return the number of builds of the bot."""
    return len((folder.parent / "builds").read_text().splitlines())


def test_a_bot_that_has_not_changed_is_built_once(bot_folder: Path, workspace: Workspace) -> None:
    for _ in range(3):
        assert registration.up_to_date(workspace, local(bot_folder)).folder == bot_folder
    assert times(bot_folder) == 1


def test_a_bot_whose_source_has_changed_is_built_again(
    bot_folder: Path, workspace: Workspace
) -> None:
    registration.up_to_date(workspace, local(bot_folder))
    (bot_folder / "source.py").write_text(SOURCE + "# better\n")
    registration.up_to_date(workspace, local(bot_folder))
    assert times(bot_folder) == 2
    assert (bot_folder / "target" / "bot.py").read_text().endswith("# better\n")


def test_a_bot_whose_manifest_has_changed_is_built_again(
    bot_folder: Path, workspace: Workspace
) -> None:
    registration.up_to_date(workspace, local(bot_folder))
    (bot_folder / "bot.toml").write_text(MANIFEST.replace('"mine"', '"yours"'))
    registration.up_to_date(workspace, local(bot_folder))
    assert times(bot_folder) == 2


def test_missing_build_output_is_rebuilt(bot_folder: Path, workspace: Workspace) -> None:
    registration.up_to_date(workspace, local(bot_folder))
    (bot_folder / "target" / "bot.py").unlink()
    registration.up_to_date(workspace, local(bot_folder))
    assert (bot_folder / "target" / "bot.py").exists()


def test_a_failed_build_is_retried(bot_folder: Path, workspace: Workspace) -> None:
    good = (bot_folder / "build.sh").read_text()
    (bot_folder / "build.sh").write_text("exit 3\n")
    for _ in range(2):
        with pytest.raises(BotError, check=has_code("build-failed")):
            registration.up_to_date(workspace, local(bot_folder))
    (bot_folder / "build.sh").write_text(good)
    registration.up_to_date(workspace, local(bot_folder))
    assert times(bot_folder) == 1


def test_two_bots_of_one_folder_are_built_separately(
    bot_folder: Path, workspace: Workspace
) -> None:
    (bot_folder / "other.toml").write_text(MANIFEST.replace('"mine"', '"other"'))
    for _ in range(2):
        registration.up_to_date(workspace, local(bot_folder))
        registration.up_to_date(workspace, local(bot_folder / "other.toml"))
    assert times(bot_folder) == 2


@pytest.mark.long
def test_play_builds_its_bots(cli: Cli, bot_folder: Path) -> None:
    for _ in range(2):
        assert cli("play", "saint_poker", bot_folder, "sample:meek").status == 0
    assert times(bot_folder) == 1


def test_a_slow_build_prints_the_output_of_its_command(
    bot_folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed: list[str] = []

    def hint(text: str) -> None:
        printed.append(text)
        if text.strip() == "Compiling mine":
            (bot_folder / "go_on").touch()

    monkeypatch.setattr(output, "hint", hint)
    monkeypatch.setattr(output, "_PAUSE_SECONDS", 0.01)
    wait = "echo Compiling mine; until [ -e go_on ]; do sleep 0.05; done\n"
    (bot_folder / "build.sh").write_text(wait + (bot_folder / "build.sh").read_text())
    registration.up_to_date(workspace, local(bot_folder))
    assert "sh build.sh" in printed[0]
    assert (bot_folder / "target" / "bot.py").exists()


def test_a_long_operation_prints_that_it_is_still_running(monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[str] = []
    enough = Event()

    def hint(text: str) -> None:
        printed.append(text)
        if len(printed) > 1:
            enough.set()

    monkeypatch.setattr(output, "hint", hint)
    monkeypatch.setattr(output, "_PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(output, "_SIGN_OF_LIFE_SECONDS", 0.0)
    with output.long_operation("building mine: make"):
        assert enough.wait(30)
    assert printed[0] == "building mine: make"
    assert len(printed) > 2


def test_a_quick_operation_prints_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[str] = []
    monkeypatch.setattr(output, "hint", printed.append)
    monkeypatch.setattr(output, "_PAUSE_SECONDS", 600.0)
    with output.long_operation("building mine: make"):
        pass
    assert printed == []
