"""What programs can ask for, as OpenAPI 3.1 says it. The examples are answers of this arena."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from arena.store.errors import NotFound
from arena.web import bounds, drawing, openapi_push
from arena.web.kinds import KINDS
from arena.web.links import Links
from arena.web.page import Ask, BadAsk, NoSuchPage
from arena.web.routes import PAGES, Address
from arena.web.samples import Samples, names, plain
from arena.web.state import Web

ABOUT = """\
Every page of the arena is to be had by programs too: put `.json`, `.csv`, `.md` or `.txt` behind \
its address, or say so in the `Accept` header. What goes wrong is told with its status and in a \
sentence: `{"error": "..."}` as JSON.

Long lists come a page at a time (`page`, `limit`); the `Link` header says where the next one is. \
Every answer has an `ETag`; with `If-None-Match` what has not changed costs nothing. Query \
parameters that an address does not list are passed over. Who asks too often gets a 429 and \
`Retry-After`. There are no cookies and nothing needs a key to be read. With the \
token of an owner (`Authorization: Bearer`) the pages of that owner's bots tell more, and bots are \
pushed."""

_VALUES: Mapping[str, str] = {
    "form": "a form of a game, as in `/ladders/poke`",
    "name": "the name of a bot",
    "id": "its id",
    "n": "the number of the game within its match, from 0",
    "game": "the id of a game",
    "page": "the name of a page",
}
_LONGEST = 2
_ERRORS = {
    "304": "It has not changed since the `ETag` that was sent.",
    "400": "What was asked for cannot be asked for; the sentence says why.",
    "404": "There is nothing at this address.",
    "406": "It is not to be had in this form; the sentence names those there are.",
    "429": "Too many requests; `Retry-After` says in how many seconds to ask again.",
}


def document(web: Web, links: Links, release: str) -> dict[str, Any]:
    """The whole document."""
    samples = Samples(web)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Poke arena",
            "version": release,
            "summary": "Ladders, tournaments, matches and replays of the Poke games.",
            "description": ABOUT,
        },
        "paths": {
            plain(each.path): {
                **_path(web, links, each, samples),
                **({"post": openapi_push.operation()} if each.path == bounds.PUSH else {}),
            }
            for each in PAGES
        },
        "components": {
            "securitySchemes": dict(openapi_push.SECURITY),
            "schemas": {
                "Error": {
                    "type": "object",
                    "required": ["error"],
                    "properties": {"error": {"type": "string", "description": "a sentence"}},
                    "examples": [{"error": "there is no ladder whist; there are poke."}],
                }
            },
        },
    }


def _path(web: Web, links: Links, address: Address, samples: Samples) -> dict[str, Any]:
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
                *(_parameter("query", name, says, query) for name, says in address.query),
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
                **{status: _error(status, says) for status, says in _ERRORS.items()},
            },
        }
    }


def _identity(path: str) -> str:
    words = [word.strip("{}") for word in plain(path).split("/") if word]
    return "_".join(words) or "home"


def _parameter(
    where: str, name: str, says: str, values: Mapping[str, str] | None
) -> dict[str, Any]:
    told: dict[str, Any] = {"name": name, "in": where, "description": says}
    told["schema"] = {"type": "string"}
    if where == "path":
        told["required"] = True
    if values and name in values:
        told["example"] = values[name]
    return told


def _content(
    web: Web, links: Links, address: Address, kind: str, samples: Samples
) -> dict[str, Any]:
    if kind != "json":
        return {"schema": {"type": "string"}}
    told: dict[str, Any] = {"schema": {"type": "object"}}
    values = samples.values(address)
    if values is not None and address.path != "/openapi":
        ask = Ask(values, samples.query(address), links)
        with suppress(BadAsk, NoSuchPage, NotFound):
            told["example"] = shortened(drawing.plain(address.draw(web, ask)))
    return told


def _error(status: str, says: str) -> dict[str, Any]:
    if status == "304":
        return {"description": says}
    schema = {"$ref": "#/components/schemas/Error"}
    return {"description": says, "content": {KINDS["json"]: {"schema": schema}}}


def shortened(value: Any) -> Any:
    """An answer with no more than the beginning of each list."""
    if isinstance(value, Mapping):
        return {name: shortened(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [shortened(one) for one in value[:_LONGEST]]
    return value
