"""A hint as a worker reads it out of Redis.

Whoever can write to Redis can put any function's name into a job, or into its callbacks, and
plain RQ would import and call it. Here a job is only ever read for the id of a match.
"""

from collections.abc import Callable
from typing import Any

from rq.exceptions import NoSuchJobError
from rq.job import Job

from arena.queue import FUNCTION, MATCH_ID


class Refused(Exception):
    """A job that is no hint of ours."""


class Hint(Job):
    """A job as a worker of ours reads it: for the id of a match, and for nothing else."""

    play: Callable[[str], None]

    def restore(self, raw_data: Any) -> None:
        """Reads it from Redis, and forgets whatever RQ would import, call or fetch for it."""
        try:
            super().restore(raw_data)
        except Exception as error:
            raise NoSuchJobError(f"what Redis holds as job {self.id!r} is none") from error
        self._success_callback_name = None
        self._failure_callback_name = None
        self._stopped_callback_name = None
        self.webhooks = []
        self._dependency_ids = []
        self.group_id = None
        self.retries_left = None
        self.repeats_left = None
        self.timeout = -1
        self.result_ttl = 0
        self.failure_ttl = 0

    def match(self) -> str:
        """The id of the match it hints at. Raises Refused, or RQ's DeserializationError."""
        asked = (self.func_name, self.instance, list(self.args or ()), dict(self.kwargs or {}))
        if asked != (FUNCTION, None, [self.id], {}) or not MATCH_ID.fullmatch(self.id):
            raise Refused(f"job {self.id!r} is no hint of this arena: workers only play matches")
        return self.id

    @property
    def func(self) -> None:
        """Nothing: RQ would import it by the name that stands in Redis."""

    def perform(self) -> None:
        """Tries the match, once it is sure that this is what the job asks for."""
        self.play(self.match())
