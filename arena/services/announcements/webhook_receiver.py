"""Send one request to the receiver of a webhook: checked addresses, bounded time, no redirects."""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import math
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import SplitResult, urlsplit

from arena.store.webhooks import AttemptResult
from referee.games.shared.coded_errors import CodedError
from referee.sanitizing import one_line

SECONDS: Final = 10.0
"""Time limit of a request, including connecting and reading the response."""

_ANSWER_BYTES: Final = 300
_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")

_IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address


class ReceiverRefused(CodedError):
    """The URL of a webhook is not permitted. The text is a clause."""


def check(url: str, *, private: bool) -> SplitResult:
    """Check the form of a URL and return its parts; names are not resolved.

    Args:
        private: whether private addresses and HTTP without TLS are allowed.

    Raises:
        ReceiverRefused: it is not permitted.
    """
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise ReceiverRefused(f"the URL is not valid: {error}", code="invalid-url") from None
    printable = url.isascii() and url.isprintable() and " " not in url
    if parts.scheme not in ("https", "http") or not parts.hostname or not printable:
        raise ReceiverRefused(
            "the URL must be like https://example.org/hook, in ASCII", code="invalid-url"
        )
    if parts.username is not None or parts.fragment:
        raise ReceiverRefused(
            "the URL must have neither a user name nor a fragment", code="invalid-url"
        )
    if parts.scheme == "http" and not private:
        raise ReceiverRefused(
            "the URL must begin with https://; --allow-private permits http://", code="not-https"
        )
    with contextlib.suppress(ValueError):
        _check_address(ipaddress.ip_address(parts.hostname), private=private)
    return parts


def post(
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    private: bool,
    seconds: float = SECONDS,
) -> AttemptResult:
    """Send a request and return its result; a status from 200 to 299 is a success.

    Args:
        private: whether private addresses and HTTP without TLS are allowed.
        seconds: the time limit. The resolver of the system has a limit of its own.
    """
    try:
        parts = check(url, private=private)
        with _connected(parts, private=private, seconds=seconds) as connection:
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request("POST", target, body, dict(headers))
            response = connection.getresponse()
            text = one_line(response.read(_ANSWER_BYTES).decode("utf-8", "replace")).strip()
    except (OSError, http.client.HTTPException, ReceiverRefused, UnicodeError) as error:
        reason = str(error) or type(error).__name__
        return AttemptResult(None, f"no response: {one_line(reason)}")
    status = response.status
    if 200 <= status < 300:
        return AttemptResult(status)
    error_text = f"status {status}" + (f": {text}" if text else "")
    return AttemptResult(status, error_text, _seconds(response.getheader("Retry-After", "")))


def _seconds(retry_after: str) -> float:
    """Return the seconds of a Retry-After header; 0 for a date or an invalid value."""
    try:
        seconds = float(retry_after)
    except ValueError:
        return 0.0
    return seconds if math.isfinite(seconds) and seconds > 0 else 0.0


@contextlib.contextmanager
def _connected(
    parts: SplitResult, *, private: bool, seconds: float
) -> Iterator[http.client.HTTPConnection]:
    """Connect to an address that was checked, so that a second look-up cannot change it.

    A timer closes the connection at the time limit, because a timeout of a socket applies to each
    call, and a receiver could send one byte at a time.
    """
    host, tls = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if tls else 80)
    plain = _open(host, port, private=private, seconds=seconds)
    connection = http.client.HTTPConnection(host, port)
    connection.sock = plain
    if tls:
        connection = http.client.HTTPSConnection(host, port)
        context = ssl.create_default_context()
        connection.sock = context.wrap_socket(
            plain, server_hostname=host, do_handshake_on_connect=False
        )
    timer = threading.Timer(seconds, _shut, [connection.sock])
    timer.daemon = True
    timer.start()
    try:
        if isinstance(connection.sock, ssl.SSLSocket):
            connection.sock.do_handshake()
        yield connection
    finally:
        timer.cancel()
        connection.close()


def _open(host: str, port: int, *, private: bool, seconds: float) -> socket.socket:
    """Return a connection to the first address of a host that accepts one.

    Raises:
        ReceiverRefused: an address of the host is not permitted.
        OSError: none accepts a connection.
    """
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in entries))
    for address in addresses:
        _check_address(ipaddress.ip_address(address.partition("%")[0]), private=private)
    last: OSError | None = None
    for address in addresses:
        try:
            return socket.create_connection((address, port), timeout=seconds)
        except OSError as error:
            last = error
    raise last or OSError(f"{host} has no address")


def _check_address(address: _IPAddress, *, private: bool) -> None:
    """Raise ReceiverRefused if an address is not public and private ones are not allowed."""
    if not private and not is_public(address):
        raise ReceiverRefused(
            f"{address} is not a public address; --allow-private permits it", code="private-address"
        )


def is_public(address: _IPAddress) -> bool:
    """Return whether an address belongs to a machine on the public internet.

    An IPv6 address that contains an IPv4 address is public if both are.
    """
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address.teredo is not None:
            inner = address.teredo[1]
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
        if inner is not None:
            return is_public(inner)
    return address.is_global and not address.is_multicast


def _shut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
