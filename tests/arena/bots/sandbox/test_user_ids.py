"""Test that every running bot on a machine has its own user id, in all network namespaces."""

import contextlib
import os
import secrets
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.bots.sandbox import user_ids
from tests.guarded_process import GuardedProcess
from tests.hosts.network import needs_namespaces

COUNT = 2
FIRST = 59_000 + COUNT * (os.getpid() % 1000)
"""User ids that the arena does not assign to bots, and other processes of tests do not use."""
TAKER = f"""
    import sys
    from arena.bots.sandbox import user_ids as uids
    uids.FIRST_USER_ID, uids.USER_ID_COUNT = {FIRST}, int(sys.argv[1])
    uids.USER_ID_LOCKS = sys.argv[2]
    try:
        owner = uids.UserId()
        print(owner.number, flush=True)
    except OSError as error:
        print(error, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _own_user_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_ids, "FIRST_USER_ID", FIRST)
    monkeypatch.setattr(user_ids, "USER_ID_COUNT", COUNT)
    monkeypatch.setattr(user_ids, "USER_ID_LOCKS", str(tmp_path / "locks"))


class NetworkNamespace:
    """Create an isolated network namespace for a `with` block."""

    def __init__(self) -> None:
        self._name = f"pk{secrets.token_hex(4)}"
        self.within = ("ip", "netns", "exec", self._name)

    def __enter__(self) -> "NetworkNamespace":
        subprocess.run(["ip", "netns", "add", self._name], check=True, capture_output=True)
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run(["ip", "netns", "delete", self._name], check=True, capture_output=True)


@contextlib.contextmanager
def taken(*within: str) -> Iterator[str]:
    """Let a process reserve a user id for a `with` block; yield the id or the error message."""
    line = [
        *within,
        sys.executable,
        "-c",
        textwrap.dedent(TAKER),
        str(user_ids.USER_ID_COUNT),
        user_ids.USER_ID_LOCKS,
    ]
    with GuardedProcess(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        yield other.stdout.readline().strip()
        other.communicate()


def test_a_user_id_is_unique_across_network_namespaces() -> None:
    needs_namespaces(NetworkNamespace)
    with NetworkNamespace() as network, taken() as cwd, taken(*network.within) as there:
        assert {cwd, there} == {str(FIRST), str(FIRST + 1)}
        with taken(*network.within) as third:
            assert third == user_ids.ALL_IN_USE
    with taken() as again:
        assert again in {str(FIRST), str(FIRST + 1)}


def test_processes_of_a_user_id_are_not_killed_from_another_network(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    needs_namespaces(NetworkNamespace)
    monkeypatch.setattr(user_ids, "USER_ID_COUNT", 1)
    owner = user_ids.UserId()
    assert owner.number is not None
    living = subprocess.Popen(["sleep", "60"], user=owner.number, group=owner.number)
    try:
        with NetworkNamespace() as network, taken(*network.within) as there:
            assert there == user_ids.ALL_IN_USE
            assert living.poll() is None
        owner.kill_processes()
        assert living.wait() == -9
    finally:
        living.kill()
        living.wait()
        owner.release()


def test_no_id_is_assigned_without_a_lock_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root gives ids away")
    monkeypatch.setattr(user_ids, "USER_ID_LOCKS", str(tmp_path / "missing" / "locks"))
    with pytest.raises(FileNotFoundError):
        user_ids.UserId()


def test_sockets_of_a_bot_do_not_reserve_ids() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root gives ids away")
    with contextlib.ExitStack() as stack:
        for number in range(FIRST, FIRST + COUNT):
            name = stack.enter_context(socket.socket(socket.AF_UNIX))
            name.bind(f"\0pokearena-uid-{number}")
        with taken() as here, taken() as there:
            assert {here, there} == {str(FIRST), str(FIRST + 1)}
