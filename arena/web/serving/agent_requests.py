"""The endpoint for agents: tools of a player by the Model Context Protocol, and an owner's reads.

It has no tool that reads folders or runs commands on the server. Each request is answered on its
own: an agent is known by its token, and its tables by their ids.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from arena.errors import TooMany
from arena.matches.play_table import PlayTable
from arena.store.access import agents
from arena.store.access.sessions import Identity, Role
from arena.store.bots import owners
from arena.web.data.web_state import WebState
from arena.web.management.access import Access
from arena.web.management.pages import account
from arena.web.page import InvalidQuery, PageNotFound, PageRequest, ServerLinks
from arena.web.pages import play
from arena.web.serving.security import bearer_of, check_form_origin, expect_loopback_name
from referee.games.registry import GAMES

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

ADDRESS: Final = "/mcp"
_MOST_BYTES: Final = 64 * 1024
"""Maximum size of a request."""


@dataclass(frozen=True, slots=True)
class AgentTables:
    """The tables of the agent of an owner, which are limited like those of a person."""

    web: WebState
    owner: str

    @property
    def _client(self) -> str:
        return f"agent of {self.owner}"

    def open(
        self,
        game: str,
        opponents: Sequence[str],
        place: int,
        seats: int | None,
        options: Mapping[str, Any],
    ) -> PlayTable:
        """Begin a match against bots.

        Raises:
            MatchRefused: a bot, an option or the number of tables is not allowed.
        """
        from arena.mcp.player_tools import MatchRefused, check_entrants

        if not self.web.settings.seats_people:
            raise MatchRefused("this arena does not let agents play; its organiser allows it.")
        form = {name: _text(value) for name, value in options.items()}
        form |= {f"bot{number}": name for number, name in enumerate(opponents)}
        form |= {"place": str(place), "seats": "" if seats is None else str(seats)}
        try:
            check_entrants(play.table_setup(game, form), opponents, place)
            match = play.prepared(self.web, game, form)
            return self.web.play_tables.open(match, self._client, {})
        except TooMany as limit:
            raise MatchRefused(
                "you or all players have as many tables as this arena allows; resign at one of "
                f"yours, or try again in {limit.wait} s."
            ) from None
        except (InvalidQuery, PageNotFound) as error:
            raise MatchRefused(str(error)) from None

    def find(self, table: str) -> PlayTable | None:
        """Return the table of this agent with this id, or None."""
        seat = self.web.play_tables.find(table)
        return seat if seat is not None and seat.client == self._client else None

    def opponents(self, game: str) -> list[str]:
        """Return the bots that an agent may choose."""
        return [name for name, _ in play.playable_bots(self.web, GAMES[game])]


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class AgentRequests:
    """The endpoint `/mcp`, which requires the package `mcp`."""

    def __init__(self, web: WebState) -> None:
        self._web = web
        self._agent: ContextVar[str] = ContextVar("agent")
        self._manager: StreamableHTTPSessionManager | None = None

    def routes(self) -> list[BaseRoute]:
        """Return the route; none if the server does not serve agents."""
        return [Route(ADDRESS, self)] if self._web.settings.agents else []

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve agents while the context is open."""
        if not self._web.settings.agents:
            yield
            return
        from mcp.server.transport_security import TransportSecuritySettings

        from arena.mcp.server import player_server

        server = player_server(
            lambda: AgentTables(self._web, self._agent.get()),
            lambda: self._account(self._agent.get()),
        )
        # `_owner` checks the headers, with the names that this server has behind a proxy.
        unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        server.streamable_http_app(
            json_response=True,
            stateless_http=True,
            max_request_body_size=_MOST_BYTES,
            transport_security=unchecked,
        )
        self._manager = server.session_manager
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of an agent with a valid token."""
        self._agent.set(await self._owner(Request(scope, receive)))
        assert self._manager is not None
        await self._manager.handle_request(scope, receive, send)

    def _account(self, owner: str) -> Mapping[str, Any]:
        """Return what the page of an owner shows."""
        request = PageRequest({}, {}, ServerLinks())
        shown: Mapping[str, Any] = account(
            self._web, request, Access(Identity(Role.OWNER, owner))
        ).data
        return shown

    async def _owner(self, request: Request) -> str:
        """Return the owner of the agent that sends a request.

        Raises:
            HTTPException: 401, the token is missing or unknown; 403, another site sent the
                request, or the server has another name.
        """
        check_form_origin(request, proxied=self._web.settings.proxied)
        if not self._web.settings.play:
            expect_loopback_name(request)
        token = bearer_of(request) or ""
        owner = await anyio.to_thread.run_sync(_owner_of, self._web, token)
        if owner is None:
            raise HTTPException(
                401,
                "send the token of an agent as Authorization: Bearer TOKEN. The organiser creates "
                "it with `pokearena owner agent`.",
                {"WWW-Authenticate": "Bearer"},
            )
        return owner


def _owner_of(web: WebState, token: str) -> str | None:
    """Return the owner whose own or whose agent's token this is."""
    return agents.owner_of(web.engine, token) or owners.known_by(web.engine, token)
