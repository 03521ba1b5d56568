"""Endpoints of people who play against bots: begin a match, choose an action, see the table."""

from __future__ import annotations

import time
from typing import Final

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from arena.errors import TooMany
from arena.matches.hints import gives_hints, hint_for
from arena.matches.play_table import PlayTable, question_id
from arena.system.token_buckets import Buckets
from arena.web.data.web_state import WebState
from arena.web.page import PageRequest, PageRoute
from arena.web.pages import play
from arena.web.pages.replay import QUERY as REPLAY_QUERY
from arena.web.serving.responses import LIVE, Endpoint, PageEndpoints
from arena.web.serving.root_path import links_of
from arena.web.serving.security import check_form_origin, expect_loopback_name, form_of

GAME: Final = "/play/{game}"
TABLE: Final = PageRoute(
    "/play/tables/{id}",
    play.table_page,
    "The table of a person.",
    query=(
        ("find", "only actions that contain these words"),
        ("picks", "elements of the table: unlisted actions that begin with them are added"),
    ),
    kinds=("html",),
    private=True,
)
REPLAY: Final = PageRoute(
    "/play/tables/{id}/replay",
    play.replay_page,
    "The replay of a person's match.",
    query=REPLAY_QUERY,
    kinds=("html",),
    private=True,
)
RECORD: Final = "/play/tables/{id}/record.jsonl"
_START_SECONDS: Final = 2.0
"""Time for which a response waits for the person's first turn."""
_TURN_SECONDS: Final = 1.0
"""Time for which a response waits for the person's next turn."""
HINT_RATE: Final = 0.1
"""Hints per second and client."""
HINT_BURST: Final = 6


class PlayRequests:
    """The endpoints. A table is private: only its address, which cannot be guessed, leads to it."""

    def __init__(self, web: WebState) -> None:
        self._web = web
        self._hints = Buckets(HINT_RATE if web.settings.rate else 0, HINT_BURST)

    def routes(self, serving: PageEndpoints) -> list[Route]:
        """Return the routes of tables.

        Args:
            serving: makes the endpoints of pages.
        """
        return [
            Route(GAME, serving.failing(self.begin), methods=["POST"]),
            Route(TABLE.path, serving.failing(self.choose), methods=["POST"]),
            Route(TABLE.path, self._page(serving, TABLE)),
            Route(LIVE + TABLE.path, serving.live_updates(TABLE)),
            Route(REPLAY.path, self._page(serving, REPLAY)),
            Route(RECORD, serving.failing(self.record)),
        ]

    async def begin(self, request: Request) -> Response:
        """Begin the match that a form describes; redirect to its table."""
        settings = self._web.settings
        if not settings.seats_people:
            raise HTTPException(403, "this arena does not let people play on its pages.")
        if not settings.play:
            expect_loopback_name(request)
        check_form_origin(request, proxied=settings.proxied)
        form = await form_of(request)
        client = request.scope["state"]["client"]
        tables = self._web.play_tables
        try:
            tables.check_room(client)
            match = await anyio.to_thread.run_sync(
                play.prepared, self._web, request.path_params["game"], form
            )
            fields = play.setup_fields(request.path_params["game"], form)
            table = tables.open(match, client, fields)
        except TooMany as error:
            raise HTTPException(429, str(error), {"Retry-After": str(error.wait)}) from None
        await anyio.to_thread.run_sync(table.await_turn, _START_SECONDS)
        return _redirect(request, table)

    async def choose(self, request: Request) -> Response:
        """Play a choice, give a hint, leave the table or delete it; redirect to the page.

        A refused choice is explained on the table's page.
        """
        check_form_origin(request, proxied=self._web.settings.proxied)
        table = self._table(request)
        form = await form_of(request)
        table.touch()
        if form.get("delete"):
            return await self._deleted(request, table)
        if form.get("hint"):
            return await self._hinted(request, table)
        if form.get("leave"):
            table.leave()
        else:
            text = form.get("action") or form.get("text", "")
            refused = table.choose(form.get("question", ""), text)
            if refused is not None:
                return _redirect(request, table, text if refused.code == "several" else "")
        await anyio.to_thread.run_sync(table.await_turn, _TURN_SECONDS)
        return _redirect(request, table)

    async def _hinted(self, request: Request, table: PlayTable) -> Response:
        """Compute the hint for the open question."""
        question = table.state.question
        if question is not None and gives_hints(question.rules.id):
            wait = self._hints.take(request.scope["state"]["client"], time.monotonic())
            if wait:
                raise HTTPException(
                    429, f"too many hints; retry in {wait} s.", {"Retry-After": str(wait)}
                )
            hint = await anyio.to_thread.run_sync(hint_for, question, question_id(question))
            table.show_hint(hint)
        return _redirect(request, table)

    async def _deleted(self, request: Request, table: PlayTable) -> Response:
        """Delete the record and the table; redirect to the page of the game."""
        if not table.is_over:
            raise HTTPException(409, "the record can be deleted when the match is over.")
        await anyio.to_thread.run_sync(self._web.play_tables.delete, table)
        address = links_of(request).to("games", table.match.spec.game)
        return RedirectResponse(address, 303, {"Cache-Control": "no-store"})

    async def record(self, request: Request) -> Response:
        """Return the record of a finished match."""
        table = self._table(request)
        if not table.is_over:
            raise HTTPException(409, "the record is available when the match is over.")
        name = f'attachment; filename="{table.match.spec.id}.jsonl"'
        headers = {"Content-Disposition": name, "Cache-Control": "no-store"}
        return Response(table.match.record, headers=headers, media_type="application/jsonl")

    def _page(self, serving: PageEndpoints, address: PageRoute) -> Endpoint:
        """Return the endpoint of a page of a table; a request shows that the person is present."""
        answer = serving.page(address)

        async def touch_and_answer(request: Request) -> Response:
            table = self._web.play_tables.find(request.path_params["id"])
            if table is not None:
                table.touch()
            return await answer(request)

        return touch_and_answer

    def _table(self, request: Request) -> PlayTable:
        links = links_of(request)
        return play.find_table(self._web, PageRequest(dict(request.path_params), {}, links))


def _redirect(request: Request, table: PlayTable, find: str = "") -> Response:
    """Return the redirect to a table."""
    address = links_of(request).to("play", "tables", table.id, find=find)
    return RedirectResponse(address, 303, {"Cache-Control": "no-store"})
