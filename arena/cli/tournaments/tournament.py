"""The commands `pokearena tournament`: run, watch and manage tournaments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich_click as click

from arena.cli import completers, output
from arena.cli.errors import FAILED, CommandError
from arena.cli.options import data_option, json_option, reason_option, workers_option
from arena.cli.tournaments.bundle import bundle, verify
from arena.cli.tournaments.corrections import disqualify, forfeit, replay, void
from arena.cli.tournaments.tournament_export import export
from arena.cli.tournaments.tournament_run import run
from arena.cli.workspace import Workspace

if TYPE_CHECKING:
    from arena.store.tournaments.tournaments import Tournament, TournamentProgress

_HEADINGS = ("tournament", "<name", "<game", "bots", "matches", "games", "<state", "<begun")


@click.group()
def tournament() -> None:
    """Run, watch and manage tournaments."""


for _elsewhere in (run, bundle, disqualify, export, forfeit, replay, verify, void):
    tournament.add_command(_elsewhere)


@tournament.command(epilog="Example: pokearena tournament resume t-7f3k9q")
@click.argument("tournaments", nargs=-1, metavar="ID...", shell_complete=completers.tournaments)
@workers_option
@json_option
@data_option
def resume(
    tournaments: tuple[str, ...], workers: int | None, as_json: bool, workspace: Workspace
) -> int:
    """Continue open tournaments after their last committed games.

    Without an ID, all open tournaments continue.
    """
    from arena.cli import lookup
    from arena.cli.tournaments import running, views
    from arena.store.tournaments import lifecycle
    from arena.store.tournaments import tournaments as store

    names = [lookup.tournament_id_of(workspace, name) for name in tournaments]
    if not names:
        everything = store.list_tournaments(workspace.existing_store)
        names = [tournament.id for tournament in everything if tournament.ended is None]
        if not names:
            raise CommandError("there is no open tournament.", FAILED, "pokearena tournament list")

    for name in names:
        stored = store.find_tournament(workspace.store, name)
        if stored.ended is not None:
            advice = f"pokearena tournament show {name}"
            raise CommandError(
                f"tournament {name} is already {stored.state}.", FAILED, advice, code="already-over"
            )

    def begin() -> list[str]:
        for name in names:
            with workspace.audited("tournament.start", name):
                lifecycle.resume(workspace.store, name)
        output.hint(f"resuming {', '.join(names)}")
        return names

    return views.report(workspace, running.play_out(workspace, workers, begin), as_json)


@tournament.command(epilog="Example: pokearena tournament pause t-7f3k9q")
@click.argument(
    "tournaments", nargs=-1, required=True, metavar="ID...", shell_complete=completers.tournaments
)
@json_option
@data_option
def pause(tournaments: tuple[str, ...], as_json: bool, workspace: Workspace) -> None:
    """Start no further matches. Running matches are finished."""
    from arena.cli import lookup
    from arena.cli.tournaments import views
    from arena.store.tournaments import lifecycle

    for name in [lookup.tournament_id_of(workspace, prefix) for prefix in tournaments]:
        with workspace.audited("tournament.pause", name):
            lifecycle.pause(workspace.store, name)
        views.changed(workspace, name, f"{name} is paused", as_json)
    if not as_json:
        output.next_step(f"pokearena tournament resume {' '.join(tournaments)}")


@tournament.command(epilog="Example: pokearena tournament add t-7f3k9q ./newbot")
@click.argument("tournament", metavar="ID", shell_complete=completers.tournaments)
@click.argument("bots", nargs=-1, required=True, metavar="BOT...", shell_complete=completers.bots)
@click.option(
    "--owner",
    default="",
    metavar="NAME",
    shell_complete=completers.owners,
    help="Owner of the bots.",
)
@json_option
@data_option
def add(
    tournament: str, bots: tuple[str, ...], owner: str, as_json: bool, workspace: Workspace
) -> None:
    """Add bots to an open tournament; they are paired from the next round.

    Not possible in the formats knockout and sprt.
    """
    from arena.cli.tournaments import match_plan, views

    name, joined = match_plan.join(workspace, tournament, bots, owner)
    views.changed(
        workspace, name, f"paired in {name} from its next round on: {', '.join(joined)}", as_json
    )
    if not as_json:
        output.next_step(f"pokearena tournament show {name}")


@tournament.command(
    epilog='Example: pokearena tournament withdraw t-7f3k9q mybot@1 --reason "it is slow"'
)
@click.argument("tournament", metavar="ID", shell_complete=completers.tournaments)
@click.argument(
    "versions",
    nargs=-1,
    required=True,
    metavar="NAME@VERSION...",
    shell_complete=completers.versions,
)
@reason_option("Reason, shown with the cancelled matches.")
@json_option
@data_option
def withdraw(
    tournament: str, versions: tuple[str, ...], reason: str, as_json: bool, workspace: Workspace
) -> None:
    """Withdraw bots from a tournament.

    Their running matches are finished, their results count, and their other matches are cancelled.
    """
    from arena.cli import lookup
    from arena.cli.tournaments import views
    from arena.store.tournaments import lifecycle

    name = lookup.tournament_id_of(workspace, tournament)
    for version in [lookup.find_version(workspace, label).id for label in versions]:
        with workspace.audited("tournament.withdraw", name, reason, version=version):
            lifecycle.withdraw(workspace.store, name, version, reason)
    views.changed(workspace, name, f"withdrawn from {name}: {', '.join(versions)}", as_json)
    if not as_json:
        output.next_step(f"pokearena tournament show {name}")


def _row(tournament: Tournament, progress: TournamentProgress, playing: bool) -> tuple[object, ...]:
    """Return a line of the list, with a plus sign if the format may schedule more matches."""
    from arena.formats.contract import ALL_AT_ONCE

    settled = tournament.ended is not None or tournament.plan.format in ALL_AT_ONCE
    return (
        tournament.id,
        tournament.plan.name,
        tournament.plan.form,
        len(tournament.entrants),
        f"{progress.closed}/{progress.matches}{'' if settled else '+'}",
        f"{progress.games}/{progress.planned}",
        output.tournament_state(tournament.state, playing),
        output.local_time(tournament.created),
    )


@tournament.command("list", epilog="Example: pokearena tournament list")
@json_option
@data_option
def listing(as_json: bool, workspace: Workspace) -> None:
    """List the tournaments, oldest first. --json prints one line per tournament.

    A tournament that could be played is `running` while services play matches and otherwise
    `waiting`; in JSON, `state` is then "running" and `playing` false.
    """
    from arena.store.tournaments import tournaments as store

    listed = store.list_tournaments(workspace.existing_store)
    counted = [
        (tournament, store.progress(workspace.store, tournament.id)) for tournament in listed
    ]
    playing = any(tournament.state == "running" for tournament in listed) and (
        workspace.plays_matches()
    )
    if as_json:
        from arena.tournaments import json_values

        for tournament, progress in counted:
            values = json_values.tournament(tournament, progress)
            output.document({**values, "playing": playing and tournament.state == "running"})
        return
    output.table(_HEADINGS, [_row(*each, playing) for each in counted])
    waiting = [tournament.id for tournament in listed if tournament.state == "running"]
    if waiting and not playing:
        output.hint("no services run; `pokearena serve` plays all waiting tournaments")
        output.next_step(f"pokearena tournament resume {' '.join(waiting)}")
        return
    last = listed[-1].id if listed else ""
    output.next_step(f"pokearena tournament show {last}" if last else "pokearena demo")


@tournament.command(epilog="Example: pokearena tournament show t-7f3k9q")
@click.argument("tournament", metavar="ID", shell_complete=completers.tournaments)
@click.option("--tag", help="List only matches in which a bot has set this tag.")
@json_option
@data_option
def show(tournament: str, tag: str | None, as_json: bool, workspace: Workspace) -> None:
    """Show the settings, standings and matches of a tournament."""
    from arena.cli import lookup
    from arena.cli.tournaments import views

    name = lookup.tournament_id_of(workspace, tournament)
    if as_json:
        output.document(views.whole(workspace, name, tag))
    else:
        views.show(workspace, name, tag)


@tournament.command(epilog='Example: pokearena tournament cancel t-7f3k9q --reason "a wrong clock"')
@click.argument(
    "tournaments", nargs=-1, required=True, metavar="ID...", shell_complete=completers.tournaments
)
@reason_option("Reason for the audit log.")
@json_option
@data_option
def cancel(tournaments: tuple[str, ...], reason: str, as_json: bool, workspace: Workspace) -> None:
    """Cancel tournaments. Closed and running matches still count."""
    from arena.cli import lookup
    from arena.cli.tournaments import views
    from arena.store.tournaments import lifecycle
    from arena.store.tournaments import tournaments as store

    for name in [lookup.tournament_id_of(workspace, prefix) for prefix in tournaments]:
        with workspace.audited("tournament.cancel", name, reason):
            lifecycle.cancel(workspace.store, name)
        closed = store.progress(workspace.store, name).closed
        sentence = f"{name} is cancelled; {closed} of its matches are closed"
        views.changed(workspace, name, sentence, as_json)
    if not as_json:
        output.next_step("pokearena tournament list")
