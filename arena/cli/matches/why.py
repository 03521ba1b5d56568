"""The command `pokearena why`: explain a lost match."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import rich_click as click

from arena.cli import completers, output
from arena.cli.errors import CommandError, usage_error
from arena.cli.options import data_option, json_option
from arena.cli.workspace import Workspace
from referee.numbering import decision_text

if TYPE_CHECKING:
    from arena.cli.matches.record_lookup import RecordSource
    from arena.records.fault_explanation import Explanation


@click.command(epilog="Example: pokearena why m-7f3k9q2xwd --seat mybot")
@click.argument("match", metavar="MATCH[:GAME:DECISION]", shell_complete=completers.matches)
@click.option(
    "--seat",
    metavar="SEAT",
    help="Only the faults of this bot (name) or seat (number, from 0).",
)
@json_option
@data_option
def why(match: str, seat: str | None, as_json: bool, workspace: Workspace) -> None:
    """Explain why a bot lost a match.

    For each fault: the verdict, the view and the legal actions of the bot, its clock, its memory,
    how its process ended, and the end of its output. For a match without faults: the scores of the
    boards, the decision times, and the costliest decisions if an idle worker has analysed the
    match. MATCH is an id, the beginning of an id, a file, or `last` for the newest match of
    `pokearena play`. GAME and DECISION are numbers from 0.
    """
    from arena.cli.matches import record_lookup

    name, place_of = _place(match)
    source = record_lookup.find_record(workspace, name)
    if not source.record.games:
        raise CommandError(
            f"{source.id} is not closed; faults are explained when it is closed.", code="not-closed"
        )
    faults = _chosen(source, name, seat, place_of)
    analysis = None if faults else _stored_analysis(workspace, source)
    if as_json:
        from arena.cli.matches import loss_reasons

        output.document(loss_reasons.to_json(source, faults, analysis))
        return
    _show(source, name, seat, faults, analysis)


def _stored_analysis(workspace: Workspace, source: RecordSource) -> dict[str, Any] | None:
    if source.source is not None:
        return None
    from arena.records.analysis import stored_form
    from arena.store.idle_results import ANALYSES

    return stored_form.supported(ANALYSES.find(workspace.store, source.id))


def _place(text: str) -> tuple[str, tuple[int, int] | None]:
    """Return the match, and the game and decision of a single fault, if given."""
    match, *numbers = text.rsplit(":", 2)
    if len(numbers) == 2 and match and all(number.isdecimal() for number in numbers):
        return match, (int(numbers[0]), int(numbers[1]))
    return text, None


def _chosen(
    source: RecordSource, name: str, seat: str | None, place_of: tuple[int, int] | None
) -> tuple[Explanation, ...]:
    from arena.cli.matches import record_lookup
    from arena.records.fault_explanation import explanations

    selected = record_lookup.seat_filter(source, seat)
    faults = tuple(
        fault for fault in explanations(source.record) if selected(fault.bot, fault.seat)
    )
    if place_of is None:
        return faults
    at = tuple(
        fault for fault in faults if (fault.line["game"], fault.line["decision"]) == place_of
    )
    if not at:
        game, decision = place_of
        source.game(game)
        known = ", ".join(
            f"{name}:{fault.line['game']}:{fault.line['decision']}" for fault in faults
        )
        available = f"its faults are {known}" if known else "it has none"
        raise usage_error(
            f"{source.id} has no fault in {decision_text(game, decision)}; {available}.",
            "unknown-fault",
        )
    return at


def _show(
    source: RecordSource,
    name: str,
    seat: str | None,
    faults: tuple[Explanation, ...],
    analysis: dict[str, Any] | None,
) -> None:
    from arena.cli.matches import loss_reasons
    from arena.records.fault_explanation import aftermath

    for fault in faults:
        for line in loss_reasons.of_fault(fault, name):
            output.game_line(line)
        output.line()
    bots = {fault.bot for fault in faults}
    for line in loss_reasons.of_aftermath(
        [fault for fault in aftermath(source.record) if fault.bot in bots]
    ):
        output.line(line)
    if not faults:
        loss_reasons.show_match(source, seat)
    if analysis is not None:
        loss_reasons.show_analysis(source, analysis, seat)
    first = next((fault.asks for fault in faults if fault.asks), None)
    worst = loss_reasons.worst_game(source, seat) if not faults else faults[0].line["game"]
    replay = f"pokearena replay {shlex.quote(name)} --game {worst}"
    if first is None:
        analyse = f"pokearena analyse {shlex.quote(name)}"
        output.next_step(*([] if faults or analysis else [analyse]), replay)
    else:
        _, game, decision = first.rsplit(":", 2)
        question = shlex.quote(f"{name}:{game}:{decision}")
        bot = next(fault.bot for fault in faults if fault.asks)
        output.next_step(f"pokearena ask {question} {loss_reasons.folder_of(bot)}", replay)
