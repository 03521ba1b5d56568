"""Observe the store during faults, and remember committed games and leases."""

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import exc

from tests.faults.background_loop import BackgroundLoop
from tests.faults.fault_arena import Arena

GLANCE_SECONDS = 0.05
Game = tuple[str, int]


@dataclass(frozen=True)
class InjectedFault:
    """A fault at `at` (seconds since 1970) that may end these attempts."""

    at: float
    attempts: Sequence[tuple[str, int]]


class Witness(BackgroundLoop):
    """Polls the store in a thread for committed games and leases."""

    def __init__(self, arena: Arena) -> None:
        super().__init__()
        self._arena = arena
        self.games: dict[Game, tuple[int, float]] = {}
        self.doubled: list[Game] = []
        self.leases: dict[tuple[str, int], float] = {}
        self._blows: list[InjectedFault] = []

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        self._look()

    def blow(self, owner: str | None = None, idle: bool = False) -> None:
        """Record that a fault is about to happen.

        Args:
            owner: the only worker that loses its match; None for all workers.
            idle: whether no match is lost, but the next one cannot begin.
        """
        if idle:
            self._blows.append(InjectedFault(time.time(), []))
            return
        rows = self._arena.sql("SELECT id, attempt, owner FROM matches WHERE state = 'RUNNING'")
        hit = [(match, attempt) for match, attempt, who in rows if owner in (None, who)]
        self._blows.append(InjectedFault(time.time(), hit))

    def resumed(self) -> list[float]:
        """Return the seconds from each fault to the next lease of each interrupted match."""
        lines = []
        for blow in self._blows:
            again = [self.leases.get((match, attempt + 1)) for match, attempt in blow.attempts]
            # A fault that interrupts no match may still delay the next lease.
            later = [at for at in self.leases.values() if at > blow.at]
            next_ones = again or ([min(later)] if later else [])
            lines += [at - blow.at for at in next_ones if at is not None]
        return lines

    def go_on(self) -> None:
        while not self.over.wait(GLANCE_SECONDS):
            try:
                self._look()
            except (sqlite3.OperationalError, exc.OperationalError):
                continue  # the fault makes the database unavailable

    def _look(self) -> None:
        since = max((at for _, at in self.games.values()), default=0.0)
        for match, game, attempt, at in self._arena.sql(
            "SELECT match, game, attempt, committed FROM games WHERE committed >= ?", since
        ):
            if self.games.setdefault((match, game), (attempt, at)) != (attempt, at):
                self.doubled.append((match, game))
        since = max(self.leases.values(), default=0.0)
        for match, attempt, at in self._arena.sql(
            "SELECT id, attempt, leased FROM matches WHERE leased >= ?", since
        ):
            self.leases[match, attempt] = at
