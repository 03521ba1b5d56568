"""Test that a stopped process does not count as alive, although the kernel accepts connections."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.system import grpc_probe
from arena.system.process_info import is_frozen
from tests.guarded_process import GuardedProcess
from tests.waiting import wait_until


@pytest.fixture
def referee(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    address = f"unix:{tmp_path_factory.mktemp('r')}/r.sock"
    line = [sys.executable, "-m", "referee", "--address", address]
    with GuardedProcess(line, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield address, process.pid
        process.kill()


def test_a_frozen_referee_answers_again_after_it_continues(
    referee: tuple[str, int],
) -> None:
    address, pid = referee
    assert grpc_probe.answers(address, 10)
    assert not is_frozen(pid)
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: is_frozen(pid))
    assert not grpc_probe.answers(address, 0.2)
    os.kill(pid, signal.SIGCONT)
    assert grpc_probe.answers(address, 10)


def test_a_silent_or_foreign_server_does_not_answer(
    tmp_path: Path,
) -> None:
    assert not grpc_probe.answers(f"unix:{tmp_path}/nobody")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert not grpc_probe.answers(f"127.0.0.1:{port}", 0.2)
    # A port that is reserved and refuses connections.
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        assert not grpc_probe.answers(f"127.0.0.1:{port}", 0.2)


def test_addresses_that_only_grpc_resolves_are_not_probed() -> None:
    assert grpc_probe.answers("dns:///referee.example:7000")


def test_an_exited_process_is_not_frozen() -> None:
    with GuardedProcess(["true"]) as process:
        process.wait()
    assert not is_frozen(process.pid)
