"""A stand-in of KEDA: computes from a rendered ScaledJob how many jobs KEDA would start.

It covers a metric in Prometheus' text format and the scaling strategy `accurate` only, by the
formulas of KEDA's documentation (https://keda.sh/docs/2.16/reference/scaledjob-spec/#scalingstrategy
and https://keda.sh/docs/2.16/scalers/metrics-api/).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from tests.deploy.manifests import Tree


@dataclass(frozen=True)
class ScaledJob:
    """The fields of a ScaledJob that determine the number of jobs.

    Attributes:
        metric: the name of the metric.
        target: the value of the metric for which one job is started.
        most: the maximum number of jobs.
        fewest: the minimum number of jobs.
        command: the arguments of the container of a job.
    """

    metric: str
    target: float
    most: int
    fewest: int
    command: Sequence[str]

    @classmethod
    def read(cls, manifest: Tree) -> "ScaledJob":
        """Read a rendered manifest."""
        spec: dict[str, Any] = manifest["spec"]
        assert spec["scalingStrategy"]["strategy"] == "accurate", "no other strategy is known here"
        [trigger] = spec["triggers"]
        metadata = trigger["metadata"]
        kind = (trigger["type"], metadata["format"])
        assert kind == ("metrics-api", "prometheus"), "no other trigger is known here"
        [container] = spec["jobTargetRef"]["template"]["spec"]["containers"]
        return cls(
            metadata["valueLocation"],
            float(metadata["targetValue"]),
            spec["maxReplicaCount"],
            spec["minReplicaCount"],
            container["args"],
        )

    def value(self, exposition: str) -> float:
        """Return the metric's value in a text of Prometheus."""
        [sample] = [line for line in exposition.splitlines() if line.startswith(f"{self.metric} ")]
        return float(sample.removeprefix(self.metric))

    def jobs_to_start(self, value: float, running: int, pending: int = 0) -> int:
        """Return the number of jobs that KEDA starts at a poll.

        1. The scale is the metric divided by `target`, rounded up, at most `most`.
        2. With the running jobs it must not exceed `most`; else jobs start up to `most`.
        3. Otherwise pending jobs are subtracted, because they have not taken their items yet.

        Args:
            value: the value of the metric.
            running: number of jobs that have not ended, with the pending ones.
            pending: number of jobs whose pod does not run yet.
        """
        scale = min(self.most, ceil(value / self.target))
        if scale + running > self.most:
            return max(self.most - running, 0)
        return max(scale - pending, self.fewest - running, 0)
