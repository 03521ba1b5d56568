"""The command `pokearena verify`: check that records are correct."""

from __future__ import annotations

import rich_click as click

from arena.cli import completers, output
from arena.cli.errors import FAILED, OK
from arena.cli.options import data_option, json_option
from arena.cli.workspace import Workspace


@click.command(epilog="Example: pokearena verify m-7f3k9q2xwd")
@click.argument(
    "matches",
    nargs=-1,
    required=True,
    metavar="MATCH|FILE...",
    shell_complete=completers.match_or_file,
)
@json_option
@data_option
def verify(matches: tuple[str, ...], as_json: bool, workspace: Workspace) -> int:
    """Verify records: deal, play and score their matches again.

    The seed must match its commitment, and every deal, action and score must follow from the seed
    and the rules. The reasoning of the bots must have the hashes in the record; deleted reasoning
    is accepted. MATCH is an id, the beginning of an id, the file of a record, or `last` for the
    newest match of `pokearena play`. Exit status 1 if a record is not correct.
    """
    from arena.cli.matches import record_lookup
    from referee import reasoning, replay

    status = OK
    for name in matches:
        source = record_lookup.find_record(workspace, name)
        lines = record_lookup.find_reasoning(workspace, source)
        hashes = sum(1 for _ in reasoning.recorded_digests(source.record))
        problems = [
            *replay.verify(source.record),
            *reasoning.problems(source.record, lines),
        ]
        games, actions = len(source.record.games), sum(len(g.actions) for g in source.record.games)
        if problems:
            status = FAILED
        if as_json:
            output.document(
                {
                    "match": source.id,
                    "verified": not problems,
                    "games": games,
                    "actions": actions,
                    "reasoning": {"kept": len(lines), "recorded": hashes},
                    "problems": problems,
                }
            )
        elif problems:
            for problem in problems:
                output.line(f"{source.id}: {problem}")
        else:
            output.line(
                f"{source.id} is correct: {games} games dealt, {actions} "
                "actions replayed, all scores computed again; the seed "
                "matches its commitment"
            )
            if hashes:
                output.line(
                    f"{source.id}: {len(lines)} of {hashes} lines of reasoning match their hashes"
                    f"{'' if len(lines) == hashes else '; the others: content deleted, hash kept'}"
                )
    if not as_json:
        output.next_step(f"pokearena replay {matches[0]}")
    return status
