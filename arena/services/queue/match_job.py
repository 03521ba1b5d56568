"""The RQ job of a match: one function, whose only argument is the id of the match and of the job.

Anyone who can write to Redis can write jobs. A job that names another function or other arguments
is removed before anything in it is imported, called or fetched. The serializer is JSON.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final

from rq.exceptions import NoSuchJobError
from rq.executions import Execution, ExecutionRegistry
from rq.job import Job, JobStatus

from arena.services.queue.worker_registrations import QUEUE, QUEUES

log = logging.getLogger("arena.services.queue")

MATCH_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""RQ's pattern for ids, limited to 64 characters."""

_player: ContextVar[Callable[[str], object]] = ContextVar("player")


def play_queued_match(match: str) -> None:
    """Play a match with the player of this process."""
    _player.get()(match)


FUNCTION: Final = f"{__name__}.{play_queued_match.__name__}"


def set_player(play: Callable[[str], object]) -> None:
    """Set the player of this process, which receives the match id of each job."""
    _player.set(play)


class _Executions(ExecutionRegistry):
    """Executions of a job, without their values.

    A match can be enqueued again while its job is performed. When one of two workers removes the
    job, a heartbeat of the other writes its execution again, with a single value. RQ reads all
    values of executions only to delete them.
    """

    def get_executions(self, start: int = 0, end: int = -1) -> list[Execution]:
        names = self.get_execution_ids(start, end)
        return [Execution(name, self.job_id, self.connection) for name in names]


class MatchJob(Job):
    """An RQ job whose match id alone is read."""

    def restore(self, raw_data: Any) -> None:
        """Read the job from Redis.

        Raises:
            NoSuchJobError: it is not a match job, and was removed. RQ continues with the next job.
        """
        try:
            origin = raw_data.get(b"origin", b"").decode()
            # The data is deserialized here, at its first use.
            super().restore(
                {
                    b"data": raw_data[b"data"],
                    b"origin": (origin if origin in QUEUES else QUEUE).encode(),
                    b"timeout": b"-1",
                    b"result_ttl": b"0",
                    b"failure_ttl": b"0",
                }
            )
            call = (self.func_name, self.instance, list(self.args), dict(self.kwargs))
        except Exception as error:
            self._remove()
            raise NoSuchJobError(f"job {self.id!r} cannot be read") from error
        if call != (FUNCTION, None, [self.id], {}) or not MATCH_ID.fullmatch(self.id):
            self._remove()
            raise NoSuchJobError(f"job {self.id!r} is not a match job")

    def _remove(self) -> None:
        log.warning("job %r in Redis is not a match job; it is removed", self.id)
        self.connection.delete(self.key, self.dependents_key, self.dependencies_key)

    @property
    def execution_registry(self) -> ExecutionRegistry:
        """The executions of the job."""
        return _Executions(self.id, self.connection)

    def get_status(self, refresh: bool = True) -> JobStatus:
        """Return the status in this process: Redis may have lost the job while it was performed."""
        return self._status
