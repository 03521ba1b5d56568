"""Compute and print the standings of each form of a game from the closed matches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from arena.cli import output
from arena.cli.errors import FAILED, USAGE, CommandError
from arena.ladders import ladder_values

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.ladders.ladder_key import LadderKey
    from arena.ladders.seat_advantage import MeanWithInterval, SeatAdvantage
    from arena.ratings.collusion import Gift
    from arena.ratings.control_variates import AdjustedMean
    from arena.ratings.standings import Standings, StandingsLine
    from arena.ratings.strength.settings import StrengthSettings
    from arena.records.luck_adjustment.adjusted_standings import AdjustedStandings

Ladders = Mapping[str, "Standings"]
"""The standings by form (referee.games.registry)."""


def of_scopes(
    engine: Engine, scopes: Iterable[LadderKey], settings: StrengthSettings | None = None
) -> Ladders:
    """Return the standings of each scope by form; omit those without entrants.

    An anchor applies to the ladders in which its entrant has played.

    Args:
        engine: database engine of the store.
        scopes: the ladders.
        settings: settings of strength, with anchors that replace those of the ladders.

    Raises:
        CommandError: an anchor has played in none of the ladders, or stored results are not valid.
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
            tables[scope.form] = table
    used = {name for table in tables.values() for name in table.settings.anchored}
    for name in anchors:
        if name not in used:
            raise CommandError(
                f"--anchor: {name} has not played on any of these ladders.",
                USAGE,
                code="unknown-anchor",
            )
    return tables


def of_tournament(engine: Engine, scope: LadderKey) -> Standings:
    """Return the standings of one tournament, including entrants without matches."""
    return of_scopes(engine, [scope])[scope.form]


def show(table: Standings, superiority: bool = False) -> None:
    """Print a ladder; `superiority` adds the likelihood of superiority to the next line."""
    output.table(*ladder_columns(table, superiority=superiority))


def show_seats(advantages: Iterable[SeatAdvantage]) -> None:
    """Print what each seat is worth."""
    output.table(
        ("<seat", "matches", "score", "Elo", "points"),
        [
            (
                ", ".join(str(seat + 1) for seat in each.seats),
                str(each.matches),
                _interval(each.score, 100, "%"),
                _interval(each.elo) if each.elo else "–",
                _interval(each.points),
            )
            for each in advantages
        ],
    )


def show_adjusted(standings: AdjustedStandings) -> None:
    """Print the luck-adjusted results of the bots, beside the raw ones."""
    output.table(
        ("<bot", "boards", "score", "adjusted", "points/board", "adjusted"),
        [
            (
                line.entrant,
                str(line.result.boards),
                f"{100 * line.result.score.raw:.1f}%",
                _with_half_interval(line.result.score, 100, "%"),
                f"{line.result.points.raw:+.1f}" if line.result.points else "–",
                _with_half_interval(line.result.points) if line.result.points else "–",
            )
            for line in standings.lines
        ],
    )
    output.hint(standings.coverage)


def _with_half_interval(mean: AdjustedMean, scale: float = 1, unit: str = "") -> str:
    sign = "" if unit else "+"
    return f"{scale * mean.value:{sign}.1f}{unit} ± {scale * (mean.high - mean.value):.1f}"


def _interval(value: MeanWithInterval, scale: float = 1, unit: str = "") -> str:
    """Format a mean and its interval."""
    sign = "" if unit else "+"
    text = f"{scale * value.mean:{sign}.1f}{unit}"
    if value.low is None or value.high is None:
        return text
    return f"{text} ({scale * value.low:{sign}.1f} to {scale * value.high:{sign}.1f})"


def ladder_columns(
    table: Standings, only: Sequence[str] | None = None, superiority: bool = False
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the headings and lines of a ladder; empty optional columns are omitted.

    Args:
        table: the standings.
        only: the entrants to include; None includes all.
        superiority: whether to add the likelihood of superiority to the next line of the table.
    """
    lines = [line for line in table.lines if only is None or line.entrant in only]

    def thought(line: StandingsLine) -> str:
        times = table.thinking.get(line.entrant)
        return f"{times.p95:.3g}" if times is not None and times.p95 is not None else ""

    columns: list[tuple[str, Callable[[StandingsLine], str], bool]] = [
        ("#", ladder_values.ranks, True),
        ("<bot", lambda line: line.entrant, True),
        ("strength", _strength, True),
        *((("LOS", _superiority, True),) if superiority else ()),
        ("Elo", lambda line: f"{line.elo:.0f}", True),
        ("matches", lambda line: str(line.matches), True),
        ("W–D–L", lambda line: f"{line.wins}–{line.draws}–{line.losses}", True),
        ("points/board", _board, False),
        ("<faults", _faults, False),
        ("p95 ms", thought, False),
    ]
    kept = [(title, cell) for title, cell, always in columns if always or any(map(cell, lines))]
    rows = [tuple(cell(line) or "–" for _, cell in kept) for line in lines]
    return tuple(title for title, _ in kept), rows


def _strength(line: StandingsLine) -> str:
    # Right-aligned values stay aligned without the mark.
    text = ladder_values.strength(line)
    return text if line.strength.anchored or line.strength.provisional else f"{text} "


def _superiority(line: StandingsLine) -> str:
    likely = line.strength.superiority_to_next
    return "" if likely is None else f"{likely:.1%}"


def _board(line: StandingsLine) -> str:
    if line.board is None:
        return ""
    mean, margin = line.board.mean, line.board.margin
    digits = 0 if max(abs(mean), margin or 0.0) >= 100 else 1
    text = f"{mean:+z.{digits}f}"
    return text if margin is None else f"{text} ±{margin:.{digits}f}"


def _faults(line: StandingsLine) -> str:
    kinds = dict(line.faults)
    if line.forfeits:
        kinds["forfeit"] = line.forfeits
    return ", ".join(f"{number} {kind}" for kind, number in kinds.items())


def explain(
    tables: Iterable[Standings],
    superiority: bool = False,
    seats: bool = False,
    adjusted: bool = False,
) -> None:
    """Print the meaning of the columns."""
    from arena.ratings.elo import EloSettings

    tables = list(tables)
    output.hint(
        "strength: fitted to all matches at once, ± 95 % interval; ?: "
        "provisional (docs/explanation/ratings.md)"
    )
    if any(line.strength.bound for table in tables for line in table.lines):
        output.hint(
            ">, <: won or lost every game; a lower or upper bound, "
            "with a confidence of at least 95 %"
        )
    if superiority:
        output.hint("LOS: likelihood of superiority to the bot of the next line")
    if seats:
        output.hint(
            "seat: score, Elo and points per game at this seat against the others, over all "
            "bots, with 95 % intervals"
        )
    if adjusted:
        output.hint(
            "adjusted: without the luck of the cards, by playouts, ± 95 % interval; raw results "
            "decide ranks"
        )
    s = EloSettings()
    output.hint(
        f"Elo: K {s.k:g}, from {s.initial:g}; {2 * s.beta:g} points are odds of ten to one; "
        "by rounds, whose order matters"
    )
    if any(line.board for table in tables for line in table.lines):
        output.hint("points/board: points ahead of the others at the table, with the 95 % interval")


def remark(table: Standings) -> None:
    """Print remarks on limits of one-dimensional strength in this ladder."""
    for text in ladder_values.remarks(table):
        output.hint(text)


def remark_gifts(gifts: Iterable[Gift]) -> None:
    """Print remarks on points given to another entrant more often than by chance."""
    for text in ladder_values.gift_remarks(gifts):
        output.hint(text)
