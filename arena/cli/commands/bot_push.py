"""`pokearena bot push`: a bot into somebody else's arena, over the network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from arena.cli import output
from arena.cli.errors import USAGE, CommandError
from arena.cli.options import data_option, json_option, token_said

if TYPE_CHECKING:
    from arena.cli.pushing import Packed
    from arena.cli.reaching import Elsewhere

_to = click.option(
    "--to", envvar="POKEARENA_URL", metavar="URL", help="The address of the arena's pages."
)
_token = click.option(
    "--token",
    default=token_said,
    metavar="TOKEN",
    help="What the organiser gave you. Better said by POKEARENA_TOKEN, or in a file that "
    "POKEARENA_TOKEN_FILE names: others can read options.",
)


@click.command(epilog="Example: pokearena bot push mybot --to https://arena.example.org")
@click.argument("bot", metavar="BOT")
@_to
@_token
@click.option("--dry-run", is_flag=True, help="Say what would be sent, and send nothing.")
@click.option("--no-wait", is_flag=True, help="Do not wait for what becomes of it.")
@json_option
@data_option
def push(
    bot: str,
    to: str | None,
    token: str | None,
    dry_run: bool,
    no_wait: bool,
    as_json: bool,
    data: Path | None,
) -> int:
    """Push a bot into an arena: it is checked, built, tested and put on the ladder there.

    A content is pushed once; a changed one is the next version. Ctrl-C leaves it going.
    """
    from arena.cli import pushing
    from arena.cli.place import Place

    found = Place(data).bot(bot)
    if dry_run:
        with pushing.packed(found) as what:
            return _tell_packed(what, bot, as_json)
    arena = _arena(to, token)
    with pushing.packed(found) as what:
        if not as_json:
            output.hint(f"{what.name} · {what.contents.files} files, {what.size:,} bytes packed")
        sent = pushing.send(arena, what)
    if not as_json:
        output.hint(f"submission {sent['submission']}")
    states = iter((sent,)) if no_wait else pushing.follow(arena, sent)
    if not no_wait:
        return pushing.tell(arena, states, as_json, bot)
    if as_json:
        output.document(dict(sent))
    else:
        output.line(str(sent["submission"]))
        output.next_step(f"pokearena bot submission {sent['submission']} --to {arena.url}")
    return 0


@click.command(epilog="Example: pokearena bot submission s-7f3k9q2xwd --to https://arena.org")
@click.argument("submission", metavar="ID")
@_to
@_token
@json_option
def submission(submission: str, to: str | None, token: str | None, as_json: bool) -> int:
    """Follow what has been pushed until it is decided, or say what became of it."""
    from arena.cli import pushing

    arena = _arena(to, token)
    return pushing.tell(arena, pushing.follow(arena, pushing.look(arena, submission)), as_json)


def _arena(to: str | None, token: str | None) -> Elsewhere:
    from arena.cli import reaching

    if not to:
        raise CommandError("say which arena: --to URL, or POKEARENA_URL.", USAGE)
    if not token:
        raise CommandError(
            "say the token that the organiser gave you: POKEARENA_TOKEN, or --token.", USAGE
        )
    arena = reaching.elsewhere(to, token)
    if arena.is_open_to_listeners:
        output.warn(f"{to} is not encrypted: whoever carries this can read the token.")
    return arena


def _tell_packed(what: Packed, bot: str, as_json: bool) -> int:
    if as_json:
        output.document(what.to_json())
        return 0
    output.line(f"bot      {what.name}{f'@{what.version}' if what.version else ''}")
    output.line(f"files    {what.contents.files}, {what.contents.bytes:,} bytes")
    output.line(f"packed   {what.size:,} bytes")
    output.line(f"content  {what.content}")
    output.next_step(f"pokearena bot push {bot} --to URL")
    return 0
