"""OpenAPI entries of the management pages and actions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from arena.web.management.action import Action, InputField
from arena.web.management.actions import ACTIONS
from arena.web.management.pages import PAGES, ManagementPage
from arena.web.serving.page_kinds import KINDS

SECURITY: Final = {
    "organiser": {
        "type": "http",
        "scheme": "bearer",
        "description": "token of an organiser, created with `pokearena organiser add`",
    }
}
_ERRORS: Final = {
    "400": "The request is not valid.",
    "401": "The token is missing, invalid or revoked.",
    "403": "The token has another role.",
    "404": "The object does not exist.",
    "409": "The state of the object does not allow this.",
    "422": "A value is missing or not valid.",
    "429": "Too many requests; `Retry-After` contains the seconds to wait.",
}
_TYPES: Final[dict[str, dict[str, Any]]] = {
    "text": {"type": "string"},
    "number": {"type": "integer"},
    "seconds": {"type": "integer"},
    "checkbox": {"type": "boolean"},
    "lines": {"type": "array", "items": {"type": "string"}},
    "pairs": {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}},
}
_PLACE: Final = re.compile(r"\{(\w+)\}")


def paths() -> dict[str, dict[str, Any]]:
    """Return the OpenAPI path items, by path."""
    items: dict[str, dict[str, Any]] = {}
    for page in PAGES:
        if page.has_json:
            items.setdefault(page.path, {})["get"] = _page(page)
    for action in ACTIONS:
        items.setdefault(action.path, {})["post"] = _action(action)
    return items


def _page(page: ManagementPage) -> dict[str, Any]:
    words = [word.strip("{}") for word in page.path.split("/") if word]
    query = [
        {"name": name, "in": "query", "description": description, "schema": {"type": "string"}}
        for name, description in page.query
    ]
    return {
        "summary": page.summary,
        "operationId": "show_" + "_".join(words),
        "security": [{str(page.role): []}],
        "parameters": [*_parameters(page.path), *query],
        "responses": _responses("200", "The page as JSON."),
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
        **_operation(action, identity, list(_parameters(action.path))),
        **({"requestBody": body} if action.fields else {}),
    }


def query_operation(
    path: str, identity: str, action: Action, fields: Sequence[InputField]
) -> dict[str, Any]:
    """Return the operation of an action whose values are in the query.

    Args:
        path: its path.
        identity: its `operationId`.
        action: the action.
        fields: its values.
    """
    query = [
        {
            **{"name": each.name, "in": "query", "description": each.summary},
            **{"required": each.required, "schema": {"type": "string"}},
            **({"example": each.example} if each.example else {}),
        }
        for each in fields
    ]
    return _operation(action, identity, [*_parameters(path), *query])


def _operation(action: Action, identity: str, parameters: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "summary": action.summary,
        "operationId": identity,
        "security": [{str(action.role): []}],
        "parameters": parameters,
        "responses": _responses("201" if action.created else "200", "It is done.", action.example),
    }


def _schema(field: InputField) -> dict[str, Any]:
    schema = {**_TYPES[field.kind], "description": field.summary}
    return schema | ({"enum": list(field.choices)} if field.choices else {})


def _parameters(path: str) -> Iterator[dict[str, Any]]:
    for name in _PLACE.findall(path):
        yield {
            "name": name,
            "in": "path",
            "description": "its id or name",
            "required": True,
            "schema": {"type": "string"},
        }


def _responses(
    status: str, description: str, example: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    error = {"schema": {"$ref": "#/components/schemas/Error"}}
    success = {
        "description": description,
        "content": {
            KINDS["json"]: {
                "schema": {"type": "object"},
                **({"example": dict(example)} if example else {}),
            }
        },
    }
    return {
        status: success,
        **{
            code: {"description": text, "content": {KINDS["json"]: error}}
            for code, text in _ERRORS.items()
        },
    }
