"""Explain a lost match as text and JSON: its faults, or its boards and decision times."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from arena.bots import manifest
from arena.cli import output
from arena.cli.errors import typed
from arena.cli.matches.record_lookup import RecordSource
from arena.records import decision_times, results_by_board
from arena.records.analysis import summary
from arena.records.fault_explanation import Aftermath, Explanation, aftermath
from referee.numbering import counted_from_one, number_text

_SHOWN_ACTIONS = 24
_SHOWN_LINES = 40
_SHOWN_BOARDS = 10


def of_fault(fault: Explanation, match: str) -> Iterator[str]:
    """Yield the explanation of a fault as lines of text; `match` is the match as typed."""
    for line in _of_fault(fault, match):
        yield line.rstrip()


def _of_fault(fault: Explanation, match: str) -> Iterator[str]:
    yield f"{fault.bot}: {fault.verdict}"
    yield f"  fault    {counted_from_one(fault.sentence)}"
    yield f"  where    {fault.where}"
    for number, line in enumerate(fault.position):
        yield f"  {'         ' if number else 'seen     '}{line}"
    if fault.legal:
        actions = " | ".join(fault.legal[:_SHOWN_ACTIONS])
        more = f" | ... {len(fault.legal)} in all" if len(fault.legal) > _SHOWN_ACTIONS else ""
        yield f"  legal    {actions}{more}"
    if fault.answered:
        yield f"  answer   {fault.answered}"
    yield f"  clock    {fault.clock}"
    yield f"  process  {fault.process}"
    lines = fault.output.rstrip().splitlines()
    for number, line in enumerate(lines[-_SHOWN_LINES:]):
        yield f"  {'         ' if number else 'output   '}{line}"
    if len(lines) > _SHOWN_LINES:
        yield (f"           (the last {_SHOWN_LINES} of {len(lines)} lines; --json prints all)")
    if fault.asks:
        question = f"{match}:{fault.line['game']}:{fault.line['decision']}"
        yield f"  again    {typed(f'pokearena ask {shlex.quote(question)} {folder_of(fault.bot)}')}"


def folder_of(bot: str) -> str:
    """Return a bot's argument for commands: the folder with its name, if it exists, or "."."""
    name = bot.partition("@")[0]
    return shlex.quote(name) if (Path(name) / manifest.FILE).is_file() else "."


def of_aftermath(aftermaths: Sequence[Aftermath]) -> Iterator[str]:
    """Yield the consequences of these faults in other games as lines of text."""
    for each in aftermaths:
        games = f"game{'s' * (len(each.games) > 1)} {', '.join(map(number_text, each.games))}"
        yield (f"{each.bot}: also {each.verdict} in {games}, caused by its fault in another game")


def show_match(source: RecordSource, seat: str | None) -> None:
    """Print the boards and decision times of a match without faults."""
    played = results_by_board.boards(source.record)
    names = _names(source)
    entrant = _entrant(source, seat, played)
    output.line(f"{source.id}: no faults; {_verdict(names, played, entrant)}")
    output.line()
    worst = results_by_board.from_the_worst(played, entrant)[:_SHOWN_BOARDS]
    _show_boards(names, worst)
    if len(played) > len(worst):
        worst_for = f"the {len(worst)} worst of {len(played)} boards for {names[entrant]}"
        output.line(f"({worst_for}; --json prints all)")
    output.line()
    times_by_bot = decision_times.paces(source.record)
    output.table(
        ("bot", "decisions", "p50 ms", "p95 ms", "p99 ms", "slowest ms", "<which"),
        [
            (
                *(name, times.decisions, _ms(times.p50), _ms(times.p95), _ms(times.p99)),
                *(
                    (_ms(times.slowest.ms), times.slowest.question(source.id))
                    if times.slowest
                    else (_ms(None), "")
                ),
            )
            for name, times in times_by_bot.items()
        ],
    )


def show_analysis(source: RecordSource, analysis: dict[str, Any], seat: str | None) -> None:
    """Print the costliest decisions of the losing or selected bot, from the stored analysis."""
    entrant = _entrant(source, seat, results_by_board.boards(source.record))
    name = _names(source)[entrant]
    ((accuracy, lower, upper),) = (
        (row["accuracy"], *row["interval"])
        for row in analysis["accuracy"]
        if row["entrant"] == entrant and row["phase"] == summary.ALL
    )
    output.line()
    luck = analysis["luck"][entrant]
    output.line(
        f"{name}: accuracy {accuracy:.1f} % (95 % interval {lower:.1f} to {upper:.1f}), luck "
        f"{luck['mean']:+z.2f} ± {summary.INTERVAL * luck['error']:.2f}"
    )
    costliest = [row for row in analysis["costliest"] if row["entrant"] == entrant]
    if not costliest:
        output.line("This bot made none of the costliest decisions of the match.")
        return
    output.line("its decisions among the costliest of the match (loss of win expectation)")
    output.table(
        ("<question", "<played", "<engine's choice", "before", "after", "loss"),
        [
            (
                f"{source.id}:{row['game']}:{row['decision']}",
                *(row["played"], row["choice"]),
                *(f"{row['before']:.2f}", f"{row['after']:.2f}"),
                f"{row['loss']['mean']:.2f} ± {summary.INTERVAL * row['loss']['error']:.2f}",
            )
            for row in costliest
        ],
    )


def _verdict(
    names: Sequence[str], played: Sequence[results_by_board.BoardResult], entrant: int
) -> str:
    """Return the share of games won by the entrant, and its worst board."""
    share = _shares(played)[entrant]
    board = results_by_board.from_the_worst(played, entrant)[0]
    percentage = f"{100 * share:.0f} % of the games"
    if share == 0.5:
        text = f"a draw, {percentage} for {names[entrant]}"
    else:
        text = f"{names[entrant]} {'lost' if share < 0.5 else 'won'} with {percentage}"
    if board.points is None:
        return text
    others = ", ".join(str(p) for at, p in enumerate(board.points) if at != entrant)
    return (
        f"{text}; its worst board is {board.number + 1}: {board.points[entrant]} against {others}"
    )


def _show_boards(names: Sequence[str], played: Sequence[results_by_board.BoardResult]) -> None:
    output.table(
        ("board", *names, "<games"),
        [
            (
                board.number + 1,
                *(("–",) * len(names) if board.points is None else board.points),
                " ".join(number_text(game.game) for game in board.games),
            )
            for board in played
        ],
        left=0,
    )


def worst_game(source: RecordSource, seat: str | None) -> int:
    """Return the number of the entrant's worst game."""
    played = results_by_board.boards(source.record)
    entrant = _entrant(source, seat, played)
    return results_by_board.from_the_worst(played, entrant)[0].worst_game(entrant)


def _entrant(
    source: RecordSource, seat: str | None, played: Sequence[results_by_board.BoardResult]
) -> int:
    """Return the index of the named bot, or else of the one with the worst result."""
    names = _names(source)
    for at, name in enumerate(names):
        if seat in (name, name.partition("@")[0]):
            return at
    shares = _shares(played)
    ahead = [sum(board.ahead(at) for board in played) for at in range(len(names))]
    return min(range(len(names)), key=lambda at: (shares[at], ahead[at]))


def _shares(played: Sequence[results_by_board.BoardResult]) -> tuple[float, ...]:
    return results_by_board.shares(reduce(add, (board.games for board in played)))


def _names(source: RecordSource) -> list[str]:
    return [str(name) for name, _ in source.record.match["entrants"]]


def _ms(time: float | None) -> str:
    return "–" if time is None else f"{time:.2f}"


def to_json(
    source: RecordSource, faults: Sequence[Explanation], analysis: dict[str, Any] | None
) -> dict[str, Any]:
    """Return all data as JSON values; values by entrant are in the order of ``bots``."""
    played = results_by_board.boards(source.record)
    shares = _shares(played)
    return {
        "match": source.id,
        "game": source.record.match["game"],
        "bots": [
            {"bot": name, "share": round(share, 6), "thinking": times.to_json(source.id)}
            for (name, times), share in zip(
                decision_times.paces(source.record).items(), shares, strict=True
            )
        ],
        "boards": [board.to_json() for board in played],
        "faults": [fault.to_json() for fault in faults],
        "aftermath": [each.to_json() for each in aftermath(source.record)],
        "analysis": analysis,
    }
