"""Probe offline remote bots, and limit the time that matches wait for them."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from arena.store import database
from arena.store.bots import remote_bots
from arena.store.matches import offline_bot_waits
from arena.system import grpc_probe

if TYPE_CHECKING:
    from sqlalchemy import Engine


PROBE_SECONDS = 3.0
_PARALLEL_PROBES = 8

log = logging.getLogger("arena.sweeper")


class OfflineBots:
    """Probes the remote bots that matches wait for, every few seconds.

    Only bots with their own address are probed; the others reconnect by themselves.

    Args:
        engine: database engine of the store.
        wait: maximum time, in seconds, that matches wait for an offline bot.
        clock: returns the time in seconds that intervals are measured with.
    """

    def __init__(
        self, engine: Engine, wait: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._engine = engine
        self._wait = wait
        self._clock = clock
        self._since: float | None = None
        self._next = 0.0

    def probe(self) -> None:
        """Probe the offline bots if the interval has passed. Propagates errors of the store."""
        if self._clock() < self._next:
            return
        if self._since is None:
            # Bots that went offline before the first probe may return in a moment.
            self._since = database.current_time(self._engine)
        if offline_bot_waits.has_remote_bots(self._engine):
            self._probe_addresses()
            given_up = offline_bot_waits.give_up(self._engine, self._wait, self._since)
            if given_up:
                log.warning("%d matches no longer wait for an offline bot", given_up)
        self._next = self._clock() + min(PROBE_SECONDS, max(self._wait / 4, 0.25))

    def _probe_addresses(self) -> None:
        addresses = offline_bot_waits.addresses(self._engine)
        if not addresses:
            return
        with ThreadPoolExecutor(_PARALLEL_PROBES) as pool:
            responses = pool.map(grpc_probe.answers, addresses.values())
        for version, answers_again in zip(addresses, responses, strict=True):
            if answers_again:
                log.info("%s: online again", version)
                remote_bots.record_reachable(self._engine, version)
