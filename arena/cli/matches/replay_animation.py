"""Write the replay of a match as an animation, which `arena.web.pictures.replay_picture` draws."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from arena.cli import output
from arena.cli.errors import CommandError, usage_error
from arena.system import output_file

if TYPE_CHECKING:
    from arena.cli.matches.record_lookup import RecordSource
    from referee.record import GameRecord

_SIDES = range(160, 1921)
"""Range of the width and of the height in pixels."""


def size_of(context: click.Context, option: click.Parameter, text: str) -> tuple[int, int]:
    """Return the width and the height in an option such as 960x600.

    Raises:
        click.BadParameter: it is not a size, or too small or too large.
    """
    sides = re.fullmatch(r"(\d{1,4})x(\d{1,4})", text, re.ASCII)
    if sides is None or not all(int(side) in _SIDES for side in sides.groups()):
        raise click.BadParameter(
            f'"{text}" must be WIDTHxHEIGHT, both from {_SIDES.start} to {_SIDES.stop - 1}.',
            context,
            option,
        )
    return int(sides[1]), int(sides[2])


def write(
    source: RecordSource,
    games: Sequence[GameRecord],
    path: Path,
    *,
    step_time: float,
    size: tuple[int, int],
    seat: int | None,
) -> int:
    """Write the games, one after the other, as a GIF; return the number of frames.

    Each position is shown for `step_time` seconds, with the cards of `seat` open; without a seat,
    all cards are open. `size` is in pixels.

    Raises:
        OSError: the file cannot be written; the error names it.
    """
    from arena.cli.matches.record_lookup import check_seat
    from arena.web.pages.replay import UNTRUE
    from arena.web.pictures import replay_picture

    match = source.record.match
    if seat is not None:
        check_seat(source, seat)
    if not games:
        raise CommandError(f"{source.id} has no finished game to show.", code="no-games")
    options = replay_picture.AnimationOptions(*size, round(1000 * step_time), seat)
    progress = output.ProgressLine()
    try:
        with output_file.complete(path) as part:
            return replay_picture.write_animation(
                match,
                games,
                source.seed(),
                options,
                part,
                lambda done, of: progress("positions are drawn", done, of),
            )
    except replay_picture.TooManyFrames as error:
        raise usage_error(
            f"{source.id} has more than {error.most} positions; choose one game with --game.",
            "too-long",
        ) from None
    except UNTRUE as error:
        raise CommandError(
            f"{source.id} cannot be shown, because its record is not correct: {error}.",
            code="invalid-record",
        ) from None
