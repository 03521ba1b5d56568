"""An arena whose figures are asked for: a real store, a real Redis, and what Prometheus reads."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.request import urlopen

from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample
from redis import Redis

from arena.cli.workspace import Workspace
from arena.services.metrics.collector import ArenaCollector, registry


def parsed(text: str) -> list[Sample]:
    """The samples that a text for Prometheus has."""
    return [one for family in text_string_to_metric_families(text) for one in family.samples]


def scraped(url: str) -> list[Sample]:
    """What is told at an address."""
    with urlopen(url, timeout=60) as answer:
        return parsed(answer.read().decode())


def value(samples: list[Sample], name: str, **labels: str) -> float:
    """The sum of the samples of this name that have at least these labels."""
    return sum(
        one.value
        for one in samples
        if one.name == name and labels.items() <= dict(one.labels).items()
    )


def labels(samples: list[Sample], name: str) -> list[Mapping[str, str]]:
    """The labels of the samples of this name."""
    return [one.labels for one in samples if one.name == name]


@dataclass
class Asked:
    """An arena, and who asks it."""

    place: Workspace
    redis: Redis
    collector: ArenaCollector

    def samples(self) -> list[Sample]:
        """Its figures now."""
        return parsed(generate_latest(registry(self.collector)).decode())
