"""The HTTP server: uvicorn with time limits for slow clients."""

from __future__ import annotations

import asyncio
import socket
import sys
from dataclasses import replace
from typing import Any

import h11
import uvicorn
from sqlalchemy import Engine
from uvicorn.protocols.http.h11_impl import H11Protocol

from arena.services import web_process
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState

REQUEST_HEAD_SECONDS = 10.0
"""Seconds within which a client must send the head of a request."""
UNREAD_RESPONSE_SECONDS = 30.0
"""Seconds for which a client may leave the response unread while the write buffer is full."""
_CLOSING_SECONDS = 1
_THREAD_SWITCH_SECONDS = 0.001
_HEAD_BYTES = 16 * 1024
_SPARE_CONNECTIONS = 500
"""Connections in addition to those of live updates."""


class TimeLimitedProtocol(H11Protocol):
    """uvicorn's HTTP protocol with time limits."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._head_timer: asyncio.TimerHandle | None = None
        self._read_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time limit for the first request."""
        super().connection_made(transport)
        self._update_head_timer()

    def data_received(self, data: bytes) -> None:
        """Stop the time limit at a complete head, or start it for the next request."""
        super().data_received(data)
        self._update_head_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the time limits."""
        super().connection_lost(exc)
        for timer in (self._head_timer, self._read_timer):
            if timer is not None:
                timer.cancel()

    def pause_writing(self) -> None:
        """Start the time limit: the write buffer is full."""
        self.flow.pause_writing()
        self._read_timer = self.loop.call_later(UNREAD_RESPONSE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Cancel the time limit: the client has read enough."""
        self.flow.resume_writing()
        if self._read_timer is not None:
            self._read_timer.cancel()

    def _update_head_timer(self) -> None:
        has_head = self.conn.their_state is not h11.IDLE
        if has_head and self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
        elif not has_head and self._head_timer is None:
            self._head_timer = self.loop.call_later(REQUEST_HEAD_SECONDS, self._abort_if_idle)

    def _abort_if_idle(self) -> None:
        # The response to an earlier request may still be in progress.
        if self.cycle is None or self.cycle.response_complete:
            self.transport.abort()


def config(web: WebState) -> uvicorn.Config:
    return uvicorn.Config(
        create(web),
        # Use the arena's logging configuration (referee.logs).
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=_CLOSING_SECONDS,
        http=TimeLimitedProtocol,
        ws="none",
        # arena.web.serving.request_limits evaluates X-Forwarded-For.
        proxy_headers=False,
        h11_max_incomplete_event_size=_HEAD_BYTES,
        limit_concurrency=web.settings.watchers + _SPARE_CONNECTIONS,
    )


def serve(engine: Engine, settings: ServerSettings, listening: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM."""
    # A computation of ratings in a background thread must not delay requests for long.
    sys.setswitchinterval(_THREAD_SWITCH_SECONDS)
    settings = replace(settings, loopback=web_process.is_loopback(listening))
    uvicorn.Server(config(WebState(engine, settings))).run(sockets=[listening])
