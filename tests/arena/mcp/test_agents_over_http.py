"""Agents on other machines play through `/mcp` of the pages, with a token that changes nothing."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
import httpx2
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from arena.cli.workspace import Workspace
from arena.store.access import agents
from arena.store.bots import owners
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.mcp.test_mcp import call, played, refusal
from tests.arena.web.page_server import served

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]


@dataclass(frozen=True)
class AgentArena:
    """Pages that serve agents, and the tokens of two owners' agents."""

    web: WebState
    url: str
    tokens: dict[str, str]

    @asynccontextmanager
    async def session(self, owner: str) -> AsyncIterator[ClientSession]:
        """Connect the agent of an owner."""
        headers = {"Authorization": f"Bearer {self.tokens[owner]}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as client,
            streamable_http_client(f"{self.url}/mcp", http_client=client) as streams,
            ClientSession(*streams[:2]) as session,
        ):
            await session.initialize()
            yield session


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentArena]:
    workspace = Workspace(tmp_path_factory.mktemp("agents") / "data")
    store, root = workspace.store, workspace.folder.root
    tokens = {}
    for name in ("ada", "grace"):
        owners.add_owner(store, name)
        tokens[name] = agents.new_agent_token(store, name)
    settings = ServerSettings(rate=0, data=root, play=True, play_tables=2, agents=True)
    web = WebState(store, settings)
    with served(web) as url:
        yield AgentArena(web, url, tokens)


def test_an_agent_plays_a_match_that_only_it_can_see(arena: AgentArena) -> None:
    async def play() -> None:
        async with arena.session("ada") as ada, arena.session("grace") as grace:
            over = await played(ada, "saint_poker")
            assert over["result"]["complete"]
            open_table = await call(ada, "start_match", game="poke")
            assert open_table["table"] in await refusal(grace, "look", table=open_table["table"])
            # One client gets at most half of the tables, here one, until it leaves a table.
            await refusal(ada, "start_match", game="poke")
            await call(ada, "resign", table=open_table["table"])
            next_table = await call(ada, "start_match", game="poke")
            await call(ada, "resign", table=next_table["table"])

    anyio.run(play)


def test_an_agent_reads_what_its_owner_may_read_and_has_no_tool_of_an_author(
    arena: AgentArena,
) -> None:
    async def read() -> None:
        async with arena.session("grace") as grace:
            assert (await call(grace, "my_bots"))["owner"] == "grace"
            names = {tool.name for tool in (await grace.list_tools()).tools}
            assert names.isdisjoint({"new", "test", "play", "push", "add", "run_tournament"})

    anyio.run(read)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Origin": "https://elsewhere.example"}, 403),
    ],
)
def test_strangers_and_other_sites_are_refused(
    arena: AgentArena, headers: dict[str, str], status: int
) -> None:
    given = {"Authorization": f"Bearer {arena.tokens['ada']}"} if status == 403 else {}
    answer = httpx2.post(f"{arena.url}/mcp", headers={**given, **headers}, json={})
    assert answer.status_code == status
    assert answer.json()["error"]


def test_the_token_of_an_agent_can_change_nothing_and_ends_with_that_of_its_owner(
    arena: AgentArena,
) -> None:
    headers = {"Authorization": f"Bearer {arena.tokens['ada']}"}
    for path in ("/api/v1/bots", "/account/retire", "/challenges"):
        answer = httpx2.post(f"{arena.url}{path}", headers=headers, data={"name": "x"})
        assert answer.status_code in (401, 403, 404, 405), path
    owners.add_owner(arena.web.engine, "eve")
    token = agents.new_agent_token(arena.web.engine, "eve")
    assert agents.owner_of(arena.web.engine, token) == "eve"
    owners.revoke(arena.web.engine, "eve")
    assert agents.owner_of(arena.web.engine, token) is None


def test_a_new_token_of_an_agent_replaces_the_earlier_one(arena: AgentArena) -> None:
    owners.add_owner(arena.web.engine, "owen")
    earlier = agents.new_agent_token(arena.web.engine, "owen")
    assert agents.owner_of(arena.web.engine, agents.new_agent_token(arena.web.engine, "owen"))
    assert agents.owner_of(arena.web.engine, earlier) is None
