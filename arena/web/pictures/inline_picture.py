"""A position as a picture within a page, which its style sheet scales."""

from __future__ import annotations

from markupsafe import Markup

from arena.web.pictures import boxes, replay_picture, table_picture
from referee.presentation.elements import TableRendering

_RATIO = 16 / 10


def inline_svg(rendering: TableRendering) -> Markup:
    """Return a position as an SVG element. The page contains `symbols` once."""
    opened = replay_picture.opened_of(None)
    width, heights = replay_picture.best_width([rendering], opened, _RATIO)
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
