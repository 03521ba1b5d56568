"""Send the operations of the API to an arena, with the user's token."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, Final
from urllib.parse import urlencode, urlsplit

from arena.api_client.answer import ApiAnswer, Upload
from arena.api_client.operations import ApiOperations
from arena.system.connection_errors import is_loopback, reason_of, via_web_proxy

if TYPE_CHECKING:
    from email.message import Message
    from urllib.request import OpenerDirector

__all__ = ["ApiAnswer", "ArenaClient", "ArenaUnreachable"]

_SECONDS: Final = 60.0
_MAX_BODY_BYTES: Final = 2**20


class ArenaUnreachable(Exception):
    """The arena does not answer. The text is a clause."""


@dataclass(frozen=True, slots=True)
class ArenaClient(ApiOperations):
    """A client of the HTTP API of an arena.

    Each method of `ApiOperations` sends one request and returns the response, refusals included.
    Redirects are not followed, so that the token is sent only to this arena.

    Args:
        url: the URL of the pages of the arena, without a slash at its end.
        token: the token of an owner or an organiser; empty: only public operations.
    """

    url: str
    token: str = field(default="", repr=False)

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int | None] | None = None,
        values: Mapping[str, Any] | None = None,
        upload: Upload | None = None,
    ) -> ApiAnswer:
        """Send a request.

        Args:
            method: the HTTP method.
            path: the path, with escaped values.
            query: query parameters; those that are None are omitted.
            values: the JSON object of the body; members that are None are omitted.
            upload: the gzip body instead.

        Raises:
            ArenaUnreachable: the arena does not answer.
        """
        # They take 46 ms to import.
        import http.client
        import urllib.error
        import urllib.request

        present = {name: value for name, value in (query or {}).items() if value is not None}
        address = f"{self.url}{path}" + (f"?{urlencode(present)}" if present else "")
        request = urllib.request.Request(address, method=method)
        request.add_header("Accept", "application/json")
        request.add_header("User-Agent", "pokearena")
        if self.token:
            request.add_header("Authorization", f"Bearer {self.token}")
        if method != "GET":
            body, size, kind = _body(values, upload)
            request.data = body
            request.add_header("Content-Type", kind)
            request.add_header("Content-Length", str(size))
        try:
            with _opener(self.url).open(request, timeout=_SECONDS) as answer:
                return _answer(answer)
        except urllib.error.HTTPError as error:
            with error:
                return _answer(error)
        except (OSError, http.client.HTTPException) as error:
            raise ArenaUnreachable(reason_of(error) + via_web_proxy(self.url)) from None

    @property
    def is_open_to_listeners(self) -> bool:
        """Whether the token is transmitted unencrypted over a network."""
        parts = urlsplit(self.url)
        return parts.scheme == "http" and not is_loopback(parts.hostname or "")


def _body(
    values: Mapping[str, Any] | None, upload: Upload | None
) -> tuple[bytes | IO[bytes], int, str]:
    """Return the body of a request, its length in bytes and its content type."""
    if isinstance(upload, tuple):
        return (*upload, "application/gzip")
    if upload is not None or values is None:
        body = upload or b""
        return body, len(body), "application/gzip"
    present = {name: value for name, value in values.items() if value is not None}
    body = json.dumps(present).encode()
    return body, len(body), "application/json"


def _opener(url: str) -> OpenerDirector:
    import urllib.request

    class Straight(urllib.request.HTTPRedirectHandler):
        """Rejects redirects: the token must be sent only to the configured arena."""

        def redirect_request(self, *_: Any, **__: Any) -> None:
            return None

    if is_loopback(urlsplit(url).hostname or ""):
        # A proxy would connect to itself instead of this machine.
        return urllib.request.build_opener(Straight, urllib.request.ProxyHandler({}))
    return urllib.request.build_opener(Straight)


def _answer(answer: Any) -> ApiAnswer:
    body = answer.read(_MAX_BODY_BYTES)
    try:
        values = json.loads(body)
    except ValueError:
        values = {}
    if 300 <= answer.status < 400:
        values = {
            "error": (
                f"redirects to {answer.headers.get('Location', 'another address')}; "
                "use that address."
            )
        }
    return ApiAnswer(
        answer.status,
        values if isinstance(values, dict) else {},
        _wait_of(answer.headers),
    )


def _wait_of(headers: Message) -> float | None:
    """Return the seconds of a Retry-After header, a number or an HTTP date; None if not valid.

    Source: RFC 9110, section 10.2.3. The time of the sender is in its Date header.
    """
    text = (headers.get("Retry-After") or "").strip()
    if text.isascii() and text.isdecimal():
        return float(text)
    until = _seconds_of(text)
    if until is None:
        return None
    now = _seconds_of(headers.get("Date") or "")
    return max(0.0, until - (time.time() if now is None else now))


def _seconds_of(date: str) -> float | None:
    """Return an HTTP date in seconds since 1970; None if it is not valid."""
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
