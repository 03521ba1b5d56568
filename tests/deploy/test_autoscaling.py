"""The rendered ScaledJob starts as many workers as the due matches need, and none without any."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from prometheus_client import generate_latest

from arena.config import Folder
from arena.services import metrics_collector
from arena.services.metrics_collector import ArenaCollector
from arena.services.queue import redis_server
from arena.store.matches import listing
from arena.store.schema import MatchState
from tests.arena.services.worker_host import WorkerHostHarness
from tests.deploy.autoscaler import ScaledJob
from tests.deploy.manifests import of_kind, render

PER_JOB, MOST = 2, 3


@pytest.fixture
def scaled(helm: str, tmp_path: Path) -> ScaledJob:
    """Read the ScaledJob of the chart, with small numbers of matches and jobs."""
    values = {
        "worker.mode": "scaledjob",
        "worker.scaledjob.matchesPerJob": PER_JOB,
        "worker.scaledjob.most": MOST,
    }
    options = [f"--set={name}={value}" for name, value in values.items()]
    [manifest] = of_kind(render(helm, tmp_path, *options), "ScaledJob")
    return ScaledJob.read(manifest)


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[str]:
    """Return the URL of an empty Redis."""
    with redis_server.resolve(Folder(tmp_path / "redis-data"), {}) as address:
        yield address.url


@pytest.mark.long
@pytest.mark.parametrize(
    ("due", "running", "pending", "started"),
    [
        (0, 0, 0, 0),
        (1, 0, 0, 1),
        (2, 0, 0, 1),
        (3, 0, 0, 2),
        (256, 0, 0, MOST),
        # The matches that the running jobs play are not due; the due ones need others.
        (1, 2, 0, 1),
        (256, 2, 0, 1),
        (256, MOST, 0, 0),
        # A pending job has not taken its matches yet.
        (2, 1, 1, 0),
        (4, 1, 1, 1),
    ],
)
def test_the_number_of_jobs_follows_the_due_matches(
    scaled: ScaledJob, due: int, running: int, pending: int, started: int
) -> None:
    assert scaled.jobs_to_start(due, running, pending) == started


@pytest.mark.long
@pytest.mark.timeout(600)
def test_jobs_started_by_the_trigger_play_all_due_matches_and_none_follows(
    scaled: ScaledJob, redis: str, tmp_path: Path
) -> None:
    host = WorkerHostHarness(tmp_path, redis)

    def due() -> float:
        exposed = generate_latest(metrics_collector.registry(ArenaCollector(host.engine, None)))
        return scaled.value(exposed.decode())

    assert due() == 0
    matches = host.schedule(matches=3)
    with ExitStack() as jobs:
        started = scaled.jobs_to_start(due(), running=0)
        assert started == 2
        command = list(scaled.command)
        assert command.pop(0) == "worker"
        workers = [jobs.enter_context(host.worker(*command)) for _ in range(started)]
        assert [worker.wait() for worker in workers] == [0, 0], host.output.read_text()
        assert scaled.jobs_to_start(due(), running=0) == 0
    assert {listing.find_match(host.engine, match).state for match in matches} == {
        MatchState.CLOSED
    }
    host.engine.dispose()
