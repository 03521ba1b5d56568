"""Send one call to the endpoint of a model."""

from __future__ import annotations

import email.utils
import json
import re
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from typing import Any, Final

from arena.models.models_file import Model

_MOST_BYTES: Final = 4 << 20
"""Maximum size of a response in bytes."""
_MOST_ERROR_BYTES: Final = 1 << 16
_TEMPORARY: Final = frozenset({408, 409, 425, 429})
_REFUSED_REQUEST: Final = frozenset({400, 413, 415, 422})
"""Statuses that a request causes by its content. All others concern the organiser."""
_KEY_REFUSED: Final = re.compile(
    rb'"(invalid_api_key|API_KEY_INVALID|authentication_error|permission_error|PERMISSION_DENIED'
    rb'|insufficient_quota|billing_hard_limit_reached|billing_not_active|account_deactivated)"'
)
"""Codes by which endpoints refuse the organiser's key or account, some with status 400."""
_LONGEST_DELAY: Final = 60.0


class CallFailed(Exception):
    """An endpoint did not answer. The text is a clause without secrets, such as "status 503".

    Attributes:
        is_temporary: whether the call may be repeated.
        is_sent: whether the endpoint may have processed the call, so that it may cost.
        delay: the pause in seconds that the endpoint requests; 0 if it requests none.
    """

    def __init__(
        self, clause: str, *, is_temporary: bool, is_sent: bool = False, delay: float = 0.0
    ) -> None:
        super().__init__(clause)
        self.is_temporary, self.is_sent, self.delay = is_temporary, is_sent, delay


class RequestRefused(Exception):
    """The endpoint refused the content of a request."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: the key must not reach another server."""

    def redirect_request(self, *_: Any) -> None:
        """Return no further request."""


@dataclass(frozen=True, slots=True)
class EndpointClient:
    """Calls the endpoint of a model.

    Attributes:
        model: the model.
        key: its key; empty if it needs none.
        seconds: time limit of a response.
    """

    model: Model
    key: str
    seconds: float

    def call(self, members: dict[str, Any]) -> bytes:
        """Return the body of the response to one request.

        Raises:
            CallFailed: the endpoint sends no response, or one whose status is an error.
            RequestRefused: the endpoint refuses the content of the request.
        """
        body = json.dumps({"model": self.model.model, "stream": False, **members}).encode()
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        url = f"{self.model.base_url.rstrip('/')}/chat/completions"
        try:
            request = urllib.request.Request(url, body, headers)
            opener = urllib.request.build_opener(_NoRedirect)
            with opener.open(request, timeout=self.seconds) as response:
                return _body(response, time.monotonic() + self.seconds)
        except urllib.error.HTTPError as error:
            with error:
                raise _failed(error) from None
        except (OSError, HTTPException, ValueError) as error:
            # Its text may contain the address or a header.
            clause = f"no response ({type(getattr(error, 'reason', error)).__name__})"
            raise CallFailed(clause, is_temporary=True, is_sent=True) from None


def _body(response: HTTPResponse, until: float) -> bytes:
    """Return the body of a response; the time limit of a socket ends only single reads.

    Raises:
        CallFailed: it is too long or too slow.
    """
    received = b""
    while data := response.read1(1 << 16):
        received += data
        if len(received) > _MOST_BYTES or time.monotonic() > until:
            raise CallFailed("the response is too long", is_temporary=True, is_sent=True)
    if response.length:
        raise CallFailed("the response is cut off", is_temporary=True, is_sent=True)
    return received


def _failed(error: urllib.error.HTTPError) -> Exception:
    if error.code in _REFUSED_REQUEST and not _refuses_key(error):
        return RequestRefused()
    is_temporary = error.code in _TEMPORARY or error.code >= 500
    delay = _delay(error.headers.get("Retry-After", ""))
    return CallFailed(f"status {error.code}", is_temporary=is_temporary, delay=delay)


def _refuses_key(error: urllib.error.HTTPError) -> bool:
    """Return whether a refusal concerns the key; a request that imitates this gains nothing."""
    try:
        return _KEY_REFUSED.search(error.read(_MOST_ERROR_BYTES)) is not None
    except (OSError, HTTPException):
        return False


def _delay(text: str) -> float:
    """Return the seconds of a Retry-After header."""
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(text).timestamp() - time.time()
        except (TypeError, ValueError, OverflowError):
            return 0.0
    return min(max(0.0, seconds), _LONGEST_DELAY) if seconds == seconds else 0.0
