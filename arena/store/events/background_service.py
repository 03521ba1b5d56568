"""Repeat the work of a service in a thread, until it is stopped."""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod

from sqlalchemy.exc import SQLAlchemyError

from arena.errors import StoreError
from arena.store.events import restarts


class BackgroundService(ABC):
    """Repeats `run_round` between `start` and `stop`. Several processes may do so for one store.

    Args:
        name: the name under which failures are counted, and of its logger.
        redis: the address of the Redis that counts failures; empty for none.
        pause: seconds between two rounds.
        retry_pause: seconds after a round that could not use the store.
    """

    def __init__(self, name: str, redis: str, pause: float, retry_pause: float) -> None:
        self._name = name
        self._redis = redis
        self._pause = pause
        self._retry_pause = retry_pause
        self._log = logging.getLogger(f"arena.{name}")
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @abstractmethod
    def run_round(self) -> object:
        """Do what is due; raise StoreError or SQLAlchemyError if the store cannot be used."""

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current round."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        restarts.keep_running(self._name, self._work, self._redis, self._stop)

    def _work(self) -> None:
        while not self._stop.is_set():
            self._stop.wait(self._pause if self._try_round() else self._retry_pause)

    def _try_round(self) -> bool:
        try:
            self.run_round()
        except (SQLAlchemyError, StoreError) as error:
            retry = self._retry_pause
            self._log.warning("cannot use the store, next try in %.0f s: %s", retry, error)
            restarts.count(self._name, error, self._redis)
            return False
        return True
