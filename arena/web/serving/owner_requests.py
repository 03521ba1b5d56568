"""Requests of owners other than uploads, authenticated by their tokens."""

from __future__ import annotations

from typing import Any, Final

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from arena.errors import NotFound
from arena.store.bots import versions
from arena.store.bots.versions import Version
from arena.submissions import open_ladders
from arena.tournaments import json_values
from arena.web.data.web_state import WebState
from arena.web.serving.owner_token import owner_of

RETIRE: Final = "/bots/{name}/retire"
_LETTERS: Final = 100


class OwnerRequests:
    """Endpoints with which owners change the state of their bots."""

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
        retired = versions.find(self._web.engine, label)
        return {
            "version": retired.id,
            "retired": json_values.iso(retired.retired),
            "withdrawn": list(withdrawn),
        }

    def _own_version(self, owner: str, label: str) -> Version:
        """Return a version of this owner.

        Raises:
            HTTPException: it does not exist, or belongs to someone else.
        """
        try:
            version = versions.find(self._web.engine, label)
        except NotFound:
            raise HTTPException(
                404, f"unknown version {label}; write NAME@VERSION, for example mybot@1."
            ) from None
        if version.owner != owner:
            raise HTTPException(403, f"{label} does not belong to {owner}.")
        return version
