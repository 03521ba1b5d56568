"""PNG pictures of matches, games, ladders and tournaments, for previews of links to their pages."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from arena.ladders import ladder_columns
from arena.ladders.columns import Rendering, columns_of, text_table
from arena.ladders.ladder_columns import LADDER, TOURNAMENT
from arena.presentation import wording
from arena.store.matches import listing, results
from arena.store.schema import MatchState
from arena.store.tournaments import tournaments
from arena.web.data import tournament_standings
from arena.web.data.web_state import WebState
from arena.web.page import InvalidQuery, PageNotFound
from arena.web.pages.ladder import find_ladder
from arena.web.pages.match import STATES
from arena.web.pages.replay import UNTRUE
from arena.web.pictures import raster, replay_picture, summary_picture
from arena.web.serving.responses import CachedResponse, Endpoint, ResponseCache
from referee.numbering import game_text
from referee.record import read_games

SIZE: Final = (1200, 630)
"""Width and height of a picture in pixels, as services with previews of links recommend."""
KEPT_BYTES: Final = 32 * 2**20
"""Size limit of the cache; the least recently used pictures are removed first."""
_CLOSED_SECONDS, _OPEN_SECONDS = 3600, 60
"""How long a picture is valid: of a closed match, and of something that may change."""
_STEP_SHARE = 0.6
"""The place of the shown position in a game, so that the picture does not give the end away."""
_CONFLICT = 409

log = logging.getLogger("arena.web")

Draw = Callable[[WebState, Request], tuple[str, int]]
"""Returns a picture as an SVG document, and the seconds for which it is valid."""


def routes(web: WebState, failing: Callable[[Endpoint], Endpoint]) -> list[Route]:
    kept = ResponseCache(web.changes, KEPT_BYTES)
    one_at_a_time = anyio.CapacityLimiter(1)

    def endpoint(draw: Draw) -> Endpoint:
        async def answer(request: Request) -> Response:
            if not web.snapshot.at:
                raise HTTPException(503, "the server is starting; retry in 5 s.")

            def write() -> CachedResponse:
                document, seconds = draw(web, request)
                headers = {"Cache-Control": f"public, max-age={seconds}"}
                body = raster.png(document)
                return CachedResponse(body, 200, "image/png", headers, frozenset(), seconds)

            async def in_thread() -> CachedResponse:
                return await anyio.to_thread.run_sync(write, limiter=one_at_a_time)

            key = (request.scope["path"], str(_step(request)))
            return _response(request, await kept.get(key, in_thread))

        return failing(answer)

    return [
        Route("/matches/{id}.png", endpoint(_match)),
        Route("/matches/{id}/games/{n}.png", endpoint(_game)),
        Route("/ladders/{form}.png", endpoint(_ladder)),
        Route("/tournaments/{id}.png", endpoint(_tournament)),
    ]


def _response(request: Request, answer: CachedResponse) -> Response:
    headers = {"ETag": answer.tag, **answer.headers}
    if answer.has_tag_in(request.headers.get("if-none-match", "")):
        return Response(status_code=304, headers=headers)
    return Response(answer.body, headers=headers, media_type=answer.media_type)


def _step(request: Request) -> int | None:
    """Return the requested step; None without one."""
    text = request.query_params.get("step", "")
    return _whole(text) if text else None


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 7):
        raise InvalidQuery("the number of a game and a step must be whole numbers from 0.")
    return int(text)


def _match(web: WebState, request: Request) -> tuple[str, int]:
    match = listing.find_match(web.engine, request.path_params["id"])
    if match.state is MatchState.CLOSED:
        return _position(web, match.id, 0, None)
    plan = tournaments.find_tournament(web.engine, match.tournament).plan
    subtitle = f"{wording.form_name(plan.form)} · {plan.name} · {STATES[match.state]}"
    rows = [("", entrant, "") for entrant in match.entrants]
    return summary_picture.standings("Match", subtitle, rows, SIZE), _OPEN_SECONDS


def _game(web: WebState, request: Request) -> tuple[str, int]:
    number = _whole(request.path_params["n"])
    return _position(web, request.path_params["id"], number, _step(request))


def _position(web: WebState, match: str, number: int, step: int | None) -> tuple[str, int]:
    """Return a position of a closed match; by default one in the second half of the game."""
    cover = results.cover(web.engine, match)
    if cover.seed is None or number not in cover.games:
        raise PageNotFound(f"match {match} is not closed, or has no {game_text(number)}.")
    line = cover.line
    (game,) = read_games(results.game_record(web.engine, match, number))
    try:
        positions = replay_picture.positions(line, game, cover.seed)
    except UNTRUE as error:
        log.warning("game %d of %s cannot be drawn", number, match, exc_info=True)
        raise HTTPException(_CONFLICT, f"the record of {match} is not correct.") from error
    at = int(len(positions) * _STEP_SHARE) if step is None else min(step, len(positions) - 1)
    plan = tournaments.find_tournament(web.engine, line["tournament"]).plan
    document = replay_picture.preview(
        " v ".join(name for name, _ in line["entrants"]),
        f"{wording.form_name(plan.form)} · {plan.name} · game {number + 1} of {len(cover.games)}",
        positions[at],
        SIZE,
        None,
    )
    return document, _CLOSED_SECONDS


def _ladder(web: WebState, request: Request) -> tuple[str, int]:
    form = request.path_params["form"]
    ladder = find_ladder(web, form)
    lines = ladder_columns.lines_of(ladder.table)
    _, rows = text_table(columns_of(LADDER, Rendering.TOP), lines)
    number = f"{len(lines)} version{'s' if len(lines) != 1 else ''}"
    title = f"Ladder: {wording.form_name(form)}"
    return summary_picture.standings(title, number, rows, SIZE), _OPEN_SECONDS


def _tournament(web: WebState, request: Request) -> tuple[str, int]:
    tournament = tournaments.find_tournament(web.engine, request.path_params["id"])
    plan = tournament.plan
    matches = tournaments.progress(web.engine, tournament.id).matches
    state = tournament_standings.format_state(web.engine, tournament, matches)
    table = tournament_standings.standings_of(web.engine, tournament)
    lines = tournament_standings.lines_of(tournament, table, state)
    _, rows = text_table(columns_of(TOURNAMENT, Rendering.PODIUM), lines)
    subtitle = f"{wording.form_name(plan.form)} · {plan.format} · {tournament.state}"
    return summary_picture.standings(plan.name, subtitle, rows, SIZE), _OPEN_SECONDS
