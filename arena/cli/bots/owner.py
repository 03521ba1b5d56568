"""The commands `pokearena owner`: manage owners of bots and their tokens."""

from __future__ import annotations

import shlex
import sys

import rich_click as click

from arena.cli import completers, output
from arena.cli.errors import FAILED, CommandError, usage_error
from arena.cli.options import data_option, json_option, reason_option
from arena.cli.output import ProgressLine
from arena.cli.workspace import Workspace


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
def add(name: str, as_json: bool, workspace: Workspace) -> None:
    """Create a token for an owner and print it once.

    `pokearena bot add --owner NAME` uses the same name.
    """
    from arena.store.bots import owners

    with workspace.audited("owner.add", name, made=True) as store:
        _print_token(name, owners.add_owner(store, name), as_json)


@owner.command(epilog='Example: pokearena owner renew ada --reason "it was lost"')
@click.argument("name", shell_complete=completers.owners)
@reason_option("Reason for the audit log.")
@json_option
@data_option
def renew(name: str, reason: str, as_json: bool, workspace: Workspace) -> None:
    """Create a new token for an owner and revoke the old one."""
    from arena.store.bots import owners

    with workspace.audited("owner.renew", name, reason) as store:
        _print_token(name, owners.renew(store, name), as_json)


@owner.command(epilog="Example: pokearena owner agent ada")
@click.argument("name", shell_complete=completers.owners)
@json_option
@data_option
def agent(name: str, as_json: bool, workspace: Workspace) -> None:
    """Create a token for the agent of an owner, and revoke an earlier one.

    An agent with this token can play unrated matches and read what the owner may read
    (docs/how-to/models.md). It can change nothing. It ends with the owner's token.
    """
    from arena.store.access import agents

    with workspace.audited("owner.agent", name) as store:
        token = agents.new_agent_token(store, name)
        output.secret(as_json, {"owner": name}, token, about="the agent of the owner plays with it")


@owner.command(epilog='Example: pokearena owner remove ada --reason "she left"')
@click.argument("name", shell_complete=completers.owners)
@reason_option("Reason for the audit log.")
@json_option
@data_option
def remove(name: str, reason: str, as_json: bool, workspace: Workspace) -> None:
    """Revoke the token of an owner. The bots keep their owner."""
    from arena.store.bots import owners

    with workspace.audited("owner.revoke", name, reason) as store:
        owners.revoke(store, name)
    values = {"owner": name, "token": None}
    output.result(as_json, values, f"the token of {name} is revoked", then="pokearena owner list")


@owner.command(epilog="Example: pokearena owner delete ada --dry-run")
@click.argument("name", shell_complete=completers.owners)
@click.option("--dry-run", is_flag=True, help="Show what would be deleted, without deleting it.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@json_option
@data_option
def delete(name: str, dry_run: bool, yes: bool, as_json: bool, workspace: Workspace) -> None:
    """Delete the data of an owner: source files, output, notes, submissions and tokens.

    The versions are retired and withdrawn from open tournaments. Names of bots, records and results
    stay, and a pseudonym replaces the name of the owner, so all ratings can still be computed again
    and all matches verified. This cannot be undone. Backups are not changed.
    """
    from arena.store.bots import owner_data
    from arena.submissions import owner_deletion

    owner_survey = owner_data.survey(workspace.existing_store, name)
    played = owner_data.matches(workspace.store, name)
    files = list(owner_deletion.files(workspace.folder, owner_survey, played))
    values: dict[str, object] = {
        "owner": name,
        "tokens": owner_survey.tokens,
        "versions": list(owner_survey.versions),
        "content_hashes": list(owner_survey.contents),
        "submissions": list(owner_survey.submissions),
        "matches": owner_survey.matches,
        "files": list(map(str, files)),
    }
    if not as_json:
        output.line(f"versions     {' '.join(owner_survey.versions) or '–'}: retired, withdrawn")
        output.line(f"tokens       {owner_survey.tokens}: revoked")
        output.line(f"files        {len(files)}: deleted")
        output.line(f"submissions  {len(owner_survey.submissions)}: deleted")
        output.line(
            f"matches      {owner_survey.matches}: stay, without output, notes, tags, reasoning"
        )
    pseudonym = None
    if not dry_run:
        _confirm(name, yes)
        progress = ProgressLine()
        _, pseudonym = owner_deletion.delete(
            workspace.store,
            workspace.folder,
            name,
            lambda done, of: progress("matches are redacted", done, of),
        )
    if as_json:
        output.document({**values, "deleted": not dry_run, "pseudonym": pseudonym})
    elif dry_run:
        output.next_step(f"pokearena owner delete {shlex.quote(name)}")
    else:
        output.line(f"{name} is deleted; the results belong to {pseudonym}")
        output.next_step("pokearena ladder verify")


def _confirm(name: str, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise usage_error(
            f"deleting {name} cannot be undone; confirm with --yes, or look with --dry-run.",
            "not-confirmed",
        )
    if not click.confirm(f"Delete the data of {name}? This cannot be undone.", err=True):
        raise CommandError("nothing is deleted.", FAILED, code="not-confirmed")


@owner.command(epilog='Example: pokearena owner reasoning ada deleted --reason "she asked for it"')
@click.argument("name", shell_complete=completers.owners)
@click.argument("state", type=click.Choice(["private", "published", "deleted"]))
@click.option("--bot", default="", metavar="NAME", help="Only of this bot. [default: all]")
@reason_option("Reason for the audit log.")
@json_option
@data_option
def reasoning(
    name: str, state: str, bot: str, reason: str, as_json: bool, workspace: Workspace
) -> None:
    """Publish, hide or delete the reasoning that the bots of an owner sent with their answers.

    Only the owner and the organiser can read it, unless it is published. Records keep the
    hashes of deleted lines, and can still be verified. A deletion cannot be undone.
    """
    from arena.store.bots.owner_data import ReasoningState, set_reasoning

    with workspace.audited("owner.reasoning", name, reason) as store:
        lines = set_reasoning(store, name, ReasoningState(state), bot)
    output.result(
        as_json,
        {"owner": name, "bot": bot or None, "state": state, "lines": lines},
        f"the reasoning of {bot or 'all bots of ' + name} is {state}: {lines} lines",
    )


@owner.command(epilog='Example: pokearena owner assign mybot ada --reason "a wrong name"')
@click.argument("bot")
@click.argument("name", shell_complete=completers.owners)
@reason_option("Reason for the audit log.")
@json_option
@data_option
def assign(bot: str, name: str, reason: str, as_json: bool, workspace: Workspace) -> None:
    """Correct the owner of a bot, also in the tournaments that are not over."""
    from arena.store.bots import versions

    with workspace.audited("bot.owner", bot, reason) as store:
        versions.reassign(store, bot, name)
    values = {"bot": bot, "owner": name}
    output.result(as_json, values, f"{bot} belongs to {name}", then="pokearena bot list")


@owner.command("list", epilog="Example: pokearena owner list")
@json_option
@data_option
def listing(as_json: bool, workspace: Workspace) -> None:
    """List the owners with a token. --json prints one line per owner."""
    from arena.store.bots import owners
    from arena.tournaments import json_values

    listed = owners.list_owners(workspace.existing_store)
    output.listing(
        as_json,
        ({"owner": each.name, "created": json_values.iso(each.created)} for each in listed),
        ("<owner", "<token created"),
        ((each.name, output.local_time(each.created)) for each in listed),
        "pokearena owner add NAME",
    )


def _print_token(name: str, token: str, as_json: bool) -> None:
    output.secret(
        as_json,
        {"owner": name},
        token,
        f"pokearena bot add FOLDER --owner {shlex.quote(name)}",
        "pokearena bot push FOLDER --to URL   # by the owner, with the token in POKEARENA_TOKEN",
    )
