"""What a bot.toml may say, and what its author is told when it is wrong."""

from pathlib import Path

import pytest

from arena.bots import manifest
from arena.bots.manifest import Manifest
from arena.errors import BotError

GOOD = 'name = "my-bot"\nrun = ["python", "bot.py"]\n'


def read(folder: Path, text: str) -> Manifest:
    (folder / "bot.toml").write_text(text, encoding="utf-8")
    return manifest.read(folder)


def complaint(folder: Path, text: str) -> str:
    with pytest.raises(BotError) as caught:
        read(folder, text)
    return str(caught.value).removeprefix(f"{folder / 'bot.toml'} ")


def test_a_name_and_a_command_are_all_that_a_manifest_needs(tmp_path: Path) -> None:
    said = read(tmp_path, GOOD)
    assert said == Manifest(name="my-bot", run=("python", "bot.py"))
    assert said.plays("poke")
    assert said.plays("saint_poker")


def test_a_manifest_says_everything_it_can(tmp_path: Path) -> None:
    text = """
        name = "swift_2"
        version = "1.4"
        authors = ["Ana", "Bo"]
        language = "go"
        games = ["poke"]
        build = ["go", "build", "-o", "bot", "."]
        run = ["./bot"]
        transport = "grpc"
    """
    said = read(tmp_path, text)
    assert said == Manifest(
        name="swift_2",
        version="1.4",
        authors=("Ana", "Bo"),
        language="go",
        games=("poke",),
        build=(("go", "build", "-o", "bot", "."),),
        run=("./bot",),
    )
    assert not said.plays("saint_poker")


def test_a_build_may_be_several_commands(tmp_path: Path) -> None:
    said = read(tmp_path, GOOD + 'build = [["npm", "ci"], ["npm", "run", "build"]]')
    assert said.build == (("npm", "ci"), ("npm", "run", "build"))


def test_a_version_may_be_a_whole_number(tmp_path: Path) -> None:
    assert read(tmp_path, GOOD + "version = 3").version == "3"


def test_a_rendered_manifest_reads_back_the_same(tmp_path: Path) -> None:
    said = Manifest(
        name="x",
        version="2",
        authors=('A "quoted" \\ name\n', "Zoë"),
        language="python",
        games=("poke", "saint_poker"),
        build=(("a", "b c"), ("d",)),
        run=("./run it", "\x7f"),
        transport="stdio",
    )
    assert read(tmp_path, manifest.render(said)) == said


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('gmaes = ["poke"]', 'has an unknown field "gmaes"; did you mean "games"?'),
        (
            "zzz = 1",
            'has an unknown field "zzz"; the fields are name, version, authors, language, games, '
            "build, run, transport.",
        ),
        ("version = 1.5", 'has 1.5 as "version"; a version is up to 40 letters'),
        ("version = true", 'has True as "version"; a version is up to 40 letters'),
        ('version = "a@b"', 'has "a@b" as "version"; a version is up to 40 letters'),
        ('authors = "Ana"', 'has "Ana" as "authors"; write a list of texts'),
        ("authors = [1]", 'has [1] as "authors"; write a list of texts'),
        ("language = 3", 'has 3 as "language"; write a word such as "python" or "go".'),
        ("games = []", 'has an empty "games"; leave it out for a bot that plays every game.'),
        (
            'games = ["pok"]',
            'names an unknown game "pok" in "games"; did you mean "poke"?',
        ),
        ('build = "make"', 'has "make" as "build"; a command is a list of words'),
        ("build = []", 'has [] as "build"; a command is a list of words'),
        ('build = [["make"], "x"]', "has [['make'], 'x'] as \"build\"; a command is"),
        (
            'transport = "http"',
            'has "http" as "transport"; write "grpc", or "stdio" for a program that reads and '
            "writes lines.",
        ),
    ],
)
def test_a_wrong_field_is_named_with_what_would_be_right(
    tmp_path: Path, line: str, said: str
) -> None:
    assert complaint(tmp_path, GOOD + line).startswith(said)


@pytest.mark.parametrize("name", ['"My Bot"', '"a/b"', '""', '"a@1"', "7", f'"{"a" * 41}"'])
def test_a_name_is_lowercase_letters_digits_hyphen_and_underscore(
    tmp_path: Path, name: str
) -> None:
    text = f'name = {name}\nrun = ["./bot"]'
    assert "a name is 1 to 40 lowercase letters, digits, - and _." in complaint(tmp_path, text)


def test_a_manifest_without_a_name_is_refused(tmp_path: Path) -> None:
    assert complaint(tmp_path, 'run = ["./bot"]') == 'has no "name"; write name = "my-bot".'


def test_a_manifest_without_a_command_is_refused(tmp_path: Path) -> None:
    said = complaint(tmp_path, 'name = "a"')
    assert said == 'has no "run"; write run = ["python", "bot.py"].'


@pytest.mark.parametrize("run", ['"./bot"', "[]", "[1]", '[""]', '["a\\u0000b"]'])
def test_a_command_is_a_list_of_words(tmp_path: Path, run: str) -> None:
    said = complaint(tmp_path, f'name = "a"\nrun = {run}')
    assert 'as "run"; a command is a list of words, for example ["python", "bot.py"].' in said


def test_a_folder_without_a_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BotError, match=r"has no bot\.toml, which says the bot's name"):
        manifest.read(tmp_path)


def test_what_is_not_toml_is_refused_with_its_place(tmp_path: Path) -> None:
    assert "at line 1, column" in complaint(tmp_path, "name = = 3")


def test_what_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BotError, match="cannot be read: it is not UTF-8 text"):
        manifest.read(tmp_path)
