"""An unmodified client of the Model Context Protocol plays through `pokearena mcp`."""

import os
import random
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client

from arena.presentation import shipped_docs
from referee.games.game_packages import BUILT_IN
from tests.arena.cli.terminal import POKEARENA

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]


@asynccontextmanager
async def session(data: Path) -> AsyncIterator[ClientSession]:
    """Start the server as a client does, and say hello."""
    environment = {**os.environ, "POKEARENA_DATA": str(data)}
    server = StdioServerParameters(
        command=str(POKEARENA), args=["mcp"], env=environment, cwd=data.parent
    )
    async with stdio_client(server) as streams, ClientSession(*streams) as client:
        await client.initialize()
        yield client


async def call(client: ClientSession, tool: str, **arguments: Any) -> Any:
    """Call a tool that succeeds; return its result."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    content = result.structured_content
    assert content is not None
    return content["result"] if set(content) == {"result"} else content


async def refusal(client: ClientSession, tool: str, **arguments: Any) -> str:
    """Call a tool that refuses; return its sentence."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content)


async def played(client: ClientSession, game: str) -> Any:
    """Play a match with random legal actions; return its last state."""
    chance = random.Random(game)
    shown = await call(client, "start_match", game=game)
    table = shown["table"]
    for _ in range(2000):
        if shown["state"] == "over":
            return shown
        if shown["state"] == "waiting":
            shown = await call(client, "look", table=table)
            continue
        listed = shown["text"].split("LEGAL ACTIONS\n")[1].split("\n\nANSWER")[0]
        numbers = re.findall(r"^ *(\d+)\b", listed, re.MULTILINE)
        answer = chance.choice(numbers)
        shown = await call(client, "act", table=table, question=shown["question"], action=answer)
        assert "refused" not in shown, shown
    raise AssertionError("the match has no end")


@pytest.mark.parametrize(
    "game",
    [
        pytest.param(game, marks=[pytest.mark.repetition] * (number > 1))
        for number, game in enumerate(BUILT_IN)
    ],
)
def test_a_client_plays_a_complete_match(tmp_path: Path, game: str) -> None:
    async def play() -> None:
        async with session(tmp_path / "data") as client:
            over = await played(client, game)
            assert over["result"]["complete"]
            assert over["result"]["failure"] is None
            assert len(over["result"]["games"]) == 1
            assert await call(client, "read_rules", game=game) == shipped_docs.rules(game)

    anyio.run(play)


def test_a_refused_action_changes_nothing_and_leaving_ends_the_match(tmp_path: Path) -> None:
    async def play() -> None:
        async with session(tmp_path / "data") as client:
            begun = await call(
                client, "start_match", game="poke", opponents=["sample:greedy"], place=1
            )
            table, question = begun["table"], begun["question"]
            for action, code in (("999", "number"), ("", "empty"), ("jump", "not-legal")):
                shown = await call(client, "act", table=table, question=question, action=action)
                assert (shown["refused"]["code"], shown["question"]) == (code, question)
            stale = await call(client, "act", table=table, question="0.99", action="0")
            assert stale["refused"]["code"] == "stale"
            left = await call(client, "resign", table=table)
            assert left["state"] == "over"
            assert left["result"]["left"]

    anyio.run(play)


def test_bad_requests_get_a_sentence_and_options_are_no_flags(tmp_path: Path) -> None:
    async def play() -> None:
        async with session(tmp_path / "data") as client:
            assert "whist" in await refusal(client, "start_match", game="whist")
            assert "nowhere" in await refusal(client, "look", table="nowhere")
            assert "nobody" in await refusal(
                client, "start_match", game="poke", opponents=["nobody"]
            )
            opponents = ["sample:random"]
            await refusal(client, "start_match", game="poke", opponents=opponents * 2)
            begun = await call(client, "start_match", game="poke", opponents=opponents)
            await call(client, "resign", table=begun["table"])
            # A value that begins with a dash is an argument, not an option.
            assert "option" not in await refusal(client, "why", match="--help")

    anyio.run(play)


def test_an_author_writes_tests_and_plays_a_bot(tmp_path: Path) -> None:
    async def develop() -> None:
        async with session(tmp_path / "data") as client:
            assert (await call(client, "new", folder="mine"))["bot"] == "mine"
            match = await call(
                client, "play", game="poke", bots=["./mine", "sample:random"], boards=1, seed="7"
            )
            assert match["fault"] is None
            lost = await call(client, "why")
            assert lost["match"] == match["match"]
            slowest = lost["bots"][0]["thinking"]["slowest"]["question"]
            assert (await call(client, "ask", question=slowest, bot="./mine"))["legal"]
            assert (await call(client, "add", bot="./mine"))["version"] == "mine@1"

    anyio.run(develop)


def test_the_server_of_other_machines_has_only_the_tools_of_a_player() -> None:
    from arena.mcp.server import player_server

    server = player_server(lambda: pytest.fail("no table is needed"), dict)
    names = {tool.name for tool in anyio.run(server.list_tools)}
    assert names == {
        "list_games",
        "read_rules",
        "start_match",
        "look",
        "act",
        "history",
        "resign",
        "my_bots",
    }
