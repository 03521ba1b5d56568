"""Serves the pages at an address until it is told to stop."""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import Any

import h11
import uvicorn
from sqlalchemy import Engine
from uvicorn.protocols.http.h11_impl import H11Protocol

from arena.web.app import create
from arena.web.data.state import Settings, Web

# Connections that are let go: of who does not finish asking, or does not read the answer.


ASKING_SECONDS = 10.0
"""So long somebody may take to ask: to send the head of a request."""
READING_SECONDS = 30.0
"""So long somebody may not read what is written already."""


class Patient(H11Protocol):
    """uvicorn's connection, which by itself would wait for ever."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._asking: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._judge()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._judge()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        for timer in (self._asking, self._reading):
            if timer is not None:
                timer.cancel()

    def pause_writing(self) -> None:
        """What is written is not read as fast."""
        self.flow.pause_writing()
        self._reading = self.loop.call_later(READING_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """It has been read."""
        self.flow.resume_writing()
        if self._reading is not None:
            self._reading.cancel()

    def _judge(self) -> None:
        is_asked = self.conn.their_state is not h11.IDLE
        if is_asked and self._asking is not None:
            self._asking.cancel()
            self._asking = None
        elif not is_asked and self._asking is None:
            self._asking = self.loop.call_later(ASKING_SECONDS, self._hurry)

    def _hurry(self) -> None:
        # An answer may still be under way to who has asked already.
        if self.cycle is None or self.cycle.response_complete:
            self.transport.abort()


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
        # Whom to believe is a matter of ours: arena.web.serving.request_limits.
        proxy_headers=False,
        h11_max_incomplete_event_size=_HEAD_BYTES,
        limit_concurrency=web.settings.watchers + _SPARE_CONNECTIONS,
    )


def serve(engine: Engine, settings: Settings, listening: socket.socket) -> None:
    """Serves until SIGINT or SIGTERM."""
    # Who asks must not wait for a fit of strengths in the background to give way.
    sys.setswitchinterval(_SWITCH_SECONDS)
    uvicorn.Server(config(Web(engine, settings))).run(sockets=[listening])
