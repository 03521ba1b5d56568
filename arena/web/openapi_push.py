"""What OpenAPI says of pushing a bot: the one address at which programs send something."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from arena.web.kinds import KINDS

SECURITY: Final[Mapping[str, Any]] = {
    "owner": {
        "type": "http",
        "scheme": "bearer",
        "description": "the token of an owner of bots, which the organiser makes",
    }
}
_QUERY: Final = (
    ("name", "the name of the bot, as its bot.toml says it", "mybot"),
    (
        "content",
        "the hash of its content, as `pokearena bot push --dry-run` tells it",
        "5f51356c8af2d92d51d67649f0de050c6ad831c43036788f8216e26012fe680b",
    ),
    ("version", "the version that its bot.toml names, if it names one", ""),
)
_ANSWERS: Final = (
    ("200", "Without a body: it would be taken. Or this is a submission already: that one."),
    ("201", "It has arrived, and is worked on; `Location` says where to look."),
)
_REFUSALS: Final = (
    ("401", "No token, or one that is no owner's."),
    ("403", "The name is another's, or this arena takes no bots over the network."),
    ("408", "It took too long to arrive."),
    ("409", "This content, or this version, is here already."),
    ("413", "It is too large."),
    ("422", "The name or the hash is none."),
    ("429", "Too many; `Retry-After` says in how many seconds to ask again."),
    ("503", "Nobody works on submissions at the moment."),
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
    "version": None,
    "ladders": [],
    "created": "2026-11-22T06:42:52.816+00:00",
    "ended": None,
    "status": None,
    "sentence": None,
    "output": None,
}


def operation() -> dict[str, Any]:
    """Of `POST /submissions`."""
    return {
        "summary": "Pushes a bot.",
        "description": "`pokearena bot push` does it: the files of a bot as a tar.gz. It is "
        "checked, built, tested and put on the ladder; `GET /submissions/{id}` tells how far it "
        "is. Without a body it is asked whether it would be taken.",
        "operationId": "push",
        "security": [{"owner": []}],
        "parameters": [_parameter(*each) for each in _QUERY],
        "requestBody": {
            "required": False,
            "content": {"application/gzip": {"schema": {"type": "string", "format": "binary"}}},
        },
        "responses": {
            **{status: _answer(says) for status, says in _ANSWERS},
            **{status: _refusal(says) for status, says in _REFUSALS},
        },
    }


def _parameter(name: str, says: str, example: str) -> dict[str, Any]:
    told: dict[str, Any] = {"name": name, "in": "query", "description": says}
    told |= {"required": bool(example), "schema": {"type": "string"}}
    return told | ({"example": example} if example else {})


def _answer(says: str) -> dict[str, Any]:
    content = {"schema": {"type": "object"}, "example": dict(_EXAMPLE)}
    return {"description": says, "content": {KINDS["json"]: content}}


def _refusal(says: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Error"}
    return {"description": says, "content": {KINDS["json"]: {"schema": schema}}}
