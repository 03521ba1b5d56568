"""Page of the ladder of a form, and page of all ladders with their first places."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from arena.errors import InvalidSettings
from arena.ladders import ladder_values, seat_advantage
from arena.ladders.columns import Rendering, columns_of, csv_table, legend, text_table, to_json
from arena.ladders.ladder_columns import LADDER, RANKS, LadderLine, faults_of, lines_of
from arena.ladders.ladder_key import LadderKey
from arena.ladders.ladder_rows import Ladder
from arena.ladders.seat_advantage import SEATS, SeatAdvantage
from arena.presentation import wording
from arena.store.match_settings import ClockClass, canonical_ladder, plain_ladder, unknown_name
from arena.store.tournaments.tournaments import Tournament
from arena.web import paging, rating_curves
from arena.web.data.changes import ARENA
from arena.web.data.snapshot import ArenaSnapshot, RatingChart
from arena.web.data.web_state import WebState
from arena.web.page import InvalidQuery, Page, PageNotFound, PageRequest, TextTable
from arena.web.pages import atom_feeds
from arena.web.pages.bots import state
from arena.web.pages.tournaments import is_endless
from arena.web.rating_curves import RatingCurves
from referee.games.registry import GAMES

if TYPE_CHECKING:
    from arena.records.luck_adjustment.adjusted_standings import AdjustedStandings

FILTERS = {
    "active": "active versions",
    "newest": "newest version of each bot",
    "faulty": "with faults",
}
"""Filters of the lines by query value, in words."""
WITH_SEATS = "seats"
"""Query parameter that adds what seats are worth."""
ADJUSTED = "adjusted"
"""Query parameter that adds luck-adjusted results."""
COLUMNS, EVERY = "columns", "all"
"""Query parameter that selects the columns, and its value for all of them."""
_FIRST = 3
"""Number of lines of each ladder on the page of all."""
MAX_MATCHES_READ = 1000
"""Number of matches up to which a page has the worth of seats and luck-adjusted results, for which
all games are read."""
LINES = 200
"""Default number of lines on a page."""
_TOP, _MOST = 10, 50
"""Default and maximum number of bots in a frame."""
FRAME_QUERY = (("top", f"number of bots, at most {_MOST}; {_TOP} by default"),)
"""Query of a ladder in a frame."""
SORTS = tuple(column.sort for column in LADDER if column.sort)
"""Columns by which a ladder can be sorted."""


def ladder_page(web: WebState, page_request: PageRequest) -> Page:
    """Return the page of a ladder; raises PageNotFound or InvalidQuery."""
    standing = _season_of(web, page_request)
    is_archived = standing.scope.archived
    # Rating histories belong to the current season.
    charts = None if is_archived else web.snapshot.charts.get(standing.scope.name)
    every = lines(web.snapshot, standing, charts)
    chosen = {name: page_request.query.get(name, "") for name in ("sort", "find", "only")}
    matching = searched(filtered(every, chosen["only"]), chosen["find"])
    piece = paging.selection_of(page_request, LINES).cut(ordered(matching, chosen["sort"]))
    shown, form = piece.items, standing.scope.name
    seasons = _seasons(web, form)
    seats = seats_of(web, standing) if page_request.query.get(WITH_SEATS) == "1" else None
    adjusted = adjusted_of(web, standing) if page_request.query.get(ADJUSTED) == "1" else None
    is_complete = page_request.query.get(COLUMNS) == EVERY
    rendering = Rendering.PAGE_ALL if is_complete else Rendering.PAGE
    if standing.scope.clock_class is ClockClass.MODEL:
        rendering |= Rendering.MODEL
    columns = columns_of(LADDER, rendering, every)
    return Page(
        title=f"{wording.form_name(form)}: the ladder",
        template="ladder.html",
        picture=page_request.links.to("ladders", f"{form}.png"),
        model={
            "season": standing.scope.season if is_archived else None,
            "seasons": seasons,
            "tournaments": standing.scope.tournaments if is_archived else (),
            **chosen,
            "filters": FILTERS,
            "form": form,
            "lines": shown,
            "piece": piece,
            "every": len(every),
            "columns": columns,
            "chosen_columns": EVERY if is_complete else "",
            "legend": legend(columns),
            "schedule": None if is_archived else _schedules(web).get(form),
            "chart": _chart(standing, charts),
            "remarks": list(ladder_values.remarks(standing.table)),
            "seats": seats,
            "seat_columns": SEATS,
            "adjusted": adjusted,
            "has_seats": standing.table.matches <= MAX_MATCHES_READ,
        },
        data={
            "ladder": form,
            "form": standing.scope.form,
            "clock_class": standing.scope.clock_class,
            "season": standing.scope.season,
            "archived": is_archived,
            "seasons": seasons,
            "list": piece.to_json(),
            "standings": [to_json(LADDER, line) for line in shown],
            **({} if seats is None else {WITH_SEATS: [to_json(SEATS, each) for each in seats]}),
            **({} if adjusted is None else {ADJUSTED: adjusted.to_json()}),
        },
        csv=TextTable(*csv_table(LADDER, shown)),
        text=TextTable(*text_table(columns_of(LADDER, Rendering.TEXT, every), shown)),
        parts=("ladder-rows", "ladder-chart"),
        topics=frozenset({ARENA}),
        headers=piece.headers,
        feed=lambda: atom_feeds.of_ladder(web, page_request.links, standing),
        feed_link=page_request.links.to("ladders", f"{form}.atom"),
    )


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
            "bots": len(every),
            "at": web.snapshot.at,
            "columns": columns_of(LADDER, Rendering.TOP, every),
        },
        parts=("embed-ladder",),
        topics=frozenset({ARENA}),
    )


def seats_of(web: WebState, ladder: Ladder) -> tuple[SeatAdvantage, ...]:
    """Return what the seats of a ladder are worth; raises InvalidQuery with too many matches."""
    _require_few_matches(ladder, WITH_SEATS)
    return seat_advantage.of_ladder(web.engine, ladder.scope)


def adjusted_of(web: WebState, ladder: Ladder) -> AdjustedStandings:
    """Return the luck-adjusted results of a ladder; raises InvalidQuery with too many matches."""
    from arena.records.luck_adjustment import adjusted_standings

    _require_few_matches(ladder, ADJUSTED)
    return adjusted_standings.of_ladder(web.engine, ladder.scope)


def _require_few_matches(ladder: Ladder, parameter: str) -> None:
    if ladder.table.matches > MAX_MATCHES_READ:
        raise InvalidQuery(
            f"{parameter}: the ladder has more than {MAX_MATCHES_READ} matches; use `pokearena "
            f"standings {ladder.scope.name} --{parameter}`."
        )


def _season_of(web: WebState, page_request: PageRequest) -> Ladder:
    """Return the requested or the current season; raises PageNotFound or InvalidQuery."""
    form, text = _name_of_path(page_request.path["form"]), page_request.query.get("season", "")
    if not text:
        return find_ladder(web, form)
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise InvalidQuery(f'season must be a whole number, not "{text}".')
    current = web.snapshot.ladders.get(form)
    if current is not None and current.scope.season == int(text):
        return current
    archive = web.snapshot.archives.get((form, int(text)))
    if archive is None:
        known = ", ".join(map(str, _seasons(web, form))) or "none"
        raise PageNotFound(f"unknown season {text} of {form}; available: {known}.")
    return archive


def _seasons(web: WebState, form: str) -> list[int]:
    """Return the numbers of all seasons of a form that have standings, ascending."""
    numbers = [season for name, season in web.snapshot.archives if name == form]
    current = web.snapshot.ladders.get(form)
    return sorted(numbers + ([current.scope.season] if current is not None else []))


def find_ladder(web: WebState, form: str) -> Ladder:
    """Return the ladder of a form; raises PageNotFound if it does not exist."""
    ladder = web.snapshot.ladders.get(_name_of_path(form))
    if ladder is None:
        raise PageNotFound(unknown_ladder(web, form))
    return ladder


def unknown_ladder(web: WebState, name: str) -> str:
    """Return the sentence about a ladder that does not exist, with the nearest one."""
    return str(unknown_name("ladder", wording.one_line(name), web.snapshot.ladders))


def _name_of_path(name: str) -> str:
    """Return the name of a ladder as it is stored; the name itself if no form has it."""
    try:
        return plain_ladder(canonical_ladder(name))
    except InvalidSettings:
        return name


def lines(
    snapshot: ArenaSnapshot,
    ladder: Ladder,
    chart: RatingChart | None = None,
    only: Collection[str] | None = None,
) -> list[LadderLine]:
    """Return the lines of a ladder, the strongest first.

    Args:
        only: only the lines of these versions; None: all lines.
    """
    chart = chart or RatingChart()
    return [
        replace(
            line,
            version=snapshot.versions.get(line.name),
            seen=ladder.seen.get(line.name),
            spark=chart.sparks.get(line.name),
            moved=chart.moved(line.name, line.place),
        )
        for line in lines_of(ladder.table)
        if only is None or line.name in only
    ]


def searched(every: Sequence[LadderLine], search_words: str) -> list[LadderLine]:
    """Return the lines whose name, authors or language contain every search word."""
    return [
        line
        for line in every
        if wording.contains_words(f"{line.name} {line.authors} {line.language}", search_words)
    ]


def filtered(every: Sequence[LadderLine], only: str) -> list[LadderLine]:
    """Return the lines that a filter of FILTERS selects; all for "". Raises InvalidQuery."""
    if not only:
        return list(every)
    if only == "active":
        return [line for line in every if line.version is not None and not state(line.version)]
    if only == "newest":
        by_age = sorted(every, key=_created)
        newest = {line.name.partition("@")[0]: line.name for line in by_age}
        names = {*newest.values()}
        return [line for line in every if line.name in names]
    if only == "faulty":
        return [line for line in every if faults_of(line.standing)]
    raise InvalidQuery(f"unknown filter {wording.one_line(only)}; available: {', '.join(FILTERS)}.")


def _created(line: LadderLine) -> float:
    return line.version.created if line.version else 0.0


def _schedules(web: WebState) -> dict[str, Tournament]:
    """Return the running ladder of each form, which schedules its matches."""
    return {
        tournament.plan.ladder: tournament
        for tournament, _ in web.snapshot.open_tournaments
        if is_endless(tournament)
    }


def _chart(ladder: Ladder, charts: RatingChart | None) -> RatingCurves | None:
    """Return the rating histories of the first versions; None for archived seasons."""
    if charts is None:
        return None
    table = ladder.table
    entrants = [line.entrant for _, line in table.ranked]
    return rating_curves.of_entrants(charts.past, entrants, rating_curves.axis(table))


def ordered(unordered: Sequence[LadderLine], sort: str) -> list[LadderLine]:
    """Sort lines by a column, such as "elo"; "-elo" reverses the order. Raises InvalidQuery."""
    name, is_turned = sort.removeprefix("-"), sort.startswith("-")
    if name in ("", RANKS.sort):
        return list(reversed(unordered)) if is_turned else list(unordered)
    column = next((column for column in LADDER if column.sort == name), None)
    if column is None:
        raise InvalidQuery(f"unknown column {sort}; available: {', '.join(SORTS)}.")
    known = [line for line in unordered if column.order_of(line) is not None]
    unknown = [line for line in unordered if column.order_of(line) is None]
    known.sort(key=column.order_of, reverse=column.is_falling != is_turned)
    return known + unknown


@dataclass(frozen=True, slots=True)
class LadderCard:
    """A ladder on a page that lists ladders.

    Args:
        bots: the number of all lines.
        schedule: the running ladder that schedules its matches; None without one.
    """

    scope: LadderKey
    lines: tuple[LadderLine, ...]
    bots: int
    matches: int
    schedule: Tournament | None

    @property
    def form(self) -> str:
        """The name of the ladder."""
        return self.scope.name

    def to_json(self) -> dict[str, Any]:
        return {
            "ladder": self.form,
            "form": self.scope.form,
            "clock_class": self.scope.clock_class,
            "bots": self.bots,
            "matches": self.matches,
            "schedule": self.schedule.id if self.schedule else None,
            "standings": [to_json(LADDER, line) for line in self.lines],
        }


def ladders_page(web: WebState, page_request: PageRequest) -> Page:
    cards = _ladder_cards(web)
    forms = [card.form for card in cards for _ in card.lines]
    shown = [line for card in cards for line in card.lines]
    heads, rows = csv_table(LADDER, shown)
    text_heads, text_rows = text_table(columns_of(LADDER, Rendering.TEXT, shown), shown)
    return Page(
        title="Ladders",
        template="ladders.html",
        model={
            "cards": cards,
            "top_columns": columns_of(LADDER, Rendering.TOP),
            "games": list(GAMES.values()),
        },
        data={"ladders": [card.to_json() for card in cards]},
        csv=TextTable(("form", *heads), [(f, *row) for f, row in zip(forms, rows, strict=True)]),
        text=TextTable(
            ("<form", *text_heads), [(f, *row) for f, row in zip(forms, text_rows, strict=True)]
        ),
        parts=("ladder-cards",),
    )


def _ladder_cards(web: WebState) -> list[LadderCard]:
    """Return the current ladders with their first lines."""
    snapshot = web.snapshot
    schedules = _schedules(web)
    return [
        LadderCard(
            standing.scope,
            tuple(lines(snapshot, standing)[:_FIRST]),
            len(standing.table.lines),
            standing.table.matches,
            schedules.get(name),
        )
        for name, standing in snapshot.ladders.items()
    ]
