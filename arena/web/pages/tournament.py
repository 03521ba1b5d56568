"""Page of a tournament: progress, standings, crosstable and matches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from arena.ladders import ladder_key, ladder_rows, ladder_values
from arena.ladders.columns import Rendering, columns_of, csv_table, text_table, to_json
from arena.ladders.ladder_columns import TOURNAMENT, EntrantLine
from arena.presentation import wording
from arena.store.matches import listing, results
from arena.store.matches.listing import Match
from arena.store.schema import MatchState, TournamentState
from arena.store.tournaments import tournaments
from arena.store.tournaments.tournaments import Tournament
from arena.tournaments import json_values, tournament_outcome
from arena.web import paging
from arena.web.data import tournament_standings
from arena.web.data.changes import ARENA
from arena.web.data.web_state import WebState
from arena.web.page import Links, Page, PageRequest, TextTable
from arena.web.pages import atom_feeds, ladder, matrix
from arena.web.pages import match as match_page
from arena.web.pages import tournaments as list_page
from arena.web.pages.matrix import MatrixCell
from arena.web.pages.replay_content import options_in_words

_CROSSED = 24
"""Maximum number of entrants for a crosstable on this page; larger ones have their own page."""
_PODIUM = 3
_VOID_SHOWN = 20
_KEPT_SECONDS = 60.0


def tournament_page(web: WebState, page_request: PageRequest) -> Page:
    """Return the page of a tournament; raises NotFound."""
    tournament = tournaments.find_tournament(web.engine, page_request.path["id"])
    overview = list_page.line_of(web, tournament)
    matches = overview.progress.matches
    closed = tournament.state is TournamentState.CLOSED
    is_final = closed and tournament_standings.are_current(web.engine, tournament)
    table = tournament_standings.standings_of(web.engine, tournament)
    state = tournament_standings.format_state(web.engine, tournament, matches)
    lines = tournament_standings.lines_of(tournament, table, state)
    selection = paging.selection_of(page_request, 100)
    listed = listing.matches(
        web.engine, tournament=tournament.id, limit=selection.limit, offset=selection.offset
    )
    piece = selection.of(listed, matches)
    # A static site has no pages of ladders.
    has_ladder_page = tournament.plan.settings.get("open") is True and bool(
        page_request.links.to("ladders", tournament.plan.ladder)
    )
    is_complete = page_request.query.get(ladder.COLUMNS) == ladder.EVERY
    rendering = Rendering.TOURNAMENT_ALL if is_complete else Rendering.TOURNAMENT
    return Page(
        title=f"{tournament.plan.name}: {wording.form_name(tournament.plan.form)}",
        template="tournament.html",
        picture=page_request.links.to("tournaments", f"{tournament.id}.png"),
        manage=page_request.links.to("organiser", "tournaments", tournament.id),
        model={
            "tournament": tournament,
            "overview": overview,
            "options": options_in_words(tournament.plan.game, tournament.plan.options),
            "closed": closed,
            "waits": web.workers.waiting_reason(
                web.engine, tournament.plan.game, tournament=tournament.id
            )
            if tournament.state is TournamentState.RUNNING
            else "",
            "piece": piece,
            "lines": lines,
            "columns": columns_of(TOURNAMENT, rendering, lines),
            "is_complete": is_complete,
            "has_ladder_page": has_ladder_page,
            "crossed": []
            if has_ladder_page
            else _crossed(web, page_request.links, tournament, lines, listed),
            "remarks": list(ladder_values.remarks(table)),
            "champions": tournament_outcome.first_place(tournament, state.step, table),
            "podium": _podium(lines, has_rule=bool(state.ranking)) if closed else [],
            "challengers": tournament_standings.challengers_of(tournament),
            "format_state": state,
            "drained": tournament_outcome.uncounted_matches(state.step) if state.step else (),
            "places": {
                match.place: match
                for match in listing.matches(web.engine, tournament=tournament.id)
            }
            if state.stages
            else {},
            "rounds": [(n, list(group)) for n, group in groupby(listed, lambda match: match.round)],
            "states": match_page.STATES,
            "void": listing.matches(
                web.engine, tournament=tournament.id, states=[MatchState.VOID], limit=_VOID_SHOWN
            ),
            "winners": results.winners(web.engine, [match.id for match in listed]),
            "checked": _checked(web, listed),
        },
        data={
            **json_values.tournament(tournament, overview.progress),
            "seconds_left": overview.estimate.seconds_left,
            "matches_expected": overview.estimate.matches,
            "standings": [to_json(TOURNAMENT, line) for line in lines],
            "decision": tournament_outcome.to_json(state.step) if state.step else None,
            "schedule": [json_values.match(match) for match in listed],
            "list": piece.to_json(),
        },
        csv=TextTable(*csv_table(TOURNAMENT, lines)),
        text=TextTable(*text_table(columns_of(TOURNAMENT, Rendering.TOURNAMENT_ALL, lines), lines)),
        parts=(
            "tournament-state",
            "tournament-standings",
            "tournament-matches",
            "tournament-settings",
        ),
        headers=piece.headers,
        # A closed and rated tournament changes only in the number of records verified here.
        still=is_final,
        topics=frozenset() if is_final else frozenset({ARENA}),
        fresh=_KEPT_SECONDS if is_final else 20.0,
        feed=lambda: atom_feeds.of_tournament(web, page_request.links, tournament),
        feed_link=page_request.links.to("tournaments", f"{tournament.id}.atom"),
    )


def _podium(lines: Sequence[EntrantLine], *, has_rule: bool) -> list[EntrantLine]:
    """Return the first places of a tournament with more than two entrants.

    Entrants that share a place are shown together, or not at all if they are too many.
    """
    if len(lines) < _PODIUM:
        return []
    played = [line for line in lines if line.rank]
    if not has_rule:
        return played[:_PODIUM]
    shown: list[EntrantLine] = []
    for _, group in groupby(played, lambda line: line.rank):
        sharing = list(group)
        if len(shown) >= _PODIUM or len(shown) + len(sharing) > _PODIUM + 1:
            break
        shown += sharing
    return shown


def _crossed(
    web: WebState,
    links: Links,
    tournament: Tournament,
    lines: Sequence[EntrantLine],
    listed: Sequence[Match],
) -> list[tuple[str, list[MatrixCell]]]:
    """Return the crosstable in the order of the standings; empty above _CROSSED entrants.

    A cell leads to the match of its two entrants, or to the list of their matches.
    """
    names = [line.standing.entrant for line in lines]
    if not 2 < len(names) <= _CROSSED:
        return []
    cells = ladder_rows.read_crosstable(web.engine, ladder_key.of_tournament(tournament), names)
    return [
        (
            name,
            [
                replace(box, link=_link_of_pair(links, tournament, name, box, listed))
                for box in (
                    matrix.score_cell(name, other, cells.get((name, other))) for other in names
                )
            ],
        )
        for name in names
    ]


def _link_of_pair(
    links: Links, tournament: Tournament, name: str, box: MatrixCell, listed: Sequence[Match]
) -> str:
    if box.cell is None:
        return ""
    between = [match.id for match in listed if {name, box.other} <= {*match.entrants}]
    if box.cell.matches == len(between) == 1:
        return links.to("matches", between[0])
    return links.to("matches", tournament=tournament.id, bot=name, opponent=box.other)


def _checked(web: WebState, matches: Sequence[Match]) -> tuple[int, list[str]]:
    """Return the number of records verified here, and the matches whose records have errors."""
    known = {match.id: web.verifications.known(match.id) for match in matches}
    checks = {name: check for name, check in known.items() if check is not None}
    return len(checks), [name for name, check in checks.items() if check.problems]
