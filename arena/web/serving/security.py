"""Middleware for security headers and content negotiation."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.web.serving import content_types

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-src 'self'"
)
EMBED = "/embed/"
"""Prefix of paths that other sites may show in frames."""


class SecurityHeaders:
    """Adds security headers to all responses."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and add the headers to its response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        frames = "*" if scope["path"].startswith(EMBED) else "'none'"

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = f"{POLICY}; frame-ancestors {frames}"
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "no-referrer"
                headers["Cross-Origin-Opener-Policy"] = "same-origin"
                headers["Permissions-Policy"] = "camera=(), geolocation=(), microphone=()"
                # All content is public and the server does not use cookies, so any site may read
                # it.
                headers["Access-Control-Allow-Origin"] = "*"
            await send(message)

        await self._app(scope, receive, guarded)


class ContentNegotiation:
    """Removes the extension from the path and stores the requested kind in the request's state."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its kind."""
        if scope["type"] == "http":
            kind = None
            if not scope["path"].startswith("/static/"):
                path, kind = content_types.split(scope["path"])
                scope = {**scope, "path": path}
            accept = Headers(scope=scope).get("accept", "")
            scope["state"] = {
                **scope.get("state", {}),
                "kind": kind or content_types.wanted(accept),
            }
        await self._app(scope, receive, send)
