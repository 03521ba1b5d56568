"""The command `pokearena tournament export`: write a tournament as a static site."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from arena.cli import completers, output
from arena.cli.errors import FAILED, CommandError, usage_error
from arena.cli.options import data_option, json_option
from arena.cli.output import ProgressLine
from arena.cli.workspace import Workspace
from arena.system.temporary_folder import remove_abandoned, temporary_folder


@click.command(epilog="Example: pokearena tournament export t-7f3k9q --html friday")
@click.argument("tournament", metavar="ID", shell_complete=completers.tournaments)
@click.option(
    "--html",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    required=True,
    help="Folder to write; it must be empty or missing.",
)
@json_option
@data_option
def export(tournament: str, folder: Path, as_json: bool, workspace: Workspace) -> None:
    """Write a tournament as static web pages, starting with index.html.

    The pages show the standings, the crosstable or bracket, the closed matches with replays and
    records, the bots and the rules. Open matches show only what is public while they are played.
    """
    from arena.cli import lookup

    name = lookup.tournament_id_of(workspace, tournament)
    try:
        remove_abandoned(folder)
        if folder.exists() and any(folder.iterdir()):
            raise usage_error(
                f"{folder} is not empty; choose another folder with --html.", "not-empty"
            )
        files = _write_site(workspace, name, folder)
    except OSError as error:
        raise CommandError(
            f"{folder} cannot be written: {error.strerror or error}.", FAILED, code="cannot-write"
        ) from None
    values = {"tournament": name, "folder": str(folder), "files": files}
    output.result(as_json, values, f"wrote {name} to {folder}: {files} files")
    if not as_json:
        output.hint(f"open {folder / 'index.html'} in a browser")


def _write_site(workspace: Workspace, tournament: str, folder: Path) -> int:
    """Write a site into an empty or missing folder, completely or not at all.

    Returns:
        The number of files.
    """
    from arena.web import static_site

    exists = folder.exists()
    beside = folder if exists else folder.parent
    beside.mkdir(parents=True, exist_ok=True)
    with temporary_folder(beside) as temporary:
        site = temporary / "site"
        site.mkdir()
        files = static_site.write(workspace.store, tournament, site, ProgressLine())
        if exists:
            for path in site.iterdir():
                path.rename(folder / path.name)
        else:
            site.rename(folder)
    return files
