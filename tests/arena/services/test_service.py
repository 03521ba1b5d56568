"""Test the loop that supervises the processes of services."""

import errno
import logging
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from redis import Redis

from arena.config import Folder, SettingError
from arena.services import service, worker_services
from arena.services.service import Service, ServiceLoop, ServicesError
from arena.services.service_logs import ServiceLogs, claimed_logs
from arena.system import process_info, process_log
from arena.system.stop_event import StopEvent
from tests.errors import has_code
from tests.waiting import wait_until

_IDLE = "import signal; signal.pause()"
_BUSY = "while True: pass"


def _service(program: str, is_ready: Callable[[], bool], **settings: object) -> Service:
    values = {
        "name": "sleeper",
        "command": lambda: [sys.executable, "-c", program],
        "environment": dict(os.environ),
        "is_ready": is_ready,
        "waits_for": "the end of the test",
    }
    return Service(**{**values, **settings})  # type: ignore[arg-type]


@contextmanager
def _loop(logs: Path | None, stop: StopEvent | None = None) -> Iterator[ServiceLoop]:
    loop = ServiceLoop(ServiceLogs(logs), stop or StopEvent(), StopEvent())
    try:
        yield loop
    finally:
        loop.stop_all()


def _remove_logs(logs: Path) -> None:
    (logs / "sleeper.log").unlink()
    logs.rmdir()


def _replace_log(logs: Path) -> None:
    (logs / "sleeper.log").unlink()
    (logs / "sleeper.log").mkdir()


def _use_all_descriptors(logs: Path) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, most))


@pytest.fixture
def free_descriptors() -> Iterator[Callable[[], None]]:
    """Provide a function that undoes `_use_all_descriptors`, which is also called at the end."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.parametrize(
    ("harm", "warnings"), [(_remove_logs, 0), (_replace_log, 1), (_use_all_descriptors, 1)]
)
def test_an_error_of_the_system_delays_a_restart_and_ends_nothing(
    harm: Callable[[Path], None],
    warnings: int,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    free_descriptors: Callable[[], None],
) -> None:
    caplog.set_level(logging.WARNING, "arena.services")
    logs, stop = tmp_path / "logs", StopEvent()
    with _loop(logs, stop) as loop:
        loop.start(_service(_IDLE, lambda: True))
        [first] = loop.states()
        assert first.pid is not None

        def on_check() -> None:
            [now] = loop.states()
            texts = [record.getMessage() for record in caplog.records]
            failed = [text for text in texts if text.startswith("sleeper cannot be restarted")]
            if len(failed) >= warnings:
                free_descriptors()
                if (logs / "sleeper.log").is_dir():
                    (logs / "sleeper.log").rmdir()
            if now.restarts:
                assert (now.restarts, len(failed) >= warnings) == (1, True)
                stop.set()

        loop.await_ready()
        harm(logs)
        os.kill(first.pid, signal.SIGKILL)
        loop.run(on_check)
        [second] = loop.states()
        assert second.pid not in (None, first.pid)
        assert (logs / "sleeper.log").is_file()


def test_a_process_that_cannot_be_examined_is_not_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_descriptors: Callable[[], None]
) -> None:
    monkeypatch.setattr(service, "_HEALTH_SECONDS", 0.0)
    stop, errors = StopEvent(), []

    def responds(_: int) -> bool:
        try:
            socket.socket().close()
        except OSError as error:
            errors.append(error.errno)
            raise
        return True

    with _loop(tmp_path, stop) as loop:
        loop.start(_service(_IDLE, lambda: True, responds=responds, patience=0.0))
        loop.await_ready()
        before = loop.states()
        _use_all_descriptors(tmp_path)
        loop.run(lambda: stop.set() if len(errors) >= 3 else None)
        free_descriptors()
        assert set(errors) == {errno.EMFILE}
        assert loop.states() == before


def test_a_start_that_does_no_work_ends_and_names_what_it_waits_for(tmp_path: Path) -> None:
    with _loop(tmp_path) as loop:
        loop.start(_service(_IDLE, lambda: False, name="idle", start_seconds=0.2))
        with pytest.raises(ServicesError) as caught:
            loop.await_ready()
    for named in ("idle", "the end of the test", str(tmp_path / "idle.log")):
        assert named in str(caught.value)


def test_each_service_has_a_limit_of_its_own(tmp_path: Path) -> None:
    with _loop(tmp_path) as loop:
        loop.start(_service(_IDLE, lambda: False, name="slow", start_seconds=3600))
        loop.start(_service(_IDLE, lambda: False, name="idle", start_seconds=0.1))
        with pytest.raises(ServicesError, match=r"idle\.log"):
            loop.await_ready()


def test_a_slow_start_may_continue_while_it_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "_BUSY_SECONDS", 0.02)
    limit = 10.0
    clock = SimpleNamespace(seconds=0.0)
    # The time of the loop passes with the work of the process, however busy the machine is.
    monkeypatch.setattr(service, "time", SimpleNamespace(monotonic=lambda: clock.seconds))
    with _loop(tmp_path) as loop:

        def is_ready() -> bool:
            [state] = loop.states()
            assert state.pid is not None
            goal = process_info.work(state.pid).seconds + 0.02
            wait_until(lambda: process_info.work(state.pid or 0).seconds >= goal)
            clock.seconds += 0.6 * limit
            return bool(clock.seconds > 3 * limit)

        loop.start(_service(_BUSY, is_ready, start_seconds=limit))
        loop.await_ready()
        [state] = loop.states()
        assert (state.state, state.restarts) == ("ready", 0)


def test_a_log_stays_below_twice_its_limit_while_the_process_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_log, "LOG_BYTES", 1000)
    log = process_log.ProcessLog(tmp_path / "web.log")
    with log.open() as output:
        for number in range(100):
            output.write(b"%099d\n" % number)
            output.flush()
            log.limit_size()
            sizes = [path.stat().st_size for path in tmp_path.iterdir()]
            assert sum(sizes) <= 2 * 1100
        assert log.last_line() == f"{99:099d}"
    kept = (tmp_path / "web.log.1").read_text() + (tmp_path / "web.log").read_text()
    numbers = [int(line) for line in kept.splitlines()]
    assert numbers == list(range(numbers[0], 100))
    assert {path.stat().st_mode & 0o077 for path in tmp_path.iterdir()} == {0}


def test_the_messages_of_the_services_are_limited_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.services.service_logs.LOG_BYTES", 1000)
    handler = ServiceLogs(tmp_path).handler("services", {})
    for number in range(100):
        handler.handle(logging.makeLogRecord({"msg": f"{number:060d}", "levelname": "INFO"}))
    handler.close()
    assert {path.name for path in tmp_path.iterdir()} == {"services.log", "services.log.1"}
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 2000
    assert f"{99:060d}" in (tmp_path / "services.log").read_text()
    assert {path.stat().st_mode & 0o077 for path in tmp_path.iterdir()} == {0}


def test_supervisors_of_one_host_write_different_files(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    with claimed_logs(folder, {}) as first, claimed_logs(folder, {}) as second:
        assert first.folder == folder.service_logs
        assert second.folder not in (None, first.folder)
    with claimed_logs(folder, {}) as third:
        assert third.folder == folder.service_logs


def test_services_log_to_standard_output_if_the_environment_says_so(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with claimed_logs(Folder(tmp_path), {"POKEARENA_LOG_TO": "stdout"}) as logs:
        assert logs.folder is None
        stop = StopEvent()
        with _loop(None, stop) as loop:
            loop.start(_service("print('from the process', flush=True); " + _IDLE, lambda: True))
            loop.await_ready()
            shown: list[str] = []

            def is_shown() -> bool:
                shown.append(capfd.readouterr().out)
                return "from the process" in "".join(shown)

            wait_until(is_shown)
            [state] = loop.states()
            assert str(state.log) == "/dev/stdout"
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_place_for_logs_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(SettingError, check=has_code("not-a-log")),
        claimed_logs(Folder(tmp_path), {"POKEARENA_LOG_TO": "syslog"}),
    ):
        pass


def test_a_restarted_worker_finds_nothing_that_the_bots_of_a_killed_one_left(
    tmp_path: Path,
) -> None:
    made = worker_services.worker(1, Redis(), tmp_path, {})
    folder = Path(made.environment["TMPDIR"])
    for _ in range(2):
        made.command()
        assert list(folder.iterdir()) == []
        (folder / "pokearena-bot-0").mkdir(mode=0o000)
    assert folder.parent == tmp_path
