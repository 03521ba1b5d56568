"""Turn drawings into PNG pictures and GIF animations."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from arena.web.pictures import boxes, table_picture
from arena.web.pictures.boxes import Box

COVERED: Final = frozenset(map(chr, (*range(32, 0x250), *range(0x370, 0x530)))) | set("–—…−·“”‘’•")
"""Characters of the shipped font; for others the fonts of the system are read as well."""


def svg(box: Box, width: int, height: int) -> str:
    """Return a drawing of this size as an SVG document, with the box scaled and centred in it."""
    scale = min(width / box.width, height / box.height)
    content = boxes.scaled(box, scale)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="{boxes.FONT}">'
        f"<defs>{table_picture.symbols()}</defs>"
        f'<rect width="{width}" height="{height}" fill="{table_picture.FELT}"/>'
        f"{content.at((width - content.width) / 2, (height - content.height) / 2)}</svg>"
    )


def png(document: str) -> bytes:
    """Return an SVG document as a PNG picture."""
    import resvg_py

    return resvg_py.svg_to_bytes(
        svg_string=document,
        font_files=list(boxes.font_files()),
        skip_system_fonts=COVERED.issuperset(document.replace("\n", "")),
    )


def write_gif(
    documents: Iterable[str], durations: list[int], path: Path, progress: Callable[[int], None]
) -> None:
    """Write an animation that repeats for ever.

    Args:
        documents: its frames as SVG documents of equal size.
        durations: how long each frame is shown, in milliseconds.
        path: the file.
        progress: receives the number of frames drawn so far.
    """
    from PIL import Image

    frames = []
    for number, document in enumerate(documents, 1):
        with Image.open(io.BytesIO(png(document))) as frame:
            # The colours of the first frame are those of all others, except for new suits and
            # marks, so each frame has its own palette.
            frames.append(frame.convert("RGB").quantize(128))
        progress(number)
    frames[0].save(
        path,
        format="GIF",
        save_all=True,
        append_images=frames[1:],
        duration=durations,
        loop=0,
        optimize=False,
    )
