"""Test the loop that supervises the processes of services."""

import logging
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.services.service import Service, ServiceLoop
from arena.system.stop_event import StopEvent


def _remove_logs(logs: Path) -> None:
    (logs / "sleeper.log").unlink()
    logs.rmdir()


def _replace_log(logs: Path) -> None:
    (logs / "sleeper.log").unlink()
    (logs / "sleeper.log").mkdir()


@pytest.mark.parametrize(("harm", "warnings"), [(_remove_logs, 0), (_replace_log, 1)])
def test_an_error_of_the_system_delays_a_restart_and_ends_nothing(
    harm: Callable[[Path], None],
    warnings: int,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING, "arena.services")
    logs = tmp_path / "logs"
    logs.mkdir()
    stop = StopEvent()
    loop = ServiceLoop(logs, stop, StopEvent())
    loop.start(
        Service(
            name="sleeper",
            command=lambda: [sys.executable, "-c", "import signal; signal.pause()"],
            environment=dict(os.environ),
            is_ready=lambda: True,
        )
    )
    [first] = loop.states()
    assert first.pid is not None

    def on_check() -> None:
        [now] = loop.states()
        texts = [record.getMessage() for record in caplog.records]
        failed = [text for text in texts if text.startswith("sleeper cannot be restarted")]
        if len(failed) >= warnings and (logs / "sleeper.log").is_dir():
            (logs / "sleeper.log").rmdir()
        if now.restarts:
            assert (now.restarts, len(failed) >= warnings) == (1, True)
            stop.set()

    try:
        loop.await_ready()
        harm(logs)
        os.kill(first.pid, signal.SIGKILL)
        loop.run(on_check)
        [second] = loop.states()
        assert second.pid not in (None, first.pid)
        assert (logs / "sleeper.log").is_file()
    finally:
        loop.stop_all()
