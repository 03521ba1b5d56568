"""What programs and coding agents rely on: --json, errors as JSON, and the folder's AGENTS.md."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import rich_click as click

from arena.bots.resolver import house_folder
from arena.cli.bots import new
from arena.cli.root import LazyCommand, pokearena
from tests.arena.cli.terminal import Cli

WITHOUT_JSON = {
    "pokearena completion": "prints a script",
    "pokearena export": "has --format json",
    "pokearena mcp": "speaks JSON-RPC",
    "pokearena models transcript": "prints JSON",
    "pokearena referee": "runs until it is ended",
    "pokearena watch": "is a screen",
    "pokearena worker": "runs until it is ended",
}


def commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """Yield each command with its path."""
    if isinstance(command, LazyCommand):
        command = command.load()
    if isinstance(command, click.Group):
        for name, member in command.commands.items():
            yield from commands(member, f"{path} {name}")
    else:
        yield path, command


COMMANDS = dict(commands(pokearena, "pokearena"))
LANGUAGES = (*new.languages(), new.MODEL)


def flags(command: click.Command) -> set[str]:
    """Return all options of a command."""
    return {flag for parameter in command.params for flag in parameter.opts}


def test_every_command_that_ends_has_json() -> None:
    assert {path for path, each in COMMANDS.items() if "--json" not in flags(each)} == set(
        WITHOUT_JSON
    )


@pytest.mark.parametrize(
    ("words", "code", "status"),
    [
        (("play", "poke", "nobody"), "wrong-number-of-bots", 2),
        (("play", "poke", "sample:random", "--seat"), "no-such-option", 2),
        (("tournament", "runn"), "no-such-command", 2),
        (("rules", "whist"), "unknown-name", 2),
        (("why",), "missing-parameter", 2),
        (("new", "mine", "--model", "--policy", "x.npz"), "option-combination", 2),
    ],
)
def test_json_makes_the_error_one_line_of_json_on_standard_error(
    cli: Cli, words: tuple[str, ...], code: str, status: int
) -> None:
    result = cli(*words, "--json")
    error = json.loads(result.err.splitlines()[-1])
    assert (result.status, result.out) == (status, "")
    assert (error["code"], error["status"]) == (code, status)
    # Without the option it is the same sentence for people.
    assert error["error"] in cli(*words).err


def test_an_option_after_two_dashes_is_no_option(cli: Cli) -> None:
    error = cli("play", "poke", "--", "nobody", "--json").err
    with pytest.raises(json.JSONDecodeError):
        json.loads(error.splitlines()[-1])


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_new_folder_has_instructions_for_agents(cli: Cli, cwd: Path, language: str) -> None:
    kind = ("--model",) if language == new.MODEL else ("--lang", language)
    written = cli("new", "crafty", *kind, "--json").json
    assert written["bot"] == "crafty"
    assert any(file["names"] == new.AGENTS for file in written["files"])
    text = (cwd / "crafty" / new.AGENTS).read_text(encoding="utf-8")
    assert "crafty@2" in text
    assert "NAME" not in text


def test_the_commands_for_agents_exist_with_their_options() -> None:
    text = (house_folder().parent / new.AGENTS).read_text(encoding="utf-8")
    shown = re.findall(r"`(pokearena [^`]+)`", text)
    assert len(shown) >= 10
    for line in shown:
        words = shlex.split(line)
        path = next(" ".join(words[:n]) for n in (3, 2) if " ".join(words[:n]) in COMMANDS)
        options = {word for word in words if re.fullmatch(r"--[a-z]+|-n", word)}
        assert options <= flags(COMMANDS[path]), line
