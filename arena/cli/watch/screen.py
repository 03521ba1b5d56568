"""Draw the views of `watch`, and redraw them after keys and changes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from textwrap import wrap
from typing import TYPE_CHECKING

from rich.console import Group
from rich.layout import Layout
from rich.live import Live
from rich.text import Text

from arena.cli import output
from arena.cli.key_input import read_keys, split_keys, unbuffered
from arena.cli.output import painted
from arena.cli.watch.navigation import Navigation, View, ViewKind, keys_of, pressed
from arena.cli.watch.screen_content import ScreenContent, Section, shown
from arena.web.data.changes import ARENA, position_of
from arena.web.data.web_state import WebState
from referee.sanitizing import one_line

if TYPE_CHECKING:
    from rich.console import RenderableType


_FRAME = 4
"""Lines around the rows of a section: an empty line, its heading, the names of columns, a rule."""
_FEWEST_ROWS = 3
_SPARE = ("<by", "<language", "<owner", "<authors")
"""Columns omitted first on a narrow terminal; the last columns follow."""
_MIN_COLUMNS = 3
_PAUSE_SECONDS = 0.25
"""Minimum interval between two redraws without a key."""


async def watch(web: WebState, form: str) -> None:
    """Show a ladder, or a sentence without one, and the views reached from it until `q`."""
    await web.read_store()
    tasks = [asyncio.create_task(job) for job in (web.keep_snapshot(), web.receive_events())]
    try:
        with _keys() as keys, Live(screen=True, auto_refresh=False) as live:
            await _show(web, Navigation((View(ViewKind.LADDER, form),)), keys, live)
    finally:
        for task in tasks:
            task.cancel()


async def _show(web: WebState, where: Navigation, keys: asyncio.Queue[str], live: Live) -> None:
    while not where.over:
        number = web.changes.last
        seen = await asyncio.to_thread(shown, web, where.view)
        live.update(_drawn(seen, where, *live.console.size), refresh=True)
        key = await _key_or_change(web, where.view, number, keys)
        if key is not None:
            where = pressed(where, key, seen.rows, list(web.snapshot.ladders))
        else:
            await asyncio.sleep(_PAUSE_SECONDS)


async def _key_or_change(
    web: WebState, view: View, number: int, keys: asyncio.Queue[str]
) -> str | None:
    """Return the next key; None as soon as the content may be out of date."""
    topics = {ARENA, position_of(view.value)}
    key = asyncio.create_task(keys.get())
    change = asyncio.create_task(web.changes.after(topics, number))
    done, waiting = await asyncio.wait({key, change}, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()
    return key.result() if key in done else None


@contextmanager
def _keys() -> Iterator[asyncio.Queue[str]]:
    """Yield a queue of the keys as they are pressed."""
    keys: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def read() -> None:
        text = read_keys(descriptor)
        for key in split_keys(text) if text else ("q",):
            keys.put_nowait(key)

    with unbuffered() as descriptor:
        loop.add_reader(descriptor, read)
        try:
            yield keys
        finally:
            loop.remove_reader(descriptor)


def _drawn(seen: ScreenContent, where: Navigation, width: int, height: int) -> RenderableType:
    parts: list[RenderableType] = [Text(one_line(seen.title), "bold"), Text()]
    row = min(where.view.row, max(len(seen.rows) - 1, 0))
    space = height - 5 - len(seen.lines) - _FRAME * len(seen.sections)
    before = 0
    for section, room in zip(seen.sections, _rooms(seen.sections, row, space), strict=True):
        if section.heading:
            parts += [Text(), Text(one_line(section.heading), "bold")]
        mine = row - before if section.opens else None
        parts.append(_table(section, mine, room, width))
        before += len(section.opens)
    parts += [painted(one_line(line)) for line in seen.lines]
    typed = (
        keys_of(where.view, len(seen.rows))
        if where.typing is None
        else f"find: {where.typing}▏ (enter: apply · esc: cancel)"
    )
    screen = Layout()
    lines = wrap(typed, width) or [""]
    keys = Text("\n".join(lines), "dim", no_wrap=True)
    screen.split_column(Layout(Group(*parts)), Layout(keys, size=len(lines)))
    return screen


def _rooms(sections: Sequence[Section], row: int, space: int) -> list[int]:
    """Return the rows of each section that fit; the section with the chosen row gets the rest."""
    share = max(space // max(len(sections), 1), _FEWEST_ROWS)
    rooms = [min(len(section.table.rows), share) for section in sections]
    before = 0
    for number, section in enumerate(sections):
        if before <= row < before + len(section.opens):
            rooms[number] = max(space - sum(rooms) + rooms[number], _FEWEST_ROWS)
        before += len(section.opens)
    return rooms


def _table(section: Section, chosen: int | None, room: int, width: int) -> RenderableType:
    """Return the part of a table around the chosen row that fits on the screen."""
    rows = section.table.rows
    at = min(max(chosen or 0, 0), max(len(rows) - 1, 0))
    first = max(0, min(at - room // 2, len(rows) - room))
    kept = range(first, min(first + room, len(rows)))
    heads = ("<", *section.table.headings)
    cells = [("›" if number == chosen else " ", *rows[number]) for number in kept]
    shown = _fitting(heads, cells, width)
    picked = [tuple(row[column] for column in shown) for row in cells]
    return output.drawn([heads[column] for column in shown], picked)


def _fitting(heads: Sequence[str], rows: Sequence[Sequence[object]], width: int) -> list[int]:
    """Return the columns that fit the width; truncated cells would be useless."""
    widths = [
        3 + max(len(head.lstrip("<")), *(len(str(row[at] or "")) for row in rows), 0)
        for at, head in enumerate(heads)
    ]
    shown = list(range(len(heads)))
    spare = [at for at, head in enumerate(heads) if head in _SPARE]
    while sum(widths[at] for at in shown) > width and len(shown) > _MIN_COLUMNS:
        shown.remove(spare.pop() if spare else shown[-1])
    return shown
