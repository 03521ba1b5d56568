"""The rendered ScaledJob starts as many workers as the queue needs, and none for an empty one."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from arena.config import Folder
from arena.queue import redis_server
from arena.queue.match_queue import MatchQueue
from arena.store.matches import listing
from arena.store.schema import MatchState
from arena.system import redis_connection
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
    ("waiting", "running", "pending", "started"),
    [
        (0, 0, 0, 0),
        (1, 0, 0, 1),
        (2, 0, 0, 1),
        (3, 0, 0, 2),
        (256, 0, 0, MOST),
        # The jobs that run have taken their matches; the waiting ones need others.
        (1, 2, 0, 1),
        (256, 2, 0, 1),
        (256, MOST, 0, 0),
        # A pending job has not taken its matches yet.
        (2, 1, 1, 0),
        (4, 1, 1, 1),
    ],
)
def test_the_number_of_jobs_follows_the_queue_of_the_arena(
    scaled: ScaledJob, redis: str, waiting: int, running: int, pending: int, started: int
) -> None:
    with redis_connection.connect(redis) as connection:
        matches = [f"m-{number:010}" for number in range(waiting)]
        if matches:
            MatchQueue(connection).enqueue(*matches)
        assert scaled.jobs_to_start(connection, running, pending) == started


@pytest.mark.long
@pytest.mark.timeout(600)
def test_jobs_started_by_the_trigger_drain_the_queue_and_none_follows(
    scaled: ScaledJob, redis: str, tmp_path: Path
) -> None:
    host = WorkerHostHarness(tmp_path, redis)
    due = host.schedule(matches=3)
    with redis_connection.connect(redis) as connection, ExitStack() as jobs:
        started = scaled.jobs_to_start(connection, running=0)
        assert started == 2
        command = list(scaled.command)
        assert command.pop(0) == "worker"
        workers = [jobs.enter_context(host.worker(*command)) for _ in range(started)]
        assert [worker.wait() for worker in workers] == [0, 0], host.output.read_text()
        assert scaled.jobs_to_start(connection, running=0) == 0
    assert {listing.find(host.engine, match).state for match in due} == {MatchState.CLOSED}
    host.engine.dispose()
