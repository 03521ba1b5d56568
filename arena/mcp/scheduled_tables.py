"""Tools with which an agent answers the questions of its matches that the arena has scheduled.

The agent is a remote bot. Its connector starts a `seat_program` for each table, which connects to
the socket of `ScheduledTables`. The arena decides which matches there are, and rates them.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from arena.mcp.player_tools import UNTRUSTED, Wait, poll, read_rules

_GRACE_SECONDS: Final = 1.0
_STARTED: Final = {"withText": True, "withCorrections": True}


@dataclass(slots=True)
class _OpenQuestion:
    """A question, and the future of its answer."""

    id: str
    game: str
    act: dict[str, Any]
    until: float
    answer: asyncio.Future[dict[str, Any]]


@dataclass(slots=True)
class ScheduledTables:
    """The open questions of all tables of an agent, the oldest first."""

    _open: deque[_OpenQuestion] = field(default_factory=deque)
    _asked: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the lines of one table until it ends."""
        game = ""
        with suppress(ConnectionError):
            while line := await reader.readline():
                message = json.loads(line)
                answer: dict[str, Any] = {}
                if "start" in message:
                    game, answer = message["start"]["game"], _STARTED
                elif "act" in message:
                    answer = await self._ask(game, message["act"], reader)
                writer.write(json.dumps(answer).encode() + b"\n")
                await writer.drain()
        writer.close()

    @property
    def next(self) -> _OpenQuestion | None:
        """The oldest open question; None without one."""
        return self._open[0] if self._open else None

    def answer(self, question: str, answer: dict[str, Any]) -> bool:
        """Answer a question; return False if it is not open."""
        for each in self._open:
            if each.id == question and not each.answer.done():
                each.answer.set_result(answer)
                self._open.remove(each)
                return True
        return False

    async def _ask(
        self, game: str, act: dict[str, Any], reader: asyncio.StreamReader
    ) -> dict[str, Any]:
        """Wait for the agent's answer, the end of its time, or the end of the table."""
        self._asked += 1
        clock = act["clock"]
        until = time.monotonic() + (clock["allowanceMs"] + clock["bankMs"]) / 1000
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        question = _OpenQuestion(f"q{self._asked}", game, act, until, future)
        self._open.append(question)
        # The program of the seat sends nothing before the answer, unless it ends.
        ended = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait(
                (future, ended),
                timeout=until + _GRACE_SECONDS - time.monotonic(),
                return_when=asyncio.FIRST_COMPLETED,
            )
            if ended.done():
                raise ConnectionResetError
        finally:
            ended.cancel()
            with suppress(ValueError):
                self._open.remove(question)
        with suppress(asyncio.CancelledError):
            await ended  # The next line must not be read while this read is being cancelled.
        numbers = {name: act[name] for name in ("game", "decision", "attempt")}
        # Too late, an answer is ignored: the next question may already wait behind this one.
        return {**numbers, **(future.result() if future.done() else {"choice": 0})}


def add_seat_tools(
    server: MCPServer[Any], tables: ScheduledTables, problem: Callable[[], str]
) -> None:
    """Add the tools of an agent that plays scheduled matches.

    `problem` returns why the agent is not connected; empty if it is.
    """

    server.tool()(read_rules)

    @server.tool()
    async def next_question(wait: Wait = 30) -> dict[str, Any]:
        """Wait for a question of a match that the arena has scheduled, and return it as text."""
        await poll(lambda: bool(problem()) or tables.next is not None, wait)
        if reason := problem():
            raise ToolError(reason)
        return _shown(tables.next)

    @server.tool()
    async def answer(
        question: Annotated[str, Field(description="`question` of the position you answer")],
        action: Annotated[
            str, Field(description="number of a listed action, or the action as it is written")
        ],
        note: Annotated[str, Field(description="a comment that the replay shows")] = "",
    ) -> dict[str, Any]:
        """Play an action. An action that is not legal is a fault, unless the arena allows another.

        If it does, `next_question` returns the question again, with the reason.
        """
        if not tables.answer(question, {"text": action, "note": note}):
            raise ToolError(f'"{question}" is not open; next_question returns the one that is.')
        return {"accepted": True}


def _shown(question: _OpenQuestion | None) -> dict[str, Any]:
    if question is None:
        return {"state": "waiting", "advice": "No match needs you now: call next_question again."}
    act = question.act
    correction = act.get("correction") or {}
    return {
        "state": "your turn",
        "question": question.id,
        "game": question.game,
        "match": act["match"],
        "seconds_left": round(max(0.0, question.until - time.monotonic()), 1),
        "refused": correction.get("text", "") or None,
        "text": act["text"],
        "note": UNTRUSTED,
    }
