"""Boxes of SVG with a size, which are placed beside and below each other."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from referee.sanitizing import one_line

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont

FONT = "Source Sans Pro"
_MEASURED_SIZE = 100
"""Size at which texts are measured, in pixels."""
_MAX_CHARACTERS = 300
"""Maximum number of characters of a text."""


@dataclass(frozen=True, slots=True)
class Box:
    """A drawing with a size in pixels; its origin is the upper left corner."""

    width: float
    height: float
    svg: str

    def at(self, x: float, y: float) -> str:
        """Return the SVG of the box at a place."""
        return f'<g transform="translate({x:.1f} {y:.1f})">{self.svg}</g>' if self.svg else ""


EMPTY = Box(0, 0, "")


@cache
def font_files() -> tuple[str, str]:
    """Return the files of the regular and the bold font."""
    import font_source_sans_pro

    folder = Path(font_source_sans_pro.__file__).parent / "files"
    return str(folder / "SourceSansPro-Regular.ttf"), str(folder / "SourceSansPro-Bold.ttf")


@cache
def _font(bold: bool) -> FreeTypeFont:
    from PIL import ImageFont

    return ImageFont.truetype(font_files()[bold], _MEASURED_SIZE)


@lru_cache(maxsize=4096)
def _measured(text: str, bold: bool) -> float:
    return _font(bold).getlength(text) / _MEASURED_SIZE


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Return the width of a text in pixels."""
    return _measured(text, bold) * size


def shortened(text: str, size: float, width: float, bold: bool = False) -> str:
    """Return the text, or as much of its start as fits with an ellipsis."""
    text = one_line(text)[:_MAX_CHARACTERS]
    if text_width(text, size, bold) <= width:
        return text
    while text and text_width(f"{text}…", size, bold) > width:
        text = text[:-1]
    return f"{text.rstrip()}…"


def text_box(text: str, size: float, color: str, *, bold: bool = False, width: float = 1e9) -> Box:
    """Return a line of text that is at most `width` pixels wide."""
    shown = shortened(text, size, width, bold)
    weight = ' font-weight="700"' if bold else ""
    svg = (
        f'<text y="{size:.1f}" font-size="{size:.1f}" fill="{color}"{weight}>'
        f"{html.escape(shown)}</text>"
    )
    return Box(text_width(shown, size, bold), size * 1.3, svg)


def paragraph(text: str, size: float, color: str, width: float) -> Box:
    """Return a text broken into lines that are at most `width` pixels wide."""
    lines: list[str] = []
    for word in one_line(text)[:_MAX_CHARACTERS].split():
        if lines and text_width(f"{lines[-1]} {word}", size) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return column([text_box(line, size, color, width=width) for line in lines])


def column(boxes: Iterable[Box], gap: float = 0) -> Box:
    """Return boxes below each other, without the empty ones."""
    parts: list[str] = []
    width = height = 0.0
    for box in boxes:
        if box.svg:
            height += gap if parts else 0
            parts.append(box.at(0, height))
            width, height = max(width, box.width), height + box.height
    return Box(width, height, "".join(parts))


def row(boxes: Iterable[Box], gap: float = 0, *, centred: bool = False) -> Box:
    """Return boxes beside each other, without the empty ones.

    Args:
        centred: whether their middles are at the same height, instead of their upper edges.
    """
    shown = [box for box in boxes if box.svg]
    height = max((box.height for box in shown), default=0.0)
    parts: list[str] = []
    x = 0.0
    for box in shown:
        parts.append(box.at(x, (height - box.height) / 2 if centred else 0))
        x += box.width + gap
    return Box(max(x - gap, 0.0), height, "".join(parts))


def flow(
    boxes: Sequence[Box], width: float, gap: float = 0, line_gap: float = 0, *, middle: bool = False
) -> Box:
    """Return boxes in lines that are at most `width` wide.

    Args:
        width: the maximum width of a line; a wider box has a line of its own.
        middle: whether each line is centred in `width`.
    """
    lines: list[list[Box]] = []
    used = 0.0
    for box in boxes:
        if not box.svg:
            continue
        if lines and used + gap + box.width <= width:
            lines[-1].append(box)
            used += gap + box.width
        else:
            lines.append([box])
            used = box.width
    rows = [row(line, gap) for line in lines]
    if middle:
        rows = [Box(width, r.height, r.at(max(width - r.width, 0) / 2, 0)) for r in rows]
    return column(rows, line_gap)


def panel(box: Box, width: float, height: float, *, padding: float, style: str) -> Box:
    """Return a box on a rectangle with rounded corners."""
    rectangle = f'<rect width="{width:.1f}" height="{height:.1f}" rx="12" {style}/>'
    return Box(width, height, rectangle + box.at(padding, padding))


def scaled(box: Box, scale: float) -> Box:
    """Return a box enlarged by a factor."""
    svg = f'<g transform="scale({scale:.4f})">{box.svg}</g>'
    return Box(box.width * scale, box.height * scale, svg)
