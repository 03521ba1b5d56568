"""Describe failed connections: the reason, and the proxy of the environment that was used."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

_GRPC_PROXIES: Final = ("grpc_proxy", "https_proxy", "http_proxy")
"""Variables that gRPC reads, the first one that is set counts (doc/environment_variables.md)."""
_GRPC_EXCLUSIONS: Final = ("no_grpc_proxy", "no_proxy")


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine, which no proxy reaches."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def reason_of(error: object) -> str:
    """Return why a request over HTTP failed, as a clause."""
    import http.client
    import ssl

    error = getattr(error, "reason", error) if not isinstance(error, ssl.SSLError) else error
    if isinstance(error, TimeoutError):
        return "timeout"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message})"
    if isinstance(error, ssl.SSLError) and error.reason == "WRONG_VERSION_NUMBER":
        return "the port does not use TLS; an address without TLS begins with http://"
    if isinstance(error, http.client.BadStatusLine):
        return "no web server answers at this port"
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(reason).rstrip(".")


def via_web_proxy(url: str) -> str:
    """Return a clause with the proxy of the environment for a URL; empty without one."""
    import urllib.request

    parts = urlsplit(url)
    proxy, host = urllib.request.getproxies().get(parts.scheme, ""), parts.hostname or ""
    if not proxy or is_loopback(host) or urllib.request.proxy_bypass(host):
        return ""
    names = (name for name in os.environ if name.lower() == f"{parts.scheme}_proxy")
    return _through(proxy, _first_set(sorted(names, reverse=True)), host)


def via_grpc_proxy(host: str) -> str:
    """Return a clause with the proxy that gRPC uses for a host; empty without one."""
    name = _first_set(_GRPC_PROXIES)
    excluded = os.environ.get(_first_set(_GRPC_EXCLUSIONS), "").split(",")
    is_excluded = any(host.endswith(end.strip()) for end in excluded if end.strip())
    if not name or is_loopback(host) or is_excluded:
        return ""
    return _through(os.environ[name], name, host)


def _first_set(names: Iterable[str]) -> str:
    return next((name for name in names if os.environ.get(name)), "")


def _through(proxy: str, variable: str, host: str) -> str:
    shown = proxy.rpartition("@")[2].rpartition("//")[2].rstrip("/")
    source = f" of {variable}" if variable else ""
    return f" (through the proxy {shown}{source}; no_proxy={host} goes around it)"
