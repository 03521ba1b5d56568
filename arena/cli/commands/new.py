"""`pokearena new`: a starter bot in a new folder."""

from __future__ import annotations

import shlex
from pathlib import Path

import rich_click as click

from arena.cli import output


@click.command(epilog="Example: pokearena new mybot --lang go")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--lang",
    default="python",
    show_default=True,
    metavar="LANGUAGE",
    help="The bot's language: python, go, rust, typescript, java, cpp, ruby; c and shell without "
    "gRPC.",
)
def new(folder: Path, lang: str) -> None:
    """Write a starter bot into a new folder.

    It plays as it is, and works without this arena: beside a bot that plays every game at random
    there is a greedy one for one game, the kit that both stand on, and the protocol.
    """
    from arena.cli import starter

    starter.write(folder, lang.lower())
    there = [(f"{folder}/{names}", meaning) for names, meaning in starter.contents(folder)]
    width = max(len(names) for names, _ in there)
    for names, meaning in there:
        output.line(f"{names:<{width}}  {meaning}")
    lack = starter.lack(folder)
    if lack:
        output.hint(lack)
    at = shlex.quote(str(folder) if folder.is_absolute() else f"./{folder}")
    output.next_step(f"pokearena play poke {at} sample:random --watch")
