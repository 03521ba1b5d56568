"""An agent is a remote bot: it plays the matches that an arena schedules, and these are rated."""

import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client

from arena.ladders import ladder_key, rater
from arena.services.local import Services
from arena.services.relay_process import RelayOptions
from arena.store.match_settings import Clock
from arena.store.matches import listing, results
from arena.store.schema import TournamentState
from arena.store.tournaments import tournaments
from arena.tournaments import scheduler
from tests.arena.cli.terminal import POKEARENA
from tests.arena.mcp.test_mcp import call, refusal
from tests.arena.poke_plan import poke_plan
from tests.arena.remote.test_remote_tournament import RemoteArena

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]


@asynccontextmanager
async def agent(folder: Path, relay: str, token: str) -> AsyncIterator[ClientSession]:
    """Start `pokearena mcp` for a remote bot, as a client does."""
    environment = {**os.environ, "POKEARENA_TOKEN": token}
    server = StdioServerParameters(
        command=str(POKEARENA), args=["mcp", "--to", relay], env=environment, cwd=folder
    )
    async with stdio_client(server) as streams, ClientSession(*streams) as client:
        await client.initialize()
        yield client


async def answer_one(client: ClientSession, action: str | None = None) -> Any:
    """Answer the next question, by default with its first action; None without a question."""
    shown = await call(client, "next_question", wait=1)
    if shown["state"] == "waiting":
        return None
    listed = shown["text"].split("LEGAL ACTIONS\n")[1]
    chosen = action or re.findall(r"^ *(\d+)\b", listed, re.MULTILINE)[0]
    await call(client, "answer", question=shown["question"], action=chosen, note="by an agent")
    return shown


def test_an_agent_plays_scheduled_matches_which_are_rated(tmp_path: Path) -> None:
    arena = RemoteArena(tmp_path)
    plan = poke_plan(
        game="saint_poker", options={}, clock=Clock(60_000, 60_000, 60_000), corrections=1
    )
    tournament = scheduler.begin(arena.engine, plan, [arena.far, arena.meek], bytes(32))

    def is_closed() -> bool:
        state = tournaments.find_tournament(arena.engine, tournament.id).state
        return state == TournamentState.CLOSED

    async def play(relay: str) -> list[Any]:
        async with agent(tmp_path, relay, arena.token) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert tools == {"next_question", "answer", "read_rules"}
            await refusal(client, "answer", question="q9", action="0")
            corrected = None
            while not (corrected or is_closed()):
                corrected = await answer_one(client, "all in")
            shown = [corrected]
            while not is_closed():
                shown.append(await answer_one(client))
            return [each for each in shown if each]

    relaying = RelayOptions("127.0.0.1:0", wait=600)
    with Services(arena.where, 1, relaying=relaying) as services:
        shown = anyio.run(play, services.snapshot.relay)
    assert shown[0]["refused"] is None
    assert shown[1]["refused"]
    assert {each["game"] for each in shown} == {"saint_poker"}
    (match,) = listing.matches(arena.engine)
    assert results.cover(arena.engine, match.id).line["mirrored"] is False
    assert '"note":"by an agent"' in results.record(arena.engine, match.id)
    closed = results.of_match(arena.engine, match.id)
    assert {verdict for game in closed.games for verdict in game.verdicts} == {"finished"}
    (key,) = ladder_key.of_forms(arena.engine, "saint_poker")
    lines = rater.current_ladder(arena.engine, key).table.lines
    assert {line.entrant: line.matches for line in lines} == {arena.far: 1, arena.meek: 1}
    arena.engine.dispose()


def test_a_wrong_token_is_explained(tmp_path: Path) -> None:
    arena = RemoteArena(tmp_path)

    async def play(relay: str) -> str:
        async with agent(tmp_path, relay, "wrong") as client:
            return await refusal(client, "next_question", wait=20)

    with Services(arena.where, 1, relaying=RelayOptions("127.0.0.1:0", wait=600)) as services:
        # Other refusals name the token, too.
        assert "unknown token;" in anyio.run(play, services.snapshot.relay)
    arena.engine.dispose()
