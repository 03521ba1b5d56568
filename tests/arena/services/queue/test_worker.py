"""Test that a worker plays the matches of its jobs, with real processes, RQ and a Valkey."""

import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from redis import Redis
from rq import Queue
from rq.job import Callback
from rq.serializers import JSONSerializer

from arena.cli import main
from arena.config import Folder
from arena.services.queue import match_job, redis_server, worker_registrations
from arena.services.queue.match_queue import MatchQueue
from arena.services.queue.worker_registrations import WorkerInfo
from arena.system import redis_connection
from arena.system.process_log import ProcessLog
from tests.waiting import has_exited, wait_until

# A worker whose matches write notes to a file.
WORKER = """
import json, os, sys, time
from pathlib import Path
from arena.system.redis_connection import connect
from arena.services.queue.idle_work import IdleWork
from arena.services.queue.worker import MatchWorker

notes = Path(sys.argv[2])

def note(word):
    with notes.open("a") as file:
        file.write(word + "\\n")

def play(match, drain):
    note(f"{match} begins {os.getpid()}")
    if match.startswith("m-long"):
        while not drain.wait(0.01):
            pass
        note(f"{match} drained")
    elif match.startswith("m-stubborn"):
        while True:
            time.sleep(0.01)
    elif match.startswith("m-broken"):
        raise ValueError("cannot be played")
    note(f"{match} ends")

def work(gate):
    gate.wait()
    note("idle work")

bounds = json.loads(sys.argv[4])
busy_seconds = bounds.pop("busy_seconds", None)
idle_work = None if busy_seconds is None else IdleWork(work, busy_seconds=busy_seconds)
MatchWorker(
    connect(sys.argv[1]),
    play,
    sys.argv[3],
    lambda: note("a process crashed"),
    idle_work=idle_work,
    queue=bounds.pop("queue", "matches"),
).run(**bounds)
note("worker ends")
"""


class WorkerHarness:
    """Provide a Redis with its queue, and workers that use it."""

    def __init__(self, url: str, directory: Path) -> None:
        self.url = url
        self.directory = directory
        self.notes_file = directory / "notes"
        self.connection: Redis = redis_connection.connect(url)
        self.queue = MatchQueue(self.connection)
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, name: str = "w1", **bounds: int | str) -> subprocess.Popen[bytes]:
        """Start a worker, and wait until it waits for jobs or has exited."""
        process = self.spawn(name, **bounds)
        wait_until(lambda: process.poll() is not None or self.listens(name))
        return process

    def listens(self, name: str) -> bool:
        """Return whether a worker waits for jobs; from then on it handles signals."""
        return self.info(name) is not None

    def spawn(self, name: str = "w1", **bounds: int | str) -> subprocess.Popen[bytes]:
        """Start a worker without waiting for it."""
        arguments = [self.url, str(self.notes_file), name, json.dumps(bounds)]
        with (self.directory / "log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", WORKER, *arguments], stdout=log, stderr=log
            )
        self.processes.append(process)
        return process

    def info(self, name: str = "w1") -> WorkerInfo | None:
        """Return the registration of a worker in Redis."""
        return worker_registrations.worker(self.connection, name)

    def notes(self) -> list[str]:
        return self.notes_file.read_text().splitlines() if self.notes_file.exists() else []

    def noted(self, word: str) -> bool:
        """Return whether a note starts with this text."""
        return any(note.startswith(word) for note in self.notes())

    def match_process(self) -> int:
        """Return the process id of the match that started last."""
        return int(next(note for note in reversed(self.notes()) if " begins " in note).split()[2])

    def log(self) -> str:
        """Return the log of all workers."""
        return (self.directory / "log").read_text()


@pytest.fixture
def harness(redis_url: str, tmp_path: Path) -> Iterator[WorkerHarness]:
    """Yield a harness with an empty Redis; kill its workers after the test."""
    harness = WorkerHarness(redis_url, tmp_path)
    yield harness
    for process in harness.processes:
        process.kill()
        process.wait()
    harness.connection.close()


def test_a_worker_plays_jobs_in_order_and_leaves_nothing_in_redis(harness: WorkerHarness) -> None:
    harness.start()
    harness.queue.enqueue("m-one", "m-broken", "m-two")
    wait_until(lambda: harness.noted("m-two ends"))
    words = [" ".join(note.split()[:2]) for note in harness.notes()]
    assert words == [
        *("m-one begins", "m-one ends", "m-broken begins", "a process", "m-two begins"),
        "m-two ends",
    ]
    assert "cannot be played" in harness.log()
    expected = [
        *(
            b"pokearena:wake",
            b"pokearena:worker:w1",
            b"pokearena:worker_hosts",
            b"pokearena:workers",
        ),
        *(b"rq:queues", b"rq:worker:w1", b"rq:workers", b"rq:workers:matches"),
    ]
    wait_until(lambda: sorted(harness.connection.keys("*")) == expected)


def test_a_match_of_a_model_delays_no_other_and_is_taken_by_its_own_workers(
    harness: WorkerHarness,
) -> None:
    models = MatchQueue(harness.connection, worker_registrations.MODELS_QUEUE)
    models.enqueue("m-long-1", "m-long-2")
    harness.start("w1")
    harness.queue.enqueue("m-fast")
    wait_until(lambda: harness.noted("m-fast ends"))
    assert len(models) == 2
    for name in ("w2", "w3"):
        harness.start(name, queue=worker_registrations.MODELS_QUEUE)
    wait_until(lambda: harness.noted("m-long-1 begins") and harness.noted("m-long-2 begins"))
    harness.queue.enqueue("m-next")
    wait_until(lambda: harness.noted("m-next ends"))
    registered = worker_registrations.workers(harness.connection)
    assert [worker.plays_models for worker in registered] == [False, True, True]
    for process in harness.processes[1:]:
        process.terminate()
        assert process.wait(60) == 0
    assert jobs(harness) == []
    assert harness.connection.keys("rq:wip:*") == []


@pytest.mark.long
def test_a_busy_worker_does_its_idle_work_between_matches(harness: WorkerHarness) -> None:
    harness.queue.enqueue("m-one", "m-two")
    harness.spawn(busy_seconds=0)
    wait_until(lambda: harness.noted("m-two ends"))
    words = [" ".join(note.split()[:2]) for note in harness.notes()]
    idle_work = "idle work"
    assert words[:6] == [
        *(idle_work, "m-one begins", "m-one ends"),
        *(idle_work, "m-two begins", "m-two ends"),
    ]


def jobs(harness: WorkerHarness) -> list[bytes | str]:
    """Return the keys of all jobs in Redis, waiting or taken."""
    return list(harness.connection.keys("rq:job:*"))


def foreign(harness: WorkerHarness) -> Queue:
    """Return the queue as an attacker with access to Redis can use it."""
    return Queue(
        worker_registrations.QUEUE, connection=harness.connection, serializer=JSONSerializer
    )


OTHER_FUNCTIONS = (
    *("os.mkdir", "arena.services.worker_process.fresh_name", "builtins.open", "eval"),
    "antigravity.x",
)


def test_jobs_with_other_functions_arguments_or_callbacks_call_nothing(
    harness: WorkerHarness,
) -> None:
    harness.start()
    proof = harness.directory / "proof"
    queue = foreign(harness)
    for number, function in enumerate(OTHER_FUNCTIONS):
        queue.enqueue_call(function, args=(str(proof),), job_id=f"m-evil{number}")
    queue.enqueue_call(match_job.FUNCTION, args=("m-two",), job_id="m-evil")
    queue.enqueue_call(match_job.FUNCTION, args=("m-bad", 1), job_id="m-bad")
    queue.enqueue_call(match_job.FUNCTION, kwargs={"match": "m-worse"}, job_id="m-worse")
    abort = Callback("os.abort")
    for match in ("m-good", "m-broken"):
        queue.enqueue_call(
            match_job.FUNCTION,
            args=(match,),
            job_id=match,
            on_success=abort,
            on_failure=abort,
            on_stopped=abort,
        )
    harness.queue.enqueue("m-one")
    wait_until(lambda: harness.noted("m-one ends"))
    assert not proof.exists()
    assert attempted(harness) == ["m-good", "m-broken", "m-one"]
    assert "terminated unexpectedly" not in harness.log()
    wait_until(lambda: not jobs(harness))


class Bomb:
    """A pickle that creates a directory when it is loaded."""

    def __init__(self, directory: Path) -> None:
        self.directory = str(directory)

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, (self.directory,)


def test_malformed_jobs_are_skipped_and_no_pickle_is_loaded(harness: WorkerHarness) -> None:
    proof = harness.directory / "proof"
    bomb = pickle.dumps(Bomb(proof))
    malformed = (b'["f", null, 5, {}]', b"\xff", b"nonsense", b"5", b"[]", bomb)
    fields = {"result": bomb, "meta": bomb} | dict.fromkeys(
        ("status", "timeout", "created_at", "webhooks", "group_id"), b"\xffnonsense"
    )
    for number, data in enumerate(malformed):
        harness.queue.enqueue(f"m-bad{number}")
        harness.connection.hset(f"rq:job:m-bad{number}", "data", data)
    for number, (field, value) in enumerate(fields.items()):
        harness.queue.enqueue(f"m-field{number}")
        harness.connection.hset(f"rq:job:m-field{number}", field, value)
    for key in ("rq:job:m-one:dependents", "rq:executions:m-two"):
        harness.connection.set(key, b"\xffnonsense")
    harness.queue.enqueue("m-one", "m-two", "m-last")
    harness.start()
    wait_until(lambda: harness.noted("m-last ends"))
    assert not proof.exists()
    good = [f"m-field{number}" for number in range(len(fields))]
    assert attempted(harness) == [*good, "m-one", "m-two", "m-last"]
    wait_until(lambda: set(jobs(harness)) <= {b"rq:job:m-one:dependents"})


def test_a_job_whose_execution_was_removed_by_another_worker_ends(harness: WorkerHarness) -> None:
    worker = harness.start()
    harness.queue.enqueue("m-long")
    wait_until(lambda: harness.noted("m-long begins"))
    [execution] = harness.connection.keys("rq:execution:m-long:*")
    # What the end of the same job elsewhere and the next heartbeat leave.
    harness.connection.delete(execution)
    harness.connection.hset(execution, "last_heartbeat", 1.0)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(60) == 0
    assert harness.notes()[-1] == "worker ends"
    assert harness.connection.keys("rq:*m-long*") == []


def test_a_stopped_worker_releases_its_match_and_its_registration(harness: WorkerHarness) -> None:
    process = harness.start()
    harness.queue.enqueue("m-long")
    wait_until(lambda: harness.noted("m-long begins"))
    [info] = worker_registrations.workers(harness.connection)
    assert (info.name, info.pid, info.match, info.alive) == ("w1", process.pid, "m-long", True)
    assert info.host
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 0
    assert [" ".join(note.split()[:2]) for note in harness.notes()] == [
        "m-long begins",
        "m-long drained",
        "m-long ends",
        "worker ends",
    ]
    assert worker_registrations.workers(harness.connection) == ()


@pytest.mark.long
def test_a_second_signal_kills_the_match(harness: WorkerHarness) -> None:
    process = harness.start()
    harness.queue.enqueue("m-stubborn")
    wait_until(lambda: harness.noted("m-stubborn begins"))
    process.send_signal(signal.SIGTERM)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1.5)
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 0
    assert has_exited(harness.match_process())
    assert harness.notes()[-2:] == ["a process crashed", "worker ends"]
    assert worker_registrations.workers(harness.connection) == ()


def test_an_idle_worker_stops_at_once(harness: WorkerHarness) -> None:
    process = harness.start()
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 0
    assert harness.notes() == ["worker ends"]


def attempted(harness: WorkerHarness) -> list[str]:
    """Return the attempted matches in order."""
    return [note.split()[0] for note in harness.notes() if " begins " in note]


@pytest.mark.long
def test_a_burst_ends_when_the_queue_is_empty(harness: WorkerHarness) -> None:
    harness.queue.enqueue("m-one", "m-broken", "m-two")
    assert harness.spawn(max_idle_seconds=1).wait() == 0
    assert attempted(harness) == ["m-one", "m-broken", "m-two"]
    assert harness.notes()[-1] == "worker ends"
    assert jobs(harness) == []
    assert worker_registrations.workers(harness.connection) == ()


@pytest.mark.long
def test_a_burst_with_an_empty_queue_succeeds(harness: WorkerHarness) -> None:
    assert harness.spawn(max_idle_seconds=1).wait() == 0
    assert harness.notes() == ["worker ends"]


@pytest.mark.long
def test_a_limited_worker_leaves_the_other_jobs_in_the_queue(harness: WorkerHarness) -> None:
    harness.queue.enqueue("m-one", "m-two", "m-three")
    assert harness.spawn(max_jobs=2).wait() == 0
    assert attempted(harness) == ["m-one", "m-two"]
    assert harness.queue.waiting() == ["m-three"]


@pytest.mark.long
def test_a_stopped_burst_releases_its_match(harness: WorkerHarness) -> None:
    harness.queue.enqueue("m-long", "m-two")
    process = harness.spawn(max_idle_seconds=1)
    wait_until(lambda: harness.noted("m-long begins"))
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 0
    assert harness.noted("m-long drained")
    assert harness.queue.waiting() == ["m-two"]


def test_a_check_finds_only_workers_of_this_host(
    harness: WorkerHarness, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POKEARENA_REDIS_URL", harness.url)

    def check() -> int:
        return main(["worker", "--check", "--data", str(harness.directory)])

    assert check() == 1
    assert harness.url in capsys.readouterr().err
    process = harness.start()
    assert check() == 0
    assert capsys.readouterr().out.startswith("w1: ")
    info = harness.info()
    assert info is not None
    # The worker would register this host again with its next heartbeat.
    process.kill()
    process.wait()
    elsewhere = msgspec.structs.replace(info, host="elsewhere")
    worker_registrations.register_worker(harness.connection, elsewhere)
    assert check() == 1


def test_the_match_process_is_killed_with_the_worker(harness: WorkerHarness) -> None:
    process = harness.start()
    harness.queue.enqueue("m-long")
    wait_until(lambda: harness.noted("m-long begins"))
    process.send_signal(signal.SIGKILL)
    wait_until(lambda: has_exited(harness.match_process()))
    assert not harness.noted("m-long drained")


def test_a_worker_continues_after_its_match_process_was_killed(harness: WorkerHarness) -> None:
    harness.start()
    harness.queue.enqueue("m-long")
    wait_until(lambda: harness.noted("m-long begins"))
    assert not harness.noted("a process crashed")
    os.kill(harness.match_process(), signal.SIGKILL)
    harness.queue.enqueue("m-one")
    wait_until(lambda: harness.noted("m-one ends"))
    assert harness.noted("a process crashed")


@pytest.mark.long
def test_a_worker_registers_again_after_redis_has_lost_its_data(harness: WorkerHarness) -> None:
    harness.start()
    harness.connection.flushall()
    wait_until(lambda: len(worker_registrations.workers(harness.connection)) == 1)
    harness.queue.enqueue("m-one")
    wait_until(lambda: harness.noted("m-one ends"))


def test_a_match_continues_without_redis(tmp_path: Path) -> None:
    where = Folder(tmp_path / "data").create()
    sockets = tmp_path / "s"
    sockets.mkdir()
    first = redis_server.start(sockets, ProcessLog(where.logs / "redis.log"))
    harness = WorkerHarness(first.url, tmp_path)
    process = harness.start()
    harness.queue.enqueue("m-long")
    wait_until(lambda: harness.noted("m-long begins"))
    first.stop()
    with redis_server.start(sockets, ProcessLog(where.logs / "redis.log")):
        os.kill(harness.match_process(), signal.SIGTERM)
        wait_until(lambda: harness.noted("m-long ends"))
        harness.queue.enqueue("m-one")
        wait_until(lambda: harness.noted("m-one ends"))
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0
    harness.connection.close()


def test_a_referee_serves_one_worker_and_refuses_a_second(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from arena.services import worker_process

    monkeypatch.setattr(worker_process, "_CLAIM_SECONDS", 0.0)
    # The whole machine shares these names, also with another run of this test.
    referee, another = f"unix:{tmp_path}/referee", f"unix:{tmp_path}/another"
    with worker_process._claim(referee):
        with pytest.raises(worker_process.NoServices):
            worker_process._claim(referee)
        worker_process._claim(another).close()
    worker_process._claim(referee).close()


BROKEN_MACHINE = """
import json, sys
from pathlib import Path
from arena.services.queue.worker import MatchWorker, WorkerSandbox
from arena.errors import InfrastructureError
from arena.system.redis_connection import connect
from arena.system.start_breaker import StartBreaker

folder, breaker, doubts = Path(sys.argv[2]), StartBreaker(), []

class Sandbox(WorkerSandbox):
    def check(self):
        if doubts and not (folder / "repaired").exists():
            raise InfrastructureError("the self-test failed.")
    def doubt(self):
        doubts.append(1)
        (folder / "doubted").touch()

def play(match, drain):
    with (folder / "notes").open("a") as notes:
        notes.write(f"{match} {'open' if breaker.is_open else 'closed'}\\n")
    if (folder / "repaired").exists():
        breaker.note_success()
    else:
        breaker.note_failure()

MatchWorker(connect(sys.argv[1]), play, "w1", sandbox=Sandbox(), breaker=breaker).run(max_jobs=5)
"""


def test_a_worker_whose_starts_fail_takes_no_match_until_a_self_test_passes(
    harness: WorkerHarness,
) -> None:
    harness.queue.enqueue(*(f"m-{number}" for number in range(5)))
    with (harness.directory / "log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", BROKEN_MACHINE, harness.url, str(harness.directory)],
            stdout=log,
            stderr=log,
        )
    harness.processes.append(process)
    wait_until(lambda: "takes no match: the self-test failed." in harness.log())
    assert (harness.directory / "doubted").exists()
    assert harness.notes() == ["m-0 closed", "m-1 closed", "m-2 closed"]
    assert harness.queue.waiting() == ["m-3", "m-4"]
    (harness.directory / "repaired").touch()
    assert process.wait() == 0
    assert harness.notes()[3:] == ["m-3 open", "m-4 closed"]
