"""The commands `pokearena owner`: manage owners of bots and their tokens."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import rich_click as click

from arena.cli import completers, output
from arena.cli.errors import FAILED, USAGE, CommandError
from arena.cli.options import data_option, json_option, reason_option
from arena.cli.output import ProgressLine

if TYPE_CHECKING:
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
    from arena.store.access.audit_log import audited_command
    from arena.store.bots import owners

    store = workspace.store
    with audited_command(store, "owner.add", name):
        _print_token(name, owners.add_owner(store, name), as_json)


@owner.command(epilog='Example: pokearena owner renew ada --reason "it was lost"')
@click.argument("name", shell_complete=completers.owners)
@reason_option("Reason for the audit log.")
@json_option
@data_option
def renew(name: str, reason: str, as_json: bool, workspace: Workspace) -> None:
    """Create a new token for an owner and revoke the old one."""
    from arena.store.access.audit_log import audited_command
    from arena.store.bots import owners

    store = workspace.existing_store
    with audited_command(store, "owner.renew", name, reason):
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
    from arena.store.access.audit_log import audited_command

    store = workspace.existing_store
    with audited_command(store, "owner.agent", name):
        token = agents.new_agent_token(store, name)
    if as_json:
        output.document({"owner": name, "token": token})
        return
    output.line(token)
    output.hint(f"token of the agent of {name}; it is shown only once")


@owner.command(epilog='Example: pokearena owner remove ada --reason "she left"')
@click.argument("name", shell_complete=completers.owners)
@reason_option("Reason for the audit log.")
@json_option
@data_option
def remove(name: str, reason: str, as_json: bool, workspace: Workspace) -> None:
    """Revoke the token of an owner. The bots keep their owner."""
    from arena.store.access.audit_log import audited_command
    from arena.store.bots import owners

    store = workspace.existing_store
    with audited_command(store, "owner.revoke", name, reason):
        owners.revoke(store, name)
    if as_json:
        output.document({"owner": name, "token": None})
    else:
        output.line(f"the token of {name} is revoked")
        output.next_step("pokearena owner list")


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
    """Request confirmation on a terminal."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise CommandError(
            f"deleting {name} cannot be undone; confirm with --yes, or look with --dry-run.",
            USAGE,
            code="not-confirmed",
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
    from arena.store.access.audit_log import audited_command
    from arena.store.bots.owner_data import ReasoningState, set_reasoning

    store = workspace.existing_store
    with audited_command(store, "owner.reasoning", name, reason):
        lines = set_reasoning(store, name, ReasoningState(state), bot)
    if as_json:
        output.document({"owner": name, "bot": bot or None, "state": state, "lines": lines})
    else:
        output.line(f"the reasoning of {bot or 'all bots of ' + name} is {state}: {lines} lines")


@owner.command(epilog='Example: pokearena owner assign mybot ada --reason "a wrong name"')
@click.argument("bot")
@click.argument("name", shell_complete=completers.owners)
@reason_option("Reason for the audit log.")
@json_option
@data_option
def assign(bot: str, name: str, reason: str, as_json: bool, workspace: Workspace) -> None:
    """Correct the owner of a bot, also in the tournaments that are not over."""
    from arena.store.access.audit_log import audited_command
    from arena.store.bots import versions

    store = workspace.existing_store
    with audited_command(store, "bot.owner", bot, reason):
        versions.reassign(store, bot, name)
    if as_json:
        output.document({"bot": bot, "owner": name})
    else:
        output.line(f"{bot} belongs to {name}")
        output.next_step("pokearena bot list")


@owner.command("list", epilog="Example: pokearena owner list")
@json_option
@data_option
def listing(as_json: bool, workspace: Workspace) -> None:
    """List the owners with a token. --json prints one line per owner."""
    from arena.store.bots import owners
    from arena.tournaments import json_values

    owner_list = owners.list_owners(workspace.existing_store)
    if as_json:
        for owner in owner_list:
            output.document({"owner": owner.name, "created": json_values.iso(owner.created)})
        return
    output.table(
        ("<owner", "<token created"),
        [(owner.name, output.local_time(owner.created)) for owner in owner_list],
    )
    output.next_step("pokearena owner add NAME")


def _print_token(name: str, token: str, as_json: bool) -> None:
    if as_json:
        output.document({"owner": name, "token": token})
        return
    output.line(token)
    output.hint(f"token of {name}; it is shown only once, and the arena stores only its hash")
    output.next_step(
        f"pokearena bot add FOLDER --owner {shlex.quote(name)}",
        "pokearena bot push FOLDER --to URL   # by the owner, with the token in POKEARENA_TOKEN",
    )
