"""The sandbox of the bots that a worker process runs, as the worker checks and registers it."""

from __future__ import annotations

from arena.bots.sandbox import available_levels, stored_level
from arena.bots.sandbox.level import Level, refusal
from arena.errors import InfrastructureError
from arena.services.queue.worker import WorkerSandbox
from arena.services.queue.worker_registrations import SandboxState
from arena.services.queue.worker_sandboxes import UNAVAILABLE


class ChosenSandbox(WorkerSandbox):
    """The level that this machine offers (`arena.bots.sandbox.available_levels`)."""

    def check(self) -> None:
        """Check that the chosen level holds.

        Raises:
            InfrastructureError: it does not hold now.
        """
        available_levels.best_level()

    def doubt(self) -> None:
        """Let the next check run the self-test again."""
        available_levels.doubt_level()

    def state(self) -> SandboxState:
        """Return the state without a self-test, which could delay a heartbeat."""
        try:
            stored = stored_level.stored_level()
        except InfrastructureError:
            stored = None
        level = available_levels.current_level()
        return SandboxState(
            level or UNAVAILABLE, stored or "", level is not None and plays_pushed(level)
        )


def plays_pushed(level: Level) -> bool:
    """Return whether pushed versions play at a level."""
    return not refusal("a pushed version", trusted=False, level=level)
