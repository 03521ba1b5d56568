"""`pokearena new`: the starter bots."""

import re
import shutil
import tarfile
from pathlib import Path
from tempfile import TemporaryFile

import pytest

from arena.bots import manifest, resolver, upload_archive
from arena.bots.resolver import house_folder
from arena.cli.bots import new
from arena.cli.errors import FAILED
from referee.games.registry import GAMES
from tests.arena.cli.terminal import Cli

LANGUAGES = new.languages()
PROTOCOL = {"bot.proto", *(f"{game}.proto" for game in GAMES)}
every_language = pytest.mark.parametrize("language", LANGUAGES)


@pytest.mark.long
def test_a_starter_bot_plays_unchanged(cli: Cli) -> None:
    command = cli("new", "my_bot")
    assert command.status == 0
    assert command.last == "next  pokearena play poke ./my_bot sample:random --watch"
    assert cli("play", "poke", "my_bot", "sample:meek").status == 0
    assert cli("play", "saint_poker", "my_bot", "sample:meek").status == 0


def test_the_next_command_begins_with_uv_run_under_uv(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_RUN_RECURSION_DEPTH", "1")
    assert cli("new", "mine").last.startswith("next  uv run pokearena play poke ./mine ")


def test_a_starter_bot_contains_all_its_files_and_has_the_name_of_its_folder(cli: Cli) -> None:
    command = cli("new", "Der Bot")
    folder = Path("Der Bot")
    assert 'name = "der-bot"' in (folder / "bot.toml").read_text()
    for file in (
        "bot.py",
        "README.md",
        "pokearena_bot.py",
        "pokearena_server.py",
        "pokearena/v1/bot_pb2.py",
    ):
        assert (folder / file).is_file()
    assert not list(folder.rglob("*referee*"))
    for line in command.out.splitlines():
        assert (folder / line.removeprefix("Der Bot/").split()[0].rstrip(",")).exists()


@every_language
def test_a_starter_bot_is_complete_and_renamed_after_its_folder(cli: Cli, language: str) -> None:
    command = cli("new", "mine", "--lang", language)
    assert command.status == 0
    assert command.last == "next  pokearena play poke ./mine sample:random --watch"
    listed = {
        Path("mine", name).resolve()
        for line in command.out.splitlines()
        for name in re.split(r"\s{2,}", line.removeprefix("mine/"))[0].split(", ")
    }
    assert all(path.exists() for path in listed)
    assert {path.name for path in listed} >= {"bot.toml", "README.md", "proto"}
    read = manifest.read(Path("mine"))
    assert (read.name, set(read.games)) == ("mine", set(GAMES))
    if Path("mine/greedy.toml").exists():
        assert manifest.read(Path("mine"), "greedy.toml").name == "mine-greedy"
    readme = Path("mine/README.md").read_text()
    assert "tournament run poke mine sample:greedy" in readme
    assert f"random-{language}" not in readme
    with TemporaryFile() as file:
        upload_archive.pack(resolver.local(Path("mine")), file)
        file.seek(0)
        with tarfile.open(fileobj=file) as archive:
            packed = set(archive.getnames())
    assert packed >= {f"proto/pokearena/v1/{name}" for name in PROTOCOL}
    kept = {path.name for path in Path("mine/proto").rglob("*") if path.is_file()}
    assert kept == PROTOCOL


def test_a_starter_bot_does_not_take_the_name_of_people(cli: Cli) -> None:
    assert cli("new", "human").status == 0
    assert manifest.read(Path("human")).name == "mybot"


def test_the_repository_contains_one_copy_of_the_protocol() -> None:
    kits = house_folder().parent
    for language in LANGUAGES:
        assert not (kits / language / "proto").exists()


def test_a_folder_that_is_not_empty_stays_unchanged(cli: Cli) -> None:
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("my thesis")
    assert cli("new", "mine").status == FAILED
    assert [path.name for path in Path("mine").iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("folder", ["mine", "."])
def test_an_empty_folder_is_filled(cli: Cli, cwd: Path, folder: str) -> None:
    Path(folder).mkdir(exist_ok=True)
    assert cli("new", folder).status == 0
    assert (cwd / folder / "bot.toml").is_file()
    assert not list((cwd / folder).glob(".pokearena-new-*"))


def test_parent_folders_are_created(cli: Cli, cwd: Path) -> None:
    assert cli("new", "a/b/mine").status == 0
    assert {path.name for path in cwd.iterdir()} == {"a"}


def test_every_promised_language_has_a_starter_kit() -> None:
    assert {"python", "go", "java", "cpp", "ruby", "c", "shell"} <= set(LANGUAGES)
    assert "house" not in LANGUAGES


def test_common_aliases_of_languages_are_accepted(cli: Cli) -> None:
    assert cli("new", "mine", "--lang", "C++").status == 0
    assert manifest.read(Path("mine")).language == "cpp"


def test_build_output_in_a_kit_is_not_copied(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    house = Path("kits/house")
    house.mkdir(parents=True)
    shutil.copytree(house_folder().parent / "shell", "kits/shell")
    shutil.copy(house_folder().parent / new.AGENTS, "kits")
    for left in ("target/bot", "node_modules/x/index.js", "__pycache__/x.pyc", "Some.lock"):
        Path("kits/shell", left).parent.mkdir(parents=True, exist_ok=True)
        Path("kits/shell", left).write_text("left behind")
    monkeypatch.setattr(new, "house_folder", lambda: house)
    assert cli("new", "mine", "--lang", "shell").status == 0
    assert {path.name for path in Path("mine").iterdir()} == {
        "AGENTS.md",
        "README.md",
        "bot.sh",
        "bot.toml",
        "proto",
    }


def test_a_missing_toolchain_is_reported_but_is_not_an_error(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    command = cli("new", "mine", "--lang", "java")
    assert command.status == 0
    assert "java, mvn" in command.err
    assert "Needed: Java 17 or newer" in command.err
    assert command.last.startswith("next  pokearena play")
    assert "on the PATH" not in cli("new", "other").err
