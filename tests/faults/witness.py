"""Somebody who looks on while an arena is shot at, and remembers what was committed."""

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from sqlalchemy import exc

from tests.faults.beside import Beside
from tests.faults.stage import Arena

GLANCE_SECONDS = 0.05
Game = tuple[str, int]


@dataclass(frozen=True)
class Blow:
    """Something was done at a time (seconds since 1970) that may take matches from attempts."""

    at: float
    attempts: Sequence[tuple[str, int]]


class Witness(Beside):
    """Looks on in a thread: which games were ever committed, which leases were ever given.

    token: a file that is gone when a fail-point has struck.
    """

    def __init__(self, arena: Arena, token: Path | None = None) -> None:
        super().__init__()
        self._arena = arena
        self._token = token
        self.games: dict[Game, tuple[int, float]] = {}
        self.doubled: list[Game] = []
        self.leases: dict[tuple[str, int], float] = {}
        self._blows: list[Blow] = []

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)
        self._look()

    def blow(self, owner: str | None = None, idle: bool = False) -> None:
        """Is told, just before, that something is about to be done to all who play, or to one.

        owner: only the worker of this name loses its match.
        idle: nobody loses a match, but the next one cannot begin.
        """
        if idle:
            self._blows.append(Blow(time.time(), []))
            return
        rows = self._arena.sql("SELECT id, attempt, owner FROM matches WHERE state = 'RUNNING'")
        hit = [(match, attempt) for match, attempt, who in rows if owner in (None, who)]
        self._blows.append(Blow(time.time(), hit))

    def resumed(self) -> list[float]:
        """Seconds from each blow to the next lease of each match it took."""
        found = []
        for blow in self._blows:
            again = [self.leases.get((match, attempt + 1)) for match, attempt in blow.attempts]
            # What hit nobody who played may still have hit whoever was about to.
            later = [at for at in self.leases.values() if at > blow.at]
            next_ones = again or ([min(later)] if later else [])
            found += [at - blow.at for at in next_ones if at is not None]
        return found

    def go_on(self) -> None:
        """Looks, and looks again."""
        while not self.over.wait(GLANCE_SECONDS):
            try:
                self._look()
            except (sqlite3.OperationalError, exc.OperationalError):
                continue  # the database is what is being shot at

    def _look(self) -> None:
        if self._token and not self._token.exists():
            self._token = None
            self.blow()
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
