"""Find the services that play scheduled matches: those of a running `serve`, or own ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from arena.bots.sandbox import available_levels
from arena.cli.workspace import Workspace
from arena.config import Running
from arena.services.local import Services
from arena.services.queue import redis_server
from arena.services.web_process import Pages


class ServicesEnded(Exception):
    """The services of another process have ended."""


class RunningServices:
    """Running services. `own` states whether they end with this command."""

    def __init__(self, workspace: Workspace, services: Services | None) -> None:
        self._workspace = workspace
        self._services = services
        self._restarts: dict[str, int] = {}

    @property
    def own(self) -> bool:
        """Whether this command started the services."""
        return self._services is not None

    @property
    def words(self) -> str:
        """Description of the services for the user."""
        if self._services is None:
            return "using the services that already run for this data folder"
        snapshot = self._services.snapshot
        workers = sum(child.name.startswith("worker") for child in snapshot.services)
        return (
            f"Redis: {snapshot.redis.source} · {workers} "
            f"worker{'s' * (workers != 1)} · all services end with this "
            "command"
        )

    @property
    def page(self) -> str:
        """URL of the web pages; empty if none are served."""
        if self._services is not None:
            return self._services.snapshot.page
        services = running(self._workspace)
        return services.page if services is not None else ""

    def nudge(self) -> None:
        """Start due matches without waiting for the next sweep."""
        if self._services is not None:
            self._services.nudge()

    def new_restarts(self) -> list[str]:
        """Return sentences about restarted services since the last call.

        Raises:
            ServicesEnded: the services of another process have ended.
            Exception: the reason why services of this command ended.
        """
        if self._services is None:
            if running(self._workspace) is None:
                raise ServicesEnded
            return []
        notes = []
        for child in self._services.snapshot.services:
            if child.restarts > self._restarts.get(child.name, 0):
                notes.append(f"{child.name} failed and was restarted; its log: {child.log}")
            self._restarts[child.name] = child.restarts
        return notes


def redis_of(workspace: Workspace) -> str:
    """Return the Redis that publishes events.

    This is the configured Redis, or else that of the services running for this folder; "" if
    neither exists.
    """
    named = redis_server.configured()
    if named is not None:
        return named.url
    services = running(workspace)
    return services.redis if services is not None else ""


@contextmanager
def at_work(
    workspace: Workspace, workers: int | None, pages: Callable[[], Pages] | None = None
) -> Iterator[RunningServices]:
    """Provide services for the duration of the context.

    Uses the services that run for the data folder, or starts its own, with one worker per core
    unless their number is given. Propagates the errors of `arena.services.local.Services`, and
    those of the choice of the sandbox level.
    """
    if running(workspace) is not None:
        yield RunningServices(workspace, None)
        return
    if workers != 0:
        # Without a sandbox nothing would be played, and this command would wait for ever.
        available_levels.best_level()
    with Services(workspace.folder, workers, pages=pages() if pages else None) as services:
        yield RunningServices(workspace, services)


def running(workspace: Workspace) -> Running | None:
    """Return the services that run for the data folder, if any."""
    services = workspace.folder.running()
    # A referee that does not answer is being restarted; that does not end the services.
    return services if services is not None and services.alive else None
