"""The commands `pokearena owner`: manage owners of bots and their tokens."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from arena.cli import output
from arena.cli.options import data_option, json_option


@click.group()
def owner() -> None:
    """Manage the owners of bots and their tokens.

    With a token, an owner can push bots, and the pages of the owner's bots show the output and the
    question of each fault. A token is shown once; the arena stores only its hash.
    """


@owner.command(epilog="Example: pokearena owner add ada")
@click.argument("name")
@json_option
@data_option
def add(name: str, as_json: bool, data: Path | None) -> None:
    """Create a token for an owner and print it once.

    `pokearena bot add --owner NAME` uses the same name.
    """
    from arena.cli.workspace import Workspace
    from arena.store.bots import owners

    _tell(name, owners.add(Workspace(data).store, name), as_json)


@owner.command(epilog="Example: pokearena owner renew ada")
@click.argument("name")
@json_option
@data_option
def renew(name: str, as_json: bool, data: Path | None) -> None:
    """Create a new token for an owner and revoke the old one."""
    from arena.cli.workspace import Workspace
    from arena.store.bots import owners

    _tell(name, owners.renew(Workspace(data).existing_store, name), as_json)


@owner.command(epilog="Example: pokearena owner remove ada")
@click.argument("name")
@json_option
@data_option
def remove(name: str, as_json: bool, data: Path | None) -> None:
    """Revoke the token of an owner. The bots keep their owner."""
    from arena.cli.workspace import Workspace
    from arena.store.bots import owners

    owners.remove(Workspace(data).existing_store, name)
    if as_json:
        output.document({"owner": name, "token": None})
    else:
        output.line(f"the token of {name} is revoked")
        output.next_step("pokearena owner list")


@owner.command("list", epilog="Example: pokearena owner list")
@json_option
@data_option
def listing(as_json: bool, data: Path | None) -> None:
    """List the owners with a token. --json prints one line per owner."""
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
        ("<owner", "<token created"),
        [(owner.name, formatting.local_time(owner.created)) for owner in owner_list],
    )
    output.next_step("pokearena owner add NAME")


def _tell(name: str, token: str, as_json: bool) -> None:
    if as_json:
        output.document({"owner": name, "token": token})
        return
    output.line(token)
    output.hint(f"token of {name}; it is shown only once, and the arena stores only its hash")
    output.next_step(f"pokearena bot add FOLDER --owner {name}")
