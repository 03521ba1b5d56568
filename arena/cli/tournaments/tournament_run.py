"""The command `pokearena tournament run`: play or preview a tournament from a file or flags."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click
from click.core import ParameterSource

from arena.cli import completers
from arena.cli.errors import usage_error
from arena.cli.options import (
    bounded,
    data_option,
    game_options,
    given_text,
    json_option,
    pages_option,
    seats_option,
    workers_option,
)
from arena.cli.workspace import Workspace
from arena.config import BOARDS, CYCLES
from referee.games.game_packages import EXAMPLE_GAME

if TYPE_CHECKING:
    from arena.tournaments.tournament_request import TournamentRequest

_PLAIN = ("preset", "name", "format", "seats", "boards", "seed", "faults", "corrections")
_CLOCK = ("start", "allowance", "bank")


@click.command(
    epilog=f"Example: pokearena tournament run {EXAMPLE_GAME} ./mybot sample:greedy -n 20 or "
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
    "--preset",
    type=click.Choice(["slow", "models"]),
    help="Defaults of boards, clock and corrections: slow for bots that take seconds per decision, "
    "models for language models. [default: those of fast bots]",
)
@click.option(
    "-n",
    "--boards",
    type=bounded(BOARDS),
    default=BOARDS.usual,
    show_default=True,
    help="Number of boards per match; each is played with every seating.",
)
@seats_option
@click.option(
    "--seed",
    metavar="TEXT",
    callback=given_text,
    help="Seed of all cards; the same seed gives the same deals. [default: random]",
)
@click.option(
    "--name",
    metavar="TEXT",
    callback=given_text,
    help="Name of the tournament. [default: the game]",
)
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
    dry_run: bool, workers: int | None, web: bool, as_json: bool, workspace: Workspace, **flags: Any
) -> int | None:
    """Run a tournament and show its progress.

    BOT is the same as for `pokearena play`; bots are registered automatically. FILE.toml describes
    a whole tournament (docs/reference/formats.md); options override it. Services of this data
    folder play the tournament if they run; otherwise the command starts its own, and with --web
    also the pages, at the first free port from 8000. Ctrl-C loses no games: `pokearena tournament
    resume ID` continues.
    """
    from arena.cli.tournaments import match_plan

    file = Path(flags["game"]) if flags["game"].endswith(".toml") else None
    plan = _requested(flags, file)
    if dry_run:
        match_plan.preview(workspace, plan, file, workers, as_json)
        return None
    from arena.cli import output
    from arena.cli.tournaments import running
    from arena.cli.tournaments.views import report
    from arena.services.web_process import HOST, PORT, Pages, listen_near
    from arena.tournaments import scheduler

    bots = match_plan.resolved(workspace, plan, file)
    entrants, owners = match_plan.registered(workspace, bots)
    # Refuse before services start.
    scheduler.opening(plan, scheduler.enrol(workspace.store, entrants, owners))

    def begin() -> list[str]:
        created = scheduler.begin(workspace.store, plan, entrants, plan.secret, owners)
        output.hint(f"{created.id} · {plan.form} · {', '.join(entrants)}")
        return [created.id]

    def pages() -> Pages:
        return Pages(listen_near(HOST, PORT))

    snapshots = running.play_out(workspace, workers, begin, pages if web else None)
    return report(workspace, snapshots, as_json)


def _requested(flags: dict[str, Any], file: Path | None) -> TournamentRequest:
    """Return the tournament in the file, if any, updated by the given flags.

    A tournament file is complete: a configuration file does not change it.
    """
    from arena.store.match_settings import game_named
    from arena.tournaments import tournament_request

    given = _given(flags, {ParameterSource.DEFAULT_MAP} if file else set())
    if file is not None:
        return tournament_request.read_request(file, given)
    if Path(flags["game"]).is_file():
        raise usage_error(
            f'the name of a tournament file must end with .toml, but "{flags["game"]}" does not.',
            "not-toml",
        )
    if not flags["bots"]:
        game_named(flags["game"])
        raise usage_error(
            f"a tournament of {flags['game']} needs bots; add their names or folders.", "no-bots"
        )
    return tournament_request.request_of({"game": flags["game"], **given})


def _given(flags: dict[str, Any], ignored: set[ParameterSource]) -> dict[str, Any]:
    """Return the flags that are given, named as in a tournament file.

    `ignored` are the sources of values that are left out, besides defaults.
    """
    from arena.cli import game_options as setup
    from arena.tournaments import tournament_request

    context = click.get_current_context()
    assert context is not None
    sources = {name: context.get_parameter_source(name) for name in flags}
    used = {n for n, source in sources.items() if source not in ignored | {ParameterSource.DEFAULT}}
    given: dict[str, Any] = {name: flags[name] for name in _PLAIN if name in used}
    if clock := {f"{name}_ms": flags[name] for name in _CLOCK if name in used}:
        given["clock"] = clock
    if used & {"settings", "cycles"}:
        settings = flags["settings"] if "settings" in used else ()
        cycles = {"cycles": flags["cycles"]} if "cycles" in used else {}
        given["settings"] = {**tournament_request.pairs(settings, "the setting"), **cycles}
    if "pairs" in used:
        given["options"] = setup.named(flags["pairs"])
    if flags["bots"]:
        given["bots"] = flags["bots"]
    return given
