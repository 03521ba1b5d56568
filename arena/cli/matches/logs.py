"""The command `pokearena logs`: show the faults of a match and the output of its bots."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from arena.cli import completers, output
from arena.cli.options import data_option, json_option
from arena.cli.workspace import Workspace
from referee.sanitizing import sanitized

if TYPE_CHECKING:
    from arena.cli.matches.record_lookup import RecordSource
    from referee.record import Line


@click.command(epilog="Example: pokearena logs m-7f3k9q2xwd mybot")
@click.argument("match", shell_complete=completers.matches)
@click.argument("seat", required=False)
@json_option
@data_option
def logs(match: str, seat: str | None, as_json: bool, workspace: Workspace) -> None:
    """Show the faults of a match and the output of its bots.

    MATCH is an id, the beginning of an id, the file of a record, or `last` for the newest match of
    `pokearena play`. SEAT is the name of a bot or the number of a seat, from 0. --json prints
    one line per fault.
    """
    from arena.cli.matches import record_lookup

    source = record_lookup.find_record(workspace, match)
    faults = _faults(source, seat)
    if as_json:
        for name, fault in faults:
            output.document({"match": source.id, "bot": name, **fault})
        return
    _show_faults(source, faults)
    written = _outputs(workspace.folder.outputs / source.id, source, seat)
    for name, text in written:
        output.line(f"output of {name}")
        for line in text.splitlines():
            output.line(f"  {line}")
    if source.record.seed is None:
        output.hint(f"{source.id} is not closed; its faults are shown when it is closed")
    elif not faults and not written:
        output.hint("no faults and no output")
    first = next((fault for _, fault in faults if "question" in fault), None)
    name = shlex.quote(match) if source.source else source.id
    if first is not None:
        question = f"{name}:{first['game']}:{first['decision']}"
        output.next_step(f"pokearena ask {question} BOT")
    else:
        output.next_step(f"pokearena replay {name}")


def _faults(source: RecordSource, seat: str | None) -> list[tuple[str, Line]]:
    """Return the faults with the names of the bots, in order; optionally of one seat or bot."""
    from arena.cli.matches import record_lookup

    selected = record_lookup.seat_filter(source, seat)
    listed = [
        (game.game["seating"][fault["seat"]], fault)
        for game in source.record.games
        for fault in game.faults
    ]
    return [(name, fault) for name, fault in listed if selected(name, fault["seat"])]


def _show_faults(source: RecordSource, faults: list[tuple[str, Line]]) -> None:
    from arena.cli.matches import story

    for name, fault in faults:
        for line in story.explain_fault(source.record.match, fault, name):
            output.game_line(line)
        output.line()


def _outputs(directory: Path, source: RecordSource, seat: str | None) -> list[tuple[str, str]]:
    """Return the output of the bots' processes, by bot, if it is stored on this machine."""
    from arena.cli.matches import record_lookup

    selected = record_lookup.seat_filter(source, seat)
    written = []
    for name, _ in source.record.match["entrants"]:
        path = directory / f"{name}.log"
        # A number selects a seat, but a bot's log covers all its seats.
        if (seat is None or seat.isdecimal() or selected(name, -1)) and path.is_file():
            written.append((name, sanitized(path.read_text("utf-8", "replace"))))
    return written
