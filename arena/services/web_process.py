"""The pages as one of the services: where they listen, and how the organiser wants them.

The supervisor holds the socket and hands it to the web server's process, so the address stays
the same, and nobody is turned away, while that process is started again.
"""

from __future__ import annotations

import http.client
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


# How the organiser wants the pages to be served.


@dataclass(frozen=True, slots=True)
class WebSettings:
    """What the web server lets be seen, when, and by how many.

    spectators: whether tables are shown while they are played.
    delay: so many seconds later than it happened.
    watchers: how many are told the news of pages at a time; one address has a quarter of it.
    rate: how many pages a second one address may ask for, after a burst; 0: as many as it likes.
    proxied: whether a proxy of ours stands before it, and says for whom it asks.
    pushes: how many versions a day one owner may push; 0: none are taken.
    push_mib: how large the parcel of one may be.
    """

    spectators: bool = True
    delay: float = 0.0
    watchers: int = 2000
    rate: float = 20.0
    proxied: bool = False
    pushes: int = 50
    push_mib: int = 32

    def arguments(self) -> list[str]:
        """The same on the command line of `python -m arena.web`; others can read it: no secrets."""
        told = [f"--delay={self.delay}", f"--watchers={self.watchers}", f"--rate={self.rate}"]
        told += [f"--pushes={self.pushes}", f"--push-mib={self.push_mib}"]
        told += ["--no-spectators"] * (not self.spectators)
        return told + ["--behind-proxy"] * self.proxied


def add_arguments(parser: ArgumentParser) -> None:
    """Lets a command line say it."""
    usual = WebSettings()
    parser.add_argument("--delay", type=float, default=usual.delay)
    parser.add_argument("--watchers", type=int, default=usual.watchers)
    parser.add_argument("--rate", type=float, default=usual.rate)
    parser.add_argument("--pushes", type=int, default=usual.pushes)
    parser.add_argument("--push-mib", type=int, default=usual.push_mib)
    parser.add_argument("--no-spectators", action="store_true")
    parser.add_argument("--behind-proxy", action="store_true")


def told(arguments: Namespace) -> WebSettings:
    """What a command line says."""
    return WebSettings(
        spectators=not arguments.no_spectators,
        delay=arguments.delay,
        watchers=arguments.watchers,
        rate=arguments.rate,
        proxied=arguments.behind_proxy,
        pushes=arguments.pushes,
        push_mib=arguments.push_mib,
    )


HOST, PORT = "127.0.0.1", 8000
"""Where they listen unless told otherwise."""
_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}
_NEIGHBOURS = 50


class PortTaken(OSError):
    """The address cannot be listened at. Its text is a sentence for people."""


@dataclass(frozen=True, slots=True)
class Pages:
    """A web server to be.

    listening: its socket. manners: how it is to be served.
    """

    listening: socket.socket
    manners: WebSettings = field(default_factory=WebSettings)

    @property
    def address(self) -> str:
        """Where a browser finds them."""
        return address_of(self.listening)

    def arguments(self) -> list[str]:
        """Of `python -m arena.web`. Other processes can read them: no secrets."""
        return [f"--socket={self.listening.fileno()}", *self.manners.arguments()]

    def answers(self, seconds: float = 0.25) -> bool:
        """Whether the server answers within so many seconds."""
        host, port = self.listening.getsockname()[:2]
        asking = http.client.HTTPConnection(_ANY.get(host, host), port, timeout=seconds)
        try:
            asking.request("GET", "/healthz")
            return asking.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            asking.close()


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


def listen_near(host: str, port: int) -> socket.socket:
    """A socket that listens at this port, or at the next one that is free.

    Raises PortTaken.
    """
    for near in range(port, min(port + _NEIGHBOURS, 65536)):
        try:
            return listen(host, near)
        except PortTaken:
            continue
    return listen(host, 0)


def address_of(listening: socket.socket) -> str:
    """Where a browser on this machine finds it."""
    host, port = listening.getsockname()[:2]
    host = _ANY.get(host, host)
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/"
