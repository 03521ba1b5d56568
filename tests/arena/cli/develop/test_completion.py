"""Test completion, in this process and in real shells: bash, zsh and fish."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.shell_completion import shell_complete

from arena.cli.develop.completion import VARIABLE
from arena.cli.root import pokearena
from arena.cli.workspace import Workspace
from arena.store.access import organisers
from referee.games.registry import GAMES
from tests.arena.cli.terminal import POKEARENA, in_a_terminal

BASH = r"""
source "$SCRIPT"
COMP_LINE="$LINE"
COMP_POINT=${#LINE}
COMP_WORDS=($LINE)
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_pokearena_completion pokearena
printf '%s\n' "${COMPREPLY[@]}"
"""
FISH = """
source $SCRIPT
complete -C "$LINE"
"""
# The functions of zsh's completion system run only while a line is edited.
ZSH = r"""
compdef() { :; }
compadd() { print -l -- ${(P)@[-1]} }
_describe() { print -l -- ${${(P)3}%%:*} }
_path_files() { print -- FILES }
source "$SCRIPT"
words=(${(z)LINE})
[[ "$LINE" == *' ' ]] && words+=('')
CURRENT=$#words
_pokearena_completion
"""
SHELLS = {
    "bash": ["bash", "--norc", "-c", BASH],
    "zsh": ["zsh", "-f", "-c", ZSH],
    "fish": ["fish", "--no-config", "-c", FISH],
}
WORD_BREAKS = " \t\n\"'@><=;|&(:"
"""The characters at which bash breaks words by default (`COMP_WORDBREAKS`)."""
Complete = Callable[[str], list[str]]
ShellComplete = Callable[[str, str], list[str]]


@pytest.fixture(scope="session")
def script_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return the completion script of a shell, which `pokearena completion` prints once."""
    folder = tmp_path_factory.mktemp("completion")

    def printed(shell: str) -> Path:
        script = folder / f"completion.{shell}"
        if not script.exists():
            source = subprocess.run(
                [POKEARENA, "completion", shell], capture_output=True, text=True, check=True
            )
            script.write_text(source.stdout, encoding="utf-8")
        return script

    return printed


@pytest.fixture
def complete(
    cwd: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Complete:
    """Return the words that the program prints for bash, for the end of a line."""

    def printed(line: str) -> list[str]:
        monkeypatch.setenv("COMP_LINE", line)
        monkeypatch.setenv("COMP_WORDBREAKS", WORD_BREAKS)
        capsys.readouterr()
        assert shell_complete(pokearena, {}, "pokearena", VARIABLE, "bash_complete") == 0
        words = [row.partition(",") for row in capsys.readouterr().out.splitlines()]
        return [word for kind, _, word in words if kind == "plain"]

    return printed


@pytest.fixture
def complete_in_shell(cwd: Path, script_of: Callable[[str], Path]) -> ShellComplete:
    """Return the words that a shell offers for the end of a line."""

    def offered(line: str, shell: str) -> list[str]:
        if shutil.which(shell) is None:
            assert not os.environ.get("CI"), f"CI skips nothing: it needs the package {shell}"
            pytest.skip(f"{shell} is not installed (apt-get install {shell})")
        script = script_of(shell)
        environment = {**os.environ, "PATH": f"{POKEARENA.parent}:{os.environ['PATH']}"}
        done = subprocess.run(
            SHELLS[shell],
            env={**environment, "SCRIPT": str(script), "LINE": line},
            capture_output=True,
            text=True,
        )
        assert done.stderr == ""
        return [word.partition("\t")[0] for word in done.stdout.splitlines() if word]

    return offered


@pytest.mark.long
@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_completes_commands_options_games_and_bots(
    complete_in_shell: ShellComplete, shell: str
) -> None:
    assert complete_in_shell("pokearena stand", shell) == ["standings"]
    assert set(complete_in_shell("pokearena play --see", shell)) == {"--seed"}
    assert sorted(complete_in_shell("pokearena play pok", shell)) == ["poke", "pokex", "pokino"]
    # Bash replaces only the part after the colon.
    sample = "greedy" if shell == "bash" else "sample:greedy"
    assert complete_in_shell("pokearena play poke sample:gr", shell) == [sample]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("pokearena rules ", set(GAMES)),
        ("pokearena tournament run poke --format s", {"sprt", "swiss"}),
        ("pokearena tournament run poke --format swiss --set rou", {"rounds="}),
        ("pokearena play pouku a b --option te", {"teams"}),
        ("pokearena play pouku --option reference=l", {"left"}),
        ("pokearena play pouku --option=reference=l", {"left"}),
        ("pokearena play poke sample:greedy hu", {"human"}),
        ("pokearena new mybot --lang ru", {"ruby", "rust"}),
        ("pokearena config tournament r", {"replay", "resume", "run"}),
        ("pokearena compare a b --model n", {"normalized"}),
    ],
)
def test_completions_without_a_store(complete: Complete, line: str, words: set[str]) -> None:
    assert set(complete(line)) == words


def test_completions_from_the_store(
    complete: Complete, stored_tournament: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tournament = stored_tournament(("ann", "bob"), {}, 1)
    assert complete("pokearena tournament show ") == [tournament]
    assert complete("pokearena standings --tournament t-") == [tournament]
    assert set(complete("pokearena compare a")) == {"ann", "ann@1"}
    assert complete("pokearena compare ann@") == ["@1"]
    (match,) = complete("pokearena verify m-")
    assert match.startswith("m-")
    organisers.add_organiser(Workspace(Path(".pokearena")).store, "grace")
    assert complete("pokearena organiser renew ") == ["grace"]
    monkeypatch.setenv("POKEARENA_DATA", "elsewhere")
    assert complete("pokearena tournament show ") == []
    data = Workspace(Path(".pokearena")).folder.root
    assert complete(f"pokearena tournament show --data {shlex.quote(str(data))} ") == [tournament]


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("compare ann@", "compare ann@1"),
        *(
            pytest.param(*words, marks=pytest.mark.long)
            for words in (
                ("play poke sample:gr", "play poke sample:greedy"),
                ("play pouku a b --option reference=l", "play pouku a b --option reference=left"),
                ("standings --tim", "standings --timing"),
            )
        ),
    ],
)
def test_the_tab_key_completes_the_whole_word_in_bash(
    cwd: Path, stored_tournament: Callable[..., str], typed: str, completed: str
) -> None:
    """Check that the words Bash inserts are correct, since it replaces only part of a word."""
    stored_tournament(("ann", "bob"), {}, 1)
    path = f"{POKEARENA.parent}:{os.environ['PATH']}"
    environment = {"PATH": path, "PS1": "ready> "}
    with in_a_terminal(cwd, "--norc", "-i", program="bash", environment=environment) as terminal:
        terminal.sees("ready> ")
        terminal.press("source <(pokearena completion bash) && echo installed:$?\n")
        terminal.sees("installed:0")
        # Complete, then print the line instead of running it: Ctrl-A, Ctrl-E.
        terminal.press(f"pokearena {typed}\t\x01echo line: \x05:end\n")
        terminal.sees(f"line: pokearena {completed} :end")


def test_the_data_folder_of_a_project_file_is_used(
    complete: Complete, cwd: Path, stored_tournament: Callable[..., str]
) -> None:
    tournament = stored_tournament(("ann", "bob"), {}, 1)
    (cwd / ".pokearena").rename(cwd / "arena")
    assert complete("pokearena tournament show ") == []
    (cwd / "pokearena.toml").write_text('data = "arena"', encoding="utf-8")
    assert complete("pokearena tournament show ") == [tournament]


def test_folders_with_a_bot_are_completed_if_every_shell_can_type_them(
    complete: Complete, cwd: Path
) -> None:
    for name in ("mybot", "my bot", "my$(id)"):
        (cwd / name).mkdir()
        (cwd / name / "bot.toml").touch()
    (cwd / "mynotes").mkdir()
    assert complete("pokearena test my") == ["mybot"]
    assert complete("pokearena test ./my") == ["./mybot"]


def test_faulty_files_and_databases_print_nothing(complete: Complete, cwd: Path) -> None:
    (cwd / "pokearena.toml").write_text("play = 3", encoding="utf-8")
    (cwd / ".pokearena").mkdir()
    (cwd / ".pokearena/arena.db").write_text("not a database" * 1000, encoding="utf-8")
    assert complete("pokearena tournament show ") == []
    assert "poke" in complete("pokearena play po")


def test_completion_creates_nothing(complete: Complete, cwd: Path) -> None:
    assert complete("pokearena verify ") == []
    assert complete("pokearena owner renew ") == []
    assert list(cwd.iterdir()) == []


def test_static_completions_import_nothing_heavy(cwd: Path) -> None:
    code = (
        "import os, sys\nfrom arena.cli import main\n"
        "for line in ('pokearena ', 'pokearena play po', 'pokearena play --see'):\n"
        "    os.environ['COMP_LINE'] = line\n"
        "    main([])\n"
        "print([name for name in ('sqlalchemy', 'numpy', 'rich', 'grpc', 'msgspec') "
        "if name in sys.modules])"
    )
    environment = {**os.environ, "_POKEARENA_COMPLETE": "bash_complete"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert "plain,poke" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"
