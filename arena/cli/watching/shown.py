"""What a view shows: the tables of the pages that browsers get."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arena.cli.watching.view import Kind, View
from arena.scene import text
from arena.store import tournaments
from arena.store.errors import NotFound
from arena.store.schema import MatchState
from arena.web import words
from arena.web.links import ServerLinks
from arena.web.page import Ask, BadAsk, NoSuchPage, Page, Table
from arena.web.pages import bot, ladder, match, matrix
from arena.web.state import Web
from arena.web.tables import live_table

_MATCHES = 15
"""So many of a bot's matches, the newest first."""


@dataclass(frozen=True, slots=True)
class Section:
    """A table under a heading; opens: what each row leads to, nothing if it is empty."""

    heading: str
    table: Table
    opens: tuple[View | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """What is to be seen: a title, tables, and lines about a table that is being played."""

    title: str
    sections: tuple[Section, ...] = ()
    lines: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[View | None, ...]:
        """What the rows that can be chosen open."""
        return tuple(view for section in self.sections for view in section.opens)


def shown(web: Web, view: View) -> Shown:
    """What a view shows now; a sentence if there is nothing (any more)."""
    try:
        match view.kind:
            case Kind.LADDER:
                return _ladder(web, view)
            case Kind.MATRIX:
                return _matrix(web, view)
            case Kind.BOT:
                return _bot(web, view)
            case Kind.MATCH:
                return _match(web, view)
    except (NoSuchPage, BadAsk, NotFound) as error:
        return Shown(view.value, lines=(str(error),))


def _ask(query: dict[str, str] | None = None, **path: str) -> Ask:
    return Ask(path, query or {}, ServerLinks())


def _table(page: Page) -> Table:
    assert page.text is not None, f"the page {page.title} has no text"
    return page.text


def _ladder(web: Web, view: View) -> Shown:
    page = ladder.page(web, _ask({"find": view.find}, form=view.value))
    names = [line.name for line in page.model["lines"]]
    found = f", found by “{view.find}”" if view.find else ""
    opens = tuple(View(Kind.BOT, name.partition("@")[0]) for name in names)
    sections = [Section("", _table(page), opens)]
    running = [one for one in web.sight.running if _form_of(web, one.tournament) == view.value]
    if running:
        sections.append(
            Section(
                "being played",
                Table(
                    ("<match", "<bots", "games"),
                    [
                        (one.id, " v ".join(one.entrants), f"{one.committed}/{one.games}")
                        for one in running
                    ],
                ),
                tuple(View(Kind.MATCH, one.id) for one in running),
            )
        )
    return Shown(f"{words.form_name(view.value)}{found}", tuple(sections))


def _form_of(web: Web, tournament: str) -> str:
    return next((one.plan.form for one, _ in web.sight.going if one.id == tournament), "")


def _matrix(web: Web, view: View) -> Shown:
    page = matrix.page(web, _ask(form=view.value))
    return Shown(
        f"{words.form_name(view.value)}: the score of the line against the column, in %",
        (Section("", _table(page)),),
    )


def _bot(web: Web, view: View) -> Shown:
    page = bot.page(web, _ask(name=view.value))
    sections = [Section("", _table(page))]
    if page.csv is not None and page.csv.rows:
        rows = page.csv.rows[:_MATCHES]
        opens = tuple(View(Kind.MATCH, str(row[0])) for row in rows)
        sections.append(Section("matches, the newest first", _chosen(page.csv, rows), opens))
    return Shown(view.value, tuple(sections))


def _chosen(table: Table, rows: Sequence[Sequence[object]]) -> Table:
    """The columns of a bot's matches that fit a terminal."""
    wanted = [table.headings.index(h) for h in ("match", "closed", "opponents", "score", "p95_ms")]
    heads = ("<match", "<closed", "<opponents", "score", "p95 ms")
    return Table(heads, [tuple(_told(row[at]) for at in wanted) for row in rows])


def _told(value: object) -> object:
    return f"{value:.3g}" if isinstance(value, float) else value


def _match(web: Web, view: View) -> Shown:
    page = match.page(web, _ask(id=view.value))
    sections = (Section("", page.text),) if page.text is not None and page.text.rows else ()
    found = next((one for one in web.sight.running if one.id == view.value), None)
    if found is None or found.state is not MatchState.RUNNING:
        return Shown(page.title, sections, (f"pokearena replay {view.value}",))
    progress = f"{found.committed} of {found.games} games are over"
    table = live_table(web, found, tournaments.find(web.engine, found.tournament))
    scene = () if table is None else text.lines(table.scene)
    return Shown(page.title, sections, (progress, "", *scene))
