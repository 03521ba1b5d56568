"""Page of the search: bots, owners, tournaments and matches that fit some words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arena.presentation import wording
from arena.store import ids
from arena.store.matches import history, search
from arena.store.matches.search import MatchFilter
from arena.store.tournaments import tournaments
from arena.tournaments import json_values
from arena.web.data.web_state import WebState
from arena.web.page import Page, PageRequest, TextTable
from arena.web.pages import bots
from arena.web.pages.bots import BotLine
from arena.web.pages.matches import MatchLine, line_of

QUERY = (("q", "words: names of bots, owners and tournaments, or the start of an id"),)
"""Query parameters of the page."""
MAX_RESULTS = 20
"""Maximum number of results of each kind."""
_LETTERS = 200
_BETWEEN = frozenset(("v", "vs", "versus", "against"))


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The results of a search.

    Args:
        owners: the owners with the number of their bots.
        tournaments: ids, names and forms of tournaments, newest first.
        matches: closed matches of the bots that the words name, or with the id, newest first.
        open_matches: ids of open matches that begin with the words.
        bot: the bot whose matches these are; empty without one.
        opponent: the second bot that the words name; empty without one.
    """

    words: str
    bots: Sequence[BotLine] = ()
    owners: Sequence[tuple[str, int]] = ()
    tournaments: Sequence[tournaments.TournamentName] = ()
    matches: Sequence[MatchLine] = ()
    open_matches: Sequence[str] = ()
    bot: str = ""
    opponent: str = ""

    @property
    def total(self) -> int:
        """Number of results on the page."""
        kinds = (self.bots, self.owners, self.tournaments, self.matches, self.open_matches)
        return sum(map(len, kinds))


def search_page(web: WebState, page_request: PageRequest) -> Page:
    words = " ".join(page_request.query.get("q", "")[:_LETTERS].split())
    results = _results(web, words) if words else SearchResults("")
    return Page(
        title=f"Search: {words}" if words else "Search",
        template="search.html",
        model={"results": results, "most": MAX_RESULTS, "near": _near(web, results)},
        data=_json(results),
        csv=_table(results),
        text=_table(results),
        description="Search bots, owners, tournaments and matches.",
    )


def _results(web: WebState, words: str) -> SearchResults:
    every = bots.lines(web.snapshot)
    owned: dict[str, int] = {}
    for line in every:
        owned[line.owner] = owned.get(line.owner, 0) + 1
    named = _named_bots(words, {line.name for line in every}, web.snapshot.versions)
    matches, open_matches = _matches(web, words, named)
    return SearchResults(
        words,
        bots=bots.matching(every, words)[:MAX_RESULTS]
        or [line for line in every if line.name in named],
        owners=[
            (name, number)
            for name, number in sorted(owned.items())
            if name and wording.contains_words(name, words)
        ][:MAX_RESULTS],
        tournaments=tournaments.names(web.engine, words, MAX_RESULTS),
        matches=matches,
        open_matches=open_matches,
        bot=named[0] if named else "",
        opponent=named[1] if len(named) > 1 else "",
    )


def _near(web: WebState, results: SearchResults) -> list[str]:
    """Return the names nearest to words without a result."""
    from difflib import get_close_matches  # Slow to import, and rarely needed.

    if results.total:
        return []
    names = {name for each in web.snapshot.versions.values() for name in (each.name, each.owner)}
    names |= {each.name for each in tournaments.names(web.engine, "", MAX_RESULTS)}
    return get_close_matches(results.words, [*filter(None, names)], n=3, cutoff=0.5)


def _named_bots(words: str, names: set[str], versions: Any) -> list[str]:
    """Return the one or two bots or versions that the words are; empty if they are others."""
    if words in names:
        return [words]
    named = [word for word in words.split() if word.lower() not in _BETWEEN]
    known = [word for word in named if word in names or word in versions]
    return known if len(known) == len(named) and len(known) <= 2 else []


def _matches(
    web: WebState, words: str, named: Sequence[str]
) -> tuple[list[MatchLine], tuple[str, ...]]:
    """Return the closed matches, and the ids of open ones."""
    if named:
        match_filter = MatchFilter(bot=named[0], opponent="".join(named[1:]))
        selected = search.closed_matches(web.engine, match_filter, limit=MAX_RESULTS)
        return [line_of(match) for match in selected.matches], ()
    if not words.startswith("m-"):
        return [], ()
    matching = ids.matches(web.engine, words, MAX_RESULTS)
    closed = history.of_ids(web.engine, matching)
    closed_ids = {match.match for match in closed}
    others = tuple(match for match in matching if match not in closed_ids)
    return [line_of(match) for match in closed], others


def _json(results: SearchResults) -> dict[str, Any]:
    return {
        "query": results.words,
        "bots": [line.to_json() for line in results.bots],
        "owners": [{"owner": name, "bots": number} for name, number in results.owners],
        "tournaments": [
            {
                "tournament": tournament.id,
                "name": tournament.name,
                "form": tournament.form,
                "state": str(tournament.state),
                "created": json_values.iso(tournament.created),
            }
            for tournament in results.tournaments
        ],
        "matches": [line.to_json() for line in results.matches],
        "open_matches": list(results.open_matches),
    }


def _table(results: SearchResults) -> TextTable:
    rows: list[tuple[str, str, str]] = []
    rows += [("bot", line.name, line.owner) for line in results.bots]
    rows += [("owner", name, "") for name, _ in results.owners]
    rows += [("tournament", tournament.id, tournament.name) for tournament in results.tournaments]
    rows += [
        ("match", line.match.match, " v ".join(line.match.entrants)) for line in results.matches
    ]
    rows += [("match", match, "") for match in results.open_matches]
    return TextTable(("<kind", "<name", "<details"), rows)
