"""The command `pokearena tune`: tune the parameters of a bot by SPSA."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from arena.cli import output
from arena.cli.errors import INTERRUPTED, CommandError, usage_error
from arena.cli.options import data_option, json_option
from arena.cli.workspace import Workspace

if TYPE_CHECKING:
    from arena.bots.bot import Bot
    from arena.matches.tuning.tuning_file import TuningFile
    from arena.matches.tuning.tuning_run import Tuning

RESULTS = ".results.json"
"""Suffix of the file of results, beside the tuning file."""


@click.command(epilog="Example: pokearena tune tuning.toml")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--restart", is_flag=True, help="Delete stored results, and begin again.")
@json_option
@data_option
def tune(file: Path, restart: bool, as_json: bool, workspace: Workspace) -> None:
    """Tune the parameters of a bot by SPSA: perturbed copies play each other.

    FILE names the bot, the game, the number of iterations and the parameters
    (docs/how-to/tune.md). In each iteration all parameters are changed by plus or minus a step, the
    two versions play mirrored boards, and the parameters move towards the better one. A bot
    receives its parameters as arguments, --NAME VALUE. The results are stored beside FILE after
    every batch: the same command continues after Ctrl-C.
    """
    from arena.cli import game_options
    from arena.cli.bots import registration
    from arena.matches.tuning import tuning_file, tuning_run
    from arena.store import match_settings

    content = game_options.settled(tuning_file.read(file), entrants=2)
    bot = workspace.bot(_beside(file, content.bot))
    game_options.check_plays(bot, content.rules)
    if bot.manifest is None:
        raise usage_error(
            f"{bot.label} is a remote bot, which cannot receive arguments; tune a folder or a "
            "stored version.",
            "remote-bot",
        )
    registration.up_to_date(workspace, bot)
    results = file.with_name(f"{file.name}{RESULTS}")
    if restart:
        results.unlink(missing_ok=True)
    tuning = tuning_run.Tuning(
        content.tuned,
        content.iterations,
        content.parallel,
        match_settings.seed_of(content.seed),
        tuning_run.key_of(content, bot),
        results,
    )
    progress = output.ProgressLine()
    try:
        with tuning_run.match_player(content, bot) as player:
            tuning.run(
                player.play,
                lambda done: progress("iterations", done, tuning.iterations),
                player.stop,
            )
    except KeyboardInterrupt:
        _report(tuning, content, bot, as_json)
        raise CommandError(
            f"interrupted after {len(tuning.results)} of {tuning.iterations} iterations; the same "
            "command continues.",
            INTERRUPTED,
        ) from None
    _report(tuning, content, bot, as_json)
    output.next_step(f"pokearena test {shlex.quote(_beside(file, content.bot))} --quick")


def _beside(file: Path, bot: str) -> str:
    """Return a bot as on the command line; a relative path is relative to the file."""
    if not bot.startswith("."):
        return bot
    path = file.parent / bot
    return str(path) if path.is_absolute() or str(path).startswith(".") else f"./{path}"


def _report(tuning: Tuning, content: TuningFile, bot: Bot, as_json: bool) -> None:
    from arena.bots.manifest import Manifest, render
    from arena.matches.tuning.tuning_file import with_arguments

    assert bot.manifest is not None
    texts, total = tuning.texts(), tuning.total
    run = with_arguments(bot.manifest.run, texts)
    if as_json:
        output.document(
            {"bot": bot.label, "game": content.game, **_values(tuning), "run": list(run)}
        )
        return
    output.table(
        ("parameter", "start", "tuned", "minimum", "maximum"),
        [
            (p.name, p.text(p.start), texts[p.name], f"{p.minimum:g}", f"{p.maximum:g}")
            for p in tuning.parameters
        ],
    )
    output.line(
        f"{output.count(len(tuning.results), 'iteration')} of {tuning.iterations}, "
        f"{output.count(total.games, 'game')}, {total.faults} with a fault"
    )
    line = next(
        row for row in render(Manifest(name="bot", run=run)).splitlines() if row.startswith("run")
    )
    output.line(f"bot.toml: {line}")


def _values(tuning: Tuning) -> dict[str, Any]:
    texts, total = tuning.texts(), tuning.total
    return {
        "iterations": len(tuning.results),
        "of": tuning.iterations,
        "games": total.games,
        "wins": total.wins,
        "draws": total.draws,
        "losses": total.losses,
        "faults": total.faults,
        "parameters": [
            {
                "name": p.name,
                "start": p.start,
                "value": tuning.values[p.name],
                "argument": texts[p.name],
                "minimum": p.minimum,
                "maximum": p.maximum,
            }
            for p in tuning.parameters
        ],
    }
