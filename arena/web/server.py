"""Serves the pages at an address until it is told to stop."""

from __future__ import annotations

import socket

import uvicorn
from sqlalchemy import Engine

from arena.web.app import create
from arena.web.state import Settings, Web

_CLOSING_SECONDS = 1


def serve(engine: Engine, settings: Settings, listening: socket.socket) -> None:
    """Serves until SIGINT or SIGTERM."""
    config = uvicorn.Config(
        create(Web(engine, settings)),
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=_CLOSING_SECONDS,
    )
    uvicorn.Server(config).run(sockets=[listening])
