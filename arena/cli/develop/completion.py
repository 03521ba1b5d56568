"""The command `pokearena completion`, and the answers to shells that complete a command line."""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import Any, Final

import click as plain_click
import rich_click as click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    add_completion_class,
    get_completion_class,
    shell_complete,
    split_arg_string,
)

from arena.cli.errors import FAILED

VARIABLE: Final = "_POKEARENA_COMPLETE"
"""Set by the completion scripts: the shell, and what it requires."""
_NAME: Final = "pokearena"
_REPLACED_BREAK: Final = "@"
"""The character that breaks words and belongs to the text to replace (`rl_special_prefixes`)."""
_MOST_SECONDS: Final = 10.0
"""A completion takes no longer, for example if a database does not answer."""


class ColonBashComplete(BashComplete):
    """Completion for bash that also completes words with a colon, an equals sign or an at sign.

    Bash breaks words at these characters and replaces only the part after the last of them. An at
    sign is replaced too.
    """

    source_template = """\
%(complete_func)s() {
    local IFS=$'\\n' response completion type value
    response=$(env COMP_LINE="${COMP_LINE:0:COMP_POINT}" COMP_WORDBREAKS="$COMP_WORDBREAKS" \
%(complete_var)s=bash_complete "$1" 2>/dev/null)
    COMPREPLY=()
    for completion in $response; do
        IFS=',' read -r type value <<< "$completion"
        if [[ $type == dir ]]; then
            compopt -o dirnames 2>/dev/null
        elif [[ $type == file ]]; then
            compopt -o default 2>/dev/null
        elif [[ $type == plain ]]; then
            COMPREPLY+=("$value")
            [[ $value == *= ]] && compopt -o nospace 2>/dev/null
        fi
    done
    return 0
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""
    _before = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the cursor, and the incomplete one."""
        line = os.environ["COMP_LINE"]
        words = split_arg_string(line)[1:]
        incomplete = words.pop() if words and not line[-1].isspace() else ""
        return words, incomplete

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        """Return the completions, and note the part before the last break of the word."""
        # Click completes VALUE of --option=VALUE alone.
        _, equals, value = incomplete.partition("=") if incomplete[:2] == "--" else ("", "", "")
        word = value if equals else incomplete
        breaks = os.environ.get("COMP_WORDBREAKS", "")
        ends = (word.rfind(mark) + (mark != _REPLACED_BREAK) for mark in breaks if mark in word)
        self._before = word[: max(ends, default=0)]
        return super().get_completions(args, incomplete)

    def format_completion(self, item: CompletionItem[str]) -> str:
        """Return the type, and the part of the word that bash replaces."""
        return f"{item.type},{item.value.removeprefix(self._before)}"


add_completion_class(ColonBashComplete)


@click.command(
    epilog="Example: pokearena completion fish > ~/.config/fish/completions/pokearena.fish"
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that completes commands in a shell.

    It completes commands, options, games, forms, formats, bots, owners, tournaments and matches of
    the data folder. docs/how-to/completion.md explains where each shell reads the script.
    """
    context = click.get_current_context()
    kind = get_completion_class(shell)
    assert context is not None
    assert kind is not None
    print(kind(context.find_root().command, {}, _NAME, VARIABLE).source(), end="")


def respond(root: plain_click.Command, instruction: str) -> int:
    """Print completions for a shell, and return the exit status; print nothing if that fails.

    `instruction` is the value of `VARIABLE`.
    """
    signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, _MOST_SECONDS)
    try:
        return shell_complete(root, {}, _NAME, VARIABLE, instruction)
    except Exception:
        # The shell would print a traceback in the middle of the user's line.
        return FAILED
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _stop(number: int, frame: FrameType | None) -> Any:
    raise TimeoutError
