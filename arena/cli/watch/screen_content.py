"""Content of the views of `watch`: the same tables as on the web pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arena.cli.watch.navigation import View, ViewKind
from arena.errors import NotFound
from arena.presentation import wording
from arena.store.schema import MatchState
from arena.store.tournaments import tournaments
from arena.web.data.live_tables import live_table
from arena.web.data.web_state import WebState
from arena.web.page import InvalidQuery, Page, PageNotFound, PageRequest, ServerLinks, TextTable
from arena.web.pages import bot, ladder, match, matrix
from referee.presentation import text

_MATCHES = 15
"""Number of the newest matches of a bot that are listed."""


@dataclass(frozen=True, slots=True)
class Section:
    """A table under a heading; `opens` has the view of each row if rows can be opened."""

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
    page = ladder.ladder_page(web, _ask({"find": view.find}, form=view.value))
    names = [line.name for line in page.model["lines"]]
    filtered = f", filter “{view.find}”" if view.find else ""
    opens = tuple(View(ViewKind.BOT, name.partition("@")[0]) for name in names)
    sections = [Section("", _live_lines(page), opens)]
    ladders = {each.id: each.plan.ladder for each, _ in web.snapshot.open_tournaments}
    running = [m for m in web.snapshot.running if ladders.get(m.tournament) == view.value]
    if running:
        rows = [(m.id, " v ".join(m.entrants), f"{m.committed}/{m.games}") for m in running]
        matches = TextTable(("<match", "<bots", "games"), rows)
        opens = tuple(View(ViewKind.MATCH, m.id) for m in running)
        sections.append(Section("running matches", matches, opens))
    return ScreenContent(f"{wording.form_name(view.value)}{filtered}", tuple(sections))


def _matrix(web: WebState, view: View) -> ScreenContent:
    page = matrix.matrix_page(web, _ask(form=view.value))
    return ScreenContent(
        f"{wording.form_name(view.value)}: score of the row against the column, in %",
        (Section("", _live_lines(page)),),
    )


def _bot(web: WebState, view: View) -> ScreenContent:
    page = bot.bot_page(web, _ask(name=view.value))
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
    page = match.match_page(web, _ask(id=view.value))
    sections = (Section("", page.text),) if page.text is not None and page.text.rows else ()
    running = next(
        (running_match for running_match in web.snapshot.running if running_match.id == view.value),
        None,
    )
    if running is None or running.state is not MatchState.RUNNING:
        return ScreenContent(page.title, sections, (f"pokearena replay {view.value}",))
    progress = f"{running.committed} of {running.games} games finished"
    table = live_table(
        web.events.positions, running, tournaments.find_tournament(web.engine, running.tournament)
    )
    drawn = () if table is None else text.lines(table.rendering)
    return ScreenContent(page.title, sections, (progress, "", *drawn))
