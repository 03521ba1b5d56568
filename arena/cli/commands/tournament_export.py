"""`pokearena tournament export`: a tournament as a site of files."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from arena.cli import output
from arena.cli.errors import FAILED, USAGE, CommandError
from arena.cli.options import data_option, json_option


@click.command(epilog="Example: pokearena tournament export t-7f3k9q --html friday")
@click.argument("tournament", metavar="ID")
@click.option(
    "--html",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    required=True,
    help="Where to; it must be empty, or not there yet.",
)
@json_option
@data_option
def export(tournament: str, folder: Path, as_json: bool, data: Path | None) -> None:
    """Write a tournament as pages that need no server: open index.html, or put them anywhere.

    Standings, crosstable or bracket, every match that is over with its replays and its record,
    its bots, the rules. Of open matches there is what may be known while they are played.
    """
    from arena.cli import lookup
    from arena.cli.place import Place
    from arena.cli.progress import Progress
    from arena.web import site

    place = Place(data)
    assert place.existing_store is not None
    name = lookup.tournament(place, tournament)
    try:
        if folder.exists() and any(folder.iterdir()):
            raise CommandError(f"{folder} is not empty; --html names another folder.", USAGE)
        folder.mkdir(parents=True, exist_ok=True)
        files = site.write(place.store, name, folder, Progress())
    except OSError as error:
        raise CommandError(f"{folder} cannot be written: {error.strerror}.", FAILED) from None
    if as_json:
        output.document({"tournament": name, "folder": str(folder), "files": files})
        return
    output.line(f"{name} is in {folder}: {files} files")
    output.hint(f"open {folder / 'index.html'} in a browser")
