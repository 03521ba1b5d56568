"""The commands `pokearena models`: grant the models of `models.toml`, and stop all calls."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from arena.cli import completers, output
from arena.cli.errors import FAILED, CommandError, usage_error
from arena.cli.options import F, data_option, json_option
from arena.cli.workspace import Workspace

if TYPE_CHECKING:
    from arena.store.bots.model_grants import Grantee


@click.group()
def models() -> None:
    """Manage the language models that hosted bots use through the arena's proxy.

    `models.toml` in the data folder names them (docs/how-to/models.md). A bot uses a model if its
    bot.toml declares it and the model is granted to its owner or to the version.
    """


def _grantee_options(command: F) -> F:
    """Add --owner and --bot; `_grantee` requires exactly one."""
    command = click.option(
        "--bot",
        metavar="NAME@VERSION",
        shell_complete=completers.versions,
        help="The version of a bot.",
    )(command)
    return click.option(
        "--owner",
        metavar="NAME",
        shell_complete=completers.owners,
        help="The owner, with all versions.",
    )(command)


@models.command(epilog="Example: pokearena models grant small --owner ada")
@click.argument("model")
@_grantee_options
@json_option
@data_option
def grant(
    model: str, owner: str | None, bot: str | None, as_json: bool, workspace: Workspace
) -> None:
    """Let an owner or a version use a model."""
    from arena.models.models_file import FILE, read_models
    from arena.store.bots.model_grants import grant_model

    kind, name = _grantee(owner, bot)
    file = read_models(workspace.folder.root)
    if file is None or model not in file.models:
        path = workspace.folder.root / FILE
        raise usage_error(f'{path} has no model "{model}".', "unknown-model")
    with workspace.audited("model.grant", name, model=model) as store:
        grant_model(store, kind, name, model)
    _print_grant(as_json, kind, name, model, granted=True)


@models.command(epilog="Example: pokearena models revoke small --owner ada")
@click.argument("model")
@_grantee_options
@json_option
@data_option
def revoke(
    model: str, owner: str | None, bot: str | None, as_json: bool, workspace: Workspace
) -> None:
    """Revoke a grant. A match that is being played keeps its models."""
    from arena.store.bots.model_grants import revoke_model

    kind, name = _grantee(owner, bot)
    with workspace.audited("model.revoke", name, model=model) as store:
        revoke_model(store, kind, name, model)
    _print_grant(as_json, kind, name, model, granted=False)


def _grantee(owner: str | None, bot: str | None) -> tuple[Grantee, str]:
    from arena.store.bots.model_grants import Grantee

    if owner and not bot:
        return Grantee.OWNER, owner
    if bot and not owner:
        return Grantee.VERSION, bot
    raise usage_error("give either --owner or --bot.", "one-grantee")


def _print_grant(as_json: bool, kind: Grantee, name: str, model: str, *, granted: bool) -> None:
    values = {"model": model, str(kind): name, "granted": granted}
    sentence = f"the {kind} {name} {'may' if granted else 'may no longer'} use {model}"
    output.result(as_json, values, sentence, then="pokearena models list")


@models.command("list", epilog="Example: pokearena models list --days 7")
@click.option(
    "--days",
    type=click.IntRange(1, 3650),
    default=1,
    metavar="N",
    show_default=True,
    help="Add up the calls of the last N days (UTC), today included.",
)
@json_option
@data_option
def listing(days: int, as_json: bool, workspace: Workspace) -> None:
    """List the grants, and the spending of each bot. --json prints one document."""
    from arena.store.bots.model_grants import list_grants
    from arena.store.matches import model_calls

    store = workspace.existing_store
    grants, used = list_grants(store), model_calls.recent_usage(store, days)
    stopped = model_calls.are_stopped(store)
    if as_json:
        output.document(
            {
                "stopped": stopped,
                "grants": [{"model": g.model, str(g.kind): g.name} for g in grants],
                "days": days,
                "usage": [
                    {"owner": each.owner, "version": each.version, **each.to_json()}
                    for each in used
                ],
            }
        )
        return
    if stopped:
        output.line("all calls are stopped; `pokearena models resume` allows them")
    output.table(
        ("<model", "<may be used by", "<name"), [(g.model, g.kind, g.name) for g in grants]
    )
    columns = ("<owner", "<bot", "<model", ">calls", ">tokens in", ">tokens out", ">cost")
    output.table(
        columns,
        [
            (
                each.owner,
                each.version,
                each.model,
                f"{each.calls}",
                f"{each.figures.input_tokens:,}",
                f"{each.figures.output_tokens:,}",
                f"{each.figures.cost:.4f}",
            )
            for each in used
        ],
    )
    output.next_step("pokearena models grant MODEL --owner NAME")


@models.command(epilog="Example: pokearena models transcript last > transcript.jsonl")
@click.argument("match", shell_complete=completers.match_or_file)
@click.option(
    "--bot",
    metavar="NAME@VERSION",
    shell_complete=completers.versions,
    help="Only the calls of this bot, as the match names it.",
)
@click.option(
    "--output",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Copy the files to this folder, for `transcripts` in models.toml. [default: print]",
)
@data_option
def transcript(match: str, bot: str | None, folder: Path | None, workspace: Workspace) -> None:
    """Print the requests and replies of a match, as JSON lines, with the bot in `version`.

    They contain hidden cards and the prompts of authors. They are kept only on the machine that
    played the match. `last` is the newest match of `pokearena play`.
    """
    from arena.cli.matches import record_lookup
    from arena.models.transcripts import TRANSCRIPT, transcript_files
    from arena.system import output_file, private_files

    record = record_lookup.find_record(workspace, match)
    files = {
        path.name.removesuffix(TRANSCRIPT): path
        for path in transcript_files(workspace.folder.outputs, record.id)
    }
    if bot is not None:
        files = {name: path for name, path in files.items() if name == bot}
    if not files:
        raise CommandError(
            f"this machine has no transcript of {record.id}{f' for {bot}' if bot else ''}.",
            FAILED,
            code="no-transcript",
        )
    if folder is not None:
        private_files.create_folder(folder)
        for path in files.values():
            output_file.write_text(
                folder / path.name, path.read_text(encoding="utf-8"), private=True
            )
        output.line(f"wrote {output.count(len(files), 'transcript')} to {folder}")
        return
    for name, path in files.items():
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                output.document({"version": name} | json.loads(line))


@models.command(epilog="Example: pokearena models stop")
@json_option
@data_option
def stop(as_json: bool, workspace: Workspace) -> None:
    """Stop all calls now. Matches of bots that use models pause."""
    from arena.store.matches.model_calls import stop_calls

    _switch(as_json, workspace, stop_calls, stopped=True)


@models.command(epilog="Example: pokearena models resume")
@json_option
@data_option
def resume(as_json: bool, workspace: Workspace) -> None:
    """Allow calls again, so that paused matches continue."""
    from arena.store.matches.model_calls import resume_calls

    _switch(as_json, workspace, resume_calls, stopped=False)


def _switch(
    as_json: bool, workspace: Workspace, change: Callable[..., bool], *, stopped: bool
) -> None:
    words = "stopped" if stopped else "allowed"
    with workspace.audited("models.stop" if stopped else "models.resume", "models") as store:
        if not change(store):
            raise CommandError(f"calls of models are {words} already.", FAILED, code="unchanged")
    then = "pokearena models resume" if stopped else "pokearena models list"
    output.result(as_json, {"stopped": stopped}, f"calls of models are {words}", then=then)
