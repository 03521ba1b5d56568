"""A stand-in of KEDA: computes from a rendered ScaledJob how many jobs KEDA would start.

It covers the Redis list trigger and the scaling strategy `accurate` only, by the formulas of KEDA's
documentation (https://keda.sh/docs/2.16/reference/scaledjob-spec/#scalingstrategy and
https://keda.sh/docs/2.16/scalers/redis-lists/).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from redis import Redis

from tests.deploy.manifests import Tree


@dataclass(frozen=True)
class ScaledJob:
    """The fields of a ScaledJob that determine the number of jobs.

    Attributes:
        list_name: the key of the list in Redis.
        list_length: the number of items for which one job is started.
        most: the maximum number of jobs.
        fewest: the minimum number of jobs.
        command: the arguments of the container of a job.
    """

    list_name: str
    list_length: int
    most: int
    fewest: int
    command: Sequence[str]

    @classmethod
    def read(cls, manifest: Tree) -> "ScaledJob":
        """Read a rendered manifest."""
        spec: dict[str, Any] = manifest["spec"]
        assert spec["scalingStrategy"]["strategy"] == "accurate", "no other strategy is known here"
        [trigger] = spec["triggers"]
        assert trigger["type"] == "redis", "no other trigger is known here"
        [container] = spec["jobTargetRef"]["template"]["spec"]["containers"]
        return cls(
            trigger["metadata"]["listName"],
            int(trigger["metadata"]["listLength"]),
            spec["maxReplicaCount"],
            spec["minReplicaCount"],
            container["args"],
        )

    def jobs_to_start(self, connection: Redis, running: int, pending: int = 0) -> int:
        """Return the number of jobs that KEDA starts at a poll.

        1. The scale is the length of the list divided by `list_length`, rounded up, at most `most`.
        2. With the running jobs it must not exceed `most`; else jobs start up to `most`.
        3. Otherwise pending jobs are subtracted, because they have not taken their items yet.

        Args:
            connection: the Redis that the trigger watches.
            running: number of jobs that have not ended, with the pending ones.
            pending: number of jobs whose pod does not run yet.
        """
        waiting = int(connection.llen(self.list_name))
        scale = min(self.most, ceil(waiting / self.list_length))
        if scale + running > self.most:
            return max(self.most - running, 0)
        return max(scale - pending, self.fewest - running, 0)
