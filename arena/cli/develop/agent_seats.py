"""Serve an agent that is a remote bot: the tools on standard input and output, and a connector."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from arena.cli import output
from arena.cli.bots import connection
from arena.config import private_directory
from arena.mcp.scheduled_tables import ScheduledTables
from arena.mcp.server import seat_server
from arena.remote.connector import Connector, RefusedByRelay, RelayUnreachable
from arena.remote.connector_process import Command
from arena.remote.relay_url import RelayTarget
from arena.system import temporary_folder

_PROGRAM: Final = "arena.mcp.seat_program"
_LINE_BYTES: Final = 64 << 20
_TABLES: Final = 4
"""Maximum number of tables at the same time."""


def serve(url: str, token: str, authority: Path | None) -> None:
    """Serve the agent until its client ends, and stay connected to the arena meanwhile."""
    target = connection.target_of(url, authority)
    if target.exposed:
        output.warn(connection.EXPOSED)
    folder = private_directory()
    try:
        asyncio.run(_serve(target, token, authority, folder / "agent"))
    finally:
        temporary_folder.remove(folder)


async def _serve(target: RelayTarget, token: str, authority: Path | None, path: Path) -> None:
    tables, problem = ScheduledTables(), ""
    words = ("-P", "-m", "arena.bots.stdio", "--", sys.executable, "-P", "-m", _PROGRAM, str(path))
    command = Command((sys.executable, *words), path.parent)
    connector = Connector(target, token, command, _TABLES, _ignore, authority)

    async def stay_connected() -> None:
        nonlocal problem
        try:
            await connector.run()
            problem = "the arena has ended the connection."
        except (RefusedByRelay, RelayUnreachable) as error:
            problem = str(error)

    listening = await asyncio.start_unix_server(tables.serve, path, limit=_LINE_BYTES)
    connected = asyncio.create_task(stay_connected())
    try:
        await seat_server(tables, lambda: problem).run_stdio_async()
    finally:
        listening.close()
        connected.cancel()
        with suppress(asyncio.CancelledError):
            await connected


def _ignore(event: str, details: dict[str, Any]) -> None:
    """Print nothing: standard output belongs to the client."""
