"""Remote bots that are away: looked for, and waited for no longer than the organiser wants."""

from __future__ import annotations

import logging
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from arena import reach
from arena.store import remotes, waiting

if TYPE_CHECKING:
    from sqlalchemy import Engine

LOOK_SECONDS = 3.0
_AT_ONCE = 8

log = logging.getLogger("arena.sweeper")


class Absences:
    """Looks after the remote bots that matches wait for, every few seconds.

    Those with an address of their own are asked there; the others come back by themselves.

    wait: seconds for which matches wait.
    """

    def __init__(self, engine: Engine, wait: float) -> None:
        self._engine = engine
        self._wait = wait
        self._since: float | None = None
        self._next = 0.0

    def look(self) -> None:
        """Looks, if it is time. Raises what the store raises."""
        if time.monotonic() < self._next:
            return
        if self._since is None:
            # Who was away while nobody looked may be back in a moment.
            self._since = waiting.time(self._engine)
        self._find()
        given_up = waiting.give_up(self._engine, self._wait, self._since)
        if given_up:
            log.warning("%d matches wait no longer for a remote bot", given_up)
        self._next = time.monotonic() + min(LOOK_SECONDS, max(self._wait / 4, 0.25))

    def _find(self) -> None:
        away = waiting.addresses(self._engine)
        if not away:
            return
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            answers = pool.map(reach.answers, away.values())
        for version, there in zip(away, answers, strict=True):
            if there:
                log.info("%s answers at its address again", version)
                remotes.answers(self._engine, version)
