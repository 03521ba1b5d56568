"""Serves the pages at an address until it is told to stop."""

from __future__ import annotations

import socket
import sys

import uvicorn
from sqlalchemy import Engine

from arena.web.app import create
from arena.web.patience import Patient
from arena.web.state import Settings, Web

_CLOSING_SECONDS = 1
_SWITCH_SECONDS = 0.001
_HEAD_BYTES = 16 * 1024
_SPARE_CONNECTIONS = 500
"""Beside those that are told the news."""


def config(web: Web) -> uvicorn.Config:
    """How the pages are served."""
    return uvicorn.Config(
        create(web),
        # As all else that is logged here (referee.logs).
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=_CLOSING_SECONDS,
        http=Patient,
        ws="none",
        # Whom to believe is a matter of ours: arena.web.bounds.
        proxy_headers=False,
        h11_max_incomplete_event_size=_HEAD_BYTES,
        limit_concurrency=web.settings.watchers + _SPARE_CONNECTIONS,
    )


def serve(engine: Engine, settings: Settings, listening: socket.socket) -> None:
    """Serves until SIGINT or SIGTERM."""
    # Who asks must not wait for a fit of strengths in the background to give way.
    sys.setswitchinterval(_SWITCH_SECONDS)
    uvicorn.Server(config(Web(engine, settings))).run(sockets=[listening])
