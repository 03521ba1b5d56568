"""Somebody else's arena, over the network."""

from __future__ import annotations

import http.client
import ipaddress
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import IO, Any, Final

from arena.cli.errors import UNREACHABLE, USAGE, CommandError

_SECONDS: Final = 60.0
_LONGEST: Final = 2**20


@dataclass(frozen=True, slots=True)
class Answer:
    """What an arena says. wait: the seconds after which it wants to be asked again, if it says."""

    status: int
    told: Mapping[str, Any]
    wait: float | None = None

    @property
    def sentence(self) -> str:
        """Why it refuses."""
        return str(self.told.get("error") or f"it answers with status {self.status}.")


class Silent(Exception):
    """It does not answer. Its text is a clause."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """An arena at the address of its pages, and the token by which it knows us."""

    url: str
    token: str = field(repr=False)

    def ask(self, path: str, body: IO[bytes] | bytes | None = None, size: int = 0) -> Answer:
        """Asks for an address of it, or sends something there.

        Raises Silent.
        """
        request = urllib.request.Request(f"{self.url}{path}")
        request.add_header("Accept", "application/json")
        request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("User-Agent", "pokearena")
        if body is not None:
            request.data = body
            request.add_header("Content-Type", "application/gzip")
            request.add_header("Content-Length", str(size))
        try:
            with _opener().open(request, timeout=_SECONDS) as answer:
                return _answer(answer)
        except urllib.error.HTTPError as error:
            with error:
                return _answer(error)
        except urllib.error.URLError as error:
            raise Silent(_reason(error.reason)) from None
        except (OSError, http.client.HTTPException) as error:
            raise Silent(_reason(error)) from None

    @property
    def is_open_to_listeners(self) -> bool:
        """Whether the token can be read on its way."""
        parts = urllib.parse.urlsplit(self.url)
        return parts.scheme == "http" and not _is_here(parts.hostname or "")


def elsewhere(url: str, token: str) -> Elsewhere:
    """The arena at an address; CommandError if it is none."""
    parts = urllib.parse.urlsplit(url)
    try:
        good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        good = False
    if not good or parts.query or parts.fragment:
        raise CommandError(
            f'"{url}" is no address of an arena; write for example https://arena.example.org.',
            USAGE,
        )
    if parts.username or parts.password:
        raise CommandError("the token is said by --token or POKEARENA_TOKEN, not in --to.", USAGE)
    if not token.isascii() or not token.isprintable():
        raise CommandError("this is no token; it is one word that the organiser gave you.", USAGE)
    return Elsewhere(url.rstrip("/"), token)


def cannot_reach(url: str, reason: str, advice: str = "") -> CommandError:
    """The error for an arena that does not answer."""
    return CommandError(f"the arena at {url} cannot be reached: {reason}.", UNREACHABLE, advice)


class _Straight(urllib.request.HTTPRedirectHandler):
    """Goes nowhere else: the token is for the arena that was named."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_Straight)


def _answer(answer: Any) -> Answer:
    said = answer.read(_LONGEST)
    wait = answer.headers.get("Retry-After") or ""
    try:
        told = json.loads(said)
    except ValueError:
        told = {}
    if 300 <= answer.status < 400:
        told = {"error": f"it leads to {answer.headers.get('Location', 'elsewhere')}; say that."}
    return Answer(
        answer.status,
        told if isinstance(told, dict) else {},
        float(wait) if wait.isdigit() else None,
    )


def _reason(error: object) -> str:
    if isinstance(error, TimeoutError):
        return "it does not answer in time"
    said = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(said).rstrip(".")


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
