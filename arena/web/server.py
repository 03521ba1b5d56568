"""Serves the pages at an address until it is told to stop."""

from __future__ import annotations

import socket

import uvicorn
from sqlalchemy import Engine

from arena.web.app import create
from arena.web.state import Settings, Web

_CLOSING_SECONDS = 1


class PortTaken(OSError):
    """The address cannot be listened at. Its text is a sentence for people."""


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens at an address; port 0 takes a free one.

    Raises PortTaken.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(1024)
    except OSError as error:
        listening.close()
        raise PortTaken(
            f"the page cannot be served at {host} port {port}: {error.strerror}; "
            "--port names another, 0 takes a free one."
        ) from None
    return listening


def address_of(listening: socket.socket) -> str:
    """Where a browser finds it."""
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/"


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
