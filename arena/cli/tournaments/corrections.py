"""The commands `pokearena tournament void`, `replay`, `forfeit` and `disqualify`."""

from __future__ import annotations

import rich_click as click

from arena.cli import completers, output
from arena.cli.options import data_option, json_option, reason_option
from arena.cli.workspace import Workspace


@click.command(epilog='Example: pokearena tournament void m-7f3k9q2xwd --reason "a power cut"')
@click.argument("match", metavar="MATCH", shell_complete=completers.matches)
@reason_option("Reason, shown with the match.")
@json_option
@data_option
def void(match: str, reason: str, as_json: bool, workspace: Workspace) -> None:
    """Void a match that is open or closed. Ratings are computed again without it.

    Its games stay stored and can be replayed. This cannot be undone.
    """
    from arena.store.access.audit_log import COMMAND_LINE
    from arena.store.matches import corrections

    corrections.void(workspace.existing_store, match, COMMAND_LINE, reason)
    values = {"match": match, "state": "void", "reason": reason}
    sentence = f"{match} is void; the ratings no longer count it"
    output.result(as_json, values, sentence, then="pokearena standings")


@click.command(epilog='Example: pokearena tournament replay m-7f3k9q2xwd --reason "a power cut"')
@click.argument("match", metavar="MATCH", shell_complete=completers.matches)
@reason_option("Reason, shown with the match.")
@json_option
@data_option
def replay(match: str, reason: str, as_json: bool, workspace: Workspace) -> None:
    """Void a match and schedule it again, with the same bots and boards and a new seed.

    The tournament must not be over. Ratings are computed again. The games of the void match stay
    stored. This cannot be undone.
    """
    from arena.store.access.audit_log import COMMAND_LINE
    from arena.store.matches import corrections

    new = corrections.replay(workspace.existing_store, match, COMMAND_LINE, reason)
    values = {"match": match, "state": "void", "replay": new, "reason": reason}
    sentence = f"{match} is void and will be played again as {new}"
    output.result(as_json, values, sentence, then=f"pokearena verify {match}")


@click.command(
    epilog='Example: pokearena tournament forfeit m-7f3k9q2xwd mybot@1 --reason "it is offline"'
)
@click.argument("match", metavar="MATCH", shell_complete=completers.matches)
@click.argument("version", metavar="NAME@VERSION", shell_complete=completers.versions)
@reason_option("Reason, shown with the match.")
@json_option
@data_option
def forfeit(match: str, version: str, reason: str, as_json: bool, workspace: Workspace) -> None:
    """Decide a match against a version: its tournament counts it as lost, ratings do not.

    For matches that hold up a round of a knockout, Swiss, round robin or gauntlet. Its games stay
    stored. The tournament must not be over. This cannot be undone, but the match can be replayed.
    """
    from arena.cli import lookup
    from arena.store.access.audit_log import COMMAND_LINE
    from arena.store.matches import corrections

    label = lookup.find_version(workspace, version).id
    corrections.forfeit(workspace.existing_store, match, label, COMMAND_LINE, reason)
    values = {"match": match, "state": "void", "forfeited_by": label, "reason": reason}
    sentence = f"{label} has lost {match} by forfeit; the ratings do not count it"
    output.result(as_json, values, sentence, then="pokearena standings")


@click.command(
    epilog='Example: pokearena tournament disqualify t-7f3k9q mybot@1 --reason "it is a copy"'
)
@click.argument("tournament", metavar="ID", shell_complete=completers.tournaments)
@click.argument("version", metavar="NAME@VERSION", shell_complete=completers.versions)
@reason_option("Reason, shown with the matches.")
@json_option
@data_option
def disqualify(
    tournament: str, version: str, reason: str, as_json: bool, workspace: Workspace
) -> None:
    """Withdraw a version from a tournament and void all its matches there.

    Ratings are computed again without them. This cannot be undone.
    """
    from arena.cli import lookup
    from arena.store.access.audit_log import COMMAND_LINE
    from arena.store.matches import corrections

    name = lookup.tournament_id_of(workspace, tournament)
    label = lookup.find_version(workspace, version).id
    voided = corrections.disqualify(workspace.store, name, label, COMMAND_LINE, reason)
    values = {"tournament": name, "version": label, "voided": list(voided)}
    sentence = f"{label} is disqualified from {name}; {len(voided)} matches are void"
    output.result(as_json, values, sentence, then=f"pokearena tournament show {name}")
