"""`pokearena new`: a starter bot in a new folder."""

from __future__ import annotations

import shlex
from pathlib import Path

import rich_click as click

from arena.cli import output


@click.command(epilog="Example: pokearena new mybot --lang python")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--lang", default="python", show_default=True, metavar="LANGUAGE", help="The bot's language."
)
def new(folder: Path, lang: str) -> None:
    """Write a starter bot into a new folder.

    It plays at once, and needs nothing but what lies in the folder.
    """
    from arena.cli import starter

    starter.write(folder, lang.lower())
    meanings = {
        "bot.py": "the bot: edit choose()",
        "bot.toml": "its name, its games, how it is run",
        "README.md": "how to play, test and submit it",
        "pokearena_bot.py": "the kit",
        "proto": "the protocol: its comments are the manual",
    }
    there = [(name, meaning) for name, meaning in meanings.items() if (folder / name).exists()]
    for name, meaning in there:
        output.line(f"{folder / name!s:<{len(str(folder)) + 20}}{meaning}")
    at = shlex.quote(str(folder) if folder.is_absolute() else f"./{folder}")
    output.next_step(f"pokearena play poke {at} sample:random --watch")
