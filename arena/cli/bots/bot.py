"""The commands `pokearena bot`: manage the versions of bots that may enter tournaments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich_click as click

from arena.cli import completers, output
from arena.cli.bots.approval import approvals, approve, refuse
from arena.cli.bots.arena_requests import content_of
from arena.cli.bots.challenge import challenge
from arena.cli.bots.connect import connect
from arena.cli.bots.push import (
    arena_at,
    push,
    submission,
    token_option,
)
from arena.cli.errors import usage_error
from arena.cli.options import data_option, json_option, reason_option
from arena.cli.workspace import Workspace

if TYPE_CHECKING:
    from arena.store.bots.remote_bots import RemoteBot
    from arena.store.bots.versions import Version


@click.group()
def bot() -> None:
    """Manage the versions of bots that can enter tournaments.

    A version is immutable: its files are stored under the hash of their content. The files of a
    remote bot stay on the machine of its author.
    """


for _elsewhere in (approvals, approve, challenge, connect, push, refuse, submission):
    bot.add_command(_elsewhere)


@bot.command(epilog="Example: pokearena bot add ./mybot")
@click.argument("bot", metavar="[BOT]", required=False, shell_complete=completers.bots)
@click.option(
    "--remote",
    metavar="NAME",
    help="Register a bot that runs on the machine of its author, and create its token.",
)
@click.option(
    "--at",
    metavar="ADDRESS",
    help="Address of a remote bot that the arena can reach: grpc://HOST:PORT.",
)
@click.option("--name", help="Name of the bot. [default: from bot.toml; required for a remote bot]")
@click.option(
    "--version", "number", help="Version of the bot. [default: from bot.toml, else the next number]"
)
@click.option(
    "--owner",
    default="",
    metavar="NAME",
    shell_complete=completers.owners,
    help="Owner of the bot.",
)
@json_option
@data_option
def add(
    bot: str | None,
    remote: str | None,
    at: str | None,
    name: str | None,
    number: str | None,
    owner: str,
    as_json: bool,
    workspace: Workspace,
) -> None:
    """Register the current content of a bot as a version.

    BOT is a folder, a file (.toml or .py), sample:NAME or grpc://HOST:PORT. The commands in its
    bot.toml build it. Without a version in bot.toml it gets the next number; the same content
    gives the same version. Bots of one owner do not play at a table with more than two sides,
    unless the organiser of a tournament allows it.

    --remote NAME registers a bot that runs on the machine of its author, and prints its token
    once. The author connects it with `pokearena bot connect`. With --at, the arena connects to
    the bot at this address instead.
    """
    from arena.cli.bots import registration
    from referee.games.registry import GAMES

    if remote is not None and (bot, at, name) == (None, None, None):
        made, token = registration.register_relayed(workspace, remote, number, owner)
        _print_token(made.id, token, as_json)
        return
    if remote is not None and bot is None and name is None:
        bot, name, at = at, remote, None
    if bot is None or at is not None or (remote is not None and name != remote):
        raise usage_error(
            "give either a BOT, or --remote NAME (with --at ADDRESS if the "
            "arena connects to the bot)."
        )
    version = registration.register(
        workspace, workspace.bot(bot), name=name, number=number, owner=owner
    )
    if as_json:
        output.document(_as_json(version))
    else:
        where = version.manifest.get("address", "connects to the relay")
        output.line(f"{version.id}  {version.content_hash or where}")
        game = next(iter(version.manifest.get("games") or GAMES))
        output.next_step(f"pokearena tournament run {game} {version.id} {_opponents(game)}")


def _opponents(game: str) -> str:
    """Return house bots for a table of a game; one if the game is not known here."""
    from arena.bots import resolver
    from referee.games.registry import GAMES

    rules = GAMES.get(game)
    sides = 2 if rules is None else rules.side_count(rules.seats[0], rules.settle({}))
    return " ".join(resolver.usual_opponents(game, sides - 1))


@bot.command("list", epilog="Example: pokearena bot list --all")
@click.option("--all", "everything", is_flag=True, help="Include retired versions.")
@json_option
@data_option
def listing(everything: bool, as_json: bool, workspace: Workspace) -> None:
    """List the versions. --json prints one line per version."""
    from arena.store.bots import remote_bots, versions

    listed = versions.list_versions(workspace.existing_store, retired=everything)
    elsewhere = remote_bots.list_remote_bots(workspace.store)
    output.listing(
        as_json,
        (_as_json(version, elsewhere.get(version.id)) for version in listed),
        ("version", "<owner", "<language", "<games", "<added", "<state"),
        (
            (
                version.id,
                version.owner or "–",
                version.manifest.get("language") or "–",
                " ".join(version.manifest.get("games") or ("all",)),
                output.local_time(version.created),
                _state(version, elsewhere.get(version.id)),
            )
            for version in listed
        ),
        "pokearena bot add FOLDER",
    )


@bot.command(epilog="Example: pokearena bot show greedy@1")
@click.argument("version", metavar="NAME@VERSION", shell_complete=completers.versions)
@json_option
@data_option
def show(version: str, as_json: bool, workspace: Workspace) -> None:
    """Show a version: its content, its files and its ratings."""
    from arena.cli import lookup
    from arena.cli.ladders import ladder_table
    from arena.ladders import columns, ladder_columns, ladder_key
    from arena.store.bots import remote_bots

    found_version = lookup.find_version(workspace, version)
    remote = remote_bots.find_remote_bot(workspace.store, found_version.id)
    ladders = ladder_table.of_scopes(workspace.store, ladder_key.of_forms(workspace.store)).items()
    standing = {form: table for form, table in ladders if found_version.id in table.entrants}
    if as_json:
        stands = {
            form: columns.to_json(ladder_columns.LADDER, line, columns.Rendering.RESULTS)
            for form, table in standing.items()
            for line in ladder_columns.lines_of(table)
            if line.name == found_version.id
        }
        output.document({**_as_json(found_version, remote), "standings": stands})
        return
    manifest = found_version.manifest
    facts = {
        "version": found_version.id,
        "owner": found_version.owner,
        "state": _state(found_version, remote),
        "refused": _refusals(remote),
        "because": found_version.quarantine_reason,
        "added": output.local_time(found_version.created),
        "authors": ", ".join(manifest.get("authors") or ()),
        "language": manifest.get("language", ""),
        "games": " ".join(manifest.get("games") or ("all",)),
        "runs": " ".join(manifest.get("run") or ()),
        "address": manifest.get("address", ""),
        "content": found_version.content_hash,
        "folder": found_version.folder,
    }
    for name, value in facts.items():
        if value:
            output.line(f"{name:<10}{value}")
    for form, table in standing.items():
        output.line()
        output.heading(form)
        output.table(*ladder_table.ladder_text(table, [found_version.id]))
    output.next_step("pokearena standings")


@bot.command(epilog="Example: pokearena bot retire mybot@1")
@click.argument("version", metavar="NAME@VERSION", shell_complete=completers.versions)
@click.option("--to", metavar="URL", help="URL of the pages of a remote arena.")
@token_option
@json_option
@data_option
def retire(
    version: str, to: str | None, token: str | None, as_json: bool, workspace: Workspace
) -> None:
    """Withdraw a version from future tournaments.

    Its current tournaments continue, and its results stay. With --to, an owner retires a version of
    their bot in a remote arena; it also leaves the open ladders.
    """
    from arena.cli import lookup
    from arena.store.bots import versions

    if to is not None:
        _retire_remotely(version, to, token, as_json)
        return
    retired = versions.retire(workspace.existing_store, lookup.find_version(workspace, version).id)
    sentence = f"{retired.id} is retired; it cannot enter further tournaments"
    output.result(as_json, _as_json(retired), sentence, then="pokearena bot list --all")


def _retire_remotely(version: str, to: str, token: str | None, as_json: bool) -> None:
    name, at, number = version.partition("@")
    if not (name and at and number):
        raise usage_error(
            f'"{version}" is not a version; write NAME@VERSION, for example mybot@1.',
            "invalid-version",
        )
    arena = arena_at(to, token)
    answer = content_of(arena, lambda: arena.retire(name, version=number))
    left = " ".join(answer["withdrawn"])
    sentence = f"{version} is retired" + (f"; it has left {left}" if left else "")
    output.result(as_json, dict(answer), sentence, then=f"open {arena.url}/bots/{name}")


@bot.command(epilog='Example: pokearena bot ban mybot@1 --reason "it attacks the sandbox"')
@click.argument("version", metavar="NAME@VERSION", shell_complete=completers.versions)
@reason_option("Reason, shown with the version.")
@json_option
@data_option
def ban(version: str, reason: str, as_json: bool, workspace: Workspace) -> None:
    """Withdraw a version from all open tournaments and exclude it from new ones.

    Its results stay; `tournament disqualify` voids them. `bot release` ends the ban.
    """
    from arena.cli import lookup
    from arena.store.bots import quarantine

    label = lookup.find_version(workspace, version).id
    with workspace.audited("version.ban", label, reason) as store:
        banned = quarantine.ban(store, label, reason)
    output.result(
        as_json,
        _as_json(banned),
        f"{banned.id} is banned; it cannot enter further tournaments",
        then=f"pokearena bot release {banned.id} --reason TEXT",
    )


@bot.command(epilog='Example: pokearena bot release mybot@1 --reason "it is repaired"')
@click.argument("version", metavar="NAME@VERSION", shell_complete=completers.versions)
@reason_option("Reason for the audit log.")
@json_option
@data_option
def release(version: str, reason: str, as_json: bool, workspace: Workspace) -> None:
    """Release a version from quarantine.

    The arena quarantines a version if the arena itself repeatedly fails in matches of this version
    and in no others. A released version can enter new tournaments; it does not return to its
    earlier ones.
    """
    from arena.cli import lookup
    from arena.store.bots import quarantine

    label = lookup.find_version(workspace, version).id
    with workspace.audited("version.release", label, reason) as store:
        released = quarantine.lift(store, label)
    sentence = f"{released.id} is released from quarantine; it can enter tournaments again"
    output.result(as_json, _as_json(released), sentence, then="pokearena bot list")


@bot.command(epilog="Example: pokearena bot renew mybot@1")
@click.argument("version", metavar="NAME@VERSION", shell_complete=completers.versions)
@json_option
@data_option
def renew(version: str, as_json: bool, workspace: Workspace) -> None:
    """Create a new token for a remote bot and revoke the old one.

    A connection with the old token is closed.
    """
    from arena.cli import lookup
    from arena.store.bots import remote_bots

    version_id = lookup.find_version(workspace, version).id
    _print_token(version_id, remote_bots.renew(workspace.existing_store, version_id), as_json)


def _print_token(version: str, token: str, as_json: bool) -> None:
    output.secret(
        as_json,
        {"version": version},
        token,
        f"pokearena bot connect URL --token {token} -- COMMAND",
        about="the author connects the bot with it; the arena must run `pokearena serve --relay "
        "HOST:PORT`",
    )


def _refusals(remote: RemoteBot | None) -> str:
    """Return the number of rejected connections as this bot, with the latest one."""
    if remote is None or not remote.refusals:
        return ""
    return f"{remote.refusals}, last {output.local_time(remote.refused)}: {remote.refusal}"


def _state(version: Version, remote: RemoteBot | None) -> str:
    if version.retired is not None:
        return f"retired {output.local_time(version.retired)}"
    if version.quarantined is not None:
        return f"in quarantine {output.local_time(version.quarantined)}"
    if remote is not None:
        return remote.words + (f" since {output.local_time(remote.since)}" if remote.since else "")
    return "active"


def _as_json(version: Version, remote: RemoteBot | None = None) -> dict[str, object]:
    from arena.tournaments import json_values

    return {
        "version": version.id,
        "name": version.name,
        "number": version.number,
        "owner": version.owner,
        "content_hash": version.content_hash,
        "folder": version.folder,
        "manifest": dict(version.manifest),
        "created": json_values.iso(version.created),
        "retired": json_values.iso(version.retired),
        "quarantined": json_values.iso(version.quarantined),
        "quarantine_reason": version.quarantine_reason,
        "remote": remote
        and {
            "relayed": remote.relayed,
            "here": remote.is_connected,
            "since": json_values.iso(remote.since),
            "refusals": remote.refusals,
            "refused": json_values.iso(remote.refused),
            "refusal": remote.refusal,
        },
    }
