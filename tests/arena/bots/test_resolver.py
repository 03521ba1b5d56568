"""Test the resolver for BOT arguments."""

from pathlib import Path

import pytest

from arena.bots.bot import Bot, with_unique_labels
from arena.bots.manifest import Manifest, ManifestError
from arena.bots.resolver import resolve, samples
from arena.errors import BotError
from arena.system.structured_file import FileProblem
from referee.games.game_packages import BUILT_IN, SETTING
from tests.errors import has_code
from tests.game_package import installed_packages
from tests.sample_games.installation import SAMPLES, install_package

packages = pytest.fixture(installed_packages)

MANIFEST = 'name = "mine"\nlanguage = "python"\nrun = ["python", "bot.py"]\n'
STORED = {
    ("swift", "1"): Bot("swift@1", Manifest("swift", ("./bot",)), Path("/versions/1")),
    ("swift", "2"): Bot("swift@2", Manifest("swift", ("./bot",)), Path("/versions/2")),
}


def lookup(name: str, version: str | None) -> Bot | None:
    keys = [key for key in STORED if key[0] == name and version in (None, key[1])]
    return STORED[max(keys)] if keys else None


def known() -> list[str]:
    return [f"{name}@{version}" for name, version in STORED]


def complaint(text: str) -> str:
    with pytest.raises(BotError) as caught:
        resolve(text, lookup, known)
    return str(caught.value)


@pytest.fixture
def cwd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def bot_folder(cwd: Path) -> Path:
    folder = cwd / "mybot"
    folder.mkdir()
    (folder / "bot.toml").write_text(MANIFEST)
    return folder


def test_a_sample_bot_is_found_in_the_installation(cwd: Path) -> None:
    assert "random" in samples()
    bot = resolve("sample:random")
    assert bot.label == "random"
    assert not bot.remote
    assert bot.folder is not None
    assert (bot.folder / "bot.toml").exists()


def test_house_bots_of_allowed_packages_are_found(
    cwd: Path, packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_package(packages, SAMPLES / "goofspiel")
    name = "sample:goofspiel-match"
    assert complaint(name).startswith("unknown sample bot")
    monkeypatch.setenv(SETTING, "goofspiel-pokearena")
    bot = resolve(name)
    assert bot.label == "goofspiel-match"
    assert bot.plays("goofspiel")
    assert not bot.plays(next(iter(BUILT_IN)))
    assert bot.folder == packages / "goofspiel" / "house" / "match"


@pytest.mark.parametrize("text", ["./mybot", "mybot", "mybot/", "~/mybot"])
def test_a_folder_with_a_manifest_is_a_bot(
    bot_folder: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(bot_folder.parent))
    bot = resolve(text, lookup, known)
    assert (bot.label, bot.language, bot.folder, bot.file) == ("mine", "python", bot_folder, None)


def test_the_current_folder_is_a_bot(bot_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bot_folder)
    assert resolve(".").folder == bot_folder


@pytest.mark.parametrize("text", ["mybot/greedy.toml", "./mybot/greedy.toml"])
def test_a_manifest_with_any_file_name_is_a_bot(bot_folder: Path, text: str) -> None:
    (bot_folder / "greedy.toml").write_text(MANIFEST.replace("mine", "greedy"))
    bot = resolve(text, lookup, known)
    assert (bot.label, bot.folder, bot.manifest_file) == ("greedy", bot_folder, "greedy.toml")
    assert resolve("mybot").label == "mine"


def test_a_manifest_and_its_folder_are_the_same_bot(bot_folder: Path) -> None:
    assert resolve("mybot/bot.toml") == resolve("mybot")


def test_a_manifest_in_the_current_folder_is_a_bot(
    bot_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(bot_folder)
    (bot_folder / "greedy.toml").write_text(MANIFEST)
    assert resolve("greedy.toml", lookup, known).folder == bot_folder
    assert complaint("greedi.toml").endswith('did you mean "greedy.toml"?')


def test_a_toml_file_that_is_not_a_manifest_is_refused(bot_folder: Path) -> None:
    (bot_folder / "Cargo.toml").write_text("[package]\n")
    with pytest.raises(ManifestError) as caught:
        resolve("mybot/Cargo.toml", lookup, known)
    error = caught.value
    assert (error.file.name, error.problem) == ("Cargo.toml", FileProblem.UNKNOWN_KEY)
    assert (error.key, error.line) == ("package", 1)


def test_a_python_file_is_a_bot(cwd: Path) -> None:
    (cwd / "My Bot.py").write_text("")
    bot = resolve("./My Bot.py")
    assert bot.manifest == Manifest("my-bot", ("python", "My Bot.py"), language="python")
    assert (bot.folder, bot.file) == (cwd, "My Bot.py")


def test_an_executable_is_a_bot(cwd: Path) -> None:
    program = cwd / "bot"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    bot = resolve("bot", lookup, known)
    assert bot.manifest == Manifest("bot", ("./bot",))


def test_a_file_that_cannot_be_run_is_refused(cwd: Path) -> None:
    (cwd / "notes.txt").write_text("")
    sentence = complaint("./notes.txt")
    assert "nor a .toml file nor a .py file nor an executable; if it is a program" in sentence


def test_a_network_address_is_a_remote_bot() -> None:
    bot = resolve("grpc://bots.example.org:7000")
    assert bot.remote
    assert (bot.label, bot.address) == ("grpc://bots.example.org:7000", "bots.example.org:7000")
    assert resolve("grpc://[::1]:7000").address == "[::1]:7000"


@pytest.mark.parametrize("text", ["grpc://", "grpc://host", "grpc://host:0", "grpc://h:99999"])
def test_an_address_needs_a_host_and_a_port(text: str) -> None:
    assert complaint(text) == f'"{text}" is not a valid address of a bot; write grpc://HOST:PORT.'


def test_a_socket_is_a_remote_bot(cwd: Path) -> None:
    assert resolve("unix:/run/x.sock").address == "unix:/run/x.sock"
    assert resolve("unix:///run/x.sock").address == "unix:/run/x.sock"
    assert resolve("unix:x.sock").address == f"unix:{cwd}/x.sock"


def test_a_name_resolves_to_the_newest_stored_version_and_a_label_to_its_own(cwd: Path) -> None:
    # A folder without a bot does not hide a stored bot.
    (cwd / "swift").mkdir()
    assert resolve("swift", lookup, known) is STORED["swift", "2"]
    assert resolve("swift@1", lookup, known) is STORED["swift", "1"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("swfit", 'unknown bot "swfit"; did you mean "swift"?'),
        ("./mybto", 'unknown bot "./mybto"; did you mean "./mybot"?'),
        ("mybott", 'unknown bot "mybott"; did you mean "mybot"?'),
        ("sample.random", 'unknown bot "sample.random"; did you mean "sample:random"?'),
        ("random", 'unknown bot "random"; did you mean "sample:random"?'),
        ("sample:randon", 'unknown sample bot "randon"; did you mean "random"?'),
        ("swift@7", 'unknown version "swift@7"; available: swift@1, swift@2.'),
        (
            "zzzzzzzz",
            'unknown bot "zzzzzzzz"; a bot is sample:NAME, a folder with a bot.toml, a .toml or '
            ".py file, an executable, grpc://HOST:PORT, unix:/PATH or NAME@VERSION.",
        ),
    ],
)
def test_an_unknown_bot_suggests_the_nearest_one_or_the_accepted_forms(
    bot_folder: Path, text: str, sentence: str
) -> None:
    assert complaint(text) == sentence


def test_without_a_store_a_stored_bot_is_unknown(cwd: Path) -> None:
    with pytest.raises(BotError, check=has_code("unknown-bot")):
        resolve("swift@1")


def test_bots_with_equal_names_get_distinct_labels() -> None:
    labels = ["a", "b", "a", "a-2", "a"]
    assert [bot.label for bot in with_unique_labels(Bot(label) for label in labels)] == [
        "a",
        "b",
        "a-2",
        "a-2-2",
        "a-3",
    ]
