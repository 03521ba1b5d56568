"""Who sent a request: a token for programs, a session cookie with form tokens for browsers.

See docs/decisions/2026-11-24-sessions-and-csrf.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Engine
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from arena.store.access import sessions
from arena.store.access.audit_log import Actor, Origin
from arena.store.access.sessions import LIFETIME_SECONDS, Identity, Role
from arena.web.serving.root_path import links_of
from arena.web.serving.security import bearer_of, check_form_origin

FORM_TOKEN: Final = "form_token"
"""Name of the hidden field that each form of a session contains."""
_LETTERS: Final = 200
_COOKIE: Final = "pokearena"


@dataclass(frozen=True, slots=True)
class Access:
    """The sender of a request.

    Args:
        secret: the value of the session cookie; empty if the request has a token.
    """

    identity: Identity
    secret: str = field(default="", repr=False)

    @property
    def form_token(self) -> str:
        """The token for the forms of a page; empty without a session."""
        return sessions.form_token(self.secret) if self.secret else ""

    @property
    def actor(self) -> Actor:
        """The sender, for the audit log."""
        origin = Origin.PAGES if self.secret else Origin.API
        return Actor(self.identity.name, str(self.identity.role), origin)


def find_access(request: Request, engine: Engine) -> Access | None:
    """Return the sender; None without a valid token or session."""
    token = bearer_of(request)
    if token is not None:
        identity = sessions.known_by(engine, token)
        return Access(identity) if identity else None
    secret = cookie_of(request)
    identity = sessions.find_session(engine, secret)
    return Access(identity, secret) if identity else None


def is_session_of(request: Request, engine: Engine, identity: Identity) -> bool:
    """Return whether the session of a request still exists and belongs to this person."""
    access = find_access(request, engine)
    return access is not None and access.identity == identity


def check_role(access: Access, role: Role) -> None:
    """Check the role of the sender; raises HTTPException 403 for another one."""
    if access.identity.role is not role:
        raise HTTPException(403, f"only an {role} may do this; sign in with an {role}'s token.")


def check_form(request: Request, access: Access, sent: str, *, proxied: bool) -> None:
    """Check that a request with a session cookie comes from a form of this session.

    `proxied`: as for `check_form_origin`.

    Raises:
        HTTPException: 403, the form token is missing or wrong, or another site sent the form.
    """
    if not access.secret:
        return
    check_form_origin(request, proxied=proxied)
    if not sessions.is_form_token(access.secret, sent):
        raise HTTPException(403, "the form has expired; load the page again and send it again.")


def is_secure(request: Request, proxied: bool) -> bool:
    """Return whether the browser uses HTTPS, according to the server or its proxy."""
    forwarded = request.headers.get("x-forwarded-proto", "") if proxied else ""
    return request.url.scheme == "https" or forwarded.strip().lower() == "https"


def cookie_of(request: Request) -> str:
    """Return the value of the session cookie; empty without one."""
    root_path = links_of(request).root_path
    names = (_cookie_name(root_path, secure=secure) for secure in (True, False))
    return next(filter(None, map(request.cookies.get, names)), "")[:_LETTERS]


def _cookie_name(root_path: str, *, secure: bool) -> str:
    """Return a name that differs from those of other arenas on the host."""
    # Browsers accept these prefixes only over HTTPS. The first one prevents that another host of
    # the domain sets the cookie, but the cookie would be sent to all applications of the host.
    prefix = ("__Secure-" if root_path else "__Host-") if secure else ""
    return prefix + _COOKIE + root_path.replace("/", ".")


def set_cookie(request: Request, response: Response, secret: str, *, proxied: bool) -> None:
    """Set the session cookie; an empty secret deletes it. `proxied`: as for `is_secure`."""
    root_path, secure = links_of(request).root_path, is_secure(request, proxied)
    response.set_cookie(
        _cookie_name(root_path, secure=secure),
        secret,
        max_age=LIFETIME_SECONDS if secret else 0,
        path=root_path or "/",
        secure=secure,
        httponly=True,
        samesite="strict",
    )
