"""Translate requests and replies of the OpenAI chat form, member by member.

Only the members that are listed here pass. All others could carry information from one table to
another: identities and stored conversations in requests; ids, times, fingerprints and figures of
caches in replies.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from arena.ratings.call_figures import CallFigures

ROLES: Final = frozenset({"system", "developer", "user", "assistant"})
_NUMBERS: Final[Mapping[str, tuple[float, float]]] = {
    "temperature": (0, 2),
    "top_p": (0, 1),
    "min_p": (0, 1),
    "frequency_penalty": (-2, 2),
    "presence_penalty": (-2, 2),
}
"""Least and largest value. Many endpoints fail at others instead of refusing the request."""
_INTEGERS: Final[Mapping[str, tuple[int, int]]] = {"seed": (0, (1 << 31) - 1), "top_k": (-1, 1000)}
_MAXIMUM: Final = ("max_completion_tokens", "max_tokens")
_EFFORTS: Final = frozenset({"none", "minimal", "low", "medium", "high"})
_FINISHES: Final = frozenset({"stop", "length", "content_filter"})
_MOST_STOPS: Final = 8
_MESSAGE_TOKENS: Final = 16
"""Tokens that a template adds to a message, at most."""
_REQUEST_TOKENS: Final = 64
"""Tokens that a template adds to a conversation, at most."""
_LARGEST_COUNT: Final = 1 << 31


class InvalidRequest(Exception):
    """A request cannot be forwarded; the text is a sentence for the bot."""


class InvalidReply(Exception):
    """A reply does not have the form of a chat completion."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request of a bot: the model that it names, and the members to forward, without the model.

    Attributes:
        model: name of the model in `models.toml`.
        members: the members to forward.
        stream: whether the bot expects events in place of a JSON document.
    """

    model: str
    members: dict[str, Any]
    stream: bool

    @property
    def worst_input_tokens(self) -> int:
        """An upper limit of the tokens of the input: no token is shorter than a byte."""
        size = len(json.dumps(self.members, ensure_ascii=False).encode())
        return size + _MESSAGE_TOKENS * len(self.members["messages"]) + _REQUEST_TOKENS

    @property
    def output_tokens(self) -> int:
        """The maximum length of the reply."""
        return int(self.members[_MAXIMUM[1]])


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A reply: its text, why it ended, and its figures; None if the endpoint sent none."""

    text: str
    refusal: str
    finish: str
    figures: tuple[int, int] | None


def read_request(body: bytes, most_output: int) -> ChatRequest:
    """Read a request of a bot.

    Args:
        body: the JSON document.
        most_output: the limit of the tokens of a reply.

    Raises:
        InvalidRequest: it is not a request for a chat completion.
    """
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidRequest("the request is not valid JSON.") from None
    if not isinstance(document, dict):
        raise InvalidRequest("the request must be a JSON object.")
    model = document.get("model")
    if not isinstance(model, str):
        raise InvalidRequest('"model" must be the name of a model.')
    members: dict[str, Any] = {"messages": _messages(document.get("messages"))}
    members |= _numbers(document, _NUMBERS, (int, float))
    members |= _numbers(document, _INTEGERS, (int,))
    if stop := _stop(document.get("stop")):
        members["stop"] = stop
    if isinstance(effort := document.get("reasoning_effort"), str) and effort in _EFFORTS:
        members["reasoning_effort"] = effort
    if document.get("response_format") == {"type": "json_object"}:
        members["response_format"] = {"type": "json_object"}
    members[_MAXIMUM[1]] = _output_tokens(document, most_output)
    return ChatRequest(model, members, document.get("stream") is True)


def _messages(value: object) -> list[dict[str, str]]:
    if not isinstance(value, list) or not value:
        raise InvalidRequest('"messages" must be a list of messages.')
    return [_message(message) for message in value]


def _message(value: object) -> dict[str, str]:
    role = value.get("role") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(role, str) or role not in ROLES:
        roles = ", ".join(sorted(ROLES))
        raise InvalidRequest(f'each message needs a "role", one of {roles}.')
    return {"role": role, "content": _encodable(_content(value.get("content")))}


def _content(value: object) -> str:
    """Return the text of a content; images and files would be addresses to fetch."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(_is_text(part) for part in value):
        return "".join(part["text"] for part in value)
    raise InvalidRequest('the "content" of a message must be text.')


def _is_text(part: object) -> bool:
    return (
        isinstance(part, dict) and isinstance(part.get("text"), str) and part.get("type") == "text"
    )


def _encodable(text: str) -> str:
    """Replace lone surrogates, at which an endpoint may fail."""
    return text.encode("utf-8", "replace").decode()


def _numbers(
    document: dict[str, Any],
    limits: Mapping[str, tuple[float, float]],
    kinds: tuple[type[int] | type[float], ...],
) -> dict[str, Any]:
    """Return the members that are set.

    Raises:
        InvalidRequest: one of them is not a number within its limits.
    """
    values = {name: document[name] for name in limits if document.get(name) is not None}
    for name, value in values.items():
        least, largest = limits[name]
        if type(value) not in kinds or not least <= value <= largest:
            raise InvalidRequest(f'"{name}" must be a number from {least} to {largest}.')
    return values


def _stop(value: object) -> list[str]:
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, list):
        return []
    return [_encodable(word) for word in words[:_MOST_STOPS] if isinstance(word, str) and word]


def _output_tokens(document: dict[str, Any], most: int) -> int:
    for name in _MAXIMUM:
        value = document.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return min(value, most)
    return most


def read_reply(body: bytes) -> ChatReply:
    """Read a chat completion of an endpoint.

    Raises:
        InvalidReply: it has another form.
    """
    try:
        document = json.loads(body)
        choice = document["choices"][0]
        message = choice["message"]
        finish = choice.get("finish_reason")
        content = message.get("content")
        refusal = message.get("refusal")
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise InvalidReply from None
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        content = "".join(part for part in parts if isinstance(part, str))
    return ChatReply(
        content if isinstance(content, str) else "",
        refusal if isinstance(refusal, str) else "",
        finish if isinstance(finish, str) and finish in _FINISHES else "stop",
        _figures(document.get("usage")),
    )


def _figures(usage: object) -> tuple[int, int] | None:
    if not isinstance(usage, dict):
        return None
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    if not all(type(count) is int and 0 <= count < _LARGEST_COUNT for count in counts):
        return None
    return counts[0], counts[1]  # type: ignore[return-value]


def reply_document(model: str, reply: ChatReply, figures: CallFigures) -> dict[str, Any]:
    """Return a reply as the bot receives it. Equal texts give equal documents."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.refusal:
        message["refusal"] = reply.refusal
    return {
        "id": "completion",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish}],
        "usage": {
            "prompt_tokens": figures.input_tokens,
            "completion_tokens": figures.output_tokens,
            "total_tokens": figures.tokens,
        },
    }


def reply_events(document: dict[str, Any]) -> bytes:
    """Return a reply as a stream of events: the whole reply is one event."""
    choice = document["choices"][0]
    chunk = {
        **document,
        "object": "chat.completion.chunk",
        "choices": [
            {"index": 0, "delta": choice["message"], "finish_reason": choice["finish_reason"]}
        ],
    }
    return f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()


def error_document(code: str, sentence: str) -> dict[str, Any]:
    """Return an error as the bot receives it."""
    return {"error": {"message": sentence, "type": "invalid_request_error", "code": code}}
