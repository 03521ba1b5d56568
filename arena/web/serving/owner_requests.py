"""Requests of owners other than uploads, authenticated by their tokens."""

from __future__ import annotations

from typing import Any, Final

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from arena.errors import NotFound, TooMany
from arena.store.bots import versions
from arena.store.bots.versions import Version
from arena.store.matches import listing
from arena.store.tournaments.challenges import ChallengeLimits
from arena.store.tournaments.tournaments import Tournament
from arena.submissions import challenges, open_ladders
from arena.submissions.challenges import ChallengeRefused
from arena.tournaments import json_values
from arena.web.data.web_state import WebState
from arena.web.serving.root_path import links_of
from arena.web.serving.security import owner_of

RETIRE: Final = "/bots/{name}/retire"
CHALLENGE: Final = "/challenges"
BOARDS: Final = 10
"""Boards of a challenge that does not state their number."""
_LETTERS: Final = 100


class OwnerRequests:
    """Endpoints with which owners retire versions and start challenges."""

    def __init__(self, web: WebState) -> None:
        self._web = web

    async def retire(self, request: Request) -> Response:
        """Retire a version of the sender's bot and withdraw it from open ladders."""
        owner = await owner_of(request, self._web.engine)
        number = request.query_params.get("version", "")[:_LETTERS]
        label = f"{request.path_params['name']}@{number}"
        return JSONResponse(await anyio.to_thread.run_sync(self._retired, owner, label))

    def _retired(self, owner: str, label: str) -> dict[str, Any]:
        version = self._own_version(owner, label)
        withdrawn = open_ladders.retire(self._web.engine, version)
        retired = versions.find_version(self._web.engine, label)
        return {
            "version": retired.id,
            "retired": json_values.iso(retired.retired),
            "withdrawn": list(withdrawn),
        }

    async def challenge(self, request: Request) -> Response:
        """Start a challenge, and respond with its tournament and its match."""
        owner = await owner_of(request, self._web.engine)
        if not self._web.settings.challenges:
            raise HTTPException(403, "this arena accepts no challenges.")
        query = request.query_params
        bot, opponent, form, boards = (
            query.get(name, "")[:_LETTERS] for name in ("bot", "opponent", "form", "boards")
        )
        if not (boards or "1").isdecimal() or not boards.isascii():
            raise HTTPException(422, f'"boards" must be a whole number, not "{boards}".')

        def begin() -> Tournament:
            number = int(boards or BOARDS)
            limits = self._limits
            return challenges.begin(self._web.engine, owner, bot, opponent, form, number, limits)

        try:
            tournament = await anyio.to_thread.run_sync(begin)
        except ChallengeRefused as refused:
            raise HTTPException(refused.status, str(refused)) from None
        except TooMany as error:
            raise HTTPException(429, str(error), {"Retry-After": str(error.wait)}) from None
        (match,) = await anyio.to_thread.run_sync(
            lambda: listing.matches(self._web.engine, tournament=tournament.id)
        )
        page = links_of(request).to("tournaments", tournament.id)
        values = {
            "challenge": tournament.id,
            "match": match.id,
            "form": tournament.plan.form,
            "boards": tournament.plan.boards,
            "games": match.games,
            "entrants": list(tournament.entrants),
            "page": page,
            "created": json_values.iso(tournament.created),
        }
        where = {"Location": page, "Cache-Control": "no-store"}
        return JSONResponse(values, 201, where)

    @property
    def _limits(self) -> ChallengeLimits:
        settings = self._web.settings
        return ChallengeLimits(a_day=settings.challenges, boards=settings.challenge_boards)

    def _own_version(self, owner: str, label: str) -> Version:
        """Return a version of this owner.

        Raises:
            HTTPException: it does not exist, or belongs to someone else.
        """
        try:
            version = versions.find_version(self._web.engine, label)
        except NotFound:
            raise HTTPException(
                404, f"unknown version {label}; write NAME@VERSION, for example mybot@1."
            ) from None
        if version.owner != owner:
            raise HTTPException(403, f"{label} does not belong to {owner}.")
        return version
