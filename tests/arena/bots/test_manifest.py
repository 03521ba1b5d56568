"""Test the manifests of bots: valid files, and the place of each error in an invalid file."""

from pathlib import Path

import pytest

from arena.bots import manifest
from arena.bots.manifest import Manifest, ManifestError
from arena.system.structured_file import FileProblem
from referee.games.registry import GAMES

GOOD = 'name = "my-bot"\nrun = ["python", "bot.py"]\n'


def read(folder: Path, text: str) -> Manifest:
    (folder / "bot.toml").write_text(text, encoding="utf-8")
    return manifest.read(folder)


def error_of(folder: Path, text: str) -> ManifestError:
    with pytest.raises(ManifestError) as caught:
        read(folder, text)
    assert caught.value.file == folder / "bot.toml"
    return caught.value


def test_a_name_and_a_command_are_enough(tmp_path: Path) -> None:
    content = read(tmp_path, GOOD)
    assert content == Manifest(name="my-bot", run=("python", "bot.py"))
    assert content.plays("poke")
    assert content.plays("saint_poker")
    assert not content.plays("race")


def test_a_bot_plays_the_games_of_packages_only_if_it_names_them(tmp_path: Path) -> None:
    content = read(tmp_path, GOOD + 'games = ["*"]')
    assert content.plays("poke")
    assert content.plays("race")
    assert content.stored_values()["games"] == tuple(GAMES)


def test_all_keys_are_read(tmp_path: Path) -> None:
    text = """
        name = "swift_2"
        version = "1.4"
        authors = ["Ana", "Bo"]
        language = "go"
        games = ["poke"]
        build = ["go", "build", "-o", "bot", "."]
        run = ["./bot"]
        transport = "grpc"
        start_ms = 30000
    """
    content = read(tmp_path, text)
    assert content == Manifest(
        name="swift_2",
        version="1.4",
        authors=("Ana", "Bo"),
        language="go",
        games=("poke",),
        build=(("go", "build", "-o", "bot", "."),),
        start_ms=30_000,
        run=("./bot",),
    )
    assert not content.plays("saint_poker")


def test_a_build_can_be_several_commands(tmp_path: Path) -> None:
    content = read(tmp_path, GOOD + 'build = [["npm", "ci"], ["npm", "run", "build"]]')
    assert content.build == (("npm", "ci"), ("npm", "run", "build"))
    assert len(read(tmp_path, f"{GOOD}build = {[['make']] * 20}").build) == 20


def test_a_version_can_be_a_whole_number(tmp_path: Path) -> None:
    assert read(tmp_path, GOOD + "version = 3").version == "3"


def test_a_rendered_manifest_reads_back_the_same(tmp_path: Path) -> None:
    content = Manifest(
        name="x",
        version="2",
        authors=('A "quoted" \\ name\n', "Zoë"),
        language="python",
        games=("poke", "saint_poker"),
        build=(("a", "b c"), ("d",)),
        run=("./run it", "\x7f"),
        transport="stdio",
    )
    assert read(tmp_path, manifest.render(content)) == content


@pytest.mark.parametrize(
    ("line", "problem", "key"),
    [
        ('gmaes = ["poke"]', FileProblem.UNKNOWN_KEY, "gmaes"),
        ("zzz = 1", FileProblem.UNKNOWN_KEY, "zzz"),
        ("version = 1.5", FileProblem.VALUE, "version"),
        ("version = true", FileProblem.VALUE, "version"),
        ("version = -1", FileProblem.VALUE, "version"),
        ('version = "a@b"', FileProblem.VALUE, "version"),
        ('authors = "Ana"', FileProblem.VALUE, "authors"),
        ("authors = [1]", FileProblem.VALUE, "authors"),
        ("language = 3", FileProblem.VALUE, "language"),
        (f'language = "{"x" * 41}"', FileProblem.VALUE, "language"),
        ("games = []", FileProblem.VALUE, "games"),
        ('games = "poke"', FileProblem.VALUE, "games"),
        ('games = ["poke", "pok"]', FileProblem.VALUE, "games[1]"),
        ('build = "make"', FileProblem.VALUE, "build"),
        (f"build = {[['make']] * 21}", FileProblem.VALUE, "build"),
        ("build = []", FileProblem.VALUE, "build"),
        ("build = [[]]", FileProblem.VALUE, "build"),
        ('build = [["make"], "x"]', FileProblem.VALUE, "build"),
        ('build = ["make", "\\u0000"]', FileProblem.VALUE, "build"),
        ('transport = "http"', FileProblem.VALUE, "transport"),
        ("name = = 3", FileProblem.SYNTAX, ""),
    ],
)
def test_an_invalid_value_is_reported_with_its_key_and_line(
    tmp_path: Path, line: str, problem: FileProblem, key: str
) -> None:
    error = error_of(tmp_path, GOOD + line)
    assert (error.problem, error.key, error.line) == (problem, key, 3)


@pytest.mark.parametrize(
    ("line", "nearest"),
    [
        ('gmaes = ["poke"]', '"games"'),
        ('games = ["pok"]', '"poke"'),
        ('transport = "grcp"', '"grpc"'),
        ("zzz = 1", ", ".join(("name", "run", "version", "authors", "language", "games"))),
    ],
)
def test_an_error_names_the_nearest_valid_word(tmp_path: Path, line: str, nearest: str) -> None:
    assert nearest in error_of(tmp_path, GOOD + line).sentence


NAMES = ('"My Bot"', '"a/b"', '""', '"a@1"', "7", f'"{"a" * 41}"', '"a\\n"')
COMMANDS = ('"./bot"', "[]", "[1]", '[""]', '["a\\u0000b"]')


@pytest.mark.parametrize(
    ("text", "problem", "key", "line"),
    [
        *((f'name = {name}\nrun = ["./bot"]', FileProblem.VALUE, "name", 1) for name in NAMES),
        *((f'name = "a"\nrun = {run}', FileProblem.VALUE, "run", 2) for run in COMMANDS),
        ('run = ["./bot"]', FileProblem.MISSING_KEY, "name", None),
        ('name = "a"', FileProblem.MISSING_KEY, "run", None),
        ("", FileProblem.MISSING_KEY, "name", None),
    ],
)
def test_a_valid_name_and_a_command_are_required(
    tmp_path: Path, text: str, problem: FileProblem, key: str, line: int | None
) -> None:
    error = error_of(tmp_path, text)
    assert (error.problem, error.key, error.line) == (problem, key, line)


def test_a_folder_without_a_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ManifestError) as caught:
        manifest.read(tmp_path)
    assert caught.value.problem is FileProblem.ABSENT


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_bytes(b"name = 1\n\xff\xfe")
    with pytest.raises(ManifestError) as caught:
        manifest.read(tmp_path)
    assert (caught.value.problem, caught.value.line) == (FileProblem.UNREADABLE, 2)
