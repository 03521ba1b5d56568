"""Limits of requests: duration, size and rate."""

from __future__ import annotations

import asyncio
import contextlib
import time

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.system.token_buckets import Buckets, network_of
from arena.web.data.web_state import ServerSettings
from arena.web.serving import error_responses

PATH_LETTERS = 1000
QUERY_LETTERS = 2000
BODY_BYTES = 16 * 1024
BODY_SECONDS = 10.0
PUSH = "/submissions"
"""Path for uploads, which have a larger limit."""
BROWSER_PUSH = "/account/upload"
"""Path for uploads of browsers."""
PUSHES = (PUSH, BROWSER_PUSH)
PUSH_SECONDS = 600.0
JSON_POSTS = ("/challenges", "/retire")
"""Ends of paths that only programs send POST requests to; errors are JSON as well."""
PLAY = "/play/tables/"
"""Prefix of the tables of people, who send a request for each choice."""
READ_BURST = 200
WRITE_RATE = 0.2
"""Requests with a body per second and client: they can be used to guess tokens."""
WRITE_BURST = 10
PUSH_RATE = 1.0
PUSH_BURST = 40
"""Uploads of one client: a class behind one address pushes at the same time."""
MANAGEMENT = ("/organiser", "/account")
"""Prefixes of paths of organisers and owners, who send several forms in a row."""
MANAGEMENT_RATE = 1.0
MANAGEMENT_BURST = 30
PLAY_RATE = 5
"""Choices per second and client of people who play."""
PLAY_BURST = 30
_DRAINING_SECONDS = 5.0
_UNLIMITED_PATHS = ("/static/", "/healthz", "/readyz")
"""Paths without a rate limit, because their responses are cheap."""


class RequestLimits:
    """Middleware that refuses too long, too large or too frequent requests."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._settings = settings
        self._reading = Buckets(settings.rate, READ_BURST)
        self._writing = Buckets(WRITE_RATE if settings.rate else 0, WRITE_BURST)
        self._pushing = Buckets(PUSH_RATE if settings.rate else 0, PUSH_BURST)
        self._managing = Buckets(MANAGEMENT_RATE if settings.rate else 0, MANAGEMENT_BURST)
        self._playing = Buckets(PLAY_RATE if settings.rate else 0, PLAY_BURST)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the limits of a request and pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] == "POST" and scope["path"] in PUSHES:
            upload = _Upload(scope, receive, send, self._settings.push_mib * 2**20)
            receive, send = upload.receive, upload.send
        client = client_of(scope, self._settings.proxied)
        scope["state"]["client"] = client
        try:
            _check_address(scope)
            self._check_rate(scope, client)
            most, seconds = self._body(scope)
            _check_length(scope, most)
        except HTTPException as error:
            await error_responses.response(Request(scope), error)(scope, receive, send)
            return
        await self._app(scope, _bounded(receive, most, seconds), send)

    def _body(self, scope: Scope) -> tuple[int, float]:
        """Return the limits of the body: size in bytes and time in seconds."""
        if scope["method"] == "POST" and scope["path"] in PUSHES:
            if scope["path"] == PUSH:
                # These come from programs, so errors are JSON for any Accept header.
                scope["state"]["error_kind"] = "json"
            return self._settings.push_mib * 2**20, PUSH_SECONDS
        if scope["method"] == "POST" and scope["path"].endswith(JSON_POSTS):
            scope["state"]["error_kind"] = "json"
        return BODY_BYTES, BODY_SECONDS

    def _check_rate(self, scope: Scope, client: str) -> None:
        if scope["path"].startswith(_UNLIMITED_PATHS):
            return
        wait = self._buckets(scope).take(client, time.monotonic())
        if wait:
            raise HTTPException(
                429,
                f"too many requests; retry in {wait} s.",
                {"Retry-After": str(wait)},
            )

    def _buckets(self, scope: Scope) -> Buckets:
        if scope["method"] in ("GET", "HEAD", "OPTIONS"):
            return self._reading
        if scope["path"] == PUSH:
            return self._pushing
        if scope["path"].startswith(PLAY):
            return self._playing
        return self._managing if scope["path"].startswith(MANAGEMENT) else self._writing


def client_of(scope: Scope, proxied: bool) -> str:
    """Return the client's address, or the /64 network of an IPv6 address.

    Args:
        proxied: whether a trusted reverse proxy adds the client to X-Forwarded-For. Only the last
            entry is used; clients can forge the earlier ones.
    """
    client = scope.get("client")
    address = client[0] if client else ""
    if proxied:
        forwarded = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
        address = (
            forwarded[-1].decode("latin-1").rpartition(",")[2].strip() if forwarded else address
        )
    return network_of(address)


def _check_address(scope: Scope) -> None:
    query = scope["query_string"]
    if len(scope["path"]) > PATH_LETTERS or len(query) > QUERY_LETTERS:
        raise HTTPException(414, "the URL is too long.")
    # Names and search terms do not contain it, and some databases reject it.
    if "\0" in scope["path"] or b"%00" in query or b"\0" in query:
        raise HTTPException(400, "the URL contains a zero byte.")


def _check_length(scope: Scope, most: int) -> None:
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    if lengths and (not lengths[0].isdigit() or int(lengths[0][:20]) > most):
        raise _too_large(most)


def _too_large(most: int) -> HTTPException:
    return HTTPException(413, f"the request body is larger than {most} bytes.")


class _Upload:
    """An upload whose rest is received before a refusal is sent, for at most 5 s.

    A server that closes the connection while the client sends causes an error of the connection at
    the client, which may then not read the refusal.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send, most: int) -> None:
        self._receive, self._send, self._most = receive, send, most
        lengths = (value for name, value in scope["headers"] if name == b"content-length")
        length = next(lengths, b"")[:20]
        self._left = int(length) if length.isdigit() else 0

    async def receive(self) -> Message:
        """Receive a part of the upload."""
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if not message.get("more_body", False):
            self._left = 0
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the response."""
        # Status 408 is the response to a client that sends nothing.
        if message["type"] == "http.response.start" and message["status"] not in (200, 201, 408):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_DRAINING_SECONDS):
                    while 0 < self._left <= self._most:
                        await self.receive()
        await self._send(message)


def _bounded(receive: Receive, most: int, seconds: float) -> Receive:
    """Wrap `receive` with limits for the body's size and duration."""
    received = 0
    until: float | None = None
    is_whole = False

    async def bounded() -> Message:
        nonlocal received, until, is_whole
        if is_whole:
            return await receive()
        until = until or time.monotonic() + seconds
        try:
            async with asyncio.timeout(until - time.monotonic()):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, "timeout while receiving the request.") from None
        received += len(message.get("body", b""))
        is_whole = not message.get("more_body", False)
        if received > most:
            raise _too_large(most)
        return message

    return bounded
