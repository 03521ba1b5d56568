"""Page that compares two versions on a ladder, with their matches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from arena.ladders import head_to_head
from arena.ladders.head_to_head import Comparison, LadderComparison, SequentialTest
from arena.ratings.duel import Interval
from arena.ratings.sprt import SprtSettings
from arena.store.matches import history
from arena.store.matches.history import PlayedMatch
from arena.web import charts, paging, wording
from arena.web.data.snapshot import LadderSnapshot
from arena.web.data.web_state import WebState
from arena.web.page import InvalidQuery, Page, PageNotFound, PageRequest, TextTable
from arena.web.pages.ladder import found_ladder

PAIRS = (
    ("LL", "lost both"),
    ("LD", "lost one, drew one"),
    ("WL, DD", "even"),
    ("WD", "won one, drew one"),
    ("WW", "won both"),
)
"""Possible results of a board over both seatings."""


def page(web: WebState, page_request: PageRequest) -> Page:
    """Return the comparison page.

    Raises:
        PageNotFound: the versions have not met, or the ladder or a version does not exist.
        InvalidQuery: the query is invalid.
    """
    ladder = found_ladder(web, page_request.path["form"])
    form = ladder.scope.form
    first, other = (_bot(ladder, page_request, name) for name in ("one", "other"))
    if first == other:
        raise InvalidQuery("Choose two different versions.")
    wish = paging.selection_of(page_request, 25)
    result = _found(web, ladder, (first, other), _test_of(page_request))
    pair, of = ({first}, {other}), ladder.scope.tournaments
    listed = history.matches(web.engine, pair, of, wish.offset, wish.limit)
    piece = wish.of(listed, history.count(web.engine, pair, of))
    comparison = result.comparison
    return Page(
        title=f"{first} against {other} at {wording.form_name(form)}",
        template="compare.html",
        model={
            "form": form,
            "one": first,
            "other": other,
            "names": ladder.table.entrants,
            "sprt": page_request.query.get("sprt", ""),
            "found": comparison,
            "facts": facts(comparison),
            "bars": _bars(comparison),
            "verdict": _verdict(comparison.test) if comparison.test else "",
            "piece": piece,
        },
        data={
            **result.to_json(),
            "list": piece.to_json(),
            "played": [_as_json(match, first) for match in piece.items],
        },
        csv=_csv(piece.items, first, other),
        text=TextTable(("<", "<"), facts(comparison)),
        parts=("compare-facts", "compare-matches"),
        headers=piece.headers,
    )


def facts(comparison: Comparison) -> list[tuple[str, str]]:
    """Return the comparison as (name, value) pairs."""
    games = comparison.wins + comparison.draws + comparison.losses
    rows = [
        ("score", wording.percent(comparison.duel.score, 1)),
        (
            "games",
            f"{games}: {comparison.wins} won, {comparison.draws} drawn, {comparison.losses} lost",
        ),
        ("matches", str(comparison.matches)),
        ("Elo difference", _interval(comparison.elo)),
    ]
    if comparison.superiority is not None:
        rows.append(("likelihood of superiority", wording.percent(comparison.superiority, 2)))
    if comparison.duel.error:
        rows.append(("normalized Elo", _interval(comparison.normalized)))
    points = comparison.points
    if points is not None:
        ends = (points.low, points.high)
        inner = f" ({_signed(ends[0])} to {_signed(ends[1])})" if None not in ends else ""
        rows.append(("points per board", f"{_signed(points.mean)}{inner}"))
    if comparison.test:
        low, high = comparison.test.settings.bounds
        rows.append(
            (
                "log-likelihood ratio",
                f"{_signed(comparison.test.ratio, 2)} ({_signed(low, 2)} to {_signed(high, 2)})",
            )
        )
        rows.append(("SPRT", _verdict(comparison.test)))
    return rows


def _bot(ladder: LadderSnapshot, page_request: PageRequest, which: str) -> str:
    name = page_request.query.get(which, "")
    if not name:
        raise InvalidQuery("choose two versions: ?one=NAME@VERSION&other=NAME@VERSION.")
    names = ladder.table.entrants
    if name in names:
        return name
    # A name without a version stands for the bot's strongest version on this ladder.
    full_name = next((each for each in names if each.partition("@")[0] == name), None)
    if full_name is None:
        raise PageNotFound(f"{wording.one_line(name)} is not on the ladder {ladder.scope.form}.")
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


def _found(
    web: WebState, ladder: LadderSnapshot, pair: tuple[str, str], test: SprtSettings | None
) -> LadderComparison:
    try:
        return head_to_head.compare_stored(web.engine, ladder.scope, pair, None, test)
    except head_to_head.NeverMet as error:
        raise PageNotFound(str(error)) from None
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


def _verdict(test: SequentialTest) -> str:
    s = test.settings
    if test.decided is None:
        return "open"
    says = {"high": f"at least {s.high:g} better", "low": f"at most {s.low:g} better"}
    return f"{says[test.verdict]}, decided after {test.decided[0]} matches"


def _interval(interval: Interval) -> str:
    if not math.isfinite(interval.value):
        return "all games won" if interval.value > 0 else "all games lost"
    return f"{_signed(interval.value)} ({_signed(interval.low)} to {_signed(interval.high)})"


def _signed(value: float | None, digits: int = 1) -> str:
    if value is None:
        return "–"
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞"
    return wording.signed(value, digits)


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
