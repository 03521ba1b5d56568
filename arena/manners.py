"""How the organiser wants the pages to be served."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


@dataclass(frozen=True, slots=True)
class Manners:
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
    usual = Manners()
    parser.add_argument("--delay", type=float, default=usual.delay)
    parser.add_argument("--watchers", type=int, default=usual.watchers)
    parser.add_argument("--rate", type=float, default=usual.rate)
    parser.add_argument("--pushes", type=int, default=usual.pushes)
    parser.add_argument("--push-mib", type=int, default=usual.push_mib)
    parser.add_argument("--no-spectators", action="store_true")
    parser.add_argument("--behind-proxy", action="store_true")


def told(arguments: Namespace) -> Manners:
    """What a command line says."""
    return Manners(
        spectators=not arguments.no_spectators,
        delay=arguments.delay,
        watchers=arguments.watchers,
        rate=arguments.rate,
        proxied=arguments.behind_proxy,
        pushes=arguments.pushes,
        push_mib=arguments.push_mib,
    )
