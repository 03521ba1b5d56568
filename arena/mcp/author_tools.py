"""Tools for authors and organisers: commands of `pokearena` with their JSON.

They read folders and run code on this machine, so only `pokearena mcp` on standard input and
output has them, never a server.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Annotated, Any, Final

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from arena.system import parent_death_signal

_COMMAND: Final = "import sys; from arena.cli import main; sys.exit(main())"
_FAILED: Final = 1
"""Exit status of a command that has found a fault, which its JSON contains."""

Json = dict[str, Any] | list[Any]
"""The output of a command: an object, or a list of the objects of its lines."""
Bot = Annotated[str, Field(description="folder with a bot.toml, NAME, NAME@VERSION or sample:NAME")]
Game = Annotated[str, Field(description="id of a game, from list_games")]


def add_author_tools(server: MCPServer[Any]) -> None:
    """Add the tools of authors and organisers."""

    @server.tool()
    def new(folder: str, language: str = "python") -> Json:
        """Write a starter bot into a new folder; its AGENTS.md explains how to improve it."""
        return command("new", folder, lang=language)

    @server.tool()
    def test(bot: Bot, quick: bool = True) -> Json:
        """Test a bot in each game of its manifest; each failed check has a command."""
        return command("test --quick" if quick else "test", bot)

    @server.tool()
    def play(
        game: Game,
        bots: Annotated[list[Bot], Field(min_length=1)],
        boards: Annotated[int, Field(ge=1, le=1000)] = 20,
        seed: str = "",
    ) -> Json:
        """Play a local match of bots with time limits; `fault` is null if none made one."""
        return command("play", game, *bots, boards=boards, **({"seed": seed} if seed else {}))

    @server.tool()
    def why(match: Annotated[str, Field(description="id of a match, or last")] = "last") -> Json:
        """Explain a match: its faults with their questions, boards and decision times."""
        return command("why", match)

    @server.tool()
    def ask(
        question: Annotated[str, Field(description="MATCH:GAME:DECISION, as `asks` of a fault")],
        bot: Bot,
    ) -> Json:
        """Send a recorded question to a bot again."""
        return command("ask", question, bot)

    @server.tool()
    def add(bot: Bot) -> Json:
        """Store a version of a bot in the arena of this machine."""
        return command("bot add", bot)

    @server.tool()
    def run_tournament(
        game: Game, bots: Annotated[list[Bot], Field(min_length=2)], kind: str = "round-robin"
    ) -> Json:
        """Run a tournament of stored bots on this machine to its end."""
        return command("tournament run", game, *bots, format=kind)

    @server.tool()
    def compare(bot: Bot, other: Bot) -> Json:
        """Compare two bots that have played each other: score, intervals, Elo difference."""
        return command("compare", bot, other)

    @server.tool()
    def push(bot: Bot, to: Annotated[str, Field(description="URL of the arena's pages")]) -> Json:
        """Upload a bot to an arena. The token is in POKEARENA_TOKEN, never an argument."""
        return command("bot push", bot, to=to)

    @server.tool()
    def tournaments() -> Json:
        """List the tournaments of this arena."""
        return command("tournament list")

    @server.tool()
    def standings(scope: Annotated[str, Field(description="game or tournament")]) -> Json:
        """Return the ladder of a game, or the standings of a tournament."""
        return command("standings", scope)


def command(words: str, *values: str, **options: object) -> Json:
    """Run a command with --json and return its JSON.

    Args:
        words: the words of the command, and flags.
        values: its arguments; none of them is read as an option.
        options: its options with values.

    Raises:
        ToolError: the command failed without a result; the message is its sentence.
    """
    flags = [f"--{name}={value}" for name, value in options.items()]
    argv = [sys.executable, "-c", _COMMAND, *words.split(), *flags, "--json", "--", *values]
    done = subprocess.run(
        parent_death_signal.killed_with_parent(argv),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode in (0, _FAILED) and done.stdout.strip():
        lines = done.stdout.splitlines()
        printed: list[Any] = [json.loads(line) for line in lines]
        return printed[0] if len(printed) == 1 else printed
    raise ToolError(_sentence(done.stderr) or f"the command ended with {done.returncode}.")


def _sentence(output: str) -> str:
    """Return the sentence of the error in the last line of a command's standard error."""
    last = output.strip().splitlines()[-1:]
    try:
        return str(json.loads(last[0])["error"])
    except (IndexError, KeyError, TypeError, json.JSONDecodeError):
        return "".join(last)
