"""Addresses with which programs of owners retire versions and start challenges.

They run the actions of `/account`, with values from the query and a token in the header.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from arena.store.access.audit_log import Actor, Origin
from arena.store.access.sessions import Role
from arena.web.data.web_state import WebState
from arena.web.management.account_actions import CHALLENGE, RETIRE
from arena.web.management.action import Action, ActionRequest, ActionResult, InputField
from arena.web.management.endpoints import run_audited
from arena.web.serving.root_path import links_of
from arena.web.serving.security import owner_of

RETIREMENTS: Final = "/bots/{name}/retire"
CHALLENGES: Final = "/challenges"
OPERATIONS: Final = {
    RETIREMENTS: (
        "retire",
        RETIRE,
        (InputField("version", "number of the version", required=True, example="1"),),
    ),
    CHALLENGES: ("challenge", CHALLENGE, CHALLENGE.fields),
}
"""By path: the id of the operation in the OpenAPI document, its action, and its query."""
_LETTERS: Final = 100


class OwnerRequests:
    """Endpoints with which owners retire versions and start challenges."""

    def __init__(self, web: WebState) -> None:
        self._web = web

    async def retire(self, request: Request) -> Response:
        """Retire a version of the sender's bot and withdraw it from open ladders."""
        number = request.query_params.get("version", "")[:_LETTERS]
        label = f"{request.path_params['name']}@{number}"
        result = await self._result(request, RETIRE, {"version": label})
        return JSONResponse(dict(result.values))

    async def challenge(self, request: Request) -> Response:
        """Start a challenge, and respond with its tournament and its match."""
        query = request.query_params
        values = {each.name: query.get(each.name, "")[:_LETTERS] for each in CHALLENGE.fields}
        result = await self._result(request, CHALLENGE, values)
        page = links_of(request).within(result.page)
        where = {"Location": page, "Cache-Control": "no-store"}
        return JSONResponse({**result.values, "page": page}, 201, where)

    async def _result(
        self, request: Request, action: Action, values: Mapping[str, str]
    ) -> ActionResult:
        owner = await owner_of(request, self._web.engine)
        actor = Actor(owner, str(Role.OWNER), Origin.API)
        action_request = ActionRequest(self._web, actor, {}, values)
        return await anyio.to_thread.run_sync(run_audited, action, action_request)
