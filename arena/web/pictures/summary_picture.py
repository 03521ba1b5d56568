"""Draw standings as a picture: places, names and values."""

from __future__ import annotations

from collections.abc import Sequence

from arena.web.pictures import boxes, raster
from arena.web.pictures.boxes import Box
from arena.web.pictures.table_picture import CHALK, DIM

MOST_ROWS = 8
"""Maximum number of rows of the standings."""
_MARGIN = 40.0
_ROW = 52.0


def standings(
    title: str,
    subtitle: str,
    rows: Sequence[Sequence[str]],
    size: tuple[int, int],
) -> str:
    """Return a title above standings, as an SVG document.

    Args:
        rows: place, name and values of each line; only the first `MOST_ROWS` are shown.
        size: width and height in pixels.
    """
    width, height = size
    inner = width - 2 * _MARGIN
    parts = [
        boxes.text_box(title, 52, CHALK, bold=True, width=inner).at(_MARGIN, 24),
        boxes.text_box(subtitle, 28, DIM, width=inner).at(_MARGIN, 96),
        *(
            f'<use href="#suit-{suit}" x="{width - _MARGIN - 160 + at * 40}" y="{height - 50}" '
            f'width="30" height="30" fill="{CHALK}" opacity=".5"/>'
            for at, suit in enumerate("SHDC")
        ),
    ]
    for at, (place, name, *values) in enumerate(rows[:MOST_ROWS]):
        y = 150 + at * _ROW
        shown = boxes.text_box("   ".join(values).rstrip(), 27, CHALK, width=inner / 3)
        parts.append(
            f'<rect x="{_MARGIN}" y="{y}" width="{inner}" height="{_ROW - 6}" rx="8" '
            f'fill="#000" fill-opacity="{0.3 if at == 0 else 0.16}"/>'
        )
        parts.append(boxes.text_box(place, 27, DIM, width=80).at(_MARGIN + 14, y + 5))
        name_width = inner - shown.width - 150
        name_box = boxes.text_box(name, 29, CHALK, bold=at == 0, width=name_width)
        parts.append(name_box.at(_MARGIN + 100, y + 4))
        parts.append(shown.at(width - _MARGIN - 14 - shown.width, y + 5))
    return raster.svg(Box(width, height, "".join(parts)), width, height)
