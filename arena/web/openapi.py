"""OpenAPI 3.1 document of the HTTP API, with responses as examples; the page of all addresses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from typing import Any, Final

from starlette.exceptions import HTTPException

from arena.errors import NotFound
from arena.store.bots import submissions
from arena.store.matches import listing
from arena.store.schema import MatchState
from arena.store.tournaments import tournaments
from arena.web import paging
from arena.web.data.web_state import WebState
from arena.web.management import owner_requests
from arena.web.management.action import Action, InputField
from arena.web.management.actions import ACTIONS
from arena.web.management.pages import PAGES as MANAGEMENT_PAGES
from arena.web.management.pages import ManagementPage
from arena.web.page import InvalidQuery, Links, Page, PageNotFound, PageRequest, PageRoute
from arena.web.serving import data_formats, request_limits
from arena.web.serving.page_kinds import KINDS
from referee.games.game_packages import EXAMPLE_GAME

SECURITY: Final[Mapping[str, Any]] = {
    "owner": {
        "type": "http",
        "scheme": "bearer",
        "description": "token of an owner of bots, created by the organiser",
    },
    "organiser": {
        "type": "http",
        "scheme": "bearer",
        "description": "token of an organiser, created with `pokearena organiser add`",
    },
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
_MANAGEMENT_ERRORS: Final = (
    ("400", "The request is not valid."),
    ("401", "The token is missing, invalid or revoked."),
    ("403", "The token has another role."),
    ("404", "The object does not exist."),
    ("409", "The state of the object does not allow this."),
    ("422", "A value is missing or not valid."),
    ("429", "Too many requests; `Retry-After` contains the seconds to wait."),
)
_TYPES: Final[Mapping[str, Mapping[str, Any]]] = {
    "text": {"type": "string"},
    "number": {"type": "integer"},
    "seconds": {"type": "integer"},
    "checkbox": {"type": "boolean"},
    "lines": {"type": "array", "items": {"type": "string"}},
    "pairs": {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}},
}
"""Schemas of the values of an action."""
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
_ERRORS = (
    ("400", "The request is not valid; the message names the reason."),
    ("404", "Unknown address."),
    ("406", "Not available in this format; the message names the available ones."),
    ("429", "Too many requests; `Retry-After` is the number of seconds to wait."),
)


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
        "parameters": [
            _parameter(name, description, example, required=bool(example))
            for name, description, example in _QUERY
        ],
        "requestBody": {
            "required": False,
            "content": {"application/gzip": {"schema": {"type": "string", "format": "binary"}}},
        },
        "responses": {
            **{status: _success(description, _EXAMPLE) for status, description in _ANSWERS},
            **_errors(_REFUSALS),
        },
    }


def _parameter(
    name: str,
    description: str,
    example: str = "",
    *,
    where: str = "query",
    required: bool | None = None,
    schema: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    parameter: dict[str, Any] = {"name": name, "in": where, "description": description}
    parameter["schema"] = dict(schema or {"type": "string"})
    if required is not None:
        parameter["required"] = required
    return parameter | ({"example": example} if example else {})


def _success(description: str, example: Mapping[str, Any] | None = None) -> dict[str, Any]:
    content = {"schema": {"type": "object"}, **({"example": dict(example)} if example else {})}
    return {"description": description, "content": {KINDS["json"]: content}}


def _errors(
    descriptions: Iterable[tuple[str, str]], *, has_html: bool = False
) -> dict[str, dict[str, Any]]:
    """Describe errors: JSON, and pages for requests of HTML, by suffix or header."""
    content: dict[str, Any] = {KINDS["json"]: {"schema": {"$ref": "#/components/schemas/Error"}}}
    if has_html:
        content[KINDS["html"]] = {"schema": {"type": "string"}}
    return {
        status: {"description": description, "content": content}
        for status, description in descriptions
    }


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


def document(web: WebState, page_request: PageRequest, addresses: Sequence[PageRoute]) -> Page:
    """Return the OpenAPI document, available only as JSON."""
    links = page_request.links
    samples = Samples(web)
    by_query = {
        path: _query_operation(path, *described)
        for path, described in owner_requests.OPERATIONS.items()
    }
    operations = {request_limits.PUSH: operation(), **by_query}
    description = {
        "openapi": "3.1.0",
        "info": {
            "title": "Poke arena",
            "version": version("pokearena"),
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
        | _management_paths(),
        "components": {
            "securitySchemes": dict(SECURITY),
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
    return Page(title="OpenAPI", template="", model={}, data=description, fresh=60.0)


def api_page(web: WebState, page_request: PageRequest, addresses: Sequence[PageRoute]) -> Page:
    """Return the page of all addresses with their parameters and an example of each."""
    samples = Samples(web)

    def address(path: str, kind: str, query: dict[str, str]) -> str:
        ending = "" if kind == "html" or path == "/" else f".{kind}"
        return page_request.links.to(*f"{path}{ending}".split("/")[1:], **query)

    rows = []
    for each in addresses:
        values, query = samples.values(each), dict(samples.query(each))
        path = plain(each.path)
        for name, value in (values or {}).items():
            path = path.replace(f"{{{name}}}", value)
        tries = [(kind, address(path, kind, query)) for kind in each.kinds]
        rows.append((plain(each.path), each, tries if values is not None else []))
    paragraphs = [part.replace("`", "") for part in ABOUT.split("\n\n")]
    return Page(
        title="For programs",
        template="api.html",
        model={"rows": rows, "about": paragraphs},
    )


def _path(web: WebState, links: Links, address: PageRoute, samples: Samples) -> dict[str, Any]:
    values, query = samples.values(address), samples.query(address)
    return {
        "get": {
            "summary": address.summary,
            "operationId": _identity(address.path),
            "parameters": [
                *(
                    _parameter(
                        name,
                        _VALUES.get(name, ""),
                        (values or {}).get(name, ""),
                        where="path",
                        required=True,
                        schema=_WHOLE_NUMBERS.get(name),
                    )
                    for name in names(address.path)
                ),
                *(
                    _parameter(
                        *(name, description, query.get(name, "")), schema=_WHOLE_NUMBERS.get(name)
                    )
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
                "304": {"description": "Not changed since the `ETag` of the request."},
                **_errors(_ERRORS, has_html=True),
                **_errors([("403", _FOREIGN)] if address.owners else [], has_html=True),
            },
        }
    }


def _identity(path: str) -> str:
    words = [word.strip("{}") for word in plain(path).split("/") if word]
    return "_".join(words) or "home"


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


def shortened(value: Any) -> Any:
    """Return a response with all lists limited to two elements."""
    if isinstance(value, Mapping):
        return {name: shortened(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [shortened(item) for item in value[:_MAX_EXAMPLE_ITEMS]]
    return value


def _management_paths() -> dict[str, dict[str, Any]]:
    """Return the path items of the management pages and actions."""
    items: dict[str, dict[str, Any]] = {}
    for page in MANAGEMENT_PAGES:
        if page.has_json:
            items.setdefault(page.path, {})["get"] = _management_page(page)
    for action in ACTIONS:
        items.setdefault(action.path, {})["post"] = _action(action)
    return items


def _management_page(page: ManagementPage) -> dict[str, Any]:
    return {
        "summary": page.summary,
        "operationId": f"show_{_identity(page.path)}",
        "security": [{str(page.role): []}],
        "parameters": [*_ids_of(page.path), *(_parameter(*each) for each in page.query)],
        "responses": {"200": _success("The page as JSON."), **_errors(_MANAGEMENT_ERRORS)},
    }


def _action(action: Action) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {each.name: _schema(each) for each in action.fields},
        "required": [each.name for each in action.fields if each.required],
    }
    body = {"required": bool(schema["required"]), "content": {KINDS["json"]: {"schema": schema}}}
    identity = action.name.replace(".", "_").replace("-", "_")
    return {
        **_operation(action, identity, _ids_of(action.path)),
        **({"requestBody": body} if action.fields else {}),
    }


def _query_operation(
    path: str, identity: str, action: Action, fields: Sequence[InputField]
) -> dict[str, Any]:
    """Return the operation of an action whose values are in the query."""
    query = [
        _parameter(each.name, each.summary, each.example, required=each.required) for each in fields
    ]
    return _operation(action, identity, [*_ids_of(path), *query])


def _operation(action: Action, identity: str, parameters: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "summary": action.summary,
        "operationId": identity,
        "security": [{str(action.role): []}],
        "parameters": parameters,
        "responses": {
            "201" if action.created else "200": _success("It is done.", action.example),
            **_errors(_MANAGEMENT_ERRORS),
        },
    }


def _schema(field: InputField) -> dict[str, Any]:
    schema = {**_TYPES[field.kind], "description": field.summary}
    return schema | ({"enum": list(field.choices)} if field.choices else {})


def _ids_of(path: str) -> list[dict[str, Any]]:
    return [_parameter(name, "its id or name", where="path", required=True) for name in names(path)]
