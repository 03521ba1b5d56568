"""Resolve the URL argument of `pokearena bot connect` to the relay's address."""

from __future__ import annotations

import http.client
import json
import ssl
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from arena.system.connection_errors import is_loopback, reason_of, via_web_proxy

FORMS: Final = (
    "grpc://HOST:PORT, grpcs://HOST:PORT, or http(s)://HOST[:PORT][/PATH] of the arena's pages"
)
PATH: Final = "/relay.json"
"""Path below the URL of the arena's web site that returns the relay's address as JSON."""
_SECONDS: Final = 10.0
_BYTES: Final = 64 << 10


class InvalidRelayUrl(ValueError):
    """The URL is invalid. The exception's text is a sentence."""


class RelayNotFound(Exception):
    """The web site cannot be reached or names no relay. The exception's text is a sentence."""


@dataclass(frozen=True, slots=True)
class RelayTarget:
    """Address (HOST:PORT) of a relay, and whether it uses TLS."""

    address: str
    tls: bool

    @property
    def host(self) -> str:
        """The host; an IPv6 address in brackets."""
        return self.address.rpartition(":")[0]

    @property
    def exposed(self) -> bool:
        """Whether traffic, including the token, crosses the network unencrypted."""
        return not self.tls and not is_loopback(self.host)


def find_relay(url: str, authority: Path | None = None) -> RelayTarget:
    """Resolve `url` to a relay. For an http(s) URL, request the address from the arena's web site.

    Args:
        url: a URL in one of FORMS.
        authority: a PEM file of CA certificates that replaces the system's; only used for https.

    Raises:
        InvalidRelayUrl: the URL is invalid.
        RelayNotFound: the web site cannot be reached or does not name a relay.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise InvalidRelayUrl(f'"{url}" is not a valid address; write {FORMS}.') from None
    if parts.scheme not in ("grpc", "grpcs", "http", "https") or not parts.hostname:
        raise InvalidRelayUrl(f'"{url}" is not the address of a relay; write {FORMS}.')
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    if parts.scheme.startswith("http"):
        pages = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        return _relay_of(url, _fetch_reply(pages + PATH, authority), host)
    if port is None:
        raise InvalidRelayUrl(f'"{url}" has no port; write {parts.scheme}://{host}:PORT.')
    return RelayTarget(f"{host}:{port}", parts.scheme == "grpcs")


def _fetch_reply(address: str, authority: Path | None) -> dict[str, Any]:
    trust = None
    if address.startswith("https:"):
        trust = ssl.create_default_context(cafile=str(authority) if authority else None)
    try:
        with _opener(address, trust).open(address, timeout=_SECONDS) as answer:
            reply = json.loads(answer.read(_BYTES))
    except urllib.error.HTTPError as error:
        error.close()
        raise RelayNotFound(
            f"{address} answers {error.code}{via_web_proxy(address)}; are these an arena's pages?"
        ) from None
    except ValueError:
        raise RelayNotFound(
            f"{address} does not answer with JSON{via_web_proxy(address)}; are these an arena's "
            "pages?"
        ) from None
    except (OSError, http.client.HTTPException) as error:
        raise RelayNotFound(
            f"cannot read the relay's address from {address}: {reason_of(error)}"
            f"{via_web_proxy(address)}; are these an arena's pages? The address of a relay begins "
            "with grpc:// or grpcs://."
        ) from None
    return reply if isinstance(reply, dict) else {}


def _opener(address: str, trust: ssl.SSLContext | None) -> urllib.request.OpenerDirector:
    """Return what opens an address of the arena; on this machine, without a proxy."""
    handlers: list[urllib.request.BaseHandler] = [urllib.request.HTTPSHandler(context=trust)]
    if is_loopback(urlsplit(address).hostname or ""):
        handlers.append(urllib.request.ProxyHandler({}))
    return urllib.request.build_opener(*handlers)


def _relay_of(url: str, reply: dict[str, Any], host: str) -> RelayTarget:
    port = reply.get("port")
    if not isinstance(port, int):
        raise RelayNotFound(
            f"the arena at {url} has no relay; its organiser starts one with "
            "`pokearena serve --relay HOST:PORT`."
        )
    return RelayTarget(f"{reply.get('host') or host}:{port}", bool(reply.get("tls")))
