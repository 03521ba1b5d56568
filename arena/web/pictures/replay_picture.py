"""Draw positions of a game: for pages, for previews of links and as an animation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from arena.presentation.recorded_frames import rendered_steps
from arena.web.pictures import boxes, raster, table_picture
from arena.web.pictures.boxes import Box
from arena.web.pictures.table_picture import CHALK, DIM, Opened, TableZones
from referee.presentation.elements import TableRendering
from referee.record import GameRecord, Line

_WIDTHS = (760.0, 1000.0, 1300.0, 1700.0)
"""Widths at which a table is laid out; the one that fills the picture best is used."""
_RATIO = 16 / 10
"""Width to height of a picture within a page."""
MOST_FRAMES = 2000
"""Maximum number of frames of an animation."""


class TooManyFrames(ValueError):
    """The games have more positions than an animation may have.

    Attributes:
        most: the maximum.
    """

    def __init__(self, most: int) -> None:
        super().__init__(f"more than {most} positions")
        self.most = most


@dataclass(frozen=True, slots=True)
class AnimationOptions:
    """Options of an animation.

    Args:
        width: the width in pixels.
        height: the height in pixels.
        step_ms: how long each position is shown; the last one is shown four times as long.
        seat: the seat whose cards are open; None: all cards are open.
    """

    width: int = 960
    height: int = 600
    step_ms: int = 1000
    seat: int | None = None


def positions(match: Line, game: GameRecord, seed: bytes) -> list[TableRendering]:
    """Return the positions of a game.

    Raises:
        Mismatch: the record is not that of a game that could have been played.
    """
    return [rendering for _, rendering in rendered_steps(match, game, seed)]


def opened_of(seat: int | None) -> Opened:
    """Return which hidden cards are shown in the view of a seat; None: all."""
    return lambda number: seat is None or number == seat


def best_width(
    renderings: Sequence[TableRendering], opened: Opened, ratio: float
) -> tuple[float, TableZones]:
    """Return the width at which the tables fill a picture best, and the heights of the zones.

    Args:
        renderings: the positions.
        opened: whether the hidden cards of a seat are shown.
        ratio: width of the picture divided by its height.
    """

    def needed(width: float) -> TableZones:
        heights = TableZones()
        for rendering in renderings:
            heights = heights.widened(table_picture.zones(rendering, width, opened))
        return heights

    scales = {width: min(1 / width, 1 / (needed(width).height * ratio)) for width in _WIDTHS}
    best = max(scales, key=lambda width: scales[width])
    # A table that is limited by the height of the picture is widened to fill it.
    filling = max(best, 1 / scales[best])
    return filling, needed(filling)


def preview(
    title: str, subtitle: str, rendering: TableRendering, size: tuple[int, int], seat: int | None
) -> str:
    """Return a picture of one position with a title above it, as an SVG document."""
    width, height = size
    opened = opened_of(seat)
    head = boxes.column(
        [
            boxes.text_box(title, 40, CHALK, bold=True, width=width - 60),
            boxes.text_box(subtitle, 26, DIM, width=width - 60),
        ]
    )
    space = height - head.height - 30
    table_width, heights = best_width([rendering], opened, width / space)
    table = table_picture.table(rendering, table_width, opened, heights)
    fitted = boxes.scaled(table, min(width / table.width, space / table.height))
    x = (width - fitted.width) / 2
    svg = head.at(30, 12) + fitted.at(x, head.height + 26 + (space - fitted.height) / 2)
    return raster.svg(Box(width, height, svg), width, height)


def write_animation(
    match: Line,
    games: Sequence[GameRecord],
    seed: bytes,
    options: AnimationOptions,
    path: Path,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> int:
    """Write the positions of games as an animation; return the number of frames.

    Args:
        match: the record's match line.
        games: the games, one after the other.
        seed: the seed of the match, 32 bytes.
        options: size, times and view.
        path: the file.
        progress: receives the number of frames drawn so far, and of all.

    Raises:
        Mismatch: the record is not that of a game that could have been played.
        TooManyFrames: the games have more than `MOST_FRAMES` positions.
    """
    shown: list[TableRendering] = []
    durations: list[int] = []
    for game in games:
        shown += positions(match, game, seed)
        if len(shown) > MOST_FRAMES:
            raise TooManyFrames(MOST_FRAMES)
        durations += [options.step_ms] * (len(shown) - len(durations))
        durations[-1] = 4 * options.step_ms
    raster.write_gif(
        _documents(shown, options), durations, path, lambda done: progress(done, len(shown))
    )
    return len(shown)


def _documents(shown: Sequence[TableRendering], options: AnimationOptions) -> Iterator[str]:
    opened = opened_of(options.seat)
    width, heights = best_width(shown, opened, options.width / options.height)
    for rendering in shown:
        table = table_picture.table(rendering, width, opened, heights)
        yield raster.svg(table, options.width, options.height)


def inline_svg(rendering: TableRendering) -> Markup:
    """Return a position as an SVG element of a page that contains `symbols` once."""
    opened = opened_of(None)
    width, heights = best_width([rendering], opened, _RATIO)
    box = table_picture.table(rendering, width, opened, heights)
    high = max(box.height, width / _RATIO)
    return Markup(
        f'<svg class="picture" viewBox="0 0 {width:.0f} {high:.0f}" aria-hidden="true" '
        f'focusable="false" font-family="{boxes.FONT}, sans-serif">'
        f"{box.at(0, (high - box.height) / 2)}</svg>"
    )


def symbols() -> Markup:
    """Return the shapes of cards that pictures in a page refer to."""
    return Markup(
        '<svg class="sprite" aria-hidden="true" focusable="false">'
        f"<defs>{table_picture.symbols()}</defs></svg>"
    )
