"""The command `pokearena tournament export`: write a tournament as a static site."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from arena.cli import completers, output
from arena.cli.errors import USAGE
from arena.cli.new_folder import new_folder
from arena.cli.options import data_option, json_option
from arena.cli.output import ProgressLine
from arena.cli.workspace import Workspace


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
    from arena.web import static_site

    name = lookup.tournament_id_of(workspace, tournament)
    with new_folder(folder, USAGE) as site:
        files = static_site.write(workspace.store, name, site, ProgressLine())
    values = {"tournament": name, "folder": str(folder), "files": files}
    output.result(as_json, values, f"wrote {name} to {folder}: {files} files")
    if not as_json:
        output.hint(f"open {folder / 'index.html'} in a browser")
