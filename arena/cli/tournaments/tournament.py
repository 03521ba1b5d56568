"""The commands `pokearena tournament`: run, watch and manage tournaments."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click
from click.core import ParameterSource

from arena.cli import completers, output
from arena.cli.errors import FAILED, USAGE, CommandError
from arena.cli.options import (
    bounded,
    data_option,
    game_options,
    json_option,
    pages_option,
    seats_option,
    workers_option,
)
from arena.cli.tournaments.bundle import bundle, verify
from arena.cli.tournaments.corrections import disqualify, replay, void
from arena.config import BOARDS, CYCLES

if TYPE_CHECKING:
    from arena.cli.workspace import Workspace
    from arena.store.tournaments.tournaments import Tournament, TournamentProgress
    from arena.tournaments.tournament_file import TournamentSpec


# `pokearena tournament export`: write a tournament as a static site.


@click.command(epilog="Example: pokearena tournament export t-7f3k9q --html friday")
@click.argument("tournament", metavar="ID", shell_complete=completers.tournaments)
@click.option(
    "--html",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    required=True,
    help="Folder to write; it must be empty or missing.",
)
@json_option
@data_option
def export(tournament: str, folder: Path, as_json: bool, data: Path | None) -> None:
    """Write a tournament as static web pages, starting with index.html.

    The pages show the standings, the crosstable or bracket, the closed matches with replays and
    records, the bots and the rules. Open matches show only what is public while they are played.
    """
    from arena.cli import lookup
    from arena.cli.workspace import Workspace

    workspace = Workspace(data)
    assert workspace.existing_store is not None
    name = lookup.find_tournament(workspace, tournament)
    try:
        if folder.exists() and any(folder.iterdir()):
            raise CommandError(
                f"{folder} is not empty; choose another folder with --html.",
                USAGE,
                code="not-empty",
            )
        files = _write_site(workspace, name, folder)
    except OSError as error:
        raise CommandError(
            f"{folder} cannot be written: {error.strerror or error}.", FAILED, code="cannot-write"
        ) from None
    if as_json:
        output.document({"tournament": name, "folder": str(folder), "files": files})
        return
    output.line(f"wrote {name} to {folder}: {files} files")
    output.hint(f"open {folder / 'index.html'} in a browser")


def _write_site(workspace: Workspace, tournament: str, folder: Path) -> int:
    """Write a site into an empty or missing folder, completely or not at all.

    Returns:
        The number of files.
    """
    from arena.cli.output import ProgressLine
    from arena.web import static_site

    exists = folder.exists()
    beside = folder if exists else folder.parent
    beside.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=beside) as temporary:
        site = Path(temporary) / "site"
        site.mkdir()
        files = static_site.write(workspace.store, tournament, site, ProgressLine())
        if exists:
            for path in site.iterdir():
                path.rename(folder / path.name)
        else:
            site.rename(folder)
    return files


# `pokearena tournament run`: play or preview a tournament from a file or from flags.


@click.command(
    epilog="Example: pokearena tournament run poke ./mybot sample:greedy -n 20 or "
    "pokearena tournament run cup.toml --dry-run"
)
@click.argument("game", metavar="GAME|FILE.toml", shell_complete=completers.game_or_file)
@click.argument("bots", nargs=-1, metavar="[BOT...]", shell_complete=completers.bots)
@click.option(
    "--format",
    shell_complete=completers.formats,
    metavar="NAME",
    default="round-robin",
    show_default=True,
    help="Format: round-robin, gauntlet, swiss, knockout, ladder, sprt or challenge (unrated).",
)
@click.option(
    "--set",
    "settings",
    shell_complete=completers.format_settings,
    multiple=True,
    metavar="NAME=VALUE",
    help="Setting of the format (docs/reference/formats.md); repeatable.",
)
@click.option(
    "--cycles",
    type=bounded(CYCLES),
    help="Same as --set cycles=N: number of matches of each pairing. [default: 1]",
)
@click.option(
    "-n",
    "--boards",
    type=bounded(BOARDS),
    default=10,
    show_default=True,
    help="Number of boards per match; each is played with every seating.",
)
@seats_option
@click.option(
    "--seed",
    metavar="TEXT",
    help="Seed of all cards; the same seed gives the same deals. [default: random]",
)
@click.option("--name", metavar="TEXT", help="Name of the tournament. [default: the game]")
@click.option(
    "--faults",
    type=click.Choice(["lenient", "unforgiving"]),
    default="lenient",
    show_default=True,
    help="Fault after which a bot forfeits the rest of its table: the third "
    "(lenient) or the first (unforgiving).",
)
@click.option(
    "--dry-run", is_flag=True, help="Show the schedule and the estimated time, without playing."
)
@game_options
@workers_option
@pages_option(default=False)
@json_option
@data_option
def run(
    dry_run: bool, workers: int | None, web: bool, as_json: bool, data: Path | None, **flags: Any
) -> int | None:
    """Run a tournament and show its progress.

    BOT is the same as for `pokearena play`; bots are registered automatically. FILE.toml describes
    a whole tournament (docs/reference/formats.md); options override it. Services of this data
    folder play the tournament if they run; otherwise the command starts its own, and with --web
    also the pages, at the first free port from 8000. Ctrl-C loses no games: `pokearena tournament
    resume ID` continues.
    """
    from arena.cli.tournaments import match_plan
    from arena.cli.workspace import Workspace

    workspace = Workspace(data)
    spec = _spec(flags)
    if dry_run:
        match_plan.preview(workspace, spec, workers, as_json)
        return None
    from arena.cli import output
    from arena.cli.tournaments import running
    from arena.cli.tournaments.views import report
    from arena.services.web_process import HOST, PORT, Pages, listen_near
    from arena.store.tournaments import tournaments
    from arena.tournaments import game_settings, scheduler, tournament_plan

    plan, bots = match_plan.prepare(workspace, spec)
    entrants, owners = match_plan.registered(workspace, bots)
    entries = scheduler.enrol(workspace.store, entrants, owners)
    first = tournament_plan.opening(plan, entries)
    secret = None if spec.seed is None else game_settings.seed_of(spec.seed)

    def begin() -> list[str]:
        made = tournaments.create(workspace.store, plan, entries, first, secret)
        output.hint(f"{made.id} · {plan.form} · {', '.join(entrants)}")
        return [made.id]

    def pages() -> Pages:
        return Pages(listen_near(HOST, PORT))

    snapshots = running.play_out(workspace, workers, begin, pages if web else None)
    return report(workspace, snapshots, as_json)


_NAMES = {
    "start": "start_ms",
    "allowance": "allowance_ms",
    "bank": "bank_ms",
}
_PLAIN = ("name", "format", "seats", "boards", "seed", "faults", *_NAMES)


def _spec(flags: dict[str, Any]) -> TournamentSpec:
    """Return the settings in the file, if any, updated by the given flags.

    A tournament file is complete: a configuration file does not change it.
    """
    from arena.cli import game_options as setup
    from arena.tournaments import game_settings, tournament_file, tournament_plan
    from arena.tournaments.tournament_file import NamedBot, TournamentSpec

    context = click.get_current_context()
    assert context is not None
    ignored = {ParameterSource.DEFAULT}
    if flags["game"].endswith(".toml"):
        ignored.add(ParameterSource.DEFAULT_MAP)
    used = {name for name in flags if context.get_parameter_source(name) not in ignored}
    given: dict[str, Any] = {_NAMES.get(name, name): flags[name] for name in _PLAIN if name in used}
    if used & {"settings", "cycles"}:
        settings = flags["settings"] if "settings" in used else ()
        cycles = {"cycles": flags["cycles"]} if "cycles" in used else {}
        given["settings"] = {**tournament_plan.pairs(settings, "the setting"), **cycles}
    if "pairs" in used:
        given["options"] = dict(map(setup.option, flags["pairs"]))
    if flags["bots"]:
        given["bots"] = tuple(map(NamedBot, flags["bots"]))
    if flags["game"].endswith(".toml"):
        return tournament_file.read(Path(flags["game"])).updated(given)
    if not flags["bots"]:
        game_settings.game_named(flags["game"])
        raise CommandError(
            f"a tournament of {flags['game']} needs bots; add their names or folders.",
            USAGE,
            code="no-bots",
        )
    return TournamentSpec(game=flags["game"]).updated(given)


@click.group()
def tournament() -> None:
    """Run, watch and manage tournaments."""


for _elsewhere in (run, bundle, disqualify, export, replay, verify, void):
    tournament.add_command(_elsewhere)


@tournament.command(epilog="Example: pokearena tournament resume t-7f3k9q")
@click.argument("tournaments", nargs=-1, metavar="ID...", shell_complete=completers.tournaments)
@workers_option
@json_option
@data_option
def resume(
    tournaments: tuple[str, ...], workers: int | None, as_json: bool, data: Path | None
) -> int:
    """Continue open tournaments after their last committed games.

    Without an ID, all open tournaments continue.
    """
    from arena.cli import lookup
    from arena.cli.tournaments import running, views
    from arena.cli.workspace import Workspace
    from arena.store.access.audit_log import audited_command
    from arena.store.tournaments import lifecycle
    from arena.store.tournaments import tournaments as store

    workspace = Workspace(data)
    names = [lookup.find_tournament(workspace, name) for name in tournaments]
    if not names:
        everything = store.listing(workspace.existing_store)
        names = [tournament.id for tournament in everything if tournament.ended is None]
        if not names:
            raise CommandError("there is no open tournament.", FAILED, "pokearena tournament list")

    for name in names:
        stored = store.find(workspace.store, name)
        if stored.ended is not None:
            advice = f"pokearena tournament show {name}"
            raise CommandError(
                f"tournament {name} is already {stored.state}.", FAILED, advice, code="already-over"
            )

    def begin() -> list[str]:
        for name in names:
            with audited_command(workspace.store, "tournament.start", name):
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
def pause(tournaments: tuple[str, ...], as_json: bool, data: Path | None) -> None:
    """Start no further matches. Running matches are finished."""
    from arena.cli import lookup
    from arena.cli.tournaments import views
    from arena.cli.workspace import Workspace
    from arena.store.access.audit_log import audited_command
    from arena.store.tournaments import lifecycle

    workspace = Workspace(data)
    for name in [lookup.find_tournament(workspace, prefix) for prefix in tournaments]:
        with audited_command(workspace.store, "tournament.pause", name):
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
    tournament: str, bots: tuple[str, ...], owner: str, as_json: bool, data: Path | None
) -> None:
    """Add bots to an open tournament; they are paired from the next round.

    Not possible in the formats knockout and sprt.
    """
    from arena.cli.tournaments import match_plan, views
    from arena.cli.workspace import Workspace

    workspace = Workspace(data)
    name, joined = match_plan.join(workspace, tournament, bots, owner)
    views.changed(
        workspace, name, f"paired in {name} from its next round on: {', '.join(joined)}", as_json
    )
    if not as_json:
        output.next_step(f"pokearena tournament show {name}")


@tournament.command(epilog="Example: pokearena tournament withdraw t-7f3k9q mybot@1")
@click.argument("tournament", metavar="ID", shell_complete=completers.tournaments)
@click.argument(
    "versions",
    nargs=-1,
    required=True,
    metavar="NAME@VERSION...",
    shell_complete=completers.versions,
)
@click.option(
    "--reason", default="", metavar="TEXT", help="Reason, shown with the cancelled matches."
)
@json_option
@data_option
def withdraw(
    tournament: str, versions: tuple[str, ...], reason: str, as_json: bool, data: Path | None
) -> None:
    """Withdraw bots from a tournament.

    Their running matches are finished, their results count, and their other matches are cancelled.
    """
    from arena.cli import lookup
    from arena.cli.tournaments import views
    from arena.cli.workspace import Workspace
    from arena.store.access.audit_log import audited_command
    from arena.store.tournaments import lifecycle

    workspace = Workspace(data)
    name = lookup.find_tournament(workspace, tournament)
    for version in [lookup.find_version(workspace, label).id for label in versions]:
        with audited_command(workspace.store, "tournament.withdraw", name, reason):
            lifecycle.withdraw(workspace.store, name, version, reason)
    views.changed(workspace, name, f"withdrawn from {name}: {', '.join(versions)}", as_json)
    if not as_json:
        output.next_step(f"pokearena tournament show {name}")


_HEADINGS = ("tournament", "<name", "<game", "bots", "matches", "games", "<state", "<begun")


def _row(tournament: Tournament, progress: TournamentProgress, playing: bool) -> tuple[object, ...]:
    """Return a line of the list, with a plus sign if the format may schedule more matches."""
    from arena.cli import output
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
def listing(as_json: bool, data: Path | None) -> None:
    """List the tournaments, oldest first. --json prints one line per tournament.

    A tournament that could be played is `running` while services play matches and otherwise
    `waiting`; in JSON, `state` is then "running" and `playing` false.
    """
    from arena.cli.workspace import Workspace
    from arena.store.tournaments import tournaments as store

    workspace = Workspace(data)
    listed = store.listing(workspace.existing_store)
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
@json_option
@data_option
def show(tournament: str, as_json: bool, data: Path | None) -> None:
    """Show the settings, standings and matches of a tournament."""
    from arena.cli import lookup
    from arena.cli.tournaments import views
    from arena.cli.workspace import Workspace

    workspace = Workspace(data)
    name = lookup.find_tournament(workspace, tournament)
    if as_json:
        output.document(views.whole(workspace, name))
    else:
        views.show(workspace, name)


@tournament.command(epilog="Example: pokearena tournament cancel t-7f3k9q")
@click.argument(
    "tournaments", nargs=-1, required=True, metavar="ID...", shell_complete=completers.tournaments
)
@json_option
@data_option
def cancel(tournaments: tuple[str, ...], as_json: bool, data: Path | None) -> None:
    """Cancel tournaments. Closed and running matches still count."""
    from arena.cli import lookup
    from arena.cli.tournaments import views
    from arena.cli.workspace import Workspace
    from arena.store.access.audit_log import audited_command
    from arena.store.tournaments import lifecycle
    from arena.store.tournaments import tournaments as store

    workspace = Workspace(data)
    for name in [lookup.find_tournament(workspace, prefix) for prefix in tournaments]:
        with audited_command(workspace.store, "tournament.cancel", name):
            lifecycle.cancel(workspace.store, name)
        closed = store.progress(workspace.store, name).closed
        sentence = f"{name} is cancelled; {closed} of its matches are closed"
        views.changed(workspace, name, sentence, as_json)
    if not as_json:
        output.next_step("pokearena tournament list")
