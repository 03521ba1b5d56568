"""The command `pokearena bot connect`: run a local bot in a remote arena."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from arena.cli.errors import USAGE, CommandError
from arena.cli.options import json_option, token_from_environment


@click.command(
    epilog="Example: pokearena bot connect https://arena.example.org --token T -- ./mybot --fast"
)
@click.argument("url", metavar="URL")
@click.argument("words", metavar="BOT | -- COMMAND", nargs=-1, required=True)
@click.option(
    "--token",
    default=token_from_environment,
    metavar="TOKEN",
    help="What `bot add --remote` has shown. Better said by POKEARENA_TOKEN, or in a file that "
    "POKEARENA_TOKEN_FILE names: others can read options.",
)
@click.option(
    "--tables",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="At how many tables it sits at a time, each with a process of its own.",
)
@click.option(
    "--ca",
    "authority",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Certificates (PEM) to believe instead of the usual ones.",
)
@json_option
def connect(
    url: str,
    words: tuple[str, ...],
    token: str | None,
    tables: int,
    authority: Path | None,
    as_json: bool,
) -> int:
    """Have a bot on this machine play in an arena elsewhere, from behind any network.

    URL is grpc://HOST:PORT or grpcs://HOST:PORT (TLS) of its relay, or http(s)://HOST of its
    pages. The bot is a folder with a bot.toml, a .py file, sample:NAME, or a COMMAND, which is
    started here, with all your rights, for every table; what it prints goes to standard error.

    A connection that is lost is made again. Ctrl-C takes no more tables and leaves when those at
    hand are over; twice leaves at once.
    """
    from arena.cli.bots import connection

    if token is None:
        raise CommandError(
            "say the token that the organiser gave you: POKEARENA_TOKEN, or --token.", USAGE
        )
    command = connection.command_of(words)
    target = connection.target_of(url, authority)
    return connection.stay(target, token, command, tables, authority, as_json)
