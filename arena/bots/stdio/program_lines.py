"""Format the lines sent to a program and parse its answers (docs/reference/protocol.md)."""

import json
import re
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import Message
from pokearena.v1 import bot_pb2

from arena.bots.stdio.json_form import writer
from referee.field_names import camel
from referee.reasoning import TEXT_BYTES
from referee.tags import add_tags

_Message = TypeVar("_Message", bound=Message)

CHOICE: Final = "choice"
TAGS: Final = "tags"
_NUMBER: Final = re.compile(rb"-?[0-9]+")
_DIGITS: Final = 18
"""Maximum number of digits of a choice.

Larger numbers exceed any list, and Python parses very long ones slowly.
"""
_MARKS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
"""Byte order marks of UTF-8 and UTF-16."""
_MAX_QUOTED_CHARACTERS: Final = 80
_LONGEST_CHARACTER: Final = 4
"""Maximum size of a character in bytes of UTF-8."""
_USAGE_FIELDS: Final = frozenset(
    name for field in bot_pb2.Usage.DESCRIPTOR.fields for name in (field.name, field.json_name)
)
_LAST: Final = ("text", "legal", "view")
"""Long fields come last, so that a program without a JSON parser finds the others first."""


class Malformed(ValueError):
    """A line is not a valid answer. The text is a clause about it."""


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """An answer, parsed without its question."""

    fields: dict[str, Any]
    question: tuple[int, int, int] | None
    """Game, decision and attempt, if the line contains the first two."""


def start_line(request: bot_pb2.StartRequest) -> bytes:
    """Format the line of a Start request."""
    return _line({"start": _json(request)})


def act_line(question: bot_pb2.ActRequest) -> bytes:
    """Format the line of a question, preceded by the number of actions it lists."""
    fields = _json(question)
    for name in _LAST:
        fields[name] = fields.pop(name, None)
    return _line({"choices": len(question.legal), "act": fields})


def end_line(request: bot_pb2.EndRequest) -> bytes:
    """Format the line of an End request."""
    return _line({"end": _json(request)})


def is_answer(line: bytes) -> bool:
    """Return whether a line is an answer, also in a wrong encoding; other lines go to the log."""
    line = _as_utf_8(line).strip()
    return line.startswith(b"{") or _NUMBER.fullmatch(line) is not None


def _as_utf_8(line: bytes) -> bytes:
    """Return an ASCII line without a byte order mark and without the zero bytes of UTF-16."""
    for mark in _MARKS:
        line = line.removeprefix(mark)
    return line.replace(b"\0", b"")


def read(line: bytes) -> ParsedAnswer:
    """Parse a line as an answer.

    Raises:
        Malformed: the line is not valid.
    """
    if _as_utf_8(line) != line:
        raise Malformed(
            "its output is UTF-16 or begins with a byte order mark; write UTF-8 without one "
            "(PowerShell: [Console]::OutputEncoding = [Text.UTF8Encoding]::new($false))"
        )
    line = line.strip()
    if _NUMBER.fullmatch(line):
        if len(line) > _DIGITS:
            raise Malformed(f"its line {shown(line)} is not the number of an action")
        return ParsedAnswer({CHOICE: int(line)}, None)
    try:
        fields = json.loads(line)
    except RecursionError:
        raise Malformed(f"its line {shown(line)} is nested too deeply") from None
    except ValueError as error:
        raise Malformed(f"its line {shown(line)} is not valid JSON: {error}") from None
    if not isinstance(fields, dict):
        raise Malformed(f"its line {shown(line)} is not a JSON object")
    named = "game" in fields or "decision" in fields
    key = (fields.get("game", 0), fields.get("decision", 0), fields.get("attempt", 0))
    return ParsedAnswer(
        fields, key if named and all(type(number) is int for number in key) else None
    )


def start_response(parsed: ParsedAnswer) -> bot_pb2.StartResponse:
    """Convert the answer to a Start request; a number yields an empty response.

    Raises:
        Malformed: it is not a valid ``StartResponse``.
    """
    fields = {name: value for name, value in parsed.fields.items() if name != CHOICE}
    return _message(fields, bot_pb2.StartResponse())


def act_response(parsed: ParsedAnswer, question: bot_pb2.ActRequest) -> bot_pb2.ActResponse:
    """Convert the answer to a question.

    Raises:
        Malformed: it is not a valid ``ActResponse``, or its choice is out of range.
    """
    fields = dict(parsed.fields)
    choice = fields.pop(CHOICE, None)
    reasoning, usage = fields.pop("reasoning", None), fields.pop("usage", None)
    if "action" in fields:
        fields["action"] = _of_package(fields["action"], question.view)
    tags: list[str] = []
    if isinstance(given := fields.pop(TAGS, ()), list):
        add_tags(tags, given)
    response = _message(fields, bot_pb2.ActResponse())
    response.tags.extend(tags)
    if CHOICE in parsed.fields:
        for other in ("action", "text"):
            if other in fields:
                raise Malformed(f'its answer has both a "choice" and an "{other}"')
        response.action.CopyFrom(_chosen(choice, question))
    response.game, response.decision = question.game, question.decision
    response.attempt = question.attempt
    _add_reasoning(response, reasoning, usage)
    return response


def _add_reasoning(response: bot_pb2.ActResponse, reasoning: object, usage: object) -> None:
    """Add the reasoning and the usage of an answer; values of a wrong type are dropped."""
    if isinstance(reasoning, str):
        # A lone surrogate cannot be encoded. The referee notes that the text was longer.
        data = reasoning.encode("utf-8", "replace")[: TEXT_BYTES + _LONGEST_CHARACTER]
        response.reasoning = data.decode("utf-8", "ignore")
    if isinstance(usage, dict):
        for name in _USAGE_FIELDS & usage.keys():
            try:
                ParseDict({"usage": {name: usage[name]}}, response)
            except (ParseError, ValueError, TypeError, SystemError):
                continue


def shown(line: bytes, most: int = _MAX_QUOTED_CHARACTERS) -> str:
    """Format a line for a sentence, cut to `most` characters."""
    text = line.decode("utf-8", "replace").strip()
    return text if len(text) <= most else text[: most - 3] + "..."


def _of_package(action: Any, view: bot_pb2.View) -> Any:
    """Return the action of a game of a package in the form of its generic message."""
    if not view.HasField("generic") or not isinstance(action, dict):
        return action
    game = view.generic.game
    given = [action[name] for name in {game, camel(game)} if name in action]
    if len(action) != 1 or not given:
        raise Malformed(f'its action must be an object with the one member "{camel(game)}"')
    text = json.dumps(given[0], separators=(",", ":"), ensure_ascii=False)
    return {"generic": {"game": game, "json": text}}


def _chosen(choice: object, question: bot_pb2.ActRequest) -> bot_pb2.Action:
    if type(choice) is not int:
        raise Malformed(
            f'its "choice" is {shown(json.dumps(choice).encode())}; it must be a whole number'
        )
    if not 0 <= choice < len(question.legal):
        range_text = f"0 to {len(question.legal) - 1}" if question.legal else "none"
        raise Malformed(f"its choice is {choice}, and the listed actions are {range_text}")
    return question.legal[choice]


def _message(fields: dict[str, Any], message: _Message) -> _Message:
    try:
        return ParseDict(fields, message)
    except (ParseError, ValueError, TypeError, SystemError) as error:
        # protobuf's parser raises the last two for invalid Unicode and unexpected types.
        reason, *_ = str(error).split("\n")  # the following lines list field names
        clause = shown(reason.encode("utf-8", "backslashreplace"), 3 * _MAX_QUOTED_CHARACTERS)
        raise Malformed(f"its answer is not a valid {message.DESCRIPTOR.name}: {clause}") from None


def _json(message: Message) -> dict[str, Any]:
    """Convert a message to JSON with all its fields, so that programs can rely on each of them."""
    fields: dict[str, Any] = writer(message.DESCRIPTOR)(message)
    return fields


def _line(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode() + b"\n"
