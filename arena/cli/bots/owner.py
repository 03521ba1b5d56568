"""The commands `pokearena owner`: manage owners of bots and their tokens."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from arena.cli import output
from arena.cli.options import data_option, json_option


@click.group()
def owner() -> None:
    """Owners of bots, and their tokens.

    With its owner's token a bot's page shows what the bot wrote when it failed, and the question
    it was asked. A token is shown once, when it is made; only its hash is kept.
    """


@owner.command(epilog="Example: pokearena owner add ada")
@click.argument("name")
@json_option
@data_option
def add(name: str, as_json: bool, data: Path | None) -> None:
    """Make a token for an owner, and print it, once.

    NAME is what `pokearena bot add --owner` says.
    """
    from arena.cli.workspace import Workspace
    from arena.store.bots import owners

    _tell(name, owners.add(Workspace(data).store, name), as_json)


@owner.command(epilog="Example: pokearena owner renew ada")
@click.argument("name")
@json_option
@data_option
def renew(name: str, as_json: bool, data: Path | None) -> None:
    """Make another token for an owner; the one before is worth nothing from now on."""
    from arena.cli.workspace import Workspace
    from arena.store.bots import owners

    _tell(name, owners.renew(Workspace(data).existing_store, name), as_json)


@owner.command(epilog="Example: pokearena owner remove ada")
@click.argument("name")
@json_option
@data_option
def remove(name: str, as_json: bool, data: Path | None) -> None:
    """Make an owner's token worth nothing. The bots stay the owner's."""
    from arena.cli.workspace import Workspace
    from arena.store.bots import owners

    owners.remove(Workspace(data).existing_store, name)
    if as_json:
        output.document({"owner": name, "token": None})
    else:
        output.line(f"{name} has no token any more")
        output.next_step("pokearena owner list")


@owner.command("list", epilog="Example: pokearena owner list")
@json_option
@data_option
def listing(as_json: bool, data: Path | None) -> None:
    """List the owners who have a token. With --json a line each."""
    from arena.cli import formatting
    from arena.cli.workspace import Workspace
    from arena.store.bots import owners
    from arena.tournaments import json_values

    owner_list = owners.listing(Workspace(data).existing_store)
    if as_json:
        for owner in owner_list:
            output.document({"owner": owner.name, "created": json_values.iso(owner.created)})
        return
    output.table(
        ("<owner", "<token made"),
        [(owner.name, formatting.local_time(owner.created)) for owner in owner_list],
    )
    output.next_step("pokearena owner add NAME")


def _tell(name: str, token: str, as_json: bool) -> None:
    if as_json:
        output.document({"owner": name, "token": token})
        return
    output.line(token)
    output.hint(f"the token of {name}: it is shown this once, and only its hash is kept")
    output.next_step(f"pokearena bot add FOLDER --owner {name}")
