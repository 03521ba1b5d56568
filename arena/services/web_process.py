"""The web server as a service: socket and settings.

The supervisor opens the socket and passes it to the web server's process. The address therefore
stays the same during a restart, and connections are not refused.
"""

from __future__ import annotations

import errno
import ipaddress
import re
import socket
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

import msgspec

HOST, PORT = "127.0.0.1", 8000
"""Default address of the web server."""
_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}
_PORTS_TO_TRY = 50
_ROOT_PATH: Final = re.compile(r"(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*/?")
_ROOT_PATH_LETTERS: Final = 200


@dataclass(frozen=True, slots=True)
class WebSettings:
    """Limits and options of the web server; `arena.cli.options` explains those not listed here.

    Args:
        site: the public URL of the pages without a slash at the end, for links in feeds and
            webhooks; empty: feeds have paths as links. Its path is `root_path`.
        root_path: the path below which a proxy shows the pages, such as "/arena"; empty: the root,
            or the path that a trusted proxy sends in X-Forwarded-Prefix.
        play: whether people can play against bots; None: only if the server listens on a loopback
            address and not behind a proxy.
    """

    spectators: bool = True
    delay: float = 0.0
    watchers: int = 2000
    rate: float = 20.0
    proxied: bool = False
    pushes: int = 50
    push_mib: int = 32
    active_versions: int = 10
    approve_pushes: bool = False
    builds: int = 2
    build_seconds: float = 600.0
    challenges: int = 10
    challenge_boards: int = 20
    site: str = ""
    root_path: str = ""
    play: bool | None = None
    play_tables: int = 4
    agents: bool = False

    @property
    def origin(self) -> str:
        """The public URL without its path; links from `arena.web.page` follow it."""
        parts = urlsplit(self.site)
        return f"{parts.scheme}://{parts.netloc}" if self.site else ""


class PortTaken(OSError):
    """The address cannot be bound. The exception's text is a sentence for people."""


@dataclass(frozen=True, slots=True)
class Pages:
    """A web server to start.

    Args:
        opens_ladders: whether a pushed bot opens the ladders of its games.
    """

    listening: socket.socket
    settings: WebSettings = field(default_factory=WebSettings)
    opens_ladders: bool = False

    @property
    def address(self) -> str:
        """URL for a browser on this machine."""
        return address_of(self.listening, self.settings.root_path)

    def arguments(self) -> list[str]:
        """Return the options of `python -m arena.web`. Other users can read them: no secrets."""
        settings = msgspec.json.encode(self.settings).decode()
        return [f"--socket={self.listening.fileno()}", f"--settings={settings}"]

    def answers(self, seconds: float = 0.25) -> bool:
        """Whether `GET /healthz` returns status 200 within this time."""
        import http.client

        host, port = self.listening.getsockname()[:2]
        connection = http.client.HTTPConnection(_ANY.get(host, host), port, timeout=seconds)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 selects a free port.

    Raises:
        PortTaken: the address cannot be bound.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(1024)
    except OSError as error:
        listening.close()
        advice = "Choose another port with --port, or a free one with --port 0."
        if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
            advice = "Choose an address of this machine with --host."
        raise PortTaken(
            f"cannot serve the pages at {host} port {port}: {error.strerror}. {advice}"
        ) from None
    return listening


def listen_near(host: str, port: int) -> socket.socket:
    """Return a socket that listens on this port or a later one.

    Tries 50 ports, then any free port.

    Raises:
        PortTaken: the address cannot be bound.
    """
    for near in range(port, min(port + _PORTS_TO_TRY, 65536)):
        try:
            return listen(host, near)
        except PortTaken:
            continue
    return listen(host, 0)


def is_loopback(listening: socket.socket) -> bool:
    """Return whether only this machine can reach the socket."""
    return ipaddress.ip_address(listening.getsockname()[0].partition("%")[0]).is_loopback


def checked_root_path(text: str) -> str | None:
    """Return a path for `WebSettings.root_path`, without a slash at its end; None if not valid.

    Its words have only letters that no URL, cookie or configuration of a proxy must escape.
    """
    is_valid = _ROOT_PATH.fullmatch(text) and len(text) <= _ROOT_PATH_LETTERS
    return text.rstrip("/") if is_valid else None


def address_of(listening: socket.socket, root_path: str = "") -> str:
    """Return the URL for a browser on this machine."""
    host, port = listening.getsockname()[:2]
    host = _ANY.get(host, host)
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}{root_path}/"
