"""Kill random processes of an arena from a background thread."""

import os
import random
import signal
from collections import Counter
from collections.abc import Mapping

from tests.faults import processes
from tests.faults.background_loop import BackgroundLoop
from tests.faults.fault_arena import Arena
from tests.faults.witness import Witness

FAILED = """
SELECT count(*) FROM failures JOIN matches ON matches.id = failures.match
WHERE matches.state IN ('PENDING', 'RUNNING') AND failures.attempt > (
    SELECT coalesce(max(games.attempt), 0) FROM games WHERE games.match = failures.match
)
GROUP BY failures.match
"""
"""Number of failures since the last committed game, for each match that is not over."""


class Storm(BackgroundLoop):
    """Kills a random process again and again during the block.

    Args:
        weights: the relative frequency of each role.
        every: the mean number of committed games between two kills, so that a slow machine has
            the same number of kills in the end.
        spare: postpone a kill while a match has failed this number of times since its last
            committed game.
        seconds: the time between two kills; None to use `every`.
    """

    def __init__(
        self,
        arena: Arena,
        witness: Witness,
        weights: Mapping[str, float],
        every: int = 0,
        spare: int = 99,
        seconds: float | None = None,
    ) -> None:
        super().__init__()
        assert arena.serve is not None
        self._arena = arena
        self._serve = arena.serve
        self._witness = witness
        self._weights = weights
        self._every = every
        self._spare = spare
        self._seconds = seconds
        self._luck = random.Random(4)
        self.hits: Counter[str] = Counter()
        self.postponed = 0

    def go_on(self) -> None:
        """Kill processes until `over` is set."""
        if self._seconds is not None:
            self._strike_regularly(self._seconds)
            return
        goal = 0
        while not self.over.wait(self._luck.uniform(0.02, 0.2)):
            if len(self._witness.games) < goal or self._spared():
                continue
            goal = len(self._witness.games) + self._luck.randint(0, 2 * self._every)
            self._strike_any()

    def _strike_regularly(self, seconds: float) -> None:
        while not self.over.wait(seconds):
            if self._spared():
                self.postponed += 1
                while self._spared() and not self.over.wait(0.05):
                    pass
            if not self.over.is_set():
                self._strike_any()

    def _strike_any(self) -> None:
        """Kill a process of a random role; first of each role that was not hit yet.

        Otherwise all kills of a short storm could hit bots, which interrupts no match.
        """
        targets = {
            role: [self._serve.pid] if role == "serve" else self._serve.of(role)
            for role in self._weights
        }
        present = [role for role, pids in targets.items() if pids]
        roles = [role for role in present if not self.hits[role]] or present
        if roles:
            [role] = self._luck.choices(roles, [self._weights[role] for role in roles])
            self._strike(role, self._luck.choice(targets[role]))

    def _spared(self) -> bool:
        failed = self._arena.sql(FAILED)
        return any(times >= self._spare for (times,) in failed)

    def _strike(self, role: str, pid: int) -> None:
        if role in ("worker", "horse"):
            self._witness.blow(processes.owner(pid))
        elif role in ("referee", "serve"):
            self._witness.blow()
        # The process may have exited since it was listed.
        if os.path.exists(f"/proc/{pid}") and processes.send(pid, signal.SIGKILL):
            self.hits[role] += 1
