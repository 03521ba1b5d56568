"""Style sheets and scripts in the form in which pages load them: inlined, or several in one file.

Each request before the first paint costs a phone up to two round trips. So a page needs at most one
style sheet of its kind, and the script that must run before the first paint is part of the page.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Final

STATIC: Final = Path(__file__).parent / "static"
"""The folder of the files."""

BUNDLES: Final = {
    "replay.css": ("style.css", "table.css"),
    "live_tables.css": ("style.css", "pages.css", "table.css", "live.css"),
    "overlay.css": ("live_tables.css", "overlay_page.css"),
    "match.css": ("style.css", "pages.css"),
    "game.css": ("style.css", "pages.css", "table.css", "games.css"),
    "board.js": ("board_lines.js", "board_zoom.js"),
    "replay_table.js": ("replay_positions.js", "card_motion.js", "board.js", "replay.js"),
    "replay_page.js": ("spoilers.js", "replay_table.js"),
}
"""Style sheets and scripts that are joined from others, in this order. Names in scripts differ."""


@cache
def text(name: str) -> str:
    """Return a file or bundle, which may be inlined: it cannot end its element."""
    if name in BUNDLES:
        return "".join(map(text, BUNDLES[name]))
    content = (STATIC / name).read_text(encoding="utf-8")
    assert "</" not in content, f"{name} would end its element"
    return content


def policy_source(content: str) -> str:
    """Return the source of a Content-Security-Policy that allows exactly this inlined text."""
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _inlined(*names: str) -> str:
    """Return scripts without their lines of comments."""
    return re.sub(r"(?m)^ *//.*\n", "", "".join(map(text, names))).strip()


FIRST_PAINT: Final = _inlined("first_paint.js")
"""The script that each page contains."""
TABLE_SIZE: Final = _inlined("table_size.js")
"""The script that each replay contains after its table."""
LIVE_SIZE: Final = _inlined("board_lines.js", "live_size.js")
"""The script that each page with live tables contains after them."""
