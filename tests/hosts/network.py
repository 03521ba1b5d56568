"""Create network namespaces as hosts, each with a virtual cable to one switch."""

import os
import secrets
import shutil
import subprocess
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Self

import pytest

NET = "10.213.9"


class Network:
    """A switch and the hosts on it, removed at the end of a `with` block."""

    def __init__(self, *names: str) -> None:
        token = secrets.token_hex(3)
        self._switch = f"pk{token}sw"
        self.hosts = {
            name: Host(name, f"pk{token}{name}", self._switch, number + 1)
            for number, name in enumerate(names)
        }

    def __enter__(self) -> Self:
        _ip("netns", "add", self._switch)
        try:
            _within(self._switch, "link", "add", "switch", "type", "bridge")
            _within(self._switch, "link", "set", "switch", "up")
            for host in self.hosts.values():
                host.plug_in()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for name in (*(host.space for host in self.hosts.values()), self._switch):
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


class Host:
    """A host with its own network namespace."""

    def __init__(self, name: str, space: str, switch: str, number: int) -> None:
        self.name = name
        self.space = space
        self.address = f"{NET}.{number}"
        self._switch = switch
        self._cable = f"c{number}"

    def plug_in(self) -> None:
        """Create the namespace and its cable."""
        _ip("netns", "add", self.space)
        far = ("peer", self._cable, "netns", self._switch)
        _within(self.space, "link", "add", "eth0", "type", "veth", *far)
        _within(self.space, "address", "add", f"{self.address}/24", "dev", "eth0")
        _within(self.space, "link", "set", "eth0", "up")
        _within(self.space, "link", "set", "lo", "up")
        _within(self._switch, "link", "set", self._cable, "master", "switch")
        self.mend()

    def cut(self) -> None:
        """Disconnect the cable."""
        _within(self._switch, "link", "set", self._cable, "down")

    def mend(self) -> None:
        """Reconnect the cable."""
        _within(self._switch, "link", "set", self._cable, "up")

    def words(self, hidden: Sequence[Path], *command: str | Path) -> list[str]:
        """Return a command line that runs a command on the host and hides these folders."""
        # `ip netns exec` creates a mount namespace for the command.
        covers = "".join(f"mount -t tmpfs none '{folder}' && " for folder in hidden)
        line = ["ip", "netns", "exec", self.space, "sh", "-c", f'{covers}exec "$@"', "sh"]
        return [*line, *map(str, command)]


def needs_namespaces(network: Callable[[], AbstractContextManager[object]]) -> None:
    """Skip the test if network namespaces cannot be created; fail in CI."""
    missing = ""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        missing = "another network namespace needs root and iproute2"
    else:
        try:
            with network():
                pass
        except subprocess.CalledProcessError as error:
            missing = f"no network namespace can be made here: {error.stderr.decode().strip()}"
    if missing and not os.environ.get("CI"):
        pytest.skip(missing)
    assert not missing, missing


def _within(space: str, *words: str) -> None:
    _ip("-n", space, *words)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
