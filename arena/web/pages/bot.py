"""Page of a bot: its versions, their ratings and rating histories, matchups and faults."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from arena.ladders.rating_history import HistoryPoint, HistoryValue, RatingHistory
from arena.ratings.crosstable import CrosstableCell
from arena.ratings.decision_histogram import BINS, DecisionHistogram
from arena.store.bots import remote_bots, submissions
from arena.store.bots.versions import Version
from arena.store.matches import history
from arena.store.matches.history import PlayedMatch
from arena.web import charts, paging, wording
from arena.web.charts import Histogram, Tick
from arena.web.data.changes import ARENA, HISTORIES, SUBMISSIONS
from arena.web.data.snapshot import LadderSnapshot
from arena.web.data.web_state import WebState
from arena.web.page import InvalidQuery, Page, PageNotFound, PageRequest, TextTable
from arena.web.pages import atom_feeds, submission
from arena.web.pages import ladder as ladders
from arena.web.pages.bots import state

# Chart of the rating histories of a bot's versions.


WIDTH, HEIGHT = 760, 280
LEFT, RIGHT, TOP, BOTTOM = 48, 96, 16, 30
SHOWN = 4
"""Maximum number of lines in the chart."""
_LEAST_ROOM = 60.0
_LABEL = 15.0


@dataclass(frozen=True, slots=True)
class RatingCurve:
    """One version in the chart: SVG paths of its line and its 95 % interval, and its label."""

    name: str
    number: int
    line: str
    band: str
    x: float
    y: float
    label: float


@dataclass(frozen=True, slots=True)
class RatingCurves:
    """Geometry of the chart.

    Args:
        courses: the versions.
        uploads: marks where versions were added.
        values: ticks of the strength axis.
        times: ticks of the time axis.
        description: the chart in words.
    """

    courses: tuple[RatingCurve, ...]
    uploads: tuple[Tick, ...]
    values: tuple[Tick, ...]
    times: tuple[Tick, ...]
    description: str


class _Scale:
    """Converts points of a history to coordinates."""

    def __init__(self, points: Sequence[HistoryPoint], values: Iterable[HistoryValue]) -> None:
        known = [value.strength for value in values]
        # The intervals of the first rounds are very wide; clip them to keep the lines readable.
        room = max(_LEAST_ROOM, 0.25 * (max(known) - min(known)))
        self.low, self.high = min(known) - room, max(known) + room
        self.points = points

    def x(self, place: float) -> float:
        """Return the x coordinate of a point by its index; n + 0.5 is between two points."""
        last = max(len(self.points) - 1, 1)
        return round(LEFT + (WIDTH - LEFT - RIGHT) * min(max(place / last, 0.0), 1.0), 1)

    def y(self, value: float) -> float:
        """Return the y coordinate of a strength."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - share), 1)


def chart(past: RatingHistory, versions: Sequence[Version]) -> RatingCurves | None:
    """Return the chart of a bot's newest versions; None if none of them has two points."""
    shown = [version for version in versions if len(past.of(version.id)) > 1][-SHOWN:]
    if not shown:
        return None
    names = [version.id for version in shown]
    points = [point for point in past.points if any(name in point.values for name in names)]
    scale = _Scale(points, (v for p in points for n in names if (v := p.values.get(n))))
    courses = [_course(scale, name, at) for at, name in enumerate(names)]
    return RatingCurves(
        courses=tuple(_apart(courses)),
        uploads=tuple(_uploads(scale, versions)),
        values=tuple(
            Tick(scale.y(value), f"{value:.0f}")
            for value in charts.round_steps(scale.low, scale.high, 5)
        ),
        times=tuple(_times(scale)),
        description="; ".join(_in_words(past, name) for name in names),
    )


def _course(scale: _Scale, name: str, number: int) -> RatingCurve:
    ratings = [(at, p.values[name]) for at, p in enumerate(scale.points) if name in p.values]
    upper = [(scale.x(at), scale.y(value.high)) for at, value in ratings]
    lower = [(scale.x(at), scale.y(value.low)) for at, value in ratings]
    middle = [(scale.x(at), scale.y(value.strength)) for at, value in ratings]
    x, y = middle[-1]
    return RatingCurve(
        name, number, charts.line(middle), charts.line([*upper, *reversed(lower)]), x, y, y
    )


def _apart(courses: Sequence[RatingCurve]) -> list[RatingCurve]:
    """Move labels down so that they do not overlap."""
    placed: list[RatingCurve] = []
    for course in sorted(courses, key=lambda each: (each.y, each.number)):
        label = max(course.y, placed[-1].label + _LABEL) if placed else course.y
        fields = (course.name, course.number, course.line, course.band, course.x, course.y)
        placed.append(RatingCurve(*fields, label))
    return sorted(placed, key=lambda each: each.number)


def _uploads(scale: _Scale, versions: Sequence[Version]) -> Iterable[Tick]:
    for version in versions:
        before = sum(point.at < version.created for point in scale.points)
        # A version added before the first or after the last shown point has no position in the
        # chart.
        if 0 < before < len(scale.points):
            yield Tick(scale.x(before - 0.5), f"@{version.number}")


def _times(scale: _Scale) -> Iterable[Tick]:
    last = len(scale.points) - 1
    days = {wording.moment(scale.points[at].at)[:10] for at in (0, last)}
    for at in sorted({0, last // 2, last}):
        moment = wording.moment(scale.points[at].at)
        yield Tick(scale.x(at), moment[11:16] if len(days) == 1 else moment[:10])


def _in_words(past: RatingHistory, name: str) -> str:
    ratings = past.of(name)
    (_, first), (_, last) = ratings[0], ratings[-1]
    return (
        f"{name}: {len(ratings)} points, from {first.strength:.0f} to {last.strength:.0f}, "
        f"now from {last.low:.0f} to {last.high:.0f}"
    )


_PUSHED = 5
EXTREMES = 3
"""Maximum number of best and of worst matchups."""


@dataclass(frozen=True, slots=True)
class Matchup:
    """Result of a version against an opponent."""

    version: str
    opponent: str
    cell: CrosstableCell

    def to_json(self) -> dict[str, Any]:
        """Return the matchup as JSON values."""
        return {"version": self.version, "opponent": self.opponent, **self.cell.to_json()}


@dataclass(frozen=True, slots=True)
class BotStanding:
    """A bot on one ladder.

    Args:
        form: the ladder's form.
        lines: the lines of its versions, the strongest first.
        past: the ladder's rating history.
        chart: the rating histories of its versions.
        worst: its worst matchups.
        best: its best matchups.
        times: histogram of the decision times of its strongest version.
        thinking: the decision times of its strongest version.
    """

    form: str
    lines: tuple[ladders.LadderLine, ...]
    past: RatingHistory
    chart: RatingCurves | None
    worst: tuple[Matchup, ...]
    best: tuple[Matchup, ...]
    times: Histogram | None
    thinking: DecisionHistogram


@dataclass(frozen=True, slots=True)
class MatchRow:
    """A match with the score of the bot's version in it."""

    match: PlayedMatch
    version: str
    opponents: tuple[str, ...]
    score: float
    p95: float | None


def page(web: WebState, page_request: PageRequest) -> Page:
    """Return the page of a bot.

    Raises:
        PageNotFound: the bot does not exist.
        InvalidQuery: the query is invalid.
    """
    name, versions = found_bot(web, page_request)
    form = _form(web, page_request)
    ids = [version.id for version in versions]
    standings = [
        made
        for ladder in web.snapshot.ladders.values()
        if form in ("", ladder.scope.form) and (made := _standing(web, ladder, versions))
    ]
    of = web.snapshot.ladders[form].scope.tournaments if form else ()
    wish = paging.selection_of(page_request, 25)
    listed = history.matches(web.engine, [ids], of, wish.offset, wish.limit)
    piece = wish.of([_row(match, ids) for match in listed], history.count(web.engine, [ids], of))
    kinds = history.kinds(web.engine, ids)
    pushed = submissions.listing(web.engine, name=name, limit=_PUSHED)
    return Page(
        title=f"The bot {name}",
        template="bot.html",
        model={
            "name": name,
            "versions": versions,
            "by": list(_by(versions[-1])),
            "state": state,
            "remotes": remote_bots.listing(web.engine),
            "form": form,
            "standings": standings,
            "piece": piece,
            "kinds": kinds,
            "pushed": list(submission.lines(pushed)),
        },
        data={
            "bot": name,
            "owner": versions[-1].owner,
            "versions": [_version_json(version) for version in versions],
            "ladders": {standing.form: _standing_json(standing) for standing in standings},
            "faults": kinds,
            "submissions": [
                submission.to_json(pushed_version, owned=False) for pushed_version in pushed
            ],
            "list": piece.to_json(),
            "matches": [_row_json(row) for row in piece.items],
        },
        csv=_csv(piece.items),
        text=_text(standings),
        parts=("bot-standings", "bot-pushed", "bot-matches", "bot-faults"),
        topics=frozenset({ARENA, HISTORIES, SUBMISSIONS}),
        headers=piece.headers,
        feed=lambda: atom_feeds.of_bot(web, page_request.links, name, versions),
        feed_link=page_request.links.to("bots", f"{name}.atom"),
    )


def found_bot(web: WebState, page_request: PageRequest) -> tuple[str, tuple[Version, ...]]:
    """Return a bot's name and its versions, the oldest first; raises PageNotFound."""
    name = page_request.path["name"].partition("@")[0]
    versions = [version for version in web.snapshot.versions.values() if version.name == name]
    if not versions:
        raise PageNotFound(f"unknown bot {wording.one_line(name)}.")
    return name, tuple(sorted(versions, key=lambda version: version.created))


def _by(version: Version) -> Iterator[str]:
    """Yield authors, owner and language as phrases."""
    if version.authors:
        yield f"by {', '.join(version.authors)}"
    if version.owner:
        yield f"owned by {version.owner}"
    if version.language:
        yield version.language


def _form(web: WebState, page_request: PageRequest) -> str:
    form = page_request.query.get("form", "")
    if form and form not in web.snapshot.ladders:
        known = ", ".join(web.snapshot.ladders) or "none yet"
        raise InvalidQuery(f"unknown ladder {wording.one_line(form)}; available: {known}.")
    return form


def _standing(
    web: WebState, ladder: LadderSnapshot, versions: Sequence[Version]
) -> BotStanding | None:
    names = {version.id for version in versions}
    trail = web.rating_charts.get(ladder.scope.form)
    lines = [line for line in ladders.lines(web.snapshot, ladder, trail) if line.name in names]
    if not lines:
        return None
    ups = _matchups(web, ladder, [line.name for line in lines])
    half = min(EXTREMES, (len(ups) + 1) // 2)
    past = trail.past if trail else RatingHistory()
    thinking = ladder.table.thinking.get(lines[0].name, DecisionHistogram())
    return BotStanding(
        ladder.scope.form,
        tuple(lines),
        past,
        chart(past, versions),
        tuple(ups[:half]),
        tuple(reversed(ups[half:][-EXTREMES:])),
        charts.histogram(thinking.stored(), BINS),
        thinking,
    )


def _matchups(web: WebState, ladder: LadderSnapshot, ids: Sequence[str]) -> list[Matchup]:
    """Return the matchups against other bots' versions, the worst first."""
    cells = web.page_cache.cells(ladder)
    opponents = [
        Matchup(name, other, cell)
        for name in ids
        for other in ladder.table.entrants
        if other not in ids and (cell := cells.get((name, other)))
    ]
    return sorted(opponents, key=lambda each: (each.cell.score, each.version, each.opponent))


def _row(match: PlayedMatch, ids: Sequence[str]) -> MatchRow:
    version = next(name for name in match.entrants if name in ids)
    at = match.entrants.index(version)
    times = match.thinking[at].p95 if match.thinking else None
    return MatchRow(match, version, match.opponents(version), match.score(version), times)


def _version_json(version: Version) -> dict[str, Any]:
    return {
        "version": version.id,
        "content_hash": version.content_hash,
        "authors": list(version.authors),
        "language": version.language,
        "created": wording.iso(version.created),
        "retired": wording.iso(version.retired) or None,
        "quarantined": wording.iso(version.quarantined) or None,
        "quarantine_reason": version.quarantine_reason,
    }


def _standing_json(standing: BotStanding) -> dict[str, Any]:
    return {
        "standings": [line.to_json() for line in standing.lines],
        "history": {line.name: _history_json(standing.past, line.name) for line in standing.lines},
        "worst": [each.to_json() for each in standing.worst],
        "best": [each.to_json() for each in standing.best],
        "thinking": {**standing.thinking.to_json(), "bins": standing.thinking.stored()},
    }


def _history_json(past: RatingHistory, name: str) -> list[dict[str, Any]]:
    return [
        {
            "at": wording.iso(point.at),
            "round": point.round,
            "strength": value.strength,
            "interval": [round(value.low, 6), round(value.high, 6)],
        }
        for point, value in past.of(name)
    ]


def _row_json(row: MatchRow) -> dict[str, Any]:
    return {
        "match": row.match.match,
        "tournament": row.match.tournament,
        "ladder": row.match.form,
        "closed": wording.iso(row.match.closed),
        "version": row.version,
        "opponents": list(row.opponents),
        "score": round(row.score, 6),
        "games": len(row.match.games),
        "faults": row.match.faults(),
        "p95_ms": row.p95,
    }


def _csv(rows: Sequence[MatchRow]) -> TextTable:
    heads = (
        *("match", "tournament", "ladder", "closed", "version", "opponents"),
        *("score", "games", "faults", "p95_ms"),
    )
    return TextTable(
        heads,
        [
            (
                *(row.match.match, row.match.tournament, row.match.form),
                *(wording.iso(row.match.closed), row.version, " ".join(row.opponents)),
                *(row.score, len(row.match.games)),
                sum(row.match.faults().get(row.version, {}).values()),
                row.p95,
            )
            for row in rows
        ],
    )


def _text(standings: Sequence[BotStanding]) -> TextTable:
    heads = ("<ladder", "#", "<version", "strength", "Elo", "matches", "W–D–L")
    return TextTable(
        heads,
        [
            (
                *(standing.form, line.ranks, line.name),
                f"{line.standing.strength.value:.0f} ±{line.standing.strength.margin:.0f}",
                f"{line.standing.elo:.0f}",
                line.standing.matches,
                f"{line.standing.wins}–{line.standing.draws}–{line.standing.losses}",
            )
            for standing in standings
            for line in standing.lines
        ],
    )
