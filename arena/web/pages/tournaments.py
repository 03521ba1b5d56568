"""Page of all tournaments: those that are not over, then the newest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from arena.presentation import wording
from arena.store.schema import TournamentState
from arena.store.tournaments import tournaments
from arena.store.tournaments.challenges import FORMAT
from arena.store.tournaments.tournaments import Tournament, TournamentProgress
from arena.tournaments import json_values, time_estimate
from arena.web import paging
from arena.web.data.time_estimates import TimeEstimates
from arena.web.data.web_state import WebState
from arena.web.page import InvalidQuery, Page, PageRequest, TextTable
from arena.web.pages import atom_feeds
from referee.games.registry import GAMES

LADDER: Final = "ladder"
"""The format of ladders."""
STATES = tuple(map(str, TournamentState))
"""States of a tournament."""
QUERY = (
    ("find", "only tournaments whose id, name, form or bots contain each of these words"),
    ("bot", "only tournaments with this bot, as name or name@version"),
    ("game", "only tournaments of the game with this id"),
    ("state", f"only tournaments in this state: {', '.join(STATES)}"),
    *paging.QUERY,
)
"""Query parameters of the page."""


@dataclass(frozen=True, slots=True)
class TournamentLine:
    """A tournament of the list."""

    tournament: Tournament
    progress: TournamentProgress
    estimate: TimeEstimates

    @property
    def is_endless(self) -> bool:
        """Whether it is a ladder that runs until somebody ends it."""
        return is_endless(self.tournament)

    @property
    def games(self) -> int:
        """Expected number of games; the planned number if the estimate is missing."""
        return self.estimate.games or self.progress.planned

    @property
    def left(self) -> str:
        """Expected time until the end, in words; empty if unknown."""
        seconds = self.estimate.seconds_left
        return "" if seconds is None else time_estimate.duration(seconds)


def is_endless(tournament: Tournament) -> bool:
    """Whether a tournament is a running ladder without a limit; `/ladders` lists these."""
    plan = tournament.plan
    is_ladder = plan.format == LADDER and not plan.settings.get("limit")
    return is_ladder and tournament.ended is None


def tournaments_page(web: WebState, page_request: PageRequest) -> Page:
    """Return the page of all tournaments, without the challenges."""
    every = _page(web, page_request, "Tournaments")
    links = page_request.links
    return replace(
        every,
        feed=lambda: atom_feeds.of_all_tournaments(web, links),
        feed_link=links.to("tournaments.atom"),
    )


def challenges(web: WebState, page_request: PageRequest) -> Page:
    return _page(web, page_request, "Challenges")


def _page(web: WebState, page_request: PageRequest, title: str) -> Page:
    selected = [
        tournament
        for tournament in reversed(tournaments.list_tournaments(web.engine))
        if (tournament.plan.format == FORMAT) == (title == "Challenges")
        and not is_endless(tournament)
        and _has(tournament, page_request)
    ]
    selected.sort(key=lambda each: (each.ended is not None, each.state != TournamentState.RUNNING))
    piece = paging.selection_of(page_request).cut(selected)
    lines = [line_of(web, item) for item in piece.items]
    heads = (
        *("<tournament", "<name", "<form", "<format", "bots", "<state", "games", "planned"),
        "<begun",
    )
    return Page(
        title=title,
        template="tournaments.html",
        model={
            "lines": lines,
            "piece": piece,
            "address": title.lower(),
            "chosen": {
                name: page_request.query.get(name, "") for name in ("find", "bot", "game", "state")
            },
            "games": tuple((name, game.title) for name, game in GAMES.items()),
            "states": STATES,
            "champions": web.champions.of([(line.tournament, line.progress) for line in lines]),
        },
        data={
            title.lower(): [
                json_values.tournament(line.tournament, line.progress) for line in lines
            ],
            "list": piece.to_json(),
        },
        csv=TextTable(heads, [_row(line, wording.iso) for line in lines]),
        text=TextTable(heads, [_row(line, wording.moment) for line in lines]),
        parts=("tournament-lines",),
        headers=piece.headers,
    )


def _has(tournament: Tournament, page_request: PageRequest) -> bool:
    plan, query = tournament.plan, page_request.query
    bot, state = query.get("bot", ""), query.get("state", "")
    if state not in ("", *STATES):
        raise InvalidQuery(f"state must be one of: {', '.join(STATES)}.")
    text = " ".join((tournament.id, plan.name, plan.form, *tournament.entrants))
    return (
        wording.contains_words(text, query.get("find", ""))
        and query.get("game", "") in ("", plan.game)
        and state in ("", tournament.state)
        and (not bot or any(bot in (name, name.partition("@")[0]) for name in tournament.entrants))
    )


def line_of(web: WebState, tournament: Tournament) -> TournamentLine:
    progress = tournaments.progress(web.engine, tournament.id)
    return TournamentLine(
        tournament, progress, web.snapshot.time_estimates.get(tournament.id, TimeEstimates())
    )


def _row(line: TournamentLine, time: Callable[[float], str]) -> tuple[object, ...]:
    tournament, plan = line.tournament, line.tournament.plan
    return (
        *(tournament.id, plan.name, plan.form, plan.format, len(tournament.entrants)),
        *(str(tournament.state), line.progress.games, line.games, time(tournament.created)),
    )
