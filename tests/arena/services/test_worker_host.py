"""Test a machine with workers only: it runs its own referee, and stops cleanly."""

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from arena.config import Folder
from arena.services.queue import redis_server, worker_registrations
from arena.store import database
from arena.store.matches import listing
from arena.store.schema import MatchState
from arena.system import process_info, redis_connection
from tests.arena.services.worker_host import WorkerHostHarness
from tests.waiting import wait_until


@pytest.fixture
def worker_host(tmp_path: Path) -> Iterator[WorkerHostHarness]:
    """Provide a store and a Redis without any services."""
    with redis_server.resolve(Folder(tmp_path / "redis-data"), {}) as address:
        other_host = WorkerHostHarness(tmp_path, address.url)
        yield other_host
        other_host.engine.dispose()


@pytest.mark.long
def test_burst_workers_fetch_bots_play_and_exit(
    worker_host: WorkerHostHarness,
) -> None:
    [match] = worker_host.schedule()
    with worker_host.worker("--burst", "-j", "2") as workers:
        assert workers.wait() == 0, worker_host.output.read_text()
    stored_match = listing.find_match(worker_host.engine, match)
    assert (stored_match.state, stored_match.attempt, stored_match.failures) == (
        MatchState.CLOSED,
        1,
        0,
    )
    assert len([path for path in worker_host.there.versions.iterdir() if path.is_dir()]) == 2
    assert sorted(path.name for path in worker_host.there.service_logs.glob("*.log")) == [
        "referee-worker-1.log",
        "referee-worker-2.log",
        "worker-1.log",
        "worker-2.log",
    ]


@pytest.mark.long
@pytest.mark.repetition
def test_a_worker_exits_after_max_matches(
    worker_host: WorkerHostHarness,
) -> None:
    due = worker_host.schedule(matches=2)
    with worker_host.worker("--max-matches", "1") as workers:
        assert workers.wait() == 0, worker_host.output.read_text()
    states = [listing.find_match(worker_host.engine, match).state for match in due]
    assert sorted(states) == [MatchState.CLOSED, MatchState.PENDING]


@pytest.mark.long
def test_killed_processes_are_restarted_and_die_with_their_supervisor(
    worker_host: WorkerHostHarness,
) -> None:
    with worker_host.worker("--name", "far") as watching:
        connection = redis_connection.connect(worker_host.redis)

        def pids() -> set[int]:
            return {info.pid for info in worker_registrations.workers(connection) if info.alive}

        wait_until(lambda: len(pids()) == 1)
        [first] = pids()
        assert all(
            info.name.startswith("far-") for info in worker_registrations.workers(connection)
        )
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: bool(pids() - {first}))
        [second] = pids() - {first}
        watching.kill()
        watching.wait()
        wait_until(lambda: process_info.has_ended(second) or not process_info.start_time(second))
        # Nobody has removed the machine, so it is lost as soon as its workers are silent.
        assert worker_registrations.lost_hosts(connection, ()) == {socket.gethostname()}


@pytest.mark.long
def test_sigterm_stops_a_worker_host_cleanly(worker_host: WorkerHostHarness) -> None:
    with worker_host.worker() as watching:
        connection = redis_connection.connect(worker_host.redis)
        wait_until(lambda: bool(worker_registrations.workers(connection)))
        watching.send_signal(signal.SIGTERM)
        assert watching.wait() == 0
    assert worker_registrations.workers(connection) == ()
    assert worker_registrations.lost_hosts(connection, ()) == set()
    assert list(worker_host.there.root.glob("sockets.*")) == []


@pytest.mark.long
def test_a_worker_of_an_earlier_release_pauses_after_an_upgrade(
    worker_host: WorkerHostHarness,
) -> None:
    def set_version(version: str) -> None:
        with database.writing(worker_host.engine) as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = :v"), {"v": version})

    with worker_host.worker("--max-matches", "2") as worker:
        connection = redis_connection.connect(worker_host.redis)
        wait_until(lambda: bool(worker_registrations.workers(connection)))
        set_version("9999")
        [match] = worker_host.schedule()
        wait_until(lambda: f"{match}: not started: the database is at version" in worker_host.log)
        stored = listing.find_match(worker_host.engine, match)
        assert (stored.state, stored.attempt) == (MatchState.PENDING, 0)
        set_version(database.HEAD)
        # At the end of its pause the worker removes the job.
        wait_until(lambda: not connection.keys("rq:job:*"))
        worker_host.enqueue(match)
        assert worker.wait() == 0, worker_host.log
    assert listing.find_match(worker_host.engine, match).state is MatchState.CLOSED


@pytest.mark.long
def test_without_a_database_setting_the_error_names_it(
    worker_host: WorkerHostHarness,
) -> None:
    del worker_host.environment["POKEARENA_DATABASE_URL_FILE"]
    with worker_host.worker() as worker:
        assert worker.wait() == 3
    assert "POKEARENA_DATABASE_URL" in worker_host.output.read_text()
