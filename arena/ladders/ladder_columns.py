"""The columns of ladders, tournament standings and crosstables, and the lines of their tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, Protocol

from arena.ladders.columns import Column, Rendering, columns_of, if_empty, if_equal, to_json
from arena.presentation.wording import (
    ago,
    fault_count,
    gained,
    iso,
    milliseconds,
    percent,
    signed,
    whole,
)
from arena.ratings.closed_match import FAULTS
from arena.ratings.elo import EloSettings

if TYPE_CHECKING:
    from arena.formats.contract import FormatEntrant
    from arena.formats.swiss import RankingKey
    from arena.ratings.call_figures import CallFigures
    from arena.ratings.crosstable import CrosstableCell
    from arena.ratings.decision_histogram import DecisionHistogram
    from arena.ratings.standings import Standings, StandingsLine
    from arena.store.bots.versions import Version


class RatedLine(Protocol):
    """A line with the ratings and results of a version."""

    @property
    def standing(self) -> StandingsLine:
        """The ratings and results."""


@dataclass(frozen=True, slots=True)
class LadderLine:
    """One version on a ladder."""

    place: int
    """Place in the order of strength, from 1."""
    standing: StandingsLine
    thinking: DecisionHistogram | None = None
    """Its decision times."""
    version: Version | None = None
    seen: float | None = None
    """End of its last closed match, in seconds since 1970."""
    spark: object = None
    """Sparkline of its strength, for pages."""
    moved: int | None = None
    """Number of places gained in 24 hours."""
    usage: CallFigures | None = None
    """Its calls of models, as measured; None without any."""

    @property
    def name(self) -> str:
        """Version ID, ``name@number``."""
        return self.standing.entrant

    @property
    def authors(self) -> str:
        """Authors; the owner if they are not named."""
        return (", ".join(self.version.authors) or self.version.owner) if self.version else ""

    @property
    def language(self) -> str:
        """Programming language, as named by the author."""
        return self.version.language if self.version else ""


@dataclass(frozen=True, slots=True)
class EntrantLine:
    """An entrant in the standings of a tournament.

    Args:
        rank: the rank by the format; by strength if the format does not decide it; empty for the
            field of a gauntlet and for entrants without a match.
        worth: the ranking key of a Swiss tournament; otherwise None.
        place: the place by strength, from 1; 0 if the format decides the rank.
        points: the match points by which a format ranks; None in other formats.
    """

    rank: str
    standing: StandingsLine
    entry: FormatEntrant
    worth: RankingKey | None = None
    place: int = 0
    points: int | None = None


def lines_of(table: Standings) -> list[LadderLine]:
    """Return the lines of a ladder in the order of `Standings.ranked`."""
    return [
        LadderLine(
            place,
            standing,
            table.thinking.get(standing.entrant),
            usage=table.usage.get(standing.entrant),
        )
        for place, standing in table.ranked
    ]


def results(table: Standings) -> list[dict[str, Any]]:
    """Return the lines of a ladder as JSON values that do not contain times."""
    return [to_json(LADDER, line, Rendering.RESULTS) for line in lines_of(table)]


def ranks(standing: StandingsLine) -> str:
    """Return the rank, or the range of ranks if bots are not distinguishable."""
    first, last = standing.strength.first, standing.strength.last
    return str(first) if first == last else f"{first}–{last}"


def faults_of(standing: StandingsLine) -> dict[str, int]:
    """Return the number of games ended by each kind of fault, with forfeits."""
    forfeits = {"forfeit": standing.forfeits} if standing.forfeits else {}
    return standing.faults | forfeits


def _strength(line: RatedLine) -> str:
    """Return the strength with half its interval or a bound, and marks."""
    it = line.standing.strength
    if it.anchored:
        return f"{it.value:.0f} set"
    width = f"{it.bound.mark}{it.bound.value:.0f}" if it.bound else f"±{it.margin:.0f}"
    # Right-aligned values stay aligned without the mark.
    return f"{it.value:.0f} {width}{'?' if it.provisional else ' '}"


def _percent(share: float | None) -> str:
    return "" if share is None else percent(share, 1)


def _games(line: RatedLine) -> str:
    it = line.standing
    return f"{whole(it.wins)}–{whole(it.draws)}–{whole(it.losses)}"


def _points(line: RatedLine) -> str:
    board = line.standing.board
    if board is None:
        return ""
    digits = 0 if max(abs(board.mean), board.margin or 0.0) >= 100 else 1
    text = signed(board.mean, digits)
    return text if board.margin is None else f"{text} ±{board.margin:.{digits}f}"


def _points_json(line: RatedLine) -> dict[str, Any] | None:
    board = line.standing.board
    if board is None:
        return None
    return {name: value for name, value in board.to_json().items() if name != "entrant"}


def _end(number: int, value: Mapping[str, Any]) -> object:
    return value["interval"] and value["interval"][number]


def _count(kind: str, faults: Mapping[str, int]) -> int:
    return faults.get(kind, 0)


def _p95(line: LadderLine) -> float | None:
    return line.thinking.p95 if line.thinking else None


def _per_game(
    name: str, number: Callable[[CallFigures], float], digits: int, explanation: str
) -> Column[LadderLine]:
    """Return a column of the measured usage of models, which only ladders of models show."""

    def value(line: LadderLine) -> float | None:
        games = line.standing.games
        return round(number(line.usage) / games, digits) if line.usage and games else None

    explained = f"{explanation} per game, as measured by the arena's proxy"
    shown = Rendering.SITE | Rendering.TERMINAL | Rendering.LOS | _MODEL
    return _mean(f"{name}_per_game", f"{name}/game", name, value, digits, explained, shown)


def _data(
    key: str,
    value: Callable[[RatedLine], Any],
    explanation: str,
    csv: Mapping[str, Callable[[Any], object]] | None = None,
) -> Column[RatedLine]:
    """Return a column that only JSON and CSV show."""
    return Column(key, key, value, explanation, csv=csv, shown=Rendering.DATA)


def _rate(
    name: str, sort: str, number: Callable[[StandingsLine], int], explanation: str
) -> Column[LadderLine]:
    """Return a column of a number per 100 decisions, which is empty without decisions."""

    def value(line: LadderLine) -> float | None:
        decisions = line.thinking.decisions if line.thinking else 0
        return round(100 * number(line.standing) / decisions, 3) if decisions else None

    explained, shown = f"{explanation} per 100 decisions", Rendering.SITE | _MODEL
    return _mean(f"{name}_per_100", f"{name}/100", sort, value, 1, explained, shown)


def _mean(
    key: str,
    title: str,
    sort: str,
    value: Callable[[LadderLine], float | None],
    digits: int,
    explanation: str,
    shown: Rendering,
) -> Column[LadderLine]:
    """Return a column of a mean, with this number of decimals; empty if it is not known."""

    def text(line: LadderLine) -> str:
        mean = value(line)
        return "" if mean is None else f"{mean:,.{digits}f}"

    return Column(
        key, title, value, explanation, text=text, sort=sort, hidden=if_empty, shown=shown
    )


_MODEL: Final = Rendering.MODEL | Rendering.LEGEND
_ON_REQUEST: Final = Rendering.ALL & ~(Rendering.PAGE | Rendering.TOURNAMENT)
_ELO: Final = EloSettings()
_ENDS: Final = {"low": itemgetter(0), "high": itemgetter(1)}

RANKS: Column[RatedLine] = Column(
    "ranks",
    "#",
    lambda line: [line.standing.strength.first, line.standing.strength.last],
    "first and last possible rank: bots whose difference is not significant share a range",
    text=lambda line: ranks(line.standing),
    csv={"rank_first": itemgetter(0), "rank_last": itemgetter(1)},
    sort="rank",
    is_falling=False,
    shown=Rendering.ALL | Rendering.TOP,
)
_ENTRANT: Column[RatedLine] = Column(
    "entrant",
    "bot",
    lambda line: line.standing.entrant,
    "version of a bot, as name@version",
    csv={"bot": str},
    sort="bot",
    is_falling=False,
    is_left=True,
    shown=Rendering.ALL | Rendering.TOP | Rendering.PODIUM,
)
_RATINGS: tuple[Column[RatedLine], ...] = (
    Column(
        "strength",
        "strength",
        lambda line: line.standing.strength.value,
        "fitted to all matches at once, ± 95 % interval; ?: provisional; > or won all, < or lost "
        "all: a lower or upper bound, with a confidence of at least 95 %",
        text=_strength,
        sort="strength",
        shown=Rendering.ALL | Rendering.TOP | Rendering.LEGEND,
    ),
    _data(
        "interval",
        lambda line: [line.standing.strength.low, line.standing.strength.high],
        "95 % interval of the strength",
        _ENDS,
    ),
    _data("error", lambda line: line.standing.strength.error, "standard error of the strength"),
    _data(
        "bound",
        lambda line: line.standing.strength.bound and line.standing.strength.bound.to_json(),
        "bound of the strength of a bot that won or lost every game",
        {"bound_side": itemgetter("side"), "bound": itemgetter("value")},
    ),
    Column(
        "superiority_to_next",
        "LOS",
        lambda line: line.standing.strength.superiority_to_next,
        "likelihood of superiority to the bot of the next line",
        text=lambda line: _percent(line.standing.strength.superiority_to_next),
        sort="los",
        shown=Rendering.SITE | Rendering.LOS | Rendering.RESULTS | Rendering.LEGEND,
    ),
    _data("provisional", lambda line: line.standing.strength.provisional, "has a wide interval"),
    _data("anchored", lambda line: line.standing.strength.anchored, "has a fixed strength"),
    _data(
        "group",
        lambda line: line.standing.strength.group,
        "number of the group of bots that matches connect, from 0",
    ),
)
_RESULTS: tuple[Column[RatedLine], ...] = (
    Column(
        "elo",
        "Elo",
        lambda line: line.standing.elo,
        f"K {_ELO.k:g}, from {_ELO.initial:g}; {2 * _ELO.beta:g} points are odds of ten to one; "
        "by rounds, whose order matters",
        sort="elo",
        shown=(_ON_REQUEST | Rendering.LEGEND) & ~Rendering.STANDINGS,
    ),
    Column("matches", "matches", lambda line: line.standing.matches, "matches", sort="matches"),
    _data("opponents", lambda line: line.standing.strength.opponents, "different opponents"),
    Column(
        "mean",
        "score",
        lambda line: line.standing.mean,
        "mean score of the matches, where 1 is 100 %; a draw counts as half a win",
        text=lambda line: _percent(line.standing.mean),
        shown=Rendering.DATA | Rendering.BOT | Rendering.PODIUM,
    ),
    _data("games", lambda line: line.standing.games, "games"),
    Column(
        "wins",
        "W–D–L",
        lambda line: line.standing.wins,
        "won games; tables show won, drawn and lost games",
        text=_games,
        sort="games",
        page_title="games won–drawn–lost",
    ),
    _data("draws", lambda line: line.standing.draws, "drawn games"),
    _data("losses", lambda line: line.standing.losses, "lost games"),
    _data("points", lambda line: line.standing.points, "sum of the scores, in the game's points"),
    Column(
        "points_per_board",
        "points/board",
        _points_json,
        "points ahead of the others at the table, with the 95 % interval",
        text=_points,
        csv={
            "points_per_board": itemgetter("mean"),
            "points_per_board_low": partial(_end, 0),
            "points_per_board_high": partial(_end, 1),
        },
        sort="points",
        order=lambda line: line.standing.board and line.standing.board.mean,
        hidden=if_empty,
        shown=_ON_REQUEST | Rendering.LEGEND,
    ),
    Column(
        "faults",
        "faults",
        lambda line: dict(line.standing.faults),
        "games ended by a fault of the bot, by kind",
        page_title="games ended by faults",
        text=lambda line: ", ".join(
            fault_count(kind, number) for kind, number in faults_of(line.standing).items()
        ),
        csv={kind: partial(_count, kind) for kind in FAULTS},
        sort="faults",
        order=lambda line: sum(faults_of(line.standing).values()),
        is_left=True,
        hidden=if_empty,
    ),
    _data(
        "forfeits",
        lambda line: line.standing.forfeits,
        "games lost because of earlier faults",
        {"forfeit": int},
    ),
    Column(
        "corrections",
        "corrected",
        lambda line: line.standing.corrections,
        "illegal or unreadable answers that the bot corrected",
        sort="corrections",
        hidden=if_empty,
    ),
    Column(
        "defaults",
        "defaults",
        lambda line: line.standing.defaults,
        "default actions that the bot played because it had not decided",
        sort="defaults",
        hidden=if_empty,
    ),
)

LADDER: list[Column[LadderLine]] = [
    RANKS,
    Column(
        "places_gained_24h",
        "24 h",
        lambda line: line.moved,
        "places gained in 24 hours",
        text=lambda line: gained(line.moved),
        sort="move",
        hidden=if_empty,
        shown=Rendering.SITE,
    ),
    _ENTRANT,
    Column(
        "authors",
        "by",
        lambda line: line.authors,
        "authors; the owner if they are not named",
        sort="by",
        is_falling=False,
        is_left=True,
        hidden=if_equal,
        shown=Rendering.SITE,
    ),
    Column(
        "language",
        "language",
        lambda line: line.language,
        "programming language, as named by the author",
        sort="language",
        is_falling=False,
        is_left=True,
        hidden=if_equal,
        shown=Rendering.SITE,
    ),
    *_RATINGS,
    Column(
        "history",
        "history",
        lambda line: line.spark,
        "strength after each round",
        is_left=True,
        hidden=if_empty,
        shown=Rendering.PAGE | Rendering.PAGE_ALL,
    ),
    *_RESULTS,
    _rate(
        "illegal",
        "illegal",
        lambda standing: standing.corrections + standing.faults.get("illegal", 0),
        "illegal or unreadable answers, corrected or not,",
    ),
    _rate(
        "defaults",
        "default-rate",
        lambda standing: standing.defaults,
        "default actions that the bot played because it had not decided,",
    ),
    _per_game("tokens", lambda usage: usage.tokens, 0, "tokens of models"),
    _per_game("cost", lambda usage: usage.cost, 4, "price of the calls of models"),
    Column(
        "p95_ms",
        "p95 ms",
        _p95,
        "95th percentile of the decision times, in milliseconds",
        text=lambda line: milliseconds(_p95(line)),
        sort="thinking",
        hidden=if_empty,
        shown=Rendering.SITE | Rendering.TERMINAL | Rendering.LOS | Rendering.BOT,
    ),
    Column(
        "last_seen",
        "seen",
        lambda line: iso(line.seen) or None,
        "end of the last closed match",
        text=lambda line: "" if line.seen is None else ago(max(time.time() - line.seen, 0.0)),
        sort="seen",
        shown=Rendering.SITE | Rendering.BOT,
    ),
]
"""The columns of a ladder."""

TOURNAMENT: list[Column[EntrantLine]] = [
    Column(
        "rank",
        "#",
        lambda line: line.rank,
        "rank by the format; by strength if the format does not decide it",
        shown=Rendering.STANDINGS | Rendering.PODIUM | Rendering.DATA,
    ),
    _ENTRANT,
    Column(
        "owner",
        "of",
        lambda line: line.entry.owner,
        "owner who entered the bot",
        is_left=True,
        hidden=if_empty,
        shown=Rendering.STANDINGS | Rendering.DATA,
    ),
    Column(
        "match_points",
        "points",
        lambda line: line.points,
        "match points: 2 for each opponent beaten in a match, 1 for each equal one",
        hidden=if_empty,
        shown=Rendering.STANDINGS,
        page_title="match points",
    ),
    Column(
        "swiss",
        "swiss",
        lambda line: line.worth and dict(zip(("points", "met", "scores"), line.worth, strict=True)),
        "ranking key of a Swiss tournament; null in other formats",
        csv={"swiss_points": itemgetter("points"), "swiss_met": itemgetter("met")},
        shown=Rendering.DATA,
    ),
    Column(
        "met",
        "of opponents",
        lambda line: line.worth and line.worth.buchholz,
        "sum of the match points of all its opponents, which orders equal match points",
        hidden=if_empty,
        shown=Rendering.STANDINGS,
        page_title="points of its opponents",
    ),
    replace(RANKS, shown=Rendering.DATA),
    *_RATINGS,
    *_RESULTS,
    Column(
        "withdrawn",
        "withdrawn",
        lambda line: line.entry.withdrawn is not None,
        "whether it has withdrawn",
        shown=Rendering.DATA,
    ),
]
"""The columns of the standings of a tournament."""

CELL: list[Column[CrosstableCell]] = [
    Column(
        "score",
        "score in %",
        lambda cell: cell.score,
        "mean score of the row against the column, where 1 is 100 %; a draw counts as half a win",
        text=lambda cell: f"{100 * cell.score:.0f}",
    ),
    Column(
        "interval",
        "95 % interval",
        lambda cell: [cell.low, cell.high],
        "95 % interval of the score",
        text=lambda cell: f"{100 * cell.low:.0f}–{100 * cell.high:.0f}",
        csv=_ENDS,
    ),
    Column("matches", "matches", lambda cell: cell.matches, "matches between the two bots"),
]
"""The columns of a cell of a crosstable; the last one is in parentheses in a table."""


def cell_text(cell: CrosstableCell) -> str:
    """Return a cell of a crosstable as text: "75 60–85 (20)"."""
    *first, last = [column.text_of(cell) for column in columns_of(CELL, Rendering.TERMINAL)]
    return f"{' '.join(first)} ({last})"


def cell_json(cell: CrosstableCell | None) -> dict[str, Any] | None:
    """Return a cell of a crosstable as JSON values; None for a pair that has not met."""
    return None if cell is None else to_json(CELL, cell)
