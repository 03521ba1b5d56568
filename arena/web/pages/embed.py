"""Pages for frames in other sites and for streams: a live table, its overlay, a ladder."""

from __future__ import annotations

from functools import partial
from typing import Final

from arena.ladders.columns import Rendering, columns_of
from arena.ladders.ladder_columns import LADDER
from arena.presentation import wording
from arena.store.schema import MatchState
from arena.web.data.changes import ARENA
from arena.web.data.web_state import WebState
from arena.web.page import InvalidQuery, Page, PageRequest
from arena.web.pages.ladder import find_ladder, lines
from arena.web.pages.shown_table import shown_table

TABLE_QUERY: Final = (("match", "a match; by default the closest of the running ones"),)
"""The query of a table."""
LADDER_QUERY: Final = (("top", "number of bots, at most 50; 10 by default"),)
"""The query of a ladder."""
OVERLAY_PAUSE: Final = 0.1
"""Minimum seconds between two states of an overlay, which is to be at most 0.3 s behind."""
_TOP, _MOST = 10, 50


def embedded_ladder(web: WebState, page_request: PageRequest) -> Page:
    """Return the first bots of a ladder for a frame; raises PageNotFound or InvalidQuery."""
    top = page_request.query.get("top", str(_TOP))
    if not (top.isascii() and top.isdecimal() and 0 < int(top[:3]) <= _MOST and len(top) < 3):
        raise InvalidQuery(f'top must be a whole number from 1 to {_MOST}, not "{top}".')
    standing = find_ladder(web, page_request.path["form"])
    form = standing.scope.name
    every = lines(web.snapshot, standing, web.snapshot.charts.get(form))
    return Page(
        title=f"{wording.form_name(form)}: the ladder",
        template="embed_ladder.html",
        model={
            "form": form,
            "lines": every[: int(top)],
            "columns": columns_of(LADDER, Rendering.TOP, every),
        },
        parts=("embed-ladder",),
        topics=frozenset({ARENA}),
    )


def _table(kind: str, web: WebState, page_request: PageRequest) -> Page:
    """Return the page with only a live table; raises NotFound if the match is unknown."""
    on_screen = shown_table(web, page_request.query.get("match", ""))
    match = on_screen.match
    return Page(
        title="Live table",
        template=f"embed_{kind}.html",
        model={
            "match": match,
            "shown": on_screen.table,
            "form": on_screen.form,
            "is_over": match is not None and match.state is not MatchState.RUNNING,
            "delay": web.settings.delay,
            "spectators": web.settings.spectators,
        },
        parts=(f"embed-{kind}",),
        topics=on_screen.topics,
    )


embedded_table: Final = partial(_table, "table")
"""The page of a live table for a frame."""
overlay: Final = partial(_table, "overlay")
"""A live table on a transparent page of 1920 x 1080 pixels, to lay over a stream."""
