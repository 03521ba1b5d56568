"""Text of bots and owners does not control a terminal, and hostile names are refused."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.cli import output
from arena.cli.errors import USAGE
from arena.cli.workspace import Workspace
from arena.store.bots import owners, versions
from arena.store.tournaments import tournaments
from tests.arena.cli.terminal import Cli
from tests.examples import quick_cases

HOSTILE = "\x1b[2J\u202eevil\u200b\x9b31m\u2066x\u3164"
SPELLED = r"\x1b[2J\u202eevil\u200b\x9b31m\u2066x\u3164"
NAMES = {
    "U+202E": "a\u202eda",
    "U+200B": "a\u200bda",
    "U+200D": "a\u200dda",
    "U+3164": "a\u3164da",
    "U+001B": "a\x1b[31mda",
    "U+009B": "a\x9bda",
    "U+000A": "a\nda",
    "U+FE0F": "ada\ufe0f",
}


@pytest.mark.parametrize(
    ("show", "shown"),
    [
        (lambda: output.line(HOSTILE), SPELLED),
        (lambda: output.heading(HOSTILE), SPELLED),
        (lambda: output.state("ok", "green", HOSTILE, HOSTILE), f"ok    {SPELLED}{SPELLED}"),
        (lambda: output.marked("x", "red", HOSTILE, HOSTILE), f" x {SPELLED} {SPELLED}"),
        (lambda: output.game_line(HOSTILE), SPELLED),
        (lambda: output.hint(HOSTILE), SPELLED),
        (lambda: output.warn(HOSTILE), f"warning  {SPELLED}"),
        (lambda: output.complain(HOSTILE), f"error  {SPELLED}"),
        (lambda: output.next_step(HOSTILE), f"next  {SPELLED}"),
        (
            lambda: output.table(("bot", "<by"), [(HOSTILE, "a\nb")]),
            f"bot{' ' * (len(SPELLED) - 3)}  by\n{SPELLED}  a\\nb",
        ),
        (
            lambda: output.document({"a": HOSTILE}),
            r'{"a": "\u001b[2J\u202eevil\u200b\u009b31m\u2066x\u3164"}',
        ),
    ],
    ids=range(11),
)
@pytest.mark.parametrize("terminal", [False, True], ids=["pipe", "terminal"])
def test_output_contains_no_terminal_control_characters(
    show: Callable[[], None],
    shown: str,
    terminal: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(output, "is_terminal", lambda: terminal)
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "300")
    show()
    printed = "".join(capsys.readouterr())
    assert not set(HOSTILE) & set(printed) - set("evil[2J31mx")
    if not terminal:
        assert printed.rstrip("\n") == shown


@pytest.mark.parametrize("name", quick_cases(NAMES.values(), 3), ids=NAMES)
def test_names_with_hidden_characters_are_refused(cli: Cli, name: str, cwd: Path) -> None:
    (cwd / "bot.py").write_text("pass\n")
    tournament = (*("tournament", "run", "poke", "sample:greedy", "sample:random"), "--name", name)
    for words in (
        ("owner", "add", name),
        ("bot", "add", "./bot.py", "--owner", name),
        ("bot", "add", "./bot.py", "--name", name),
        ("bot", "add", "./bot.py", "--version", name),
        ("bot", "add", "--remote", name),
        ("bot", "add", "--remote", "fine", "--owner", name),
        tournament,
    ):
        result = cli(*words)
        assert result.status == USAGE, (words, result)
        assert result.err.startswith("error  ")
        assert not set(name) & set(result.out + result.err.replace("\n", "")) - set(
            "ada[31m\u200d\ufe0f"
        )
    workspace = Workspace(None)
    assert owners.list_owners(workspace.store) == ()
    assert [
        version for version in versions.list_versions(workspace.store) if version.name not in _HOUSE
    ] == []
    assert tournaments.list_tournaments(workspace.store) == ()


_HOUSE = ("greedy", "random")


def test_the_error_names_the_character(cli: Cli) -> None:
    result = cli("owner", "add", "a\u202eda")
    assert result.err.splitlines()[0] == (
        r'error  the name of an owner, "a\u202eda", has the control or invisible character U+202E; '
        "choose another name."
    )


def test_a_tournament_file_with_a_hidden_character_is_refused(cli: Cli, cwd: Path) -> None:
    for lines in (
        'name = "cup\\u202e"\nbots = ["sample:greedy", "sample:random"]\n',
        'bots = ["sample:greedy"]\n[[entrants]]\nbot = "sample:random"\nowner = "a\\u200bda"\n',
    ):
        (cwd / "cup.toml").write_text(f'game = "poke"\n{lines}')
        for words in (("--dry-run",), ()):
            result = cli("tournament", "run", "cup.toml", *words)
            assert result.status == USAGE, result
            assert "has the control or invisible character" in result.err
    assert tournaments.list_tournaments(Workspace(None).store) == ()


def test_manifest_text_is_printed_with_escapes(cli: Cli, cwd: Path) -> None:
    (cwd / "mine").mkdir()
    escapes = HOSTILE.encode("unicode_escape").decode().replace(r"\x", r"\u00")
    (cwd / "mine" / "bot.toml").write_text(
        f'name = "mine"\nlanguage = "{escapes}"\nauthors = ["{escapes}"]\nrun = ["python", "x"]\n'
    )
    assert cli("bot", "add", "./mine").status == 0
    for words in (("bot", "list"), ("bot", "show", "mine@1")):
        result = cli(*words)
        assert SPELLED in result.out
        assert "\x1b" not in result.out
        json_output = cli(*words, "--json").out
        assert "\u202e" not in json_output
        assert repr(HOSTILE)[1:-1] in repr(json.loads(json_output))


@pytest.mark.parametrize("field", ["name", "version"])
def test_a_bot_toml_with_a_hidden_character_in_its_name_is_refused(
    cli: Cli, cwd: Path, field: str
) -> None:
    (cwd / "mine").mkdir()
    manifest_fields = {"name": "mine", "version": "1", field: r"a\u202e\u001bb"}
    lines = [f'{key} = "{value}"' for key, value in manifest_fields.items()]
    (cwd / "mine" / "bot.toml").write_text("\n".join([*lines, 'run = ["x"]\n']))
    refused = cli("bot", "add", "./mine")
    assert refused.status != 0
    assert rf'"{field}" must be' in refused.err
    assert r'not "a\u202e\u001bb".' in refused.err
