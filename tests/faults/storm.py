"""A thread that kills at random whatever an arena consists of."""

import os
import random
import signal
from collections import Counter
from collections.abc import Mapping

from tests.faults import processes
from tests.faults.beside import Beside
from tests.faults.stage import Arena
from tests.faults.witness import Witness


class Storm(Beside):
    """Kills a process every now and then, for as long as the block lasts.

    weights: how often each role is hit, beside the others.
    every: after so many committed games there is a blow, on average: a slow machine is hit less
        often, and no more often in the end.
    spare: none while a match that is played has failed so often already.
    seconds: the time between two blows; None: they follow from `every`.
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

    def go_on(self) -> None:
        """Strikes, and strikes again."""
        if self._seconds is not None:
            while not self.over.wait(self._seconds):
                self._strike_any()
            return
        goal = 0
        while not self.over.wait(self._luck.uniform(0.02, 0.2)):
            if len(self._witness.games) < goal or self._spared():
                continue
            goal = len(self._witness.games) + self._luck.randint(0, 2 * self._every)
            self._strike_any()

    def _strike_any(self) -> None:
        """Kill a process of a role at random, if there is one now."""
        [role] = self._luck.choices([*self._weights], [*self._weights.values()])
        targets = [self._serve.pid] if role == "serve" else self._serve.of(role)
        if targets:
            self._strike(role, self._luck.choice(targets))

    def _spared(self) -> bool:
        failed = self._arena.sql("SELECT max(failures) FROM matches WHERE state = 'RUNNING'")
        return (failed[0][0] or 0) >= self._spare

    def _strike(self, role: str, pid: int) -> None:
        if role in ("worker", "horse"):
            self._witness.blow(processes.owner(pid))
        elif role in ("referee", "serve"):
            self._witness.blow()
        # What is already gone may have another in its place by now: only what we still see there.
        if os.path.exists(f"/proc/{pid}") and processes.send(pid, signal.SIGKILL):
            self.hits[role] += 1
