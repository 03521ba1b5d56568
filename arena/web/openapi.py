"""OpenAPI 3.1 document of the HTTP API. The examples are responses of this arena."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from starlette.exceptions import HTTPException

from arena.errors import NotFound
from arena.store.bots import submissions
from arena.store.matches import listing
from arena.store.schema import MatchState
from arena.store.tournaments import tournaments
from arena.web import paging
from arena.web.data.web_state import WebState
from arena.web.management import api_description, owner_requests
from arena.web.page import InvalidQuery, Links, PageNotFound, PageRequest, PageRoute
from arena.web.serving import data_formats, request_limits
from arena.web.serving.page_kinds import KINDS
from referee.games.game_packages import EXAMPLE_GAME

SECURITY: Final[Mapping[str, Any]] = {
    "owner": {
        "type": "http",
        "scheme": "bearer",
        "description": "token of an owner of bots, created by the organiser",
    }
}
_QUERY: Final = (
    ("name", "name of the bot, as in its bot.toml", "mybot"),
    (
        "content",
        "hash of its content, as printed by `pokearena bot push --dry-run`",
        "5f51356c8af2d92d51d67649f0de050c6ad831c43036788f8216e26012fe680b",
    ),
    ("version", "version in its bot.toml, if any", ""),
    ("models", "models in its bot.toml, separated by commas, for the cost of its examination", ""),
)
_ANSWERS: Final = (
    ("200", "Without a body: the upload would be accepted. Or this content is submitted already."),
    ("201", "The upload is stored and will be processed; `Location` is its page."),
)
_REFUSALS: Final = (
    ("400", "The URL is not valid."),
    ("401", "The token is missing or invalid."),
    ("403", "The name belongs to another owner, or the arena does not accept pushed bots."),
    ("408", "The upload took too long."),
    ("409", "The arena has this content or version already."),
    ("413", "The upload is too large."),
    ("422", "Invalid bot name or content hash."),
    ("429", "Too many submissions; `Retry-After` is the number of seconds to wait."),
    ("503", "No process handles submissions at the moment."),
)
_EXAMPLE: Final[Mapping[str, Any]] = {
    "submission": "s-7f3k9q2xwd",
    "owner": "ada",
    "bot": "mybot",
    "content_hash": _QUERY[1][2],
    "bytes": 22_284,
    "state": "waiting",
    "stage": "received",
    "stages": [{"stage": "received", "state": "done", "began": "2026-11-22T06:42:52.816+00:00"}],
    "waiting": {"ahead": 3, "seconds": 120.0, "words": "3 ahead of it, about 2 min"},
    "approval": None,
    "version": None,
    "ladders": [],
    "created": "2026-11-22T06:42:52.816+00:00",
    "ended": None,
    "status": None,
    "sentence": None,
    "output": None,
}
_PLACE = re.compile(r"\{(\w+)(?::\w+)?\}")
ABOUT = """\
Every page of the arena is available to programs: append `.json`, `.csv`, `.md` or `.txt` to its \
address, or send an `Accept` header. Errors have a status and a message: `{"error": "..."}` as JSON.

Long lists are paged (`page`, `limit`); the `Link` header contains the address of the next page. \
Every response has an `ETag`; a request with `If-None-Match` returns 304 if nothing has changed. \
Unknown query parameters are ignored. Too many requests get the status 429 and `Retry-After`. \
Public pages do not require a key. With the token of an owner (`Authorization: Bearer`), the pages \
of that owner's bots contain private fields, and bots can be pushed."""
_VALUES: Mapping[str, str] = {
    "form": "a form of a game, such as GAME or GAME-4; with ~slow or ~model for the ladder of "
    "another clock class than fast",
    "name": "the name of a bot",
    "id": "its id",
    "n": "the number of the game within its match, from 0",
    "game": "the id of a game",
    "page": "the name of a page",
}
_FOREIGN = "The token does not belong to the owner."
_WHOLE_NUMBERS: Mapping[str, Mapping[str, Any]] = {
    "page": {"type": "integer", "minimum": 1},
    "limit": {"type": "integer", "minimum": 1, "maximum": paging.MAX_LINES},
}
_MAX_EXAMPLE_ITEMS = 2
_ERRORS = {
    "304": "Not changed since the `ETag` of the request.",
    "400": "The request is not valid; the message names the reason.",
    "404": "Unknown address.",
    "406": "Not available in this format; the message names the available ones.",
    "429": "Too many requests; `Retry-After` is the number of seconds to wait.",
}


def operation() -> dict[str, Any]:
    """Return the operation object of `POST /submissions`."""
    return {
        "summary": "Pushes a bot.",
        "description": (
            "Upload the files of a bot as tar.gz, as `pokearena bot push` does. "
            "The arena checks, builds, tests and rates it; `GET /submissions/{id}` "
            "returns its state. A request without a body only checks whether the "
            "upload would be accepted."
        ),
        "operationId": "push",
        "security": [{"owner": []}],
        "parameters": [_push_parameter(*each) for each in _QUERY],
        "requestBody": {
            "required": False,
            "content": {"application/gzip": {"schema": {"type": "string", "format": "binary"}}},
        },
        "responses": {
            **{status: _answer(description) for status, description in _ANSWERS},
            **{status: _refusal(description) for status, description in _REFUSALS},
        },
    }


def _push_parameter(name: str, description: str, example: str) -> dict[str, Any]:
    parameter: dict[str, Any] = {"name": name, "in": "query", "description": description}
    parameter |= {"required": bool(example), "schema": {"type": "string"}}
    return parameter | ({"example": example} if example else {})


def _answer(description: str) -> dict[str, Any]:
    content = {"schema": {"type": "object"}, "example": dict(_EXAMPLE)}
    return {"description": description, "content": {KINDS["json"]: content}}


def _refusal(description: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Error"}
    return {"description": description, "content": {KINDS["json"]: {"schema": schema}}}


def names(path: str) -> tuple[str, ...]:
    """Return the names of the values in a page's path."""
    return tuple(_PLACE.findall(path))


def plain(path: str) -> str:
    """Return a page's path in OpenAPI syntax, with only names in braces."""
    return _PLACE.sub(r"{\1}", path)


class Samples:
    """Example values from an arena's data."""

    def __init__(self, web: WebState) -> None:
        self._known = _known(web)

    def values(self, address: PageRoute) -> Mapping[str, str] | None:
        """Return example values for a page's path; None if the arena has none yet."""
        examples: dict[str, str] = {}
        for name in names(address.path):
            value = self._known.get(_kind(address.path, name))
            if value is None:
                return None
            examples[name] = value
        return examples

    def query(self, address: PageRoute) -> Mapping[str, str]:
        """Return example values for the required query parameters."""
        needed = {"one", "other"} & {name for name, _ in address.query}
        return {name: self._known[name] for name in sorted(needed) if name in self._known}


def _kind(path: str, name: str) -> str:
    """Return the name under which an ID is stored: "match", "submission" or "tournament"."""
    if name != "id":
        return name
    return next((kind for kind in ("match", "submission") if f"/{kind}" in path), "tournament")


def _known(web: WebState) -> dict[str, str]:
    known: dict[str, Any] = {"game": EXAMPLE_GAME, "page": "ratings", "n": "0"}
    for form, ladder in web.snapshot.ladders.items():
        ranked = [line.entrant for line in ladder.table.lines]
        if len(ranked) >= 2:
            known |= {"form": form, "one": ranked[0], "other": ranked[1]}
            known["name"] = ranked[0].partition("@")[0]
            break
    for pushed in submissions.list_submissions(web.engine, limit=1):
        known["submission"] = pushed.id
    held = tournaments.list_tournaments(web.engine)
    for part in reversed(held):
        closed = listing.matches(
            web.engine, tournament=part.id, states=(MatchState.CLOSED,), limit=1
        )
        if closed:
            known |= {"tournament": part.id, "match": closed[0].id}
            break
    return known


def document(
    web: WebState, links: Links, addresses: Sequence[PageRoute], release: str
) -> dict[str, Any]:
    """Return the whole OpenAPI document.

    Args:
        web: the server's state.
        links: the builder of links in the examples.
        addresses: the addresses of the pages.
        release: the version of pokearena.
    """
    samples = Samples(web)
    by_query = {
        path: api_description.query_operation(path, *described)
        for path, described in owner_requests.OPERATIONS.items()
    }
    operations = {request_limits.PUSH: operation(), **by_query}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Poke arena",
            "version": release,
            "summary": "Ladders, tournaments, matches and replays of the Poke games.",
            "description": ABOUT,
        },
        "servers": [{"url": (web.settings.origin + links.to()).rstrip("/") or "/"}],
        "paths": {
            plain(each.path): {
                **_path(web, links, each, samples),
                **({"post": operations[each.path]} if each.path in operations else {}),
            }
            for each in addresses
        }
        | {owner_requests.RETIREMENTS: {"post": by_query[owner_requests.RETIREMENTS]}}
        | api_description.paths(),
        "components": {
            "securitySchemes": {**SECURITY, **api_description.SECURITY},
            "schemas": {
                "Error": {
                    "type": "object",
                    "required": ["error"],
                    "properties": {"error": {"type": "string", "description": "a sentence"}},
                    "examples": [{"error": f'unknown ladder "whist"; available: {EXAMPLE_GAME}.'}],
                }
            },
        },
    }


def _path(web: WebState, links: Links, address: PageRoute, samples: Samples) -> dict[str, Any]:
    values, query = samples.values(address), samples.query(address)
    return {
        "get": {
            "summary": address.summary,
            "operationId": _identity(address.path),
            "parameters": [
                *(
                    _parameter("path", name, _VALUES.get(name, ""), values)
                    for name in names(address.path)
                ),
                *(
                    _parameter("query", name, description, query)
                    for name, description in address.query
                ),
            ],
            "responses": {
                "200": {
                    "description": "The page.",
                    "headers": {"ETag": {"schema": {"type": "string"}}},
                    "content": {
                        KINDS[kind]: _content(web, links, address, kind, samples)
                        for kind in address.kinds
                    },
                },
                **{status: _error(status, description) for status, description in _ERRORS.items()},
                **({"403": _error("403", _FOREIGN)} if address.owners else {}),
            },
        }
    }


def _identity(path: str) -> str:
    words = [word.strip("{}") for word in plain(path).split("/") if word]
    return "_".join(words) or "home"


def _parameter(
    where: str, name: str, description: str, values: Mapping[str, str] | None
) -> dict[str, Any]:
    parameter: dict[str, Any] = {"name": name, "in": where, "description": description}
    parameter["schema"] = dict(_WHOLE_NUMBERS.get(name, {"type": "string"}))
    if where == "path":
        parameter["required"] = True
    if values and name in values:
        parameter["example"] = values[name]
    return parameter


def _content(
    web: WebState, links: Links, address: PageRoute, kind: str, samples: Samples
) -> dict[str, Any]:
    if kind != "json":
        return {"schema": {"type": "string"}}
    content: dict[str, Any] = {"schema": {"type": "object"}}
    if properties := address.schema():
        content["schema"]["properties"] = properties
    values = samples.values(address)
    if values is not None and address.path != "/openapi":
        page_request = PageRequest(values, samples.query(address), links)
        with suppress(InvalidQuery, PageNotFound, NotFound, HTTPException):
            content["example"] = shortened(data_formats.plain(address.draw(web, page_request)))
    return content


def _error(status: str, description: str) -> dict[str, Any]:
    """Describe an error: a page for requests of HTML, by suffix or header, otherwise JSON."""
    if status == "304":
        return {"description": description}
    content = {
        KINDS["json"]: {"schema": {"$ref": "#/components/schemas/Error"}},
        KINDS["html"]: {"schema": {"type": "string"}},
    }
    return {"description": description, "content": content}


def shortened(value: Any) -> Any:
    """Return a response with all lists limited to two elements."""
    if isinstance(value, Mapping):
        return {name: shortened(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [shortened(item) for item in value[:_MAX_EXAMPLE_ITEMS]]
    return value
