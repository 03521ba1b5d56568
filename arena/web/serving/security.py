"""Security headers, the origin of forms, content negotiation, and the owner's token."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import parse_qsl

import anyio
from sqlalchemy import Engine
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.store.bots import owners
from arena.web.assets import FIRST_PAINT, LIVE_SIZE, TABLE_SIZE, policy_source
from arena.web.serving import page_kinds

# The owner's token in requests. It never appears in URLs or logs.

_LETTERS = 200
POLICY = (
    f"default-src 'none'; script-src 'self' {policy_source(FIRST_PAINT)} "
    f"{policy_source(TABLE_SIZE)} {policy_source(LIVE_SIZE)}; style-src 'self'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-src 'self'"
)
PERSONAL = {"Cache-Control": "private, no-store"}
"""Headers of responses that depend on who sent the request."""
EMBED = "/embed/"
"""Prefix of paths that other sites may show in frames."""
PRIVATE = ("/organiser", "/account", "/sign-", "/play/tables/", "/live/play/tables/")
"""Prefixes of paths of signed-in people, and of people at a table."""
_USUAL_PORTS = {"http": 80, "https": 443}


def bearer_of(request: Request) -> str | None:
    """Return the token in the header `Authorization: Bearer`; None without this header."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip()[:_LETTERS] if scheme.lower() == "bearer" else None


async def form_of(request: Request) -> dict[str, str]:
    """Return the fields of a posted form; of fields with one name, the last."""
    return dict(await form_pairs_of(request))


async def form_pairs_of(request: Request) -> list[tuple[str, str]]:
    """Return the names and the texts of the fields of a posted form, in their order."""
    body = (await request.body()).decode("utf-8", "replace")
    return parse_qsl(body, keep_blank_values=True)


async def owner_of(request: Request, engine: Engine) -> str:
    """Return the owner whose token a program sent in the header `Authorization: Bearer`.

    Raises:
        HTTPException: 401, the token is missing or unknown.
    """
    token = bearer_of(request) or ""
    owner = await anyio.to_thread.run_sync(owners.known_by, engine, token)
    if owner is None:
        reason = "invalid token" if token else "missing token"
        raise HTTPException(
            401,
            f"{reason}; send the token as Authorization: Bearer TOKEN. "
            "The organiser creates tokens with `pokearena owner add`.",
            {"WWW-Authenticate": "Bearer"},
        )
    return owner


def check_form_origin(request: Request, *, proxied: bool) -> None:
    """Check that no page of another site sent a form (protection against CSRF).

    All forms are checked here:

    - `Sec-Fetch-Site` decides if the browser sends it. Browsers omit it over plain HTTP.
    - Otherwise the host and port of `Origin` must be those of `Host`. The scheme is not compared,
      because a proxy may end HTTPS. `Origin: null` is refused.
    - A request without both headers is accepted: browsers send `Origin` with every POST request, so
      a program sent it, and another site has no influence on its headers.

    Args:
        proxied: whether a trusted proxy sends the requests; its `X-Forwarded-Host` may then replace
            `Host`.

    Raises:
        HTTPException: 403, another site sent the form.
    """
    site = request.headers.get("sec-fetch-site")
    origins = request.headers.getlist("origin")
    if site is not None:
        is_own = site in ("same-origin", "none")
    else:
        hosts = [request.headers.get("host", "")]
        if proxied:
            # The nearest proxy appends its value.
            hosts.append(request.headers.get("x-forwarded-host", "").rpartition(",")[2].strip())
        is_own = all(any(_is_same_host(origin, host) for host in hosts) for origin in origins)
    if not is_own:
        raise HTTPException(403, "forms of other sites are refused.")


def _is_same_host(origin: str, host: str) -> bool:
    """Compare the host and the port of an origin with a `Host` header."""
    scheme, _, authority = origin.partition("://")
    usual_port = _USUAL_PORTS.get(scheme.lower())
    if usual_port is None or not host or not authority:
        return False
    return _with_port(authority, usual_port) == _with_port(host, usual_port)


def _with_port(authority: str, usual_port: int) -> str:
    authority = authority.lower()
    name, colon, port = authority.rpartition(":")
    has_port = bool(colon) and "]" not in port
    return f"{name}:{port}" if has_port else f"{authority}:{usual_port}"


def expect_loopback_name(request: Request) -> None:
    """Check that the browser reaches the server by a name of this machine, without a proxy.

    Otherwise a site could let its own name point to 127.0.0.1 and send requests from its pages.

    Raises:
        HTTPException: 403, the name is another one, or a proxy has forwarded the request.
    """
    host = request.headers.get("host", "")
    name = host.rpartition("]")[0].lstrip("[") if "]" in host else host.partition(":")[0]
    forwarded = {"forwarded", "x-forwarded-for", "x-forwarded-host"} & set(request.headers.keys())
    if forwarded or not _is_loopback(name):
        raise HTTPException(
            403,
            "people can play only at an address of this machine, such as http://127.0.0.1; "
            "the organiser allows others with --play.",
        )


def _is_loopback(name: str) -> bool:
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


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
                # With no-referrer, browsers send "Origin: null" with forms.
                headers["Referrer-Policy"] = "same-origin"
                headers["Cross-Origin-Opener-Policy"] = "same-origin"
                headers["Permissions-Policy"] = "camera=(), geolocation=(), microphone=()"
                is_personal = "private" in headers.get("Cache-Control", "")
                if not is_personal and not scope["path"].startswith(PRIVATE):
                    # All other content is public and independent of cookies, so any site may
                    # read it.
                    headers["Access-Control-Allow-Origin"] = "*"
                _merge_vary(headers)
            await send(message)

        await self._app(scope, receive, guarded)


def _merge_vary(headers: MutableHeaders) -> None:
    """Name each header once in `Vary`; the pages and the compression both add theirs."""
    names = [name.strip() for line in headers.getlist("vary") for name in line.split(",")]
    if names:
        headers["Vary"] = ", ".join(dict.fromkeys(names))


class ContentNegotiation:
    """Removes the extension from the path and stores the requested kinds in the request's state."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its kind."""
        if scope["type"] == "http":
            kind = None
            if not scope["path"].startswith("/static/"):
                path, kind = page_kinds.split(scope["path"])
                scope = {**scope, "path": path}
            accept = Headers(scope=scope).get("accept", "")
            scope["state"] = {
                **scope.get("state", {}),
                "named_kind": kind,
                "kind": kind or page_kinds.preferred_kind(accept),
                # A program that accepts everything gets pages as HTML and errors as JSON.
                "error_kind": kind or page_kinds.preferred_kind(accept, "json"),
            }
        await self._app(scope, receive, send)
