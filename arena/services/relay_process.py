"""The relay as a service, and its settings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.config import REMOTE_WAIT_SECONDS
from arena.services.service import Service, StopStage, python_command
from arena.system import grpc_probe

ADDRESS: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):([0-9]{1,5})")
PORT = "relay.port"
CONTROL_SOCKET = "control.sock"
_SILENT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class RelayOptions:
    """Settings of the relay.

    Args:
        listen: the public endpoint, for example "0.0.0.0:7000"; port 0 selects a free port; None:
            the relay is not started.
        certificate: PEM file; with it and `key` the relay uses TLS.
        key: PEM file of the private key.
        wait: seconds for which matches wait for an offline remote bot.
        workers: the worker endpoint for workers on other machines, for example "10.0.0.5:7001";
            None: such workers cannot use remote bots.
    """

    listen: str | None = None
    certificate: Path | None = None
    key: Path | None = None
    wait: float = REMOTE_WAIT_SECONDS
    workers: str | None = None

    def service(self, sockets: Path, environment: Mapping[str, str]) -> Service:
        """Return the relay."""
        control_address = control_address_of(sockets)
        return Service(
            name="relay",
            command=lambda: python_command("arena.remote.relay", *self._arguments(sockets)),
            environment=environment,
            is_ready=lambda: (
                self._port(sockets) is not None and grpc_probe.answers(control_address)
            ),
            waits_for=f"an answer at {control_address} and its port",
            responds=lambda pid: grpc_probe.answers(control_address),
            patience=_SILENT_SECONDS,
            stage=StopStage.PROVIDER,
        )

    def _arguments(self, sockets: Path) -> list[str]:
        assert self.listen is not None
        host, _, port = self.listen.rpartition(":")
        if port == "0":
            # A restarted relay uses the port that it used before.
            port = str(self._port(sockets) or 0)
        arguments = [
            f"--listen={host}:{port}",
            f"--control={control_address_of(sockets)}",
            f"--sockets={sockets}",
        ]
        arguments.append(f"--port={sockets / PORT}")
        if self.workers is not None:
            arguments.append(f"--workers={self.workers}")
        if self.certificate is not None:
            arguments.append(f"--certificate={self.certificate}")
        if self.key is not None:
            arguments.append(f"--key={self.key}")
        return arguments

    def address(self, sockets: Path) -> str:
        """URL for `pokearena bot connect`; empty while the port is unknown."""
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


def control_address_of(sockets: Path) -> str:
    """Return the address of the relay control API."""
    return f"unix:{sockets / CONTROL_SOCKET}"
