"""Where and how workers on other machines reach a relay."""

from __future__ import annotations

import hashlib
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self


@dataclass(frozen=True, slots=True)
class TunnelEndpoint:
    """Address, secret and certificate with which workers on other machines reach a relay.

    The relay writes them to the store.
    """

    address: str
    """HOST:PORT, for example "10.0.0.5:7001"."""
    secret: str = field(repr=False)
    """Random secret, created when the relay starts."""
    certificate: str = ""
    """SHA-256 of the relay's certificate, in hexadecimal; empty without TLS."""

    @classmethod
    def read(cls, values: Mapping[str, str]) -> Self:
        """Build the endpoint from the mapping that `written` returned."""
        return cls(values["address"], values["secret"], values["certificate"])

    def written(self) -> dict[str, str]:
        """Return the fields as a mapping for the store."""
        return {"address": self.address, "secret": self.secret, "certificate": self.certificate}


def needed(control: str, values: Mapping[str, str] | None) -> TunnelEndpoint | None:
    """Return a relay's stored tunnel endpoint; None if it has none or is on this machine."""
    return None if values is None or is_here(control) else TunnelEndpoint.read(values)


def is_here(control: str) -> bool:
    """Whether the relay is on this machine: the socket of its control API exists."""
    return Path(control.removeprefix("unix:")).exists()


def fingerprint(certificate: Path) -> str:
    """Return the SHA-256 of the first certificate in a PEM file, in hexadecimal.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file contains no certificate.
    """
    text = certificate.read_text(encoding="ascii", errors="replace")
    block = re.search(f"{ssl.PEM_HEADER}.+?{ssl.PEM_FOOTER}", text, re.DOTALL)
    if block is None:
        raise ValueError(f"there is no certificate in {certificate}")
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(block[0])).hexdigest()
