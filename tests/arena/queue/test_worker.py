"""A worker follows hints and nothing else: real processes, real RQ, a real Valkey."""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis import Redis
from rq import Queue
from rq.job import Callback
from rq.serializers import JSONSerializer

from arena.cli import main
from arena.config import Folder
from arena.queue import match_queue, redis_server
from arena.queue.match_queue import MatchQueue, WorkerInfo
from arena.system import redis_connection

# A worker whose matches write down what became of them.
WORKER = """
import json, os, sys, time
from pathlib import Path
from arena.system.redis_connection import connect
from arena.queue.worker import MatchWorker

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
    elif match.startswith("m-broken"):
        raise ValueError("cannot be played")
    note(f"{match} ends")

MatchWorker(
    connect(sys.argv[1]), play, sys.argv[3], lambda: note("a work horse fell")
).work(logging_level="WARNING", **json.loads(sys.argv[4]))
note("worker ends")
"""


def wait_until(condition: Callable[[], bool]) -> None:
    """Returns when the condition holds; pytest's timeout bounds it."""
    while not condition():
        time.sleep(0.01)


def gone(pid: int) -> bool:
    """Whether process `pid` has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


class Bench:
    """A Redis, its queue, and workers to be started on it."""

    def __init__(self, url: str, directory: Path) -> None:
        self.url = url
        self.directory = directory
        self.notes_file = directory / "notes"
        self.connection: Redis = redis_connection.connect(url)
        self.hints = MatchQueue(self.connection)
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, name: str = "w1", **bounds: int) -> subprocess.Popen[bytes]:
        """Starts a worker and waits until it listens, or has ended."""
        process = self.spawn(name, **bounds)
        wait_until(lambda: process.poll() is not None or self.listens(name))
        return process

    def listens(self, name: str) -> bool:
        """Whether a worker has come so far; it is registered before it hears signals."""
        info = self.info(name)
        return info is not None and info.state not in ("", "started")

    def spawn(self, name: str = "w1", **bounds: int) -> subprocess.Popen[bytes]:
        """Starts a worker."""
        arguments = [self.url, str(self.notes_file), name, json.dumps(bounds)]
        with (self.directory / "log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", WORKER, *arguments], stdout=log, stderr=log
            )
        self.processes.append(process)
        return process

    def info(self, name: str = "w1") -> WorkerInfo | None:
        """What Redis knows of a worker."""
        return match_queue.worker(self.connection, name)

    def notes(self) -> list[str]:
        """What the matches wrote down."""
        return self.notes_file.read_text().splitlines() if self.notes_file.exists() else []

    def noted(self, word: str) -> bool:
        """Whether a note begins with this word."""
        return any(note.startswith(word) for note in self.notes())

    def horse(self) -> int:
        """The process of the match that began last."""
        return int(next(note for note in reversed(self.notes()) if " begins " in note).split()[2])

    def log(self) -> str:
        """What the workers said."""
        return (self.directory / "log").read_text()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Valkey of this module's own."""
    where = Folder(tmp_path_factory.mktemp("worker") / "data")
    with redis_server.resolve(where, {}) as address:
        yield address.url


@pytest.fixture
def bench(server: str, tmp_path: Path) -> Iterator[Bench]:
    """An empty Redis; whatever is started on it ends with the test."""
    bench = Bench(server, tmp_path)
    bench.connection.flushall()
    yield bench
    for process in bench.processes:
        process.kill()
        process.wait()
    bench.connection.close()


def test_a_worker_follows_hints_one_after_the_other(bench: Bench) -> None:
    bench.start()
    bench.hints.put_due(["m-one", "m-two"])
    wait_until(lambda: bench.noted("m-two ends"))
    words = [" ".join(note.split()[:2]) for note in bench.notes()]
    assert words == ["m-one begins", "m-one ends", "m-two begins", "m-two ends"]


def test_nothing_of_a_followed_hint_stays_in_redis(bench: Bench) -> None:
    bench.start()
    bench.hints.put_due(["m-one", "m-broken", "m-two"])
    wait_until(lambda: bench.noted("m-two ends"))
    wait_until(lambda: not bench.connection.keys("rq:job:*"))
    left = sorted(bench.connection.keys("*"))
    assert left == [b"rq:queues", b"rq:worker:w1", b"rq:workers", b"rq:workers:matches"]


def test_a_match_that_raises_costs_the_worker_nothing(bench: Bench) -> None:
    bench.start()
    bench.hints.put_due(["m-broken", "m-one"])
    wait_until(lambda: bench.noted("m-one ends"))
    assert "cannot be played" in bench.log()


def foreign(bench: Bench) -> Queue:
    """The same queue in the hands of somebody who can write to Redis."""
    return Queue(match_queue.QUEUE, connection=bench.connection, serializer=JSONSerializer)


@pytest.mark.parametrize(
    "function",
    [
        "os.mkdir",
        "arena.services.worker_process.fresh_name",
        "builtins.open",
        "eval",
        "antigravity.x",
    ],
)
def test_a_job_that_names_another_function_is_refused(bench: Bench, function: str) -> None:
    bench.start()
    proof = bench.directory / "proof"
    foreign(bench).enqueue_call(function, args=(str(proof),), job_id="m-evil")
    bench.hints.put("m-one")
    wait_until(lambda: bench.noted("m-one ends"))
    assert not proof.exists()
    assert tried(bench) == ["m-one"]


def test_a_job_that_names_our_function_with_other_arguments_is_refused(bench: Bench) -> None:
    bench.start()
    foreign(bench).enqueue_call(match_queue.FUNCTION, args=("m-two",), job_id="m-evil")
    foreign(bench).enqueue_call(match_queue.FUNCTION, args=("m-bad", 1), job_id="m-bad")
    foreign(bench).enqueue_call(match_queue.FUNCTION, kwargs={"match": "m-worse"}, job_id="m-worse")
    bench.hints.put("m-one")
    wait_until(lambda: bench.noted("m-one ends"))
    assert not bench.noted("m-two")
    assert not bench.noted("m-bad")
    assert not bench.noted("m-worse")


def test_callbacks_of_a_job_are_not_called(bench: Bench) -> None:
    bench.start()
    callback = Callback("os.abort")
    for match in ("m-good", "m-broken"):
        foreign(bench).enqueue_call(
            match_queue.FUNCTION,
            args=(match,),
            job_id=match,
            on_success=callback,
            on_failure=callback,
            on_stopped=callback,
        )
    bench.hints.put("m-one")
    wait_until(lambda: bench.noted("m-one ends"))
    assert bench.noted("m-good ends")
    assert "terminated unexpectedly" not in bench.log()


class Bomb:
    """A pickle that makes a directory when it is loaded."""

    def __init__(self, directory: Path) -> None:
        self.directory = str(directory)

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, (self.directory,)


def test_a_pickle_in_redis_is_never_loaded(bench: Bench) -> None:
    proof = bench.directory / "proof"
    bomb = pickle.dumps(Bomb(proof))
    for field in ("data", "result", "meta"):
        bench.hints.put(f"m-{field}")
        bench.connection.hset(f"rq:job:m-{field}", field, bomb)
    bench.start()
    bench.hints.put("m-one")
    wait_until(lambda: bench.noted("m-one ends"))
    assert not proof.exists()
    assert "m-data" not in tried(bench)


@pytest.mark.parametrize("data", [b"nonsense", b"5", b"[]", b'["f", null, 5, {}]', b"\xff"])
def test_a_job_with_malformed_data_is_skipped(bench: Bench, data: bytes) -> None:
    bench.hints.put("m-bad")
    bench.connection.hset("rq:job:m-bad", "data", data)
    bench.start()
    bench.hints.put("m-one")
    wait_until(lambda: bench.noted("m-one ends"))
    assert tried(bench) == ["m-one"]


@pytest.mark.parametrize("field", ["status", "timeout", "created_at", "webhooks", "group_id"])
def test_other_fields_of_a_job_are_ignored(bench: Bench, field: str) -> None:
    bench.hints.put("m-one")
    bench.connection.hset("rq:job:m-one", field, b"\xffnonsense")
    bench.start()
    wait_until(lambda: bench.noted("m-one ends"))
    wait_until(lambda: bench.hints.known() == [])


def test_a_worker_shows_itself_and_its_match(bench: Bench) -> None:
    process = bench.start()
    bench.hints.put("m-long")
    wait_until(lambda: bench.noted("m-long begins"))
    [info] = match_queue.workers(bench.connection)
    assert (info.name, info.pid, info.match, info.alive) == ("w1", process.pid, "m-long", True)
    assert info.host


def test_a_worker_told_to_stop_gives_its_match_back_and_signs_off(bench: Bench) -> None:
    process = bench.start()
    bench.hints.put("m-long")
    wait_until(lambda: bench.noted("m-long begins"))
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 0
    assert [" ".join(note.split()[:2]) for note in bench.notes()] == [
        "m-long begins",
        "m-long drained",
        "m-long ends",
        "worker ends",
    ]
    assert match_queue.workers(bench.connection) == ()


def test_an_idle_worker_stops_at_once_when_told(bench: Bench) -> None:
    process = bench.start()
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 0
    assert bench.notes() == ["worker ends"]


def tried(bench: Bench) -> list[str]:
    """The matches that were tried, in their order."""
    return [note.split()[0] for note in bench.notes() if " begins " in note]


def test_a_worker_in_a_burst_ends_when_no_hint_waits(bench: Bench) -> None:
    bench.hints.put_due(["m-one", "m-broken", "m-two"])
    assert bench.spawn(burst=True).wait() == 0
    assert tried(bench) == ["m-one", "m-broken", "m-two"]
    assert bench.notes()[-1] == "worker ends"
    assert bench.hints.known() == []
    assert match_queue.workers(bench.connection) == ()


def test_a_worker_in_a_burst_that_finds_nothing_ends_well(bench: Bench) -> None:
    assert bench.spawn(burst=True).wait() == 0
    assert bench.notes() == ["worker ends"]


def test_a_worker_of_so_many_matches_leaves_the_other_hints_where_they_are(bench: Bench) -> None:
    bench.hints.put_due(["m-one", "m-two", "m-three"])
    assert bench.spawn(max_jobs=2).wait() == 0
    assert tried(bench) == ["m-one", "m-two"]
    assert bench.hints.waiting() == ["m-three"]


def test_a_worker_in_a_burst_that_is_told_to_stop_gives_its_match_back(bench: Bench) -> None:
    bench.hints.put_due(["m-long", "m-two"])
    process = bench.spawn(burst=True)
    wait_until(lambda: bench.noted("m-long begins"))
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 0
    assert bench.noted("m-long drained")
    assert bench.hints.waiting() == ["m-two"]


def test_a_check_finds_the_worker_of_this_host_only(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POKEARENA_REDIS_URL", bench.url)

    def checked() -> int:
        return main(["worker", "--check", "--data", str(bench.directory)])

    assert checked() == 1
    said = capsys.readouterr().err
    assert said.startswith(f"error  no worker of this host shows itself in {bench.url}.")
    process = bench.start()
    assert checked() == 0
    assert capsys.readouterr().out.startswith("w1: ")
    bench.connection.hset("rq:worker:w1", "hostname", "elsewhere")
    assert checked() == 1
    process.kill()


def test_the_work_horse_dies_with_a_killed_worker(bench: Bench) -> None:
    process = bench.start()
    bench.hints.put("m-long")
    wait_until(lambda: bench.noted("m-long begins"))
    process.send_signal(signal.SIGKILL)
    wait_until(lambda: gone(bench.horse()))
    assert not bench.noted("m-long drained")


def test_a_killed_work_horse_costs_the_worker_nothing(bench: Bench) -> None:
    bench.start()
    bench.hints.put("m-long")
    wait_until(lambda: bench.noted("m-long begins"))
    assert not bench.noted("a work horse fell")
    os.kill(bench.horse(), signal.SIGKILL)
    bench.hints.put("m-one")
    wait_until(lambda: bench.noted("m-one ends"))
    assert bench.noted("a work horse fell")


def test_a_worker_signs_on_again_when_redis_has_forgotten_everything(bench: Bench) -> None:
    bench.start()
    bench.connection.flushall()
    wait_until(lambda: len(match_queue.workers(bench.connection)) == 1)
    bench.hints.put("m-one")
    wait_until(lambda: bench.noted("m-one ends"))


def test_a_worker_outlives_its_redis(tmp_path: Path) -> None:
    where = Folder(tmp_path / "data").create()
    sockets = tmp_path / "s"
    sockets.mkdir()
    first = redis_server.start(sockets, where.logs / "redis.log")
    bench = Bench(first.url, tmp_path)
    process = bench.start()
    bench.hints.put("m-long")
    wait_until(lambda: bench.noted("m-long begins"))
    first.stop()
    with redis_server.start(sockets, where.logs / "redis.log"):
        os.kill(bench.horse(), signal.SIGTERM)
        wait_until(lambda: bench.noted("m-long ends"))
        bench.hints.put("m-one")
        wait_until(lambda: bench.noted("m-one ends"))
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0
    bench.connection.close()


def test_a_referee_serves_one_worker_and_refuses_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from arena.services import worker_process

    monkeypatch.setattr(worker_process, "_CLAIM_SECONDS", 0.0)
    with worker_process._claim("unix:/nowhere/referee"):
        with pytest.raises(worker_process.NoServices):
            worker_process._claim("unix:/nowhere/referee")
        worker_process._claim("unix:/nowhere/another").close()
    worker_process._claim("unix:/nowhere/referee").close()
