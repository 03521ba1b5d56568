"""The command `pokearena export`: write ladders, or records as a data set."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from arena.cli import output
from arena.cli.errors import FAILED, USAGE, CommandError
from arena.cli.ladders import ladder_table
from arena.cli.options import data_option, scope_options
from arena.ladders import ladder_values
from arena.ratings.elo import EloSettings
from referee.sanitizing import escaped_json, sanitized

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.cli.workspace import Workspace
    from arena.ladders.ladder_export import LadderExport
    from arena.ladders.ladder_key import LadderKey
    from arena.ratings.crosstable import CrosstableCell


_STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1f; --dim: #5c5c66; --ground: #fdfdfb;
  --rule: #d9d9d2; --up: 20 120 70; --down: 180 60 40; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8ea; --dim: #a0a0aa; --ground: #17171a;
  --rule: #3a3a40; --up: 70 190 120; --down: 235 120 95; } }
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: var(--ink);
  background: var(--ground); font: 1rem/1.5 system-ui, sans-serif; }
div { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--dim); }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--rule); text-align: right;
  white-space: nowrap; }
thead th { border-bottom-width: 2px; }
.left { text-align: left; font-weight: normal; }
p, small { color: var(--dim); }
"""
_LEFT = ("bot", "faults")


def page(exports: Sequence[LadderExport]) -> str:
    """Return the page: standings, crosstable and remarks of each ladder, then notes."""
    title = " · ".join(export.scope.form for export in exports)
    body = "\n".join(line for export in exports for line in _ladder(export))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"{body}\n{_notes()}\n</body>\n</html>\n"
    )


def _ladder(export: LadderExport) -> Iterator[str]:
    form = escape(export.scope.form)
    yield f'<section aria-label="{form}">\n<h1>{form}</h1>'
    headings, rows = ladder_table.ladder_columns(export.table)
    words = [heading.lstrip("<") for heading in headings]
    yield "<div><table>\n<caption>Strongest first</caption>\n<thead><tr>"
    yield "".join(f'<th scope="col"{_side(word)}>{escape(word)}</th>' for word in words)
    yield "</tr></thead>\n<tbody>"
    for row in rows:
        cells = zip(words, row, strict=True)
        yield f"<tr>{''.join(_cell(word, text) for word, text in cells)}</tr>"
    yield "</tbody>\n</table></div>"
    for remark in ladder_values.remarks(export.table):
        yield f"<p>{escape(remark)}</p>"
    yield from _crosstable(export)
    for remark in ladder_values.gift_remarks(export.matrix.gifts):
        yield f"<p>{escape(remark)}</p>"
    yield "</section>"


def _side(word: str) -> str:
    return ' class="left"' if word in _LEFT else ""


def _cell(word: str, text: str) -> str:
    if word == "bot":
        return f'<th scope="row" class="left">{escape(text)}</th>'
    return f"<td{_side(word)}>{escape(text)}</td>"


def _crosstable(export: LadderExport) -> Iterator[str]:
    names = export.matrix.table.entrants
    yield "<div><table>\n<caption>The score of the line against the column in %, with its 95 % "
    yield "interval, and the matches; coloured where it is not by chance</caption>\n<thead><tr>"
    yield '<th scope="col" class="left">bot</th>'
    yield "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    yield "</tr></thead>\n<tbody>"
    for name, row in zip(names, export.matrix.table.cells, strict=True):
        cells = "".join(map(_score, row))
        yield f'<tr><th scope="row" class="left">{escape(name)}</th>{cells}</tr>'
    yield "</tbody>\n</table></div>"


def _score(cell: CrosstableCell | None) -> str:
    if cell is None:
        return "<td>·</td>"
    title = f"{cell.low:.1%} to {cell.high:.1%}"
    interval = f"{100 * cell.low:.0f}–{cell.high:.0%}"
    text = f"{cell.score:.0%} <small>{interval} ({cell.matches})</small>"
    return f'<td title="{title}"{_colour(cell)}>{text}</td>'


def _colour(cell: CrosstableCell) -> str:
    """Return a colour by the distance from one half; none if the interval contains one half."""
    if cell.low <= 0.5 <= cell.high:
        return ""
    way = "up" if cell.score > 0.5 else "down"
    return f' style="background: rgb(var(--{way}) / {abs(cell.score - 0.5):.2f})"'


def _notes() -> str:
    s = EloSettings()
    text = (
        (
            "Strength is fitted to all matches at once, in any order. ±: 95 % "
            "interval; ?: provisional strength; > and <: a lower or upper bound, with a confidence "
            "of at least 95 %, for a bot that won or lost every game. A range of ranks: the "
            "difference between these bots is not significant."
        ),
        f"Elo: K {s.k:g}, from {s.initial:g}; {2 * s.beta:g} points are odds of ten to one; "
        "by rounds, whose order matters.",
        "Points/board: points ahead of the others at the table. p95 ms: of 20 decisions 19 take "
        "no longer.",
    )
    return "<footer>" + "".join(f"<p>{escape(line)}</p>" for line in text) + "</footer>"


def escape(text: str) -> str:
    """Escape a text for HTML and replace characters that hide or reorder others."""
    return html.escape(sanitized(text))


_FORMATS = ("csv", "json", "html")


@click.command(epilog="Example: pokearena export poke --output poke.html")
@scope_options
@click.option(
    "--parquet",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a data set instead: one row per decision of the closed matches.",
)
@click.option(
    "--games",
    metavar="GAME,...",
    help="With --parquet: only these games or forms. [default: all]",
)
@click.option(
    "--views",
    is_flag=True,
    help="With --parquet: include the view of each seat; every game is dealt and played again.",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(_FORMATS),
    help="Format of the output. [default: by the extension of --output, else csv]",
)
@click.option(
    "--output",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File to write: .csv, .json or .html. [default: standard output]",
)
@data_option
def export(
    game: str | None,
    tournament: str | None,
    parquet: Path | None,
    games: str | None,
    views: bool,
    kind: str | None,
    file: Path | None,
    data: Path | None,
) -> None:
    """Write ladders and their crosstables as CSV, JSON or HTML.

    GAME can be a form, such as pouku-3. CSV holds one ladder, one line per bot. The HTML file needs
    no other files and no scripts.

    --parquet writes the decisions of the matches as a data set for machine learning
    (docs/reference/data.md):

    pokearena export --games poke,pouku-3 --parquet decisions.parquet
    """
    from arena.cli import lookup
    from arena.cli.ladders import ladder_table
    from arena.cli.workspace import Workspace
    from arena.ladders import ladder_export
    from arena.system import output_file

    form = kind or ("" if parquet is not None else _kind_of(file))
    workspace = Workspace(data)
    workspace.expect_store()
    if parquet is not None:
        if kind or file:
            raise CommandError(
                "--parquet cannot be combined with --format or --output.",
                USAGE,
                code="option-combination",
            )
        if game and games:
            raise CommandError(
                f"GAME and --games cannot be combined; write --games {games},{game}.",
                USAGE,
                code="option-combination",
            )
        names: Sequence[str | None]
        names = [name.strip() for name in games.split(",")] if games else [game]
        selected = [
            scope for name in names for scope in lookup.scopes_of(workspace, name, tournament)
        ]
        _decisions(workspace, selected, parquet, views)
        return
    if games or views:
        raise CommandError(
            "--games and --views require --parquet FILE.", USAGE, code="option-combination"
        )
    scopes = {scope.form: scope for scope in lookup.scopes_of(workspace, game, tournament)}
    tables = ladder_table.of_scopes(workspace.store, scopes.values())
    ladders = [
        ladder_export.of_table(workspace.store, scopes[form], tables[form]) for form in tables
    ]
    if not ladders:
        raise CommandError(
            "no match is closed yet.", FAILED, "pokearena tournament list", code="no-closed-match"
        )
    text = _text(ladders, form)
    if file is None:
        print(text, end="")
        return
    output_file.write_text(file, text)
    bots = sum(len(ladder.table.lines) for ladder in ladders)
    output.hint(f"{file}: {', '.join(ladder.scope.form for ladder in ladders)}, {bots} lines")


def _kind_of(file: Path | None) -> str:
    """Return the format that the extension of a file names; CSV without a file.

    Raises:
        CommandError: no format has this extension.
    """
    if file is None:
        return "csv"
    extension = file.suffix.lstrip(".").lower()
    if extension not in _FORMATS:
        raise CommandError(
            f"--output: {file} must end with .csv, .json or .html, or choose with --format.",
            USAGE,
            code="unknown-extension",
        )
    return extension


def _text(exports: Sequence[LadderExport], kind: str) -> str:
    from arena.ladders import ladder_export

    if kind == "json":
        data = {"ladders": [export.to_json() for export in exports]}
        return escaped_json(json.dumps(data, ensure_ascii=False)) + "\n"
    if kind == "html":
        return page(exports)
    if len(exports) > 1:
        forms = ", ".join(export.scope.form for export in exports)
        raise CommandError(
            f"CSV holds one ladder; choose one of {forms}.", USAGE, code="several-ladders"
        )
    return ladder_export.as_csv(exports[0])


def _decisions(workspace: Workspace, scopes: Sequence[LadderKey], file: Path, views: bool) -> None:
    """Write every decision of the closed matches of these scopes."""
    from arena.cli.output import ProgressLine, count
    from arena.store.matches import listing, results
    from arena.store.schema import MatchState
    from referee.record import read

    try:
        from arena.records import dataset
    except ModuleNotFoundError as error:
        if error.name != "pyarrow":
            raise
        sentence = "Parquet requires pyarrow; install pokearena[data]."
        raise CommandError(sentence, FAILED, code="pyarrow-missing") from None
    progress = ProgressLine()
    matches = 0
    with dataset.writing(file) as data:
        for tournament in dict.fromkeys(name for scope in scopes for name in scope.tournaments):
            closed = listing.matches(
                workspace.store, tournament=tournament, states=(MatchState.CLOSED,)
            )
            for number, match in enumerate(closed, 1):
                data.add(dataset.rows(read(results.record(workspace.store, match.id)), views))
                matches += 1
                progress(f"matches of {tournament}, {data.written} decisions", number, len(closed))
        if not matches:
            raise CommandError(
                "no match is closed yet.",
                FAILED,
                "pokearena tournament list",
                code="no-closed-match",
            )
    output.hint(f"{file}: {data.written} decisions of {count(matches, 'match', 'matches')}")
