"""The command `pokearena bot connect`: run a local bot in a remote arena."""

from __future__ import annotations

import os
from pathlib import Path

import rich_click as click

from arena.cli import completers
from arena.cli.options import ca_option, json_option, required_token, token_from_environment


@click.command(
    epilog="Example: pokearena bot connect https://arena.example.org --token T -- ./mybot --fast"
)
@click.argument("url", metavar="URL")
@click.argument(
    "words", metavar="BOT | -- COMMAND", nargs=-1, required=True, shell_complete=completers.bots
)
@click.option(
    "--token",
    default=token_from_environment,
    metavar="TOKEN",
    help="Token printed by `pokearena bot add --remote`. Other users of this "
    "machine can read options; prefer POKEARENA_TOKEN, or POKEARENA_TOKEN_FILE "
    "with the path of a file.",
)
@click.option(
    "--tables",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Number of tables played at the same time, each with a process of its own.",
)
@ca_option
@json_option
def connect(
    url: str,
    words: tuple[str, ...],
    token: str | None,
    tables: int,
    authority: Path | None,
    as_json: bool,
) -> int:
    """Run a bot on this machine and let it play in a remote arena.

    Only outgoing connections are needed. URL is the relay of the arena, grpc://HOST:PORT or
    grpcs://HOST:PORT (TLS), or its web pages, http(s)://HOST. BOT is a folder with a bot.toml,
    a .py file or sample:NAME; COMMAND starts a bot. A process is started for each table, with
    your rights and without a sandbox. Its output goes to standard error.

    A lost connection is restored. Press Ctrl-C to leave after the current tables, and again to
    leave at once.
    """
    _import_grpc_quietly()
    from arena.cli.bots import connection

    secret = required_token(token)
    command = connection.command_of(words)
    target = connection.target_of(url, authority)
    return connection.stay(target, secret, command, tables, authority, as_json)


def _import_grpc_quietly() -> None:
    """Import gRPC without its log, whose errors are in the messages of the command.

    It reads the variable at the import. The processes of bots do not inherit it.
    """
    if "GRPC_VERBOSITY" not in os.environ:
        os.environ["GRPC_VERBOSITY"] = "NONE"
        import grpc  # noqa: F401

        del os.environ["GRPC_VERBOSITY"]
