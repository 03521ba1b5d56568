"""The command `pokearena replay`: step through a match."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click
from click.core import ParameterSource

from arena.cli import completers, output
from arena.cli.matches import replay_animation
from arena.cli.options import data_option, json_option
from arena.cli.workspace import Workspace
from arena.matches import local_records

if TYPE_CHECKING:
    from arena.cli.matches.record_lookup import RecordSource
    from referee.record import GameRecord


@click.command(
    epilog="Example: pokearena replay m-7f3k9q2xwd --game 1 or pokearena replay last --open"
)
@click.argument("match", metavar="MATCH|FILE", shell_complete=completers.match_or_file)
@click.option(
    "--game", type=click.IntRange(0), help="Number of the game, from 0: game 1 is 0. [default: all]"
)
@click.option("--no-pause", is_flag=True, help="Print all steps without waiting for keys.")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the replay as one HTML file that needs no other files and no network. Without "
    "--game, a file contains at most 20 games.",
)
@click.option(
    "--open",
    "open_page",
    is_flag=True,
    help="Open this file in the browser; without --html it is in the data folder.",
)
@click.option(
    "--gif",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the games as a GIF animation.",
)
@click.option(
    "--step-time",
    type=click.FloatRange(0.05, 60),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="How long --gif shows each position.",
)
@click.option(
    "--size",
    callback=replay_animation.size_of,
    default="960x600",
    show_default=True,
    metavar="WIDTHxHEIGHT",
    help="Size of --gif in pixels.",
)
@click.option(
    "--seat",
    type=click.IntRange(0),
    metavar="SEAT",
    help="Show the cards as this seat, from 0, sees them in --gif. [default: all hands are open]",
)
@json_option
@data_option
def replay(
    match: str,
    game: int | None,
    no_pause: bool,
    html: Path | None,
    open_page: bool,
    gif: Path | None,
    step_time: float,
    size: tuple[int, int],
    seat: int | None,
    as_json: bool,
    workspace: Workspace,
) -> None:
    """Step through a match in the terminal, or write it as one HTML file or as a GIF animation.

    MATCH is an id, the beginning of an id, the file of a record, or `last` for the newest match of
    `pokearena play`. --json prints one line per position, with all hands and stocks, the seats to
    act, and the following actions.
    """
    from arena.cli.matches import record_lookup, replay_page
    from arena.presentation import narration

    source = record_lookup.find_record(workspace, match)
    seed = source.seed()
    games = source.record.games if game is None else (source.game(game),)
    if gif is None:
        _check_no_animation()
    elif html is not None or open_page:
        raise click.UsageError("use --gif without --html and --open.")
    if gif is not None:
        frames = replay_animation.write(
            source, games, gif, step_time=step_time, size=size, seat=seat
        )
        if as_json:
            output.document({"match": source.id, "gif": str(gif), "frames": frames})
        else:
            output.line(f"wrote {frames} positions of {source.id} to {gif}")
    elif html is not None or open_page:
        path = html or local_records.path_of(workspace.folder, source.id, ".html")
        shown = None if game is None else games
        # A file with a name of its own may be meant for others.
        is_private = html is None
        lines = record_lookup.find_reasoning(workspace, source) if is_private else ()
        replay_page.write(source.record, path, shown, private=is_private, reasoning=lines)
        if as_json:
            output.document({"match": source.id, "html": str(path)})
        else:
            output.line(f"wrote the replay of {source.id} to {path}")
        if open_page:
            replay_page.open_in_browser(path)
    elif as_json:
        for record in games:
            for position in narration.positions(source.record.match, record, seed):
                output.document(position)
    else:
        _show(source, games, no_pause)
        output.next_step(f"pokearena verify {shlex.quote(match) if source.source else source.id}")


def _check_no_animation() -> None:
    """Raise UsageError if an option was given that only concerns --gif."""
    context = click.get_current_context()
    assert context is not None
    for name in ("step_time", "size", "seat"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name.replace('_', '-')} requires --gif FILE.")


def _show(source: RecordSource, games: Sequence[GameRecord], no_pause: bool) -> None:
    """Step through the games by keys, or print all positions without a keyboard."""
    from arena.cli import key_input
    from arena.cli.matches import story

    match, seed = source.record.match, source.seed()
    if output.is_terminal() and not no_pause and key_input.has_keys():
        story.by_keys(match, games, seed)
        return
    for game in games:
        for page in story.pages(match, game, seed, output.screen().width):
            for line in page:
                output.game_line(line)
            output.line()
