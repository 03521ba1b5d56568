"""The command `pokearena export`: write ladders, or records as a data set."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from arena.cli import output
from arena.cli.errors import FAILED, CommandError, usage_error
from arena.cli.options import data_option, scope_options
from arena.cli.output import ProgressLine, count
from arena.cli.workspace import Workspace
from referee.games.game_packages import EXAMPLE_GAME
from referee.sanitizing import escaped_json

if TYPE_CHECKING:
    from arena.cli.ladders.ladder_table import Ladders
    from arena.ladders.ladder_key import LadderKey


_FORMATS = ("csv", "json")


@click.command(epilog=f"Example: pokearena export {EXAMPLE_GAME} --output ladder.csv")
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
    "--reasoning",
    is_flag=True,
    help="With --parquet: include the private reasoning of bots, not only what is published.",
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
    help="File to write: .csv or .json. [default: standard output]",
)
@data_option
def export(
    game: str | None,
    tournament: str | None,
    parquet: Path | None,
    games: str | None,
    views: bool,
    reasoning: bool,
    kind: str | None,
    file: Path | None,
    workspace: Workspace,
) -> None:
    """Write ladders as CSV, or with their crosstables as JSON.

    GAME can be a form, such as GAME-3. CSV holds one ladder, one line per bot, with the columns of
    the ladder page's CSV; those that only a server knows are empty.

    --parquet writes the decisions of the matches as a data set for machine learning
    (docs/reference/data.md):

    pokearena export --games GAME,GAME-3 --parquet decisions.parquet
    """
    from arena.cli import lookup

    if parquet is not None and (kind or file):
        raise usage_error(
            "--parquet cannot be combined with --format or --output.", "option-combination"
        )
    if parquet is None and (games or views or reasoning):
        raise usage_error(
            "--games, --views and --reasoning require --parquet FILE.", "option-combination"
        )
    if game and games:
        raise usage_error(
            f"GAME and --games cannot be combined; write --games {games},{game}.",
            "option-combination",
        )
    form = kind or ("" if parquet is not None else _kind_of(file))
    if parquet is None:
        _export_ladders(workspace, game, tournament, form, file)
        return
    names: Sequence[str | None]
    names = [name.strip() for name in games.split(",")] if games else [game]
    scopes = [scope for name in names for scope in lookup.scopes_of(workspace, name, tournament)]
    _export_decisions(workspace, scopes, parquet, views, reasoning)


def _export_ladders(
    workspace: Workspace, game: str | None, tournament: str | None, kind: str, file: Path | None
) -> None:
    """Write ladders to a file, or to standard output without one."""
    from arena.cli import lookup
    from arena.cli.ladders import ladder_table
    from arena.presentation.csv_text import BYTE_ORDER_MARK
    from arena.system import output_file

    scopes = {scope.name: scope for scope in lookup.scopes_of(workspace, game, tournament)}
    tables = ladder_table.of_scopes(workspace.store, scopes.values())
    if not tables:
        raise CommandError(
            "no match is closed yet.", FAILED, "pokearena tournament list", code="no-closed-match"
        )
    text = _text(workspace, scopes, tables, kind)
    if file is None:
        print(text, end="")
        return
    # Spreadsheets open files, programs read standard output.
    output_file.write_text(file, BYTE_ORDER_MARK + text if kind == "csv" else text)
    bots = sum(len(table.lines) for table in tables.values())
    output.hint(f"{file}: {', '.join(tables)}, {bots} lines")


def _kind_of(file: Path | None) -> str:
    """Return the format that the extension of a file names; CSV without a file."""
    if file is None:
        return "csv"
    extension = file.suffix.lstrip(".").lower()
    if extension not in _FORMATS:
        raise usage_error(
            f"--output: {file} must end with .csv or .json, or choose with --format.",
            "unknown-extension",
        )
    return extension


def _text(workspace: Workspace, scopes: Mapping[str, LadderKey], tables: Ladders, kind: str) -> str:
    from arena.ladders import ladder_values, rater
    from arena.ladders.columns import csv_table
    from arena.ladders.ladder_columns import LADDER, lines_of
    from arena.ladders.ladder_crosstable import crosstable_of_ladder
    from arena.presentation.csv_text import csv_text

    if kind == "json":
        ladders = [
            {
                "ladder": name,
                "form": scopes[name].form,
                "clock_class": scopes[name].clock_class,
                "tournaments": list(scopes[name].tournaments),
                **ladder_values.ladder_json(workspace.store, scopes[name], table),
                "matrix": crosstable_of_ladder(
                    workspace.store,
                    scopes[name],
                    rater.current_fit(workspace.store, scopes[name]),
                ).to_json(),
            }
            for name, table in tables.items()
        ]
        return escaped_json(json.dumps({"ladders": ladders}, ensure_ascii=False)) + "\n"
    if len(tables) > 1:
        raise usage_error(
            f"CSV holds one ladder; choose one of {', '.join(tables)}.", "several-ladders"
        )
    (table,) = tables.values()
    heads, rows = csv_table(LADDER, lines_of(table))
    return csv_text([heads, *rows])


def _export_decisions(
    workspace: Workspace,
    scopes: Sequence[LadderKey],
    file: Path,
    views: bool,
    private_reasoning: bool,
) -> None:
    from arena.store.matches import listing, match_reasoning, results
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
                readable = match_reasoning.readable_versions(workspace.store, match.id)
                lines = match_reasoning.reasoning_lines(
                    workspace.store, match.id, versions=None if private_reasoning else readable
                )
                record = read(results.record(workspace.store, match.id))
                data.add(dataset.rows(record, views, lines))
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
