"""Help texts and unknown commands and options of the command line."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from arena.cli.bots import new
from arena.cli.root import LazyCommand, pokearena
from arena.cli.workspace import Workspace
from referee.games.registry import GAMES
from tests.arena.cli.terminal import Cli

HEAVY = (
    "sqlalchemy",
    "alembic",
    "grpc",
    "google.protobuf",
    "redis",
    "rq",
    "elo",
    "referee.games.contract",
)


def all_commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, command in group.commands.items():
        loaded = command.load() if isinstance(command, LazyCommand) else command
        if isinstance(loaded, click.Group):
            yield from all_commands(loaded, (*path, name))
        else:
            yield (*path, name)


COMMANDS = sorted(all_commands(pokearena))


def test_the_help_lists_every_command(cli: Cli) -> None:
    result = cli("--help")
    assert result.status == 0
    for name in {path[0] for path in COMMANDS}:
        assert f" {name} " in result.out


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_the_help_of_every_command_has_an_example_of_that_command(
    cli: Cli, path: tuple[str, ...]
) -> None:
    result = cli(*path, "--help")
    assert result.status == 0
    assert f"pokearena {' '.join(path)}" in result.out.partition("Example:")[2]


def test_every_option_has_a_help_text() -> None:
    for path in COMMANDS:
        command: click.Command = pokearena
        for name in path:
            assert isinstance(command, click.Group)
            commands = command.commands[name]
            command = commands.load() if isinstance(commands, LazyCommand) else commands
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, (path, parameter.name)


def test_help_and_usage_errors_import_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from arena.cli import main\n"
        "for words in (['--help'], ['play', '--help'], ['standings', '--help'], ['plai']):\n"
        "    main(words)\n"
        f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.rstrip().endswith("[]")


def imported_by(folder: Path, *words: str) -> set[str]:
    """Return the modules that a command imports."""
    code = f"import sys\nfrom arena.cli import main\nmain({list(words)})\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True, cwd=folder
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "unused"),
    [
        (
            ("tournament", "list"),
            {"numpy", "http.client", "arena.services", "arena.tournaments.scheduler"},
        ),
        (
            ("standings",),
            {"http.client", "arena.services", "alembic", "arena.formats.registry"}
            | {f"referee.games.{name}" for name in GAMES if name != "poke"},
        ),
    ],
)
def test_commands_import_only_what_they_use(
    tmp_path: Path, stored_tournament: Callable[..., str], words: tuple[str, ...], unused: set[str]
) -> None:
    stored_tournament(("a", "b"), {}, 1)
    loaded = imported_by(tmp_path, *words)
    assert "arena.store" in loaded
    assert not loaded & unused


def test_garbage_is_collected_as_usual_after_the_first_collection() -> None:
    code = (
        "import gc\n"
        "usual = gc.get_threshold(), list(gc.callbacks)\n"
        "from arena.cli import main\n"
        "main(['--version'])\n"
        "postponed = gc.get_threshold()\n"
        "gc.collect()\n"
        "print(postponed > usual[0], (gc.get_threshold(), gc.callbacks) == usual)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "True True"


def test_without_a_command_the_help_is_a_usage_error(cli: Cli) -> None:
    result = cli()
    assert result.status == 2
    assert "Usage: pokearena" in result.out


def test_an_unknown_command_suggests_the_nearest(cli: Cli) -> None:
    result = cli("standing")
    assert result.status == 2
    assert isinstance(result.error, click.UsageError)
    assert "standings" in result.err
    assert result.last == "next  pokearena --help"
    assert result.out == ""


def test_the_version_option_prints_the_package_version(cli: Cli) -> None:
    from importlib.metadata import version

    assert version("pokearena") in cli("--version").out


def test_an_option_can_be_set_by_the_environment(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POKEARENA_DATA", "elsewhere")
    assert "elsewhere" in cli("standings").err
    monkeypatch.setenv("POKEARENA_NEW_LANG", "cobol")
    refused = cli("new", "mybot")
    assert refused.status == 2
    assert "cobol" in refused.err
    assert ", ".join(new.languages()) in refused.err


def test_a_variable_is_named_after_the_flag_of_its_option(
    cli: Cli, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Workspace().store is not None
    monkeypatch.setenv("POKEARENA_STANDINGS_JSON", "1")
    assert "ladders" in cli("standings").json


def test_a_usage_error_names_the_help_of_its_command(cli: Cli, cwd: Path) -> None:
    assert cli("tournament", "run", "--seed").last.endswith("pokearena tournament run --help")
    unknown = cli("matrix", "--seats", 3)
    assert isinstance(unknown.error, click.NoSuchOption)
    assert "--data" not in unknown.err


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("serve", "--port", "80x"), ("--port", "80x", "65,535")),
        (("serve", "--delay", "-3"), ("--delay", "86,400")),
        (("completion",), ("SHELL", "zsh")),
        *(
            ((command, "--sandbox", "padlock"), ("--sandbox", "padlock", "bubblewrap, landlock"))
            for command in ("serve", "worker", "demo")
        ),
        (("completion", "tcsh"), ("SHELL", "tcsh", "zsh")),
        (("standins",), ("standins", "standings")),
        (("play", "--sed", "1"), ("--sed", "--seed")),
    ],
)
def test_a_usage_error_is_one_sentence_with_the_allowed_values(
    cli: Cli, cwd: Path, words: tuple[str, ...], shown: tuple[str, ...]
) -> None:
    done = cli(*words)
    sentence, _ = done.err.splitlines()
    assert done.status == 2
    assert all(part in sentence for part in shown)
    assert sentence.removeprefix("error  ")[0].islower() or sentence.startswith(
        f"error  {shown[0]}"
    )


def test_an_empty_database_file_is_not_a_new_arena(cli: Cli, cwd: Path) -> None:
    database = Workspace().folder.database
    database.parent.mkdir()
    database.touch()
    assert cli("standings").code == "empty-database"
    assert cli("owner", "add", "ada").code == "empty-database"
    assert cli("doctor").status == 1
    assert cli("db", "check").code == "empty-database"
    assert cli("bot", "list").code == "empty-database"
