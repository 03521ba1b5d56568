"""Page of a bot: how good it is, against whom, whether it gets better, and its mistakes."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from arena.errors import nearest
from arena.ladders import ladder_rows, ladder_values
from arena.ladders.columns import Rendering, columns_of, text_table, to_json
from arena.ladders.ladder_columns import LADDER, LadderLine, cell_json, faults_of, ranks
from arena.ladders.ladder_rows import Ladder
from arena.ladders.rating_history import RatingHistory
from arena.presentation import wording
from arena.ratings.crosstable import CrosstableCell
from arena.ratings.decision_histogram import BINS, DecisionHistogram
from arena.ratings.scale import expected_score
from arena.ratings.standings import StandingsLine
from arena.store.bots import remote_bots, submissions
from arena.store.bots.versions import Version
from arena.store.match_settings import plain_ladder
from arena.store.matches import history
from arena.store.matches.closed_matches import PlayedMatch
from arena.web import charts, paging, rating_curves
from arena.web.charts import Histogram
from arena.web.data.changes import ARENA, SUBMISSIONS
from arena.web.data.strength_gaps import StrengthGap
from arena.web.data.web_state import WebState
from arena.web.page import InvalidQuery, Page, PageNotFound, PageRequest, TextTable, ladder_in_query
from arena.web.pages import atom_feeds, submission
from arena.web.pages import ladder as ladders
from arena.web.pages.ladder import unknown_ladder
from arena.web.pages.matches import MatchLine, line_of
from arena.web.paging import ListPage
from arena.web.rating_curves import RatingCurves

_PUSHED = 5
EXTREMES = 3
"""Maximum number of best and of worst matchups."""
_OPPONENTS = 30
"""Maximum number of opponents on the page; the crosstable has all of them."""
QUERY = (
    ("form", "only on this ladder"),
    ("version", "only this version, as its number"),
    ("opponent", "only matches against this bot, as NAME or NAME@VERSION"),
)
"""Query parameters, without those of the list of matches."""


@dataclass(frozen=True, slots=True)
class Matchup:
    """Result of a version against an opponent."""

    version: str
    opponent: str
    cell: CrosstableCell

    def to_json(self) -> dict[str, Any]:
        return {"version": self.version, "opponent": self.opponent, **(cell_json(self.cell) or {})}


@dataclass(frozen=True, slots=True)
class BotStanding:
    """A bot on one ladder.

    Args:
        lines: the lines of its versions, the strongest first.
        bots: number of versions on the ladder.
        matchups: its matchups, the worst first.
        thinking: the decision times of its strongest version.
    """

    form: str
    lines: tuple[LadderLine, ...]
    past: RatingHistory
    bots: int
    matchups: tuple[Matchup, ...]
    thinking: DecisionHistogram

    @property
    def matches(self) -> int:
        """Number of matches of its versions."""
        return sum(line.standing.matches for line in self.lines)

    @property
    def worst(self) -> tuple[Matchup, ...]:
        """Its worst matchups with less than half of the points, the worst first."""
        return tuple(each for each in self.matchups if each.cell.score < 0.5)[:EXTREMES]

    @property
    def best(self) -> tuple[Matchup, ...]:
        """Its best matchups with more than half of the points, the best first."""
        return tuple(each for each in reversed(self.matchups) if each.cell.score > 0.5)[:EXTREMES]


@dataclass(frozen=True, slots=True)
class Opponent:
    """An opponent of a version on a ladder.

    Args:
        matchup: the version's result against it.
        expected: the score that the two strengths suggest, from 0 to 1.
    """

    place: int
    standing: StandingsLine
    matchup: Matchup
    expected: float

    @property
    def surprise(self) -> str:
        """ "more" or "less" if the interval of the score does not contain the expected one."""
        cell = self.matchup.cell
        return "more" if cell.low > self.expected else "less" if cell.high < self.expected else ""


@dataclass(frozen=True, slots=True)
class LadderDetails:
    """The details of the selected ladder on the page.

    Args:
        version: the version whose opponents are shown.
        changes: the versions, the newest first.
        opponents: the opponents of the version, the strongest first.
        omitted: number of opponents that are not shown.
        times: histogram of the decision times of the version.
    """

    standing: BotStanding
    version: str
    changes: Sequence[VersionChange]
    opponents: tuple[Opponent, ...]
    omitted: int
    chart: RatingCurves | None
    times: Histogram | None
    thinking: DecisionHistogram

    @property
    def change(self) -> VersionChange:
        """The version whose opponents are shown."""
        return next(change for change in self.changes if change.line.name == self.version)

    @property
    def kinds(self) -> tuple[str, ...]:
        """All kinds of faults of the versions."""
        return tuple(dict.fromkeys(kind for each in self.changes for kind in each.faults))

    @property
    def answers(self) -> tuple[tuple[str, str], ...]:
        """Questions about the bot with their answers as sentences."""
        return (
            ("How good?", _how_good(self)),
            ("Against whom?", _against_whom(self)),
            ("Better or worse?", _better_or_worse(self)),
            ("Which mistakes?", _which_mistakes(self)),
        )


@dataclass(frozen=True, slots=True)
class MatchRow(MatchLine):
    """A match with a version that it is listed for."""

    version: str

    @property
    def opponents(self) -> tuple[str, ...]:
        """The other entrants."""
        return self.match.opponents(self.version)

    @property
    def score(self) -> float:
        """The score of the version, from 0 to 1."""
        return self.match.score(self.version)

    @property
    def p95(self) -> float | None:
        """Time within which it made 95 % of its decisions, in ms; None if unknown."""
        thinking = self.match.thinking
        return thinking[self.match.entrants.index(self.version)].p95 if thinking else None


@dataclass(frozen=True, slots=True)
class _BotQuery:
    """The bot of a page, and the query parameters that select its matches.

    Args:
        versions: its versions, the oldest first.
        form: only on this ladder; empty for all.
        version: only this version; empty for all.
        opponent: only against this bot or version, as given; empty for all.
        opponents: the versions of the opponent.
    """

    name: str
    versions: tuple[Version, ...]
    form: str
    version: str
    opponent: str
    opponents: list[str]

    @property
    def ids(self) -> list[str]:
        """The versions of the bot as name@number."""
        return [version.id for version in self.versions]

    @property
    def played(self) -> list[str]:
        """The versions whose matches are listed."""
        return [self.version] if self.version else self.ids


def bot_page(web: WebState, page_request: PageRequest) -> Page:
    """Return the page of a bot; raises PageNotFound or InvalidQuery."""
    query = _query(web, page_request)
    name, versions = query.name, query.versions
    every = [
        standing
        for ladder in web.snapshot.ladders.values()
        if (standing := _standing(web, ladder, versions))
    ]
    every.sort(key=lambda standing: (standing.lines[0].place, -standing.bots))
    standings = [standing for standing in every if query.form in ("", standing.form)]
    shown = max(standings, key=lambda standing: standing.matches, default=None)
    match_page = _matches(web, page_request, query)
    kinds = history.kinds(web.engine, query.ids)
    pushed = submissions.list_submissions(web.engine, name=name, limit=_PUSHED)
    return Page(
        title=f"The bot {name}",
        template="bot.html",
        model={
            "name": name,
            "versions": versions,
            "remotes": remote_bots.list_remote_bots(web.engine),
            "form": query.form,
            "version": query.version,
            "opponent": query.opponent,
            "standings": every,
            "columns": columns_of(LADDER, Rendering.BOT, shown.lines if shown else ()),
            "shown": _details(web, shown, versions, query.version) if shown else None,
            "piece": match_page,
            "kinds": kinds,
            "pushed": submission.lines(pushed, submission.positions_of(web, pushed)),
        },
        data={
            "bot": name,
            "owner": versions[-1].owner,
            "versions": [_version_json(version) for version in versions],
            "ladders": {standing.form: _standing_json(standing) for standing in standings},
            "faults": kinds,
            "submissions": [submission.to_json(each, owned=False) for each in pushed],
            "list": match_page.to_json(),
            "matches": [_row_json(row) for row in match_page.items],
        },
        csv=_csv(match_page.items),
        text=_text(standings),
        parts=("bot-summary", "bot-standings", "bot-pushed", "bot-matches", "bot-faults"),
        topics=frozenset({ARENA, SUBMISSIONS}),
        headers=match_page.headers,
        feed=lambda: atom_feeds.of_bot(web, page_request.links, name, versions),
        feed_link=page_request.links.to("bots", f"{name}.atom"),
    )


def _query(web: WebState, page_request: PageRequest) -> _BotQuery:
    name, versions = find_bot(web, page_request)
    form = _form(web, page_request)
    version = _version(page_request, [version.id for version in versions])
    return _BotQuery(name, versions, form, version, *_opponents_of_query(web, page_request))


def _matches(web: WebState, page_request: PageRequest, query: _BotQuery) -> ListPage[MatchRow]:
    """Return the selected matches of the bot, the newest first."""
    of = web.snapshot.ladders[query.form].scope.tournaments if query.form else ()
    sides = [query.played, query.opponents] if query.opponent else [query.played]
    selection = paging.selection_of(page_request)
    listed = history.matches(web.engine, sides, of, selection.offset, selection.limit)
    rows = [match_row(match, query.played) for match in listed]
    return selection.of(rows, history.count(web.engine, sides, of))


def find_bot(web: WebState, page_request: PageRequest) -> tuple[str, tuple[Version, ...]]:
    """Return a bot's name and its versions, the oldest first; raises PageNotFound."""
    name = page_request.path["name"].partition("@")[0]
    versions = [version for version in web.snapshot.versions.values() if version.name == name]
    if not versions:
        raise PageNotFound(unknown_bot(web, name))
    return name, tuple(sorted(versions, key=lambda version: version.created))


def unknown_bot(web: WebState, name: str) -> str:
    """Return the sentence for an unknown name, with the most similar one."""
    hint = nearest(name, {version.name for version in web.snapshot.versions.values()})
    return f"unknown bot {wording.one_line(name)}{hint or '.'}"


def _form(web: WebState, page_request: PageRequest) -> str:
    text = page_request.query.get("form", "")
    form = plain_ladder(ladder_in_query(text))
    if form and form not in web.snapshot.ladders:
        raise InvalidQuery(unknown_ladder(web, text))
    return form


def _version(page_request: PageRequest, ids: Sequence[str]) -> str:
    """Return the requested version as ``name@number``; empty without one."""
    number = page_request.query.get("version", "").rpartition("@")[2]
    version = next((name for name in ids if name.partition("@")[2] == number), "")
    if number and not version:
        known = ", ".join(name.partition("@")[2] for name in ids)
        raise InvalidQuery(f"unknown version {wording.one_line(number)}; available: {known}.")
    return version


def _opponents_of_query(web: WebState, page_request: PageRequest) -> tuple[str, list[str]]:
    """Return the requested opponent and its versions; both empty without one."""
    opponent = page_request.query.get("opponent", "").strip()
    names = [each.id for each in web.snapshot.versions.values() if opponent in (each.id, each.name)]
    if opponent and not names:
        raise InvalidQuery(unknown_bot(web, opponent))
    return opponent, names


def _standing(web: WebState, ladder: Ladder, versions: Sequence[Version]) -> BotStanding | None:
    names = {version.id for version in versions}
    chart = web.snapshot.charts.get(ladder.scope.name)
    lines = ladders.lines(web.snapshot, ladder, chart, names)
    if not lines:
        return None
    return BotStanding(
        ladder.scope.name,
        tuple(lines),
        chart.past if chart else RatingHistory(),
        len(ladder.table.lines),
        tuple(_matchups(web, ladder, [line.name for line in lines])),
        ladder.table.thinking.get(lines[0].name, DecisionHistogram()),
    )


def _details(
    web: WebState, standing: BotStanding, versions: Sequence[Version], version: str
) -> LadderDetails:
    ladder = web.snapshot.ladders[standing.form]
    names = [line.name for line in standing.lines]
    of = version if version in names else names[0]
    opponents = _opponents(ladder, standing, of)
    # Opponents of similar strength are the most informative.
    place = next(line.place for line in standing.lines if line.name == of)
    nearest = sorted(opponents, key=lambda each: abs(each.place - place))[:_OPPONENTS]
    thinking = ladder.table.thinking.get(of, DecisionHistogram())
    by_name = {line.name: line for line in standing.lines}
    ordered = [by_name[version.id] for version in versions if version.id in by_name]
    return LadderDetails(
        standing,
        of,
        version_changes(web, ladder, ordered),
        tuple(sorted(nearest, key=lambda each: each.place)),
        len(opponents) - len(nearest),
        rating_curves.of_versions(standing.past, versions, rating_curves.axis(ladder.table)),
        charts.histogram(thinking.stored(), BINS),
        thinking,
    )


def _opponents(ladder: Ladder, standing: BotStanding, version: str) -> list[Opponent]:
    by_name = {each.opponent: each for each in standing.matchups if each.version == version}
    standing_of_version = next(line.standing for line in standing.lines if line.name == version)
    return [
        Opponent(
            place,
            line,
            by_name[line.entrant],
            expected_score(standing_of_version.strength.value - line.strength.value),
        )
        for place, line in ladder.table.ranked
        if line.entrant in by_name
    ]


def _how_good(details: LadderDetails) -> str:
    line, bots = details.change.line, details.standing.bots
    place = f"{line.name} has place {line.place} of {bots}"
    if not line.standing.matches:
        return f"{line.name} has not played on this ladder."
    if ranks(line.standing) != str(line.place):
        place += f", or one of {ranks(line.standing)} (95 %)"
    return f"{place}. Its strength is {ladder_values.strength_in_words(line.standing)}."


def _against_whom(details: LadderDetails) -> str:
    def named(opponent: Opponent) -> str:
        return f"{opponent.matchup.opponent} ({wording.percent(opponent.matchup.cell.score)})"

    ordered = sorted(details.opponents, key=lambda each: each.matchup.cell.score)
    if not ordered:
        return "It has not met another bot."
    if len(ordered) == 1:
        sentence = f"It has met {named(ordered[0])} only."
    else:
        sentence = (
            f"It scores most against {named(ordered[-1])}, least against {named(ordered[0])}."
        )
    below = [each for each in ordered if each.surprise == "less"]
    if below:
        worst = max(below, key=lambda each: each.expected - each.matchup.cell.score)
        expected = wording.percent(worst.expected)
        sentence += f" Against {named(worst)} it scores less than the expected {expected}."
    return sentence


def _better_or_worse(details: LadderDetails) -> str:
    change = details.change
    sentence = "There is no earlier version on this ladder."
    if gap := change.gap:
        gain = f"{wording.signed(gap.value, 0)} ±{gap.margin:.0f}"
        likely = wording.percent(gap.likely, 1)
        sentence = (
            f"{gain} points compared with {change.before}; stronger with a likelihood of {likely}."
        )
    points = details.standing.past.of(details.version)
    if len(points) > 1:
        (first, old), (_, new) = points[0], points[-1]
        sentence += (
            f" From {wording.whole(old.strength)} at {wording.moment(first.at)} "
            f"to {wording.whole(new.strength)} after its latest round."
        )
    return sentence


def _which_mistakes(details: LadderDetails) -> str:
    change = details.change
    line = change.line.standing
    lost = f"It lost {wording.whole(line.losses)} of {wording.whole(line.games)} games"
    if not change.faulted:
        return f"{lost}, none of them by a fault."
    kinds = ", ".join(f"{kind} {wording.whole(n)}" for kind, n in change.faults.items())
    return f"{lost}. {wording.whole(change.faulted)} ended with its own fault: {kinds}."


def _matchups(web: WebState, ladder: Ladder, ids: Sequence[str]) -> list[Matchup]:
    """Return the matchups against other bots' versions, the worst first."""
    cells = ladder_rows.read_crosstable(web.engine, ladder.scope, ids, ())
    opponents = [
        Matchup(name, other, cell)
        for name in ids
        for other in ladder.table.entrants
        if other not in ids and (cell := cells.get((name, other)))
    ]
    return sorted(opponents, key=lambda each: (each.cell.score, each.version, each.opponent))


def match_row(match: PlayedMatch, ids: Container[str]) -> MatchRow:
    """Return the row of a match for the first of these versions that played in it."""
    line = line_of(match)
    version = next(name for name in match.entrants if name in ids)
    return MatchRow(match, line.winner, line.scores, version)


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
        "standings": [to_json(LADDER, line) for line in standing.lines],
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
        "ladder": row.match.ladder,
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
                *(row.match.match, row.match.tournament, row.match.ladder),
                *(wording.iso(row.match.closed), row.version, " ".join(row.opponents)),
                *(row.score, len(row.match.games)),
                sum(row.match.faults().get(row.version, {}).values()),
                row.p95,
            )
            for row in rows
        ],
    )


def _text(standings: Sequence[BotStanding]) -> TextTable:
    lines = [(standing.form, line) for standing in standings for line in standing.lines]
    columns = columns_of(LADDER, Rendering.BOT, [line for _, line in lines])
    heads, rows = text_table(columns, [line for _, line in lines])
    rows = [(form, *row) for (form, _), row in zip(lines, rows, strict=True)]
    return TextTable(("<ladder", *heads), rows)


@dataclass(frozen=True, slots=True)
class VersionChange:
    """A version on a ladder, compared with the bot's version before it.

    Args:
        before: the version before it; empty for the first on the ladder.
        gap: the difference of the strengths; None for the first.
        new_faults: kinds of faults that the version before it did not have.
    """

    line: LadderLine
    before: str = ""
    gap: StrengthGap | None = None
    new_faults: tuple[str, ...] = ()

    @property
    def faults(self) -> dict[str, int]:
        """Number of its games ended by each kind of fault, with forfeits."""
        return faults_of(self.line.standing)

    @property
    def faulted(self) -> int:
        """Number of its games that ended with a fault of its own or were forfeited."""
        return sum(self.faults.values())


def version_changes(
    web: WebState, ladder: Ladder, lines: Sequence[LadderLine]
) -> list[VersionChange]:
    """Return the versions of a bot on a ladder, the newest first; `lines`: the oldest first."""
    changes = [VersionChange(line) for line in lines[:1]]
    gaps = web.gaps.of(ladder) if len(lines) > 1 else None
    for before, line in pairwise(lines):
        assert gaps is not None
        gap = gaps.between(line.standing, before.standing)
        new = faults_of(line.standing).keys() - faults_of(before.standing)
        kinds = tuple(kind for kind in faults_of(line.standing) if kind in new)
        changes.append(VersionChange(line, before.name, gap, kinds))
    return changes[::-1]
