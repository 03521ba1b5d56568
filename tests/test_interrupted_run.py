"""Test that an interrupted test run leaves no process behind."""

import os
import signal
import sys
from pathlib import Path

import pytest

from tests import process_guard
from tests.guarded_process import GuardedProcess
from tests.waiting import has_exited, wait_until

TEST = """
import subprocess, sys, time
from pathlib import Path

def test_waits_beside_a_process_in_a_session_of_its_own():
    line = [sys.executable, "-c", "import signal; signal.pause()"]
    process = subprocess.Popen(line, start_new_session=True)
    Path("started").write_text(str(process.pid))
    process.wait()
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("processes", "number"),
    [
        ("2", signal.SIGINT),
        ("2", signal.SIGKILL),
        ("0", signal.SIGTERM),
        pytest.param("2", signal.SIGTERM, marks=pytest.mark.repetition),
        pytest.param("0", signal.SIGINT, marks=pytest.mark.repetition),
        pytest.param("0", signal.SIGKILL, marks=pytest.mark.repetition),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="processes are guarded on Linux only")
def test_no_process_outlives_an_interrupted_run(
    tmp_path: Path, processes: str, number: signal.Signals
) -> None:
    (tmp_path / "test_it.py").write_text(TEST)
    (tmp_path / "conftest.py").write_text("from tests.conftest import *\n")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    del environment[process_guard.MARK]
    line = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", processes, "test_it.py"]
    started = tmp_path / "started"
    with GuardedProcess(line, cwd=tmp_path, env=environment) as run:
        wait_until(lambda: started.exists() and started.read_text())
        run.send_signal(number)
    wait_until(lambda: has_exited(int(started.read_text())))
