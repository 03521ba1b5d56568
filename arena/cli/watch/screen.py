"""The views of `watch`: navigation by keys, and drawing."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from textwrap import wrap
from typing import TYPE_CHECKING

from rich.console import Group
from rich.layout import Layout
from rich.live import Live
from rich.text import Text

from arena.cli import output
from arena.cli.key_input import read_keys, split_keys
from arena.cli.output import painted
from arena.errors import NotFound
from arena.presentation import text
from arena.store.schema import MatchState
from arena.store.tournaments import tournaments
from arena.web import wording
from arena.web.data.changes import ARENA, position_of
from arena.web.data.live_tables import live_table
from arena.web.data.web_state import WebState
from arena.web.page import InvalidQuery, Page, PageNotFound, PageRequest, ServerLinks, TextTable
from arena.web.pages import bot, ladder, match, matrix
from referee.sanitizing import one_line

if TYPE_CHECKING:
    from rich.console import RenderableType


# Navigation state of `watch`, and the effect of keys on it.

_STEPS = {"up": -1, "k": -1, "down": 1, "j": 1}
_OPEN = ("\n", "\r", "right", "l")
_BACK = ("escape", "left", "h", "\x7f")
_TURN = {"[": -1, "]": 1, "\t": 1}


class ViewKind(StrEnum):
    """The kind of a view."""

    LADDER = "ladder"
    MATRIX = "matrix"
    BOT = "bot"
    MATCH = "match"


@dataclass(frozen=True, slots=True)
class View:
    """A page and the position of the cursor.

    Attributes:
        kind: the kind of page.
        value: the form, the bot's name, or the match's id.
        row: the selected row.
        find: the search text of a ladder.
    """

    kind: ViewKind
    value: str
    row: int = 0
    find: str = ""


_SELECT_KEYS = "↑↓ choose · enter open"
_KEYS = {
    ViewKind.LADDER: "m crosstable · [ ] other ladder · / find",
    ViewKind.MATRIX: "[ ] other ladder",
}


def keys_of(view: View, rows: int) -> str:
    """Return the keys that have an effect on a view with this number of selectable rows."""
    keys = (_SELECT_KEYS if rows else "", _KEYS.get(view.kind, ""), "esc back", "q quit")
    return " · ".join(filter(None, keys))


@dataclass(frozen=True, slots=True)
class Navigation:
    """The history of views; the last one is visible.

    Attributes:
        views: the views.
        typing: the search text being typed; None outside the search prompt.
        over: whether the user has quit.
    """

    views: tuple[View, ...]
    typing: str | None = None
    over: bool = False

    @property
    def view(self) -> View:
        """The visible view."""
        return self.views[-1]

    def at(self, view: View) -> Navigation:
        """Return a copy with the visible view replaced."""
        return replace(self, views=(*self.views[:-1], view))


def pressed(
    where: Navigation, key: str, rows: Sequence[View | None], forms: Sequence[str]
) -> Navigation:
    """Return the state after a key.

    Args:
        where: the current state.
        key: a letter, or the name of a key ("up", "escape").
        rows: the view opened by each selectable row; None if it opens nothing.
        forms: the existing ladders.
    """
    if where.typing is not None:
        return _typed(where, where.typing, key)
    view = where.view
    last = max(len(rows) - 1, 0)
    row = min(view.row, last)
    if key == "q":
        return replace(where, over=True)
    if key in _STEPS:
        return where.at(replace(view, row=min(max(row + _STEPS[key], 0), last)))
    if key in _OPEN and row < len(rows) and (chosen := rows[row]) is not None:
        return replace(where, views=(*where.views, chosen))
    if key in _BACK:
        return _back(where)
    if key == "m" and view.kind is ViewKind.LADDER:
        return replace(where, views=(*where.views, View(ViewKind.MATRIX, view.value)))
    if key == "/" and view.kind is ViewKind.LADDER:
        return replace(where, typing=view.find)
    if key in _TURN and view.kind in (ViewKind.LADDER, ViewKind.MATRIX) and view.value in forms:
        at = (forms.index(view.value) + _TURN[key]) % len(forms)
        return where.at(View(view.kind, forms[at]))
    return where


def _back(where: Navigation) -> Navigation:
    if len(where.views) > 1:
        return replace(where, views=where.views[:-1])
    return where.at(replace(where.view, find=""))


def _typed(where: Navigation, text: str, key: str) -> Navigation:
    if key in ("\n", "\r"):
        return replace(where.at(replace(where.view, find=text, row=0)), typing=None)
    if key == "escape":
        return replace(where, typing=None)
    if key == "\x7f":
        return replace(where, typing=text[:-1])
    return replace(where, typing=text + key) if len(key) == 1 and key.isprintable() else where


# Content of the views: the same tables as on the web pages.


_FRAME = 4
"""Lines around the rows of a section: an empty line, its heading, the names of columns, a rule."""
_FEWEST_ROWS = 3
_MATCHES = 15
"""Number of the newest matches of a bot that are listed."""


@dataclass(frozen=True, slots=True)
class Section:
    """A table under a heading.

    Attributes:
        heading: the heading.
        table: the table.
        opens: the view that each row opens; empty if rows cannot be opened.
    """

    heading: str
    table: TextTable
    opens: tuple[View | None, ...] = ()


@dataclass(frozen=True, slots=True)
class ScreenContent:
    """The content of the screen: a title, tables, and the lines of a table being played."""

    title: str
    sections: tuple[Section, ...] = ()
    lines: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[View | None, ...]:
        """The views opened by the selectable rows."""
        return tuple(view for section in self.sections for view in section.opens)


def shown(web: WebState, view: View) -> ScreenContent:
    """Return the current content of a view; a sentence if it does not exist (any more)."""
    try:
        match view.kind:
            case ViewKind.LADDER:
                return _ladder(web, view)
            case ViewKind.MATRIX:
                return _matrix(web, view)
            case ViewKind.BOT:
                return _bot(web, view)
            case ViewKind.MATCH:
                return _match(web, view)
    except (PageNotFound, InvalidQuery, NotFound) as error:
        return ScreenContent(view.value, lines=(str(error),))


def _ask(query: dict[str, str] | None = None, **path: str) -> PageRequest:
    return PageRequest(path, query or {}, ServerLinks())


def _live_lines(page: Page) -> TextTable:
    assert page.text is not None, f"the page {page.title} has no text"
    return page.text


def _ladder(web: WebState, view: View) -> ScreenContent:
    page = ladder.page(web, _ask({"find": view.find}, form=view.value))
    names = [line.name for line in page.model["lines"]]
    filtered = f", filter “{view.find}”" if view.find else ""
    opens = tuple(View(ViewKind.BOT, name.partition("@")[0]) for name in names)
    sections = [Section("", _live_lines(page), opens)]
    running = [
        running_match
        for running_match in web.snapshot.running
        if _form_of(web, running_match.tournament) == view.value
    ]
    if running:
        sections.append(
            Section(
                "running matches",
                TextTable(
                    ("<match", "<bots", "games"),
                    [
                        (
                            running_match.id,
                            " v ".join(running_match.entrants),
                            f"{running_match.committed}/{running_match.games}",
                        )
                        for running_match in running
                    ],
                ),
                tuple(View(ViewKind.MATCH, running_match.id) for running_match in running),
            )
        )
    return ScreenContent(f"{wording.form_name(view.value)}{filtered}", tuple(sections))


def _form_of(web: WebState, tournament: str) -> str:
    return next(
        (
            candidate.plan.form
            for candidate, _ in web.snapshot.open_tournaments
            if candidate.id == tournament
        ),
        "",
    )


def _matrix(web: WebState, view: View) -> ScreenContent:
    page = matrix.page(web, _ask(form=view.value))
    return ScreenContent(
        f"{wording.form_name(view.value)}: score of the row against the column, in %",
        (Section("", _live_lines(page)),),
    )


def _bot(web: WebState, view: View) -> ScreenContent:
    page = bot.page(web, _ask(name=view.value))
    sections = [Section("", _live_lines(page))]
    if page.csv is not None and page.csv.rows:
        rows = page.csv.rows[:_MATCHES]
        opens = tuple(View(ViewKind.MATCH, str(row[0])) for row in rows)
        sections.append(Section("matches, newest first", _chosen(page.csv, rows), opens))
    return ScreenContent(view.value, tuple(sections))


def _chosen(table: TextTable, rows: Sequence[Sequence[object]]) -> TextTable:
    """Return the columns of a bot's matches that fit on a terminal."""
    columns = [table.headings.index(h) for h in ("match", "closed", "opponents", "score", "p95_ms")]
    heads = ("<match", "<closed", "<opponents", "score", "p95 ms")
    return TextTable(heads, [tuple(_rounded(row[at]) for at in columns) for row in rows])


def _rounded(value: object) -> object:
    return f"{value:.3g}" if isinstance(value, float) else value


def _match(web: WebState, view: View) -> ScreenContent:
    page = match.page(web, _ask(id=view.value))
    sections = (Section("", page.text),) if page.text is not None and page.text.rows else ()
    running = next(
        (running_match for running_match in web.snapshot.running if running_match.id == view.value),
        None,
    )
    if running is None or running.state is not MatchState.RUNNING:
        return ScreenContent(page.title, sections, (f"pokearena replay {view.value}",))
    progress = f"{running.committed} of {running.games} games finished"
    table = live_table(
        web.events.positions, running, tournaments.find(web.engine, running.tournament)
    )
    scene = () if table is None else text.lines(table.scene)
    return ScreenContent(page.title, sections, (progress, "", *scene))


_SPARE = ("<by", "<language", "<owner", "<authors")
"""Columns omitted first on a narrow terminal; the last columns follow."""
_FEWEST = 3
_PAUSE_SECONDS = 0.25
"""Minimum interval between two redraws without a key."""


async def watch(web: WebState, form: str) -> None:
    """Show a ladder and the views reached from it until `q` is pressed.

    Args:
        web: the data of the web pages.
        form: the first ladder; if it does not exist, a sentence is shown.
    """
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
    import termios
    import tty

    keys: asyncio.Queue[str] = asyncio.Queue()
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    loop = asyncio.get_running_loop()

    def read() -> None:
        text = read_keys(descriptor)
        for key in split_keys(text) if text else ("q",):
            keys.put_nowait(key)

    try:
        tty.setcbreak(descriptor)
        loop.add_reader(descriptor, read)
        yield keys
    finally:
        loop.remove_reader(descriptor)
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


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
    while sum(widths[at] for at in shown) > width and len(shown) > _FEWEST:
        shown.remove(spare.pop() if spare else shown[-1])
    return shown
