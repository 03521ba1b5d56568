"""Where the relay is: what may be written as URL of `pokearena bot connect`."""

from __future__ import annotations

import json
import re
import ssl
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

FORMS: Final = "grpc://HOST:PORT, grpcs://HOST:PORT, or http(s)://HOST[:PORT] of the arena's pages"
PATH: Final = "/relay.json"
"""Where the pages tell it."""
_SECONDS: Final = 10.0
_BYTES: Final = 64 << 10
_LOOPBACK: Final = re.compile(r"localhost|127\.\d+\.\d+\.\d+|\[?::1\]?")


class BadTarget(ValueError):
    """Nothing can be reached by what was written. The text is a sentence."""


class NoTarget(Exception):
    """The pages cannot be reached, or tell of no relay. The text is a sentence."""


@dataclass(frozen=True, slots=True)
class Target:
    """A relay: host and port, and whether it speaks TLS."""

    address: str
    tls: bool

    @property
    def exposed(self) -> bool:
        """Whether what is said, the token too, can be read on the way."""
        host = self.address.rpartition(":")[0]
        return not self.tls and not _LOOPBACK.fullmatch(host)


def find(url: str, authority: Path | None = None) -> Target:
    """The relay that `url` means; pages are asked where theirs is.

    authority: a file of certificates (PEM) to be believed instead of the usual ones.

    Raises BadTarget or NoTarget.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BadTarget(f'"{url}" is no address; write {FORMS}.') from None
    if parts.scheme not in ("grpc", "grpcs", "http", "https") or not parts.hostname:
        raise BadTarget(f'"{url}" is no address of a relay; write {FORMS}.')
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    if parts.scheme.startswith("http"):
        return _told(url, _ask(f"{parts.scheme}://{parts.netloc}{PATH}", authority), host)
    if port is None:
        raise BadTarget(f'"{url}" has no port; write {parts.scheme}://{host}:PORT.')
    return Target(f"{host}:{port}", parts.scheme == "grpcs")


def _ask(address: str, authority: Path | None) -> dict[str, Any]:
    trust = None
    if address.startswith("https:"):
        trust = ssl.create_default_context(cafile=str(authority) if authority else None)
    try:
        with urllib.request.urlopen(address, timeout=_SECONDS, context=trust) as answer:
            told = json.loads(answer.read(_BYTES))
    except urllib.error.HTTPError as error:
        raise NoTarget(f"{address} answers {error.code}; are these an arena's pages?") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise NoTarget(f"{address} cannot be asked where the relay is: {reason}.") from None
    return told if isinstance(told, dict) else {}


def _told(url: str, told: dict[str, Any], host: str) -> Target:
    port = told.get("port")
    if not isinstance(port, int):
        raise NoTarget(
            f"the arena at {url} has no relay; its organiser starts one with "
            "`pokearena serve --relay HOST:PORT`."
        )
    return Target(f"{told.get('host') or host}:{port}", bool(told.get("tls")))
