"""Test configuration files: their precedence, their errors, and what a project file may set."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from arena.cli import config_file
from arena.cli.root import LazyCommand, pokearena
from arena.cli.workspace import Workspace
from arena.system.structured_file import FileError, FileProblem
from tests.arena.cli.terminal import Cli, CommandResult

ROOT = Path(__file__).parents[3]

REVIEWED = frozenset(
    """
    adjusted after all all-seatings allowance alpha anchor bank beta boards bot
    build-seconds builds burst by corrections
    challenge-boards challenges check cycles data days debug delay draws dry-run earlier elo engine
    event faults form format from-start full game games gif high html json keep ladder ladders lang
    lenient limit list los low max-active-versions max-matches model model-workers name no-pause
    no-wait once open option output owner parquet partner patience play-tables port push-mib
    preset pushes quality queue quick rate reason record relay-wait root-path sample saving season
    seat seats seed set size spectators sprt start step-time tables tag think timing tournament
    trace version views wait watch watchers web workers
    """.split()
)
"""Options that a project file in an untrusted folder may set: reviewed one by one.

A new option belongs here or in `config_file.USER_ONLY`. It belongs there if it runs a program,
weakens the sandbox, lets other machines in, deletes without a question, or sends secrets or bots to
other machines.
"""

Write = Callable[[str], Path]


@pytest.fixture
def project(cwd: Path) -> Write:
    """Write the project file, in a folder above the current one."""

    def write(text: str) -> Path:
        file = cwd / "pokearena.toml"
        file.write_text(text, encoding="utf-8")
        return file

    return write


@pytest.fixture
def user(cwd: Path) -> Write:
    """Write the user's file."""

    def write(text: str) -> Path:
        file = cwd / "user/pokearena/config.toml"
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
        return file

    return write


def all_options(
    command: click.Command, path: tuple[str, ...] = ()
) -> dict[tuple[str, ...], dict[str, click.Option]]:
    """Return the options of each command by their keys."""
    command = command.load() if isinstance(command, LazyCommand) else command
    if not isinstance(command, click.Group):
        return {path: config_file.options_of(command)}
    return {
        words: options
        for name, member in command.commands.items()
        for words, options in all_options(member, (*path, name)).items()
    }


def settings(result: CommandResult) -> dict[tuple[str, str], tuple[object, str]]:
    """Return value and source by command and name, from `pokearena config --json`."""
    return {
        (row["command"], row["name"]): (row["value"], row["source"])
        for row in json.loads(result.out)["settings"]
    }


def refused(result: CommandResult) -> FileError:
    assert result.status == 2
    assert isinstance(result.error, FileError)
    return result.error


def test_sources_override_each_other_in_order(
    cli: Cli, project: Write, user: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    def language(*words: str) -> str:
        # The error names the language that is used.
        return cli("new", "mybot", *words).err

    user('[new]\nlang = "from-user"')
    assert "from-user" in language()
    project('[new]\nlang = "from-project"')
    assert "from-project" in language()
    monkeypatch.setenv("POKEARENA_NEW_LANG", "from-variable")
    assert "from-variable" in language()
    assert "from-option" in language("--lang", "from-option")


def test_files_are_merged_by_option(cli: Cli, project: Write, user: Write) -> None:
    user("[play]\nboards = 5\nseed = 7")
    project("[play]\nboards = 6")
    assert settings(cli("config", "--json")) == {
        ("play", "boards"): (6, "project file"),
        ("play", "seed"): ("7", "user file"),
    }


def test_a_project_file_applies_to_subfolders_and_its_paths_are_relative(
    cli: Cli, cwd: Path, project: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    project('data = "arena"')
    assert Workspace(cwd / "arena").store is not None
    (cwd / "deep/down").mkdir(parents=True)
    monkeypatch.chdir(cwd / "deep/down")
    assert cli("standings").status == 0
    assert settings(cli("config", "--json")) == {("", "data"): (str(cwd / "arena"), "project file")}


def test_only_the_nearest_project_file_is_used(
    cli: Cli, cwd: Path, project: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    project("[play]\nboards = 6")
    (cwd / "inner").mkdir()
    (cwd / "inner/pokearena.toml").write_text("[play]\nseed = 1", encoding="utf-8")
    monkeypatch.chdir(cwd / "inner")
    assert settings(cli("config", "--json")) == {("play", "seed"): ("1", "project file")}


def test_a_project_file_that_others_can_write_is_ignored(cli: Cli, project: Write) -> None:
    project("[play]\nboards = 6").chmod(0o666)
    result = cli("config", "--json")
    assert settings(result) == {}
    assert "warning" in result.err


def test_a_variable_selects_the_only_file(
    cli: Cli, cwd: Path, project: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    project("[play]\nboards = 6")
    monkeypatch.setenv("POKEARENA_CONFIG", "other.toml")
    assert refused(cli("config")).problem is FileProblem.ABSENT
    (cwd / "other.toml").write_text('[serve]\nhost = "0.0.0.0"', encoding="utf-8")
    assert settings(cli("config", "--json")) == {("serve", "host"): ("0.0.0.0", "user file")}
    monkeypatch.setenv("POKEARENA_CONFIG", "")
    assert settings(cli("config", "--json")) == {}


@pytest.mark.parametrize(
    ("text", "problem", "key", "line", "hint"),
    [
        ("\n[paly]\n", FileProblem.UNKNOWN_KEY, "paly", 2, '"play"'),
        ("[play]\n\nboard = 1\n", FileProblem.UNKNOWN_KEY, "play.board", 3, '"boards"'),
        ("[tournament.rum]\n", FileProblem.UNKNOWN_KEY, "tournament.rum", 1, '"run"'),
        ("play = 3\n", FileProblem.VALUE, "play", 1, "table"),
        ("[play]\nboards = 0\n", FileProblem.VALUE, "play.boards", 2, "range"),
        ('[play]\nboards = "ten"\n', FileProblem.VALUE, "play.boards", 2, "whole number"),
        ("[play]\njson = 1\n", FileProblem.VALUE, "play.json", 2, "true or false"),
        ('[play]\noption = "teams"\n', FileProblem.VALUE, "play.option", 2, "list"),
        ("[play]\nseed = true\n", FileProblem.VALUE, "play.seed", 2, "string"),
        ("[compare]\nsprt = [1.0]\n", FileProblem.VALUE, "compare.sprt", 2, "2 values"),
        ('[compare]\nmodel = "pentanomical"\n', FileProblem.VALUE, "compare.model", 2, ""),
        ("[play]\nboards =\n", FileProblem.SYNTAX, "", 2, "TOML"),
    ],
)
def test_an_error_has_its_file_line_key_and_a_correction(
    cli: Cli, project: Write, text: str, problem: FileProblem, key: str, line: int, hint: str
) -> None:
    file = project(text)
    error = refused(cli("config"))
    assert (error.file, error.problem, error.key, error.line) == (file, problem, key, line)
    assert hint in error.sentence


def test_a_command_checks_only_its_table_and_help_ignores_errors(cli: Cli, project: Write) -> None:
    project("[play]\nboards = 0")
    assert refused(cli("play", "poke", "a", "b")).key == "play.boards"
    assert cli("play", "--help").status == 0
    assert cli("rules").status == 0


def test_callbacks_of_options_check_values_of_files(cli: Cli, user: Write) -> None:
    user('[metrics]\nlisten = "nowhere"')
    assert refused(cli("config")).key == "metrics.listen"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('[serve]\nhost = "0.0.0.0"', "serve.host"),
        ("[web]\nbehind-proxy = true", "web.behind-proxy"),
        ('[bot.push]\nto = "https://elsewhere"', "bot.push.to"),
        ('[bot.push]\ntoken = "secret"', "bot.push.token"),
        ('[bot.connect]\nca = "ca.pem"', "bot.connect.ca"),
        ('data = "../elsewhere"', "data"),
        ('[play]\nrecord = "/tmp/record.jsonl"', "play.record"),
        ('[export]\noutput = "~/table.csv"', "export.output"),
    ],
)
def test_paths_of_a_project_file_cannot_leave_its_folder(
    cli: Cli, project: Write, text: str, key: str
) -> None:
    project(text)
    assert refused(cli("config")).key == key


def test_links_of_a_project_file_cannot_leave_its_folder(
    cli: Cli, cwd: Path, project: Write
) -> None:
    (cwd / "link").symlink_to("/tmp")
    project('data = "link/arena"')
    assert refused(cli("config")).key == "data"


def test_every_option_has_been_reviewed_for_project_files() -> None:
    keys = {key for options in all_options(pokearena).values() for key in options}
    unreviewed = keys - REVIEWED - config_file.USER_ONLY
    assert not unreviewed, f"add {unreviewed} to REVIEWED above, or to config_file.USER_ONLY"
    assert keys == REVIEWED | config_file.USER_ONLY
    assert not REVIEWED & config_file.USER_ONLY
    page = (ROOT / "docs/reference/configuration.md").read_text()
    listed = page.partition("It cannot set these options: ")[2].partition(".")[0]
    assert re.findall(r"`([\w-]+)`", listed) == sorted(config_file.USER_ONLY)


def test_every_option_can_be_set_by_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each option gets a value of its type, and click accepts it."""
    (tmp_path / "file").touch()
    for path, options in all_options(pokearena).items():
        if not options:
            continue
        values = {key: value_for(option, tmp_path) for key, option in options.items()}
        lines = [f"{key} = {json.dumps(value)}" for key, value in values.items()]
        file = tmp_path / "config.toml"
        file.write_text("\n".join([f"[{'.'.join(path)}]", *lines]), encoding="utf-8")
        monkeypatch.setenv(config_file.VARIABLE, str(file))
        files = config_file.read_files(pokearena.commands)
        top = pokearena.commands[path[0]]
        table = config_file.default_map(
            files, path[:1], top.load() if isinstance(top, LazyCommand) else top
        )
        for word in path[1:]:
            table = table[word]
        assert set(table) == {option.name for option in options.values()}, path


def value_for(option: click.Option, folder: Path) -> object:
    kind = option.type
    value: object = "127.0.0.1:1"
    if isinstance(kind, click.Path):
        value = str(folder if not kind.file_okay else folder / "file")
    elif isinstance(kind, click.Choice):
        value = str(kind.choices[0])
    elif isinstance(kind, type(click.BOOL)):
        value = True
    elif option.metavar == "WIDTHxHEIGHT":
        value = "640x400"
    elif option.metavar == "URL":
        value = f"http://{value}"
    elif config_file.key_of(option) == "root-path":
        value = "/arena"
    elif isinstance(kind, (type(click.INT), type(click.FLOAT))):
        value = 2 if not isinstance(kind, click.FloatRange) or kind.max != 1 else 1
    count = 1 if option.nargs == 1 else option.nargs
    return [value] * count if option.multiple or count > 1 else value


def test_secrets_are_not_shown(cli: Cli, user: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    user('[bot.push]\ntoken = "hush-1"\nto = "https://ada:hush-2@arena"')
    monkeypatch.setenv("POKEARENA_TOKEN", "hush-3")
    monkeypatch.setenv("POKEARENA_DATABASE_URL", "postgresql://ada:hush-4@host/arena")
    monkeypatch.setenv("POKEARENA_REDIS_URL", "redis://:hush-5@host")
    monkeypatch.setenv("POKEARENA_BOT_CONNECT_TOKEN", "hush-6")
    for words in (("config",), ("config", "--json"), ("config", "bot")):
        result = cli(*words)
        assert result.status == 0
        assert "***" in result.out
        assert "hush" not in result.out + result.err


def test_a_command_shows_all_its_options(cli: Cli, project: Write) -> None:
    project("[play]\nboards = 6")
    shown = settings(cli("config", "play", "--json"))
    assert shown["play", "boards"] == (6, "project file")
    assert shown["play", "json"] == (False, "default")
    assert cli("config", "nothing").status == 2


def test_a_tournament_file_is_complete(
    cli: Cli, cwd: Path, project: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    project("[tournament.run]\nboards = 6\nseats = 3\ncycles = 4")
    tournament = cwd / "cup.toml"
    tournament.write_text('game = "poke"\nboards = 2\n\n', encoding="utf-8")
    words = ("tournament", "run", "--dry-run", "--json")
    bots = ("sample:greedy", "sample:random")
    from_file = cli(*words, str(tournament), *bots).json
    monkeypatch.setenv("POKEARENA_CONFIG", "")
    assert cli(*words, str(tournament), *bots).json == from_file


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("verify", ("verify", "m-none")),
        ("bot.show", ("bot", "show", "nobody")),
        ("play", ("play", "--no-such-option")),
        ("tournament.run", ("tournament", "run", "absent.toml")),
    ],
)
def test_json_of_a_file_or_variable_applies_to_errors(
    cli: Cli, project: Write, monkeypatch: pytest.MonkeyPatch, table: str, words: tuple[str, ...]
) -> None:
    by_flag = cli(*words, "--json")
    assert json.loads(by_flag.err.splitlines()[-1])["status"] == by_flag.status
    project(f"[{table}]\njson = true\n")
    assert cli(*words).err == by_flag.err
    project("")
    variable = f"POKEARENA_{table.replace('.', '_').upper()}_JSON"
    monkeypatch.setenv(variable, "1")
    assert cli(*words).err == by_flag.err
    monkeypatch.setenv(variable, "0")
    assert not cli(*words).err.startswith("{")


def test_the_error_of_a_faulty_file_needs_no_json(cli: Cli, project: Write) -> None:
    project('[play]\njson = "yes"\n')
    result = cli("play", "poke")
    assert result.status == 2
    assert "play.json" in result.err
