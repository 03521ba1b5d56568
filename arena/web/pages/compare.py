"""Page that compares two versions on a ladder, with their matches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arena.errors import nearest
from arena.ladders import head_to_head, ladder_rows
from arena.ladders.columns import Rendering, columns_of
from arena.ladders.comparison_facts import comparison_facts
from arena.ladders.head_to_head import Comparison, LadderComparison
from arena.ladders.ladder_columns import LADDER, cell_json
from arena.ladders.ladder_rows import Ladder
from arena.presentation import wording
from arena.ratings.crosstable import CrosstableCell
from arena.ratings.sprt import SprtSettings
from arena.store.matches import history
from arena.store.matches.closed_matches import PlayedMatch
from arena.web import charts, paging
from arena.web.data.web_state import WebState
from arena.web.page import InvalidQuery, Page, PageNotFound, PageRequest, TextTable
from arena.web.pages import ladder as ladder_page
from arena.web.pages.ladder import find_ladder
from arena.web.paging import ListPage

PAIRS = (
    ("LL", "lost both"),
    ("LD", "lost one, drew one"),
    ("WL, DD", "even"),
    ("WD", "won one, drew one"),
    ("WW", "won both"),
)
"""Possible results of a board over both seatings."""
_COMMON = 40
"""Maximum number of common opponents on the page; those with the largest differences are shown."""


@dataclass(frozen=True, slots=True)
class CommonOpponent:
    """An opponent that both versions have met, with the result of each."""

    name: str
    first: CrosstableCell
    other: CrosstableCell

    @property
    def difference(self) -> float:
        """Score of the first version minus that of the other."""
        return self.first.score - self.other.score

    @property
    def significant(self) -> bool:
        """Whether the two 95 % intervals do not overlap."""
        return self.first.low > self.other.high or self.first.high < self.other.low

    def to_json(self) -> dict[str, Any]:
        cells = [cell_json(self.first), cell_json(self.other)]
        return {"opponent": self.name, "results": cells}


def compare_page(web: WebState, page_request: PageRequest) -> Page:
    """Return the comparison page.

    Versions that have not met are compared by their strengths and common opponents.

    Raises:
        PageNotFound: the ladder or a version does not exist.
        InvalidQuery: the query is invalid.
    """
    ladder = find_ladder(web, page_request.path["form"])
    form = ladder.scope.name
    first, other = (_bot(ladder, page_request, name) for name in ("one", "other"))
    if first == other:
        raise InvalidQuery("Choose two different versions.")
    result = _compared(web, ladder, (first, other), _test_of(page_request))
    comparison = result.comparison if result else None
    piece = _matches(web, page_request, ladder, (first, other))
    lines = ladder_page.lines(web.snapshot, ladder, only=(first, other))
    sides = sorted(lines, key=lambda line: line.name != first)
    gap = web.gaps.of(ladder).between(*(line.standing for line in sides))
    common = _common(web, ladder, first, other)
    direct = comparison_facts(comparison) if comparison else []
    indirect = [
        ("strength difference", f"{wording.signed(gap.value, 0)} ±{gap.margin:.0f}"),
        ("stronger by all matches", wording.percent(gap.likely, 1)),
        ("common opponents", str(len(common))),
    ]
    unmet = {"form": form, "entrants": [first, other], "matches": 0}
    return Page(
        title=f"{first} against {other} at {wording.form_name(form)}",
        template="compare.html",
        model={
            "form": form,
            "one": first,
            "other": other,
            "names": ladder.table.entrants,
            "sprt": page_request.query.get("sprt", ""),
            "comparison": comparison,
            "facts": direct,
            "bars": _bars(comparison) if comparison else [],
            "sides": sides,
            "columns": columns_of(LADDER, Rendering.BOT, sides),
            "gap": gap,
            "common": sorted(common, key=lambda each: -abs(each.difference))[:_COMMON],
            "omitted": max(len(common) - _COMMON, 0),
            "piece": piece,
        },
        data={
            **(result.to_json() if result else unmet),
            "strength_difference": {
                "value": gap.value,
                "margin": gap.margin,
                "superiority": gap.likely,
            },
            "common_opponents": [each.to_json() for each in common],
            "list": piece.to_json(),
            "played": [_as_json(match, first) for match in piece.items],
        },
        csv=_csv(piece.items, first, other),
        text=TextTable(("<", "<"), [*direct, *indirect]),
        parts=("compare-sides", "compare-facts", "compare-matches"),
        headers=piece.headers,
    )


def _matches(
    web: WebState, page_request: PageRequest, ladder: Ladder, pair: tuple[str, str]
) -> ListPage[PlayedMatch]:
    """Return the selected matches of both versions against each other, the newest first."""
    sides, of = [[name] for name in pair], ladder.scope.tournaments
    selection = paging.selection_of(page_request, 25)
    listed = history.matches(web.engine, sides, of, selection.offset, selection.limit)
    return selection.of(listed, history.count(web.engine, sides, of))


def _common(web: WebState, ladder: Ladder, first: str, other: str) -> list[CommonOpponent]:
    """Return the common opponents of two versions, the strongest first."""
    cells = ladder_rows.read_crosstable(web.engine, ladder.scope, (first, other), ())
    return [
        CommonOpponent(name, first_cell, other_cell)
        for name in ladder.table.entrants
        if (first_cell := cells.get((first, name))) and (other_cell := cells.get((other, name)))
    ]


def _bot(ladder: Ladder, page_request: PageRequest, which: str) -> str:
    name = page_request.query.get(which, "")
    if not name:
        raise InvalidQuery("choose two versions: ?one=NAME@VERSION&other=NAME@VERSION.")
    names = ladder.table.entrants
    if name in names:
        return name
    # A name without a version stands for the bot's strongest version on this ladder.
    full_name = next((each for each in names if each.partition("@")[0] == name), None)
    if full_name is None:
        hint = nearest(name, {*names, *(each.partition("@")[0] for each in names)}) or "."
        raise PageNotFound(
            f"{wording.one_line(name)} is not on the ladder {ladder.scope.name}{hint}"
        )
    return full_name


def _test_of(page_request: PageRequest) -> SprtSettings | None:
    text = page_request.query.get("sprt", "")
    if not text:
        return None
    try:
        low, high = (float(end) for end in text.replace(",", " ").split())
        return SprtSettings(low, high)
    except ValueError:
        raise InvalidQuery("sprt must be two differences in Elo points, such as 0 25.") from None


def _compared(
    web: WebState, ladder: Ladder, pair: tuple[str, str], test: SprtSettings | None
) -> LadderComparison | None:
    """Return the comparison by common matches; None if the versions have not met."""
    try:
        return head_to_head.compare_stored(web.engine, ladder.scope, pair, None, test)
    except head_to_head.NeverMet:
        return None
    except head_to_head.UnequalMatches as error:
        raise InvalidQuery(
            f"{error}; `pokearena compare --tournament` compares one at a time."
        ) from None


def _bars(comparison: Comparison) -> list[charts.Bar]:
    """Return the bar chart of the boards by result."""
    if comparison.pairs is None:
        return []
    ll, ld, wl, dd, wd, ww = comparison.pairs
    counts = (ll, ld, wl + dd, wd, ww)
    titles = [f"{label}: {count} boards" for count, (_, label) in zip(counts, PAIRS, strict=True)]
    return charts.bars(counts, titles, [short for short, _ in PAIRS])


def _as_json(match: PlayedMatch, name: str) -> dict[str, Any]:
    return {
        "match": match.match,
        "tournament": match.tournament,
        "closed": wording.iso(match.closed),
        "score": round(match.score(name), 6),
        "faults": match.faults(),
    }


def _csv(matches: Sequence[PlayedMatch], first: str, other: str) -> TextTable:
    heads = ("match", "tournament", "closed", "bot", "opponent", "score", "games")
    rows = [
        (m.match, m.tournament, wording.iso(m.closed), first, other, m.score(first), len(m.games))
        for m in matches
    ]
    return TextTable(heads, rows)
