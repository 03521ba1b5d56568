"""The commands `pokearena tournament bundle` and `verify`: write and check bundles."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from arena.cli import completers, output
from arena.cli.errors import FAILED, OK, CommandError, usage_error
from arena.cli.options import data_option, json_option
from arena.cli.output import ProgressLine
from arena.cli.workspace import Workspace

if TYPE_CHECKING:
    from arena.records.bundle.bundle import Bundle


@click.command(epilog="Example: pokearena tournament bundle t-7f3k9q --output friday")
@click.argument("tournament", metavar="ID", shell_complete=completers.tournaments)
@click.option(
    "--output",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Folder to write; replaces a bundle of the same tournament. [default: bundle-ID]",
)
@json_option
@data_option
def bundle(tournament: str, folder: Path | None, as_json: bool, workspace: Workspace) -> None:
    """Write a bundle: a folder of plain files with which anybody can check a tournament.

    It contains the schedule, the standings and the records of closed matches, and no seeds or cards
    of open matches. `pokearena tournament verify FOLDER` checks it; docs/reference/bundle.md
    explains it.
    """
    from arena.cli import lookup
    from arena.records.bundle import folder as files
    from arena.records.bundle.bundle import BundleError
    from arena.records.bundle.collection import gather
    from arena.records.published_faults import public_record

    name = lookup.tournament_id_of(workspace, tournament)
    where = folder or Path(f"bundle-{name}")
    try:
        files.check(where, name)
        collected = gather(workspace.store, name, public_record)
        files.write(collected, where)
    except BundleError as error:
        raise usage_error(str(error), error.code) from None
    except OSError as error:
        raise CommandError(
            f"{where} cannot be written: {error.strerror or error}.", FAILED, code="cannot-write"
        ) from None
    matches, records = len(collected.matches), len(collected.records)
    state = str(collected.tournament.state)
    values = {"tournament": name, "folder": str(where), "state": state}
    output.result(
        as_json,
        {**values, "matches": matches, "records": records},
        f"wrote {name} to {where}: {matches} matches, {records} of them closed, with their records",
        then=f"pokearena tournament verify {where}",
    )


@click.command(epilog="Example: pokearena tournament verify friday")
@click.argument("tournament", metavar="ID|FOLDER", shell_complete=completers.tournament_or_file)
@click.option(
    "--earlier",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="An earlier bundle of the same tournament, which must not be contradicted.",
)
@json_option
@data_option
def verify(tournament: str, earlier: Path | None, as_json: bool, workspace: Workspace) -> int:
    """Check a tournament from the seeds to the final standings.

    Every game is dealt, played and scored again. Every match must follow from the format, every
    seed must match its commitment, and the standings must follow from the records. With the
    ID of a tournament of this arena, the stored results are checked too. With the FOLDER of a
    bundle (`tournament bundle`), only its files are read. Exit status 1 if there is a problem.
    """
    from arena.cli.tournaments import views
    from arena.records.bundle.audit import audit
    from arena.records.bundle.bundle import BundleError, changes

    progress = ProgressLine()
    try:
        collected, differences = _find(tournament, workspace, progress)
        then = None if earlier is None else _folder(earlier)
    except BundleError as error:
        raise CommandError(str(error), FAILED, code=error.code) from None
    done = audit(collected, progress)
    done = replace(done, problems=(*differences, *done.problems))
    if then is not None:
        done = replace(done, problems=(*done.problems, *changes(then, collected)))
    if as_json:
        output.document(views.audit_json(collected, done))
    else:
        views.show_audit(collected, done, then)
        output.next_step(_next(tournament, collected))
    return FAILED if done.problems else OK


def _next(name: str, collected: Bundle) -> str:
    if not Path(name).expanduser().is_dir():
        return f"pokearena tournament show {collected.tournament.id}"
    match = next(iter(collected.records), None)
    if match is None:
        return "pokearena tournament verify --help"
    return f"pokearena replay {Path(name) / 'matches' / match}.jsonl --game 0"


def _folder(path: Path) -> Bundle:
    from arena.records.bundle import folder as files

    if not files.is_bundle(path):
        raise usage_error(
            f"{path} is not a bundle: it does not contain a tournament.json.", "not-a-bundle"
        )
    return files.read(path)


def _find(
    name: str, workspace: Workspace, progress: ProgressLine
) -> tuple[Bundle, tuple[str, ...]]:
    """Return the bundle in a folder of this name, or else that of the tournament in the store.

    The second value lists the differences between the store's results and its records; it is empty
    for a folder.
    """
    from sqlalchemy.exc import DBAPIError

    from arena.cli import lookup
    from arena.records.bundle import store_audit
    from arena.records.bundle.collection import gather

    path = Path(name).expanduser()
    if path.is_dir():
        return _folder(path), ()
    if "/" in name:
        raise usage_error(f"folder not found: {name}", "unknown-folder")
    tournament = lookup.tournament_id_of(workspace, name)
    differences = tuple(store_audit.differences(workspace.store, tournament, progress))
    try:
        return gather(workspace.store, tournament), differences
    except (ValueError, TypeError, LookupError, AttributeError, DBAPIError) as error:
        # The rows are damaged; the comparison names the match.
        reason = differences[0] if differences else f"its stored data cannot be read: {error!r}"
        raise CommandError(f"{tournament}: {reason}.", FAILED, "pokearena db check") from None
