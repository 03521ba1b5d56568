"""Compute and print the standings of each form of a game from the closed matches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from arena.cli import output
from arena.cli.errors import FAILED, CommandError, usage_error
from arena.ladders import columns, ladder_columns

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.ladders.ladder_key import LadderKey
    from arena.ratings.standings import Standings
    from arena.ratings.strength.settings import StrengthSettings

Ladders = Mapping[str, "Standings"]
"""The standings by form (referee.games.registry)."""


def of_scopes(
    engine: Engine, scopes: Iterable[LadderKey], settings: StrengthSettings | None = None
) -> Ladders:
    """Return the standings of each scope by form; omit those without entrants.

    Anchors of `settings` replace those of the ladders; an anchor applies to the ladders in which
    its entrant has played.
    """
    from arena.ladders import rater

    anchors = settings.anchored if settings else ()
    tables: dict[str, Standings] = {}
    for scope in scopes:
        try:
            if anchors:
                table = rater.current_fit(engine, scope, settings).table
            else:
                table = rater.current_ladder(engine, scope).table
        except ValueError as error:
            raise CommandError(f"{error}.", FAILED, "pokearena ladder verify") from None
        if table.lines:
            tables[scope.name] = table
    used = {name for table in tables.values() for name in table.settings.anchored}
    for name in anchors:
        if name not in used:
            raise usage_error(
                f"--anchor: {name} has not played on any of these ladders.", "unknown-anchor"
            )
    return tables


def of_tournament(engine: Engine, scope: LadderKey) -> Standings:
    """Return the standings of one tournament, including entrants without matches."""
    return of_scopes(engine, [scope])[scope.name]


def show(table: Standings, superiority: bool = False) -> None:
    """Print a ladder; `superiority` adds the likelihood of superiority to the next line."""
    output.table(*ladder_text(table, superiority=superiority))


def ladder_text(
    table: Standings, only: Sequence[str] | None = None, superiority: bool = False
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the headings and lines of a ladder; empty optional columns are omitted.

    `only` names the entrants to include, by default all; `superiority` adds the likelihood of
    superiority to the next line of the table.
    """
    lines = [line for line in ladder_columns.lines_of(table) if only is None or line.name in only]
    return columns.text_table(_columns(lines, superiority), lines)


def _columns(
    lines: Sequence[ladder_columns.LadderLine], superiority: bool
) -> list[columns.Column[ladder_columns.LadderLine]]:
    rendering = columns.Rendering.LOS if superiority else columns.Rendering.TERMINAL
    return columns.columns_of(ladder_columns.LADDER, rendering, lines)


def explain(
    tables: Iterable[Standings],
    superiority: bool = False,
    seats: bool = False,
    adjusted: bool = False,
) -> None:
    """Print the meaning of the columns."""
    lines = [line for table in tables for line in ladder_columns.lines_of(table)]
    hints = columns.legend(_columns(lines, superiority))
    if seats:
        hints.append("seat: over all bots, against the other seats, with 95 % intervals")
    if adjusted:
        hints.append("adjusted: without the luck of the cards; raw results decide ranks")
    output.hint(*hints, "docs/explanation/ratings.md explains all columns")
