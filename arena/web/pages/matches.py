"""Page of all closed matches, newest first, with filters."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from arena.presentation import wording
from arena.ratings.closed_match import FORFEIT
from arena.store.matches import search
from arena.store.matches.closed_matches import PlayedMatch
from arena.store.matches.search import FoundMatches, MatchFilter, SearchPosition
from arena.tournaments import json_values
from arena.web import paging
from arena.web.data.featured_replay import FeaturedReplay, replay_of
from arena.web.data.web_state import WebState
from arena.web.page import InvalidQuery, Page, PageRequest, TextTable, ladder_in_query
from referee.games.registry import GAMES

QUERY = (
    ("bot", "only matches of this bot, as name or name@version"),
    ("opponent", "only matches with this bot as another entrant, likewise"),
    ("owner", "only matches with a bot of this owner"),
    ("tournament", "only matches of the tournament with this id"),
    ("game", "only matches of the game with this id"),
    ("form", "only matches of this form or ladder, such as GAME-4 or GAME~slow"),
    ("tag", "only matches in which a bot has set this tag"),
    ("since", "only matches that closed on this day (YYYY-MM-DD, UTC) or later"),
    ("until", "only matches that closed on this day or earlier"),
    ("after", "place of the last match of the previous page; the `Link` header contains it"),
    ("limit", "items per page, at most 500"),
)
"""Query parameters of the page."""
_WORDS = ("bot", "opponent", "owner", "tournament", "game", "form", "tag")
_DAYS = ("since", "until")
_RARE = ("opponent", "form", "owner", "tournament", "tag", *_DAYS)
"""Filters that are folded on the page."""
_PLACE = re.compile(r"(\d{1,12}(?:\.\d{1,12})?):(m-[0-9a-z]{1,20})")


@dataclass(frozen=True, slots=True)
class MatchLine:
    """A match of the list."""

    match: PlayedMatch
    winner: str
    """The entrant with the highest score; empty if several have it."""
    scores: tuple[float, ...]
    """The mean score of each entrant against the others, from 0 to 1."""

    @property
    def featured(self) -> FeaturedReplay | None:
        """The game that is worth watching; None without a finished one."""
        return replay_of(self.match)

    @property
    def won(self) -> tuple[int, ...]:
        """The number of games that each entrant won alone."""
        games = self.match.games
        return tuple(sum(game.is_won(at) for game in games) for at in range(len(self.scores)))

    @property
    def points(self) -> tuple[int, ...]:
        """The points of each entrant, of the games that have any; empty without one."""
        scores = [game.scores for game in self.match.games if game.scores]
        return tuple(map(sum, zip(*scores, strict=True)))

    @property
    def drawn(self) -> int:
        """The number of games without a winner."""
        return len(self.match.games) - sum(self.won)

    @property
    def unplayed(self) -> str:
        """Why no game is worth watching: each ended by a forfeit or another fault."""
        verdicts = [set(game.verdicts) for game in self.match.games]
        return "forfeited" if all(FORFEIT in each for each in verdicts) else "ended by faults"

    @property
    def day(self) -> str:
        """The day on which the match closed, in UTC."""
        return wording.moment(self.match.closed)[:10]

    @property
    def time(self) -> str:
        """The time of that day."""
        return wording.moment(self.match.closed)[11:16]

    def to_json(self) -> dict[str, Any]:
        match = self.match
        return {
            "match": match.match,
            "tournament": match.tournament,
            "form": match.form,
            "ladder": match.ladder,
            "entrants": list(match.entrants),
            "scores": [round(score, 6) for score in self.scores],
            "winner": self.winner or None,
            "faults": match.faults(),
            "closed": json_values.iso(match.closed),
        }


def line_of(match: PlayedMatch) -> MatchLine:
    scores = tuple(match.score(entrant) for entrant in match.entrants)
    best = [
        entrant
        for entrant, score in zip(match.entrants, scores, strict=True)
        if math.isclose(score, max(scores), abs_tol=1e-9)
    ]
    return MatchLine(match, best[0] if len(best) == 1 else "", scores)


def matches_page(web: WebState, page_request: PageRequest) -> Page:
    """Return the page of the closed matches that the query selects; raises InvalidQuery."""
    query = page_request.query
    selected = search.closed_matches(
        web.engine,
        _filter(query),
        _position(query.get("after", "")),
        paging.limit_of(page_request),
    )
    lines = [line_of(match) for match in selected.matches]
    conditions = {name: query[name] for name in (*_WORDS, *_DAYS) if query.get(name)}
    following = _following(query, selected)
    return Page(
        title="Matches",
        template="matches.html",
        model={
            "lines": lines,
            "conditions": conditions,
            "rare": _RARE,
            "days": _DAYS,
            "forms": _forms(web, conditions.get("form", "")),
            "games": tuple((name, game.title) for name, game in GAMES.items()),
            "following": following,
            "first": "?" + urlencode(conditions) if query.get("after") else "",
        },
        data={
            "filter": conditions,
            "matches": [line.to_json() for line in lines],
            "next": following or None,
        },
        csv=_table(lines, wording.iso),
        text=_table(lines, wording.moment),
        headers={"Link": f'<{following}>; rel="next"'} if following else {},
        description="Closed matches with their results, newest first.",
    )


def _forms(web: WebState, chosen: str) -> list[str]:
    """Return the forms that have been rated, and the chosen one."""
    rated = {
        name
        for ladder in web.snapshot.ladders.values()
        for name in (ladder.scope.form, ladder.scope.name)
    }
    return sorted(rated | ({chosen} if chosen else set()))


def _filter(query: Mapping[str, str]) -> MatchFilter:
    until = _day(query, "until")
    words = {name: query.get(name, "").strip() for name in _WORDS}
    return MatchFilter(
        **words | {"form": ladder_in_query(words["form"])},
        since=None if (since := _day(query, "since")) is None else since.timestamp(),
        until=None if until is None else (until + timedelta(days=1)).timestamp(),
    )


def _day(query: Mapping[str, str], name: str) -> datetime | None:
    text = query.get(name, "")
    if not text:
        return None
    if re.fullmatch(r"20\d\d-\d\d-\d\d", text, re.ASCII):
        try:
            return datetime.fromisoformat(text).replace(tzinfo=UTC)
        except ValueError:
            pass
    raise InvalidQuery(f"{name} must be a day such as 2026-11-24.")


def _position(text: str) -> SearchPosition | None:
    if not text:
        return None
    place = _PLACE.fullmatch(text)
    if place is None:
        raise InvalidQuery("`after` must be a cursor copied from a `Link` header.")
    return SearchPosition(float(place[1]), place[2])


def _following(query: Mapping[str, str], selected: FoundMatches) -> str:
    """Return the relative URL of the next page; empty on the last page."""
    if selected.last is None:
        return ""
    kept = {name: text for name, text in query.items() if text and name != "after"}
    return "?" + urlencode({**kept, "after": f"{selected.last.ended!r}:{selected.last.match}"})


def _table(lines: list[MatchLine], time: Any) -> TextTable:
    return TextTable(
        ("<match", "<tournament", "<form", "<entrants", "<scores", "<winner", "<closed"),
        [
            (
                line.match.match,
                line.match.tournament,
                line.match.ladder,
                " v ".join(line.match.entrants),
                " : ".join(wording.percent(score, 1) for score in line.scores),
                line.winner or "drawn",
                time(line.match.closed),
            )
            for line in lines
        ],
    )
