"""The relay as one of the services: where authors connect, and how long matches wait for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.config import REMOTE_WAIT_SECONDS
from arena.system import grpc_probe
from arena.system.child_process import Child

ADDRESS: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):([0-9]{1,5})")
PORT = "relay.port"
DESK = "desk.sock"
_SILENT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class RelayOptions:
    """A relay to be, or none.

    listen: where authors connect, "0.0.0.0:7000"; port 0 takes a free one; None: nowhere.
    certificate, key: PEM files; with them it speaks TLS.
    wait: seconds for which matches wait for a remote bot that is not there.
    workers: where workers on other machines reach it, "10.0.0.5:7001"; None: they do not.
    """

    listen: str | None = None
    certificate: Path | None = None
    key: Path | None = None
    wait: float = REMOTE_WAIT_SECONDS
    workers: str | None = None

    def child(self, sockets: Path, logs: Path, environment: Mapping[str, str]) -> Child:
        """Its process, to be started. sockets: the private directory of the services."""
        return Child(
            "relay",
            "arena.remote.relay",
            lambda: self._arguments(sockets),
            directory=logs,
            environment=environment,
            ready=lambda: self._port(sockets) is not None and grpc_probe.answers(desk_of(sockets)),
            answers=lambda pid: grpc_probe.answers(desk_of(sockets)),
            patience=_SILENT_SECONDS,
        )

    def _arguments(self, sockets: Path) -> list[str]:
        assert self.listen is not None
        host, _, port = self.listen.rpartition(":")
        if port == "0":
            # After a restart it is where it was.
            port = str(self._port(sockets) or 0)
        told = [f"--listen={host}:{port}", f"--desk={desk_of(sockets)}", f"--sockets={sockets}"]
        told.append(f"--port={sockets / PORT}")
        if self.workers is not None:
            told.append(f"--workers={self.workers}")
        if self.certificate is not None:
            told.append(f"--certificate={self.certificate}")
        if self.key is not None:
            told.append(f"--key={self.key}")
        return told

    def address(self, sockets: Path) -> str:
        """Where authors connect, as `pokearena bot connect` takes it; empty if not known yet."""
        port = self._port(sockets)
        if self.listen is None or port is None:
            return ""
        host = self.listen.rpartition(":")[0]
        scheme = "grpc" if self.certificate is None else "grpcs"
        return f"{scheme}://{host}:{port}"

    @staticmethod
    def _port(sockets: Path) -> int | None:
        try:
            return int((sockets / PORT).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None


def desk_of(sockets: Path) -> str:
    """Where workers order seats of the relay."""
    return f"unix:{sockets / DESK}"
