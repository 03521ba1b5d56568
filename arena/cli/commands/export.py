"""`pokearena export`: ladders to take away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from arena.cli import output
from arena.cli.errors import FAILED, USAGE, CommandError
from arena.cli.options import data_option, scope_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.exports import Export

_FORMATS = ("csv", "json", "html")


@click.command(epilog="Example: pokearena export poke --output poke.html")
@scope_options
@click.option(
    "--format",
    "kind",
    type=click.Choice(_FORMATS),
    help="What it is written as. [default: what the name of the file says, else csv]",
)
@click.option(
    "--output",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Where to write it. [default: standard output]",
)
@data_option
def export(
    game: str | None,
    tournament: str | None,
    kind: str | None,
    file: Path | None,
    data: Path | None,
) -> None:
    """Write ladders and their crosstables as CSV, JSON, or one page of HTML.

    GAME may name a form, such as pouku-3. CSV is of one ladder: a line for each bot. The page
    needs nothing else, and no script.
    """
    from arena import exports
    from arena.cli import ladder, scope
    from arena.cli.place import Place

    place = Place(data)
    assert place.existing_store is not None
    scopes = {one.form: one for one in scope.meant(place, game, tournament)}
    tables = ladder.of_scopes(place.store, scopes.values())
    found = [exports.of_table(place.store, scopes[form], tables[form]) for form in tables]
    if not found:
        raise CommandError("no match is closed yet.", FAILED, "pokearena tournament list")
    suffix = file.suffix.lstrip(".").lower() if file else ""
    text = _text(found, kind or (suffix if suffix in _FORMATS else "csv"))
    if file is None:
        print(text, end="")
        return
    file.write_text(text, encoding="utf-8")
    bots = sum(len(one.table.lines) for one in found)
    output.hint(f"{file}: {', '.join(one.scope.form for one in found)}, {bots} lines")


def _text(found: Sequence[Export], kind: str) -> str:
    from arena import exports
    from arena.cli import page

    if kind == "json":
        return json.dumps({"ladders": [one.to_json() for one in found]}, ensure_ascii=False) + "\n"
    if kind == "html":
        return page.page(found)
    if len(found) > 1:
        forms = ", ".join(one.scope.form for one in found)
        raise CommandError(f"CSV is of one ladder, and there are {forms}; name one.", USAGE)
    return exports.as_csv(found[0])
