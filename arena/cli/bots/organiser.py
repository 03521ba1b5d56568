"""The commands `pokearena organiser`: tokens of organisers, and the audit log."""

from __future__ import annotations

import rich_click as click

from arena.cli import completers, output
from arena.cli.options import data_option, json_option, reason_option
from arena.cli.workspace import Workspace


@click.group()
def organiser() -> None:
    """Manage the tokens of organisers, and show the audit log.

    With a token, an organiser can sign in to the pages at /sign-in, manage tournaments and owners
    there, and use the HTTP API. A token is shown once; the arena stores only its hash.
    """


@organiser.command(epilog="Example: pokearena organiser add grace")
@click.argument("name")
@json_option
@data_option
def add(name: str, as_json: bool, workspace: Workspace) -> None:
    """Create a token for an organiser and print it once."""
    from arena.store.access import organisers

    with workspace.audited("organiser.add", name, made=True) as store:
        _print_token(name, organisers.add_organiser(store, name), as_json)


@organiser.command(epilog='Example: pokearena organiser renew grace --reason "it was lost"')
@click.argument("name", shell_complete=completers.organisers)
@reason_option("Reason for the audit log.")
@json_option
@data_option
def renew(name: str, reason: str, as_json: bool, workspace: Workspace) -> None:
    """Create a new token for an organiser; the old one and its sessions end at once."""
    from arena.store.access import organisers

    with workspace.audited("organiser.renew", name, reason) as store:
        _print_token(name, organisers.renew(store, name), as_json)


@organiser.command(epilog='Example: pokearena organiser revoke grace --reason "she left"')
@click.argument("name", shell_complete=completers.organisers)
@reason_option("Reason for the audit log.")
@json_option
@data_option
def revoke(name: str, reason: str, as_json: bool, workspace: Workspace) -> None:
    """Revoke the token of an organiser; it and its sessions end at once."""
    from arena.store.access import organisers

    with workspace.audited("organiser.revoke", name, reason) as store:
        organisers.revoke(store, name)
    values = {"organiser": name, "token": None}
    revoked = f"the token of {name} is revoked"
    output.result(as_json, values, revoked, then="pokearena organiser list")


@organiser.command("list", epilog="Example: pokearena organiser list")
@json_option
@data_option
def listing(as_json: bool, workspace: Workspace) -> None:
    """List the organisers with a token. --json prints one line per organiser."""
    from arena.store.access import organisers
    from arena.tournaments import json_values

    listed = organisers.list_organisers(workspace.existing_store)
    output.listing(
        as_json,
        ({"organiser": each.name, "created": json_values.iso(each.created)} for each in listed),
        ("<organiser", "<token created"),
        ((each.name, output.local_time(each.created)) for each in listed),
        "pokearena organiser add NAME",
    )


@organiser.command(epilog="Example: pokearena organiser audit --limit 50")
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=20,
    show_default=True,
    help="Number of entries.",
)
@json_option
@data_option
def audit(limit: int, as_json: bool, workspace: Workspace) -> None:
    """Show the audit log, newest entries first. --json prints one line per entry."""
    from arena.store.access import audit_log

    entries = audit_log.list_entries(workspace.existing_store, limit=limit)
    output.listing(
        as_json,
        (entry.to_json() for entry in entries),
        ("<time", "<who", "<action", "<object", "<reason"),
        (
            (
                output.local_time(entry.at),
                entry.actor or "command line",
                entry.action,
                entry.subject,
                entry.reason,
            )
            for entry in entries
        ),
    )


def _print_token(name: str, token: str, as_json: bool) -> None:
    output.secret(as_json, {"organiser": name}, token, "open the page /sign-in of the arena")
