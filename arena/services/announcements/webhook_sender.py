"""Deliver announcements to webhooks in the background; `webhook_message` signs them.

One thread plans deliveries from the store every two seconds. Each webhook with a due delivery gets
a thread of its own, so a slow receiver delays no other one.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from typing import TYPE_CHECKING, Final

from sqlalchemy.exc import SQLAlchemyError

from arena.errors import StoreError
from arena.services.announcements import webhook_message, webhook_receiver
from arena.store import webhooks
from arena.store.events import restarts
from arena.store.events.background_service import BackgroundService
from arena.store.webhooks import AttemptResult

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.store.webhooks import Webhook

_SERVICE: Final = "webhooks"
_ROUND_SECONDS: Final = 2.0
_LAST_SECONDS: Final = 3.0

log = logging.getLogger("arena.webhooks")


class WebhookSender(BackgroundService):
    """Delivers announcements.

    Args:
        redis: the address of the Redis that counts failures; empty for none.
        site: the public URL of the web pages, for links; empty if unknown.
    """

    def __init__(self, engine: Engine, redis: str = "", site: str = "") -> None:
        super().__init__(_SERVICE, redis, _ROUND_SECONDS, _ROUND_SECONDS)
        self._engine = engine
        self._site = site
        self._until = math.inf
        self._active: dict[str, threading.Thread] = {}

    def stop(self) -> None:
        """Deliver what has been committed so far for at most 3 s, then stop.

        What is left is delivered by the next process that serves this store.
        """
        self._until = time.monotonic() + _LAST_SECONDS
        super().stop()
        for thread in list(self._active.values()):
            thread.join(max(self._until - time.monotonic(), 0.0))

    def run_round(self) -> int:
        """Plan deliveries, and attempt all that are due; return the number of webhooks served."""
        webhooks.plan(self._engine)
        self._active = {name: thread for name, thread in self._active.items() if thread.is_alive()}
        idle = [name for name in webhooks.due(self._engine) if name not in self._active]
        for name in idle:
            thread = threading.Thread(
                target=self._serve, args=(name,), name=f"{_SERVICE}-{name}", daemon=True
            )
            self._active[name] = thread
            thread.start()
        return len(idle)

    def wait(self) -> None:
        """Wait until the attempts that have begun are over."""
        for thread in self._active.values():
            thread.join()

    def _work(self) -> None:
        super()._work()
        self._try_round()

    def _serve(self, name: str) -> None:
        """Attempt the deliveries of one webhook in order, until one fails."""
        try:
            while time.monotonic() < self._until and self._attempt(name):
                pass
        except (SQLAlchemyError, StoreError) as error:
            log.warning("webhook %s: cannot use the store: %s", name, error)
        except Exception as error:
            restarts.report(_SERVICE, error, self._redis, _ROUND_SECONDS)

    def _attempt(self, name: str) -> bool:
        """Attempt the oldest due delivery of a webhook; return whether it was delivered."""
        due = webhooks.start(self._engine, name)
        if due is None:
            return False
        hook, delivery = due
        message = webhook_message.of_event(
            self._engine, hook, delivery.event, delivery.subject, self._site
        )
        if message is None:
            result = AttemptResult(None, "it does not exist any more", is_final=True)
        else:
            result = send(hook, message)
        webhooks.record_attempt(self._engine, delivery, result)
        if result.error:
            log.warning(
                "webhook %s: %s %s: %s", name, delivery.event, delivery.subject, result.error
            )
        return not result.error or result.is_final


def send(hook: Webhook, message: webhook_message.WebhookMessage) -> AttemptResult:
    headers = message.headers(hook.secret, time.time())
    return webhook_receiver.post(hook.url, headers, message.body, private=hook.private)
