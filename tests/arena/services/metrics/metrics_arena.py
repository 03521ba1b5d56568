"""Provide an arena with a real store and Redis, and read its metrics as Prometheus does."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.request import urlopen

from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample
from redis import Redis

from arena.cli.workspace import Workspace
from arena.services.metrics_collector import ArenaCollector, registry


def parsed(text: str) -> list[Sample]:
    """Parse the samples of a text in the Prometheus format."""
    return [sample for family in text_string_to_metric_families(text) for sample in family.samples]


def scraped(url: str) -> list[Sample]:
    """Read the samples at a URL."""
    with urlopen(url, timeout=60) as answer:
        return parsed(answer.read().decode())


def value(samples: list[Sample], name: str, **labels: str) -> float:
    """Return the sum of the samples with this name and at least these labels."""
    return sum(
        sample.value
        for sample in samples
        if sample.name == name and labels.items() <= dict(sample.labels).items()
    )


def labels(samples: list[Sample], name: str) -> list[Mapping[str, str]]:
    """Return the labels of the samples with this name."""
    return [sample.labels for sample in samples if sample.name == name]


@dataclass
class MetricsArena:
    """Provide an arena and the collector of its metrics."""

    workspace: Workspace
    redis: Redis
    collector: ArenaCollector

    def samples(self) -> list[Sample]:
        """Collect the current samples."""
        return parsed(generate_latest(registry(self.collector)).decode())
