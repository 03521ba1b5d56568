"""Those who play what has been scheduled: services of our own, or those of a `serve`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from arena.cli.workspace import Place
from arena.config import Running
from arena.queue import redis_server
from arena.services.local import Services
from arena.services.web_process import Pages


class CrewLost(Exception):
    """The services of somebody else, who has ended them."""


class RunningServices:
    """Services at work. `own` says whether they end with this command."""

    def __init__(self, place: Place, services: Services | None) -> None:
        self._place = place
        self._services = services
        self._restarts: dict[str, int] = {}

    @property
    def own(self) -> bool:
        """Whether the services are ours."""
        return self._services is not None

    @property
    def words(self) -> str:
        """Who they are, for people."""
        if self._services is None:
            return "played by the services that run for this data folder already"
        snapshot = self._services.snapshot
        workers = sum(child.name.startswith("worker") for child in snapshot.children)
        return (
            f"Redis: {snapshot.redis.source} · {workers} "
            f"worker{'s' * (workers != 1)} · all of it ends with this command"
        )

    @property
    def page(self) -> str:
        """Where a browser finds the pages; empty if none are served."""
        if self._services is not None:
            return self._services.snapshot.page
        found = running(self._place)
        return found.page if found is not None else ""

    def nudge(self) -> None:
        """Has what was scheduled begun at once."""
        if self._services is not None:
            self._services.nudge()

    def news(self) -> list[str]:
        """What has happened to the services since it was last asked.

        Raises CrewLost, or what ended them if they were ours, if they are at work no more.
        """
        if self._services is None:
            if running(self._place) is None:
                raise CrewLost
            return []
        told = []
        for child in self._services.snapshot.children:
            if child.restarts > self._restarts.get(child.name, 0):
                told.append(f"{child.name} failed and was restarted; its log: {child.log}")
            self._restarts[child.name] = child.restarts
        return told


def redis_of(place: Place) -> str:
    """The Redis that news come from: the one that is named, else that of the services that run
    for this folder; empty if there is none."""
    named = redis_server.setting()
    if named is not None:
        return named.url
    found = running(place)
    return found.redis if found is not None else ""


@contextmanager
def at_work(
    place: Place, workers: int | None, pages: Callable[[], Pages] | None = None
) -> Iterator[RunningServices]:
    """Services for as long as the block lasts: those that run for the data folder, or our own.

    workers: how many of our own; one per core if None.
    pages: makes what our own serve, if anything.

    Raises what `arena.services.local.Services` raises.
    """
    if running(place) is not None:
        yield RunningServices(place, None)
        return
    with Services(place.folder, workers, pages=pages() if pages else None) as services:
        yield RunningServices(place, services)


def running(place: Place) -> Running | None:
    """The services that run for the data folder, if any do."""
    found = place.folder.running()
    # A referee that does not answer is being started again: that is no reason to leave them.
    return found if found is not None and found.alive else None
