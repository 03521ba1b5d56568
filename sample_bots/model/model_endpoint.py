"""Send requests to an endpoint of the OpenAI chat form, within a time limit."""

import email.utils
import errno
import json
import math
import os
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from http.client import HTTPConnection, HTTPException
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final

from model_replies import LONGEST, Reply

HTTP_SOCKET: Final = "POKEARENA_MODEL_SOCKET"
"""Variable with the path of the socket at which a hosted bot reaches its models."""
_LARGEST: Final = 1 << 20
"""Maximum size of a response in bytes."""
_PAUSES: Final = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds between requests that fail, if the endpoint names no time."""
_TEMPORARY: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Statuses after which a request is repeated."""
_CLOCK_SECONDS: Final = 5.0
"""Time limit of a request for the arena's clock."""
_EVENTS: Final = "text/event-stream"
_JSON: Final = "application/json"
Message = dict[str, str]


class _Failed(Exception):
    """No reply arrived; `pause` is the time until the next request in seconds, -1 for none."""

    def __init__(self, reason: str, pause: float | None = None) -> None:
        super().__init__(reason)
        self.pause = pause


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: the key must not reach another server."""

    def redirect_request(self, *_: Any) -> None:
        """Return no further request."""


class _SocketConnection(HTTPConnection):
    """A connection to the Unix socket with the path in HTTP_SOCKET."""

    def connect(self) -> None:
        """Connect."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(os.environ[HTTP_SOCKET])


class _SocketHandler(urllib.request.HTTPHandler):
    """Sends requests to the Unix socket."""

    def http_open(self, request: urllib.request.Request) -> Any:
        """Send a request."""
        return self.do_open(_SocketConnection, request)


def _opener() -> urllib.request.OpenerDirector:
    handlers: list[Any] = [_SocketHandler] if HTTP_SOCKET in os.environ else []
    return urllib.request.build_opener(_NoRedirect, *handlers)


_OPENER: Final = _opener()


class TimeLimit:
    """The time limit of a decision. In an arena, its proxy's repeated calls prolong it."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._excused = _excused_seconds(otherwise=math.inf)

    def left(self) -> float:
        """Return the seconds that are left."""
        left = self._end - time.monotonic()
        if left > 0:
            return left
        return left + max(0.0, _excused_seconds(otherwise=0.0) - self._excused)


def _excused_seconds(otherwise: float) -> float:
    """Return how long the arena's clock has stood because its models failed."""
    if HTTP_SOCKET not in os.environ:
        return otherwise
    try:
        with _OPENER.open("http://models/v1/clock", timeout=_CLOCK_SECONDS) as response:
            milliseconds: int = json.load(response)["excused_ms"]
    except (OSError, HTTPException, ValueError):
        return otherwise
    return milliseconds / 1000


class Endpoint:
    """An endpoint with a model.

    Args:
        base_url: address, for example "http://127.0.0.1:11434/v1".
        model: name of the model.
        key: the key; empty if the endpoint needs none.
        parameters: further members of each request.
        stall_seconds: time without any data after which a request is repeated.
    """

    def __init__(
        self, base_url: str, model: str, key: str, parameters: dict[str, Any], stall_seconds: float
    ) -> None:
        self._url = f"{base_url.rstrip('/')}/chat/completions"
        self._body = {"model": model, "stream": True, **parameters}
        self._headers = {"Content-Type": _JSON, "Accept": f"{_EVENTS}, {_JSON}"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._stall_seconds = stall_seconds

    def complete(self, messages: list[Message], limit: TimeLimit) -> Reply:
        """Return the model's reply; repeat the request after failures of the transport.

        Args:
            messages: the conversation.
            limit: the time limit.
        """
        reason = "the time is up"
        attempt = 0
        while limit.left() > 0:
            try:
                return self._request(messages, limit)
            except _Failed as failed:
                reason = str(failed)
                pause = _PAUSES[min(attempt, len(_PAUSES) - 1)]
                pause = pause if failed.pause is None else failed.pause
            attempt += 1
            if pause < 0 or pause >= limit.left():
                break
            time.sleep(pause)
        return Reply(failure=reason)

    def _request(self, messages: list[Message], limit: TimeLimit) -> Reply:
        """Return the reply to one request.

        A thread reads the response, because the time limit of a socket ends only single reads.

        Raises:
            _Failed: no complete reply arrived.
        """
        parts: SimpleQueue[Any] = SimpleQueue()
        body = json.dumps({**self._body, "messages": messages}).encode()
        Thread(target=self._receive, args=(body, parts), daemon=True).start()
        received = b""
        kind = ""
        while True:
            left = limit.left()
            try:
                part = parts.get(timeout=max(0.0, min(left, self._stall_seconds)))
            except Empty:
                if left > self._stall_seconds:
                    raise _Failed(f"no data arrived for {self._stall_seconds:g} s", 0) from None
                if limit.left() > 0:
                    continue
                raise _Failed("the time is up", -1) from None
            if isinstance(part, _Failed):
                raise part
            if isinstance(part, str):
                kind = part
                continue
            received += part
            if len(received) > _LARGEST:
                return Reply("x" * (LONGEST + 1))
            if not part or (kind == _EVENTS and _is_done(received)):
                return _reply(kind, received)

    def _receive(self, body: bytes, parts: "SimpleQueue[Any]") -> None:
        """Put the media type and the bytes of a response into a queue, or why there is none."""
        try:
            request = urllib.request.Request(self._url, body, self._headers)
            with _OPENER.open(request, timeout=self._stall_seconds) as response:
                parts.put(response.headers.get_content_type())
                size = 0
                while data := response.read1(1 << 16):
                    parts.put(data)
                    size += len(data)
                    if size > _LARGEST:
                        return
                parts.put(_complete(response))
        except urllib.error.HTTPError as error:
            parts.put(_status_failure(error))
        except ValueError:
            # Its text can contain the key, for example if that has a line break.
            parts.put(_Failed("the address or the key has an invalid character", -1))
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", error)
            # The sandbox allows no internet sockets, now or later.
            has_no_network = getattr(reason, "errno", None) == errno.EAFNOSUPPORT
            pause = -1.0 if has_no_network else None
            parts.put(_Failed(f"the request failed: {reason or 'lost'}", pause))


def _complete(response: Any) -> Any:
    """Return the end of the data, or a failure if the response has been cut."""
    missing = response.length
    return _Failed("the connection was lost") if missing else b""


def _status_failure(error: urllib.error.HTTPError) -> _Failed:
    reason = f"the endpoint answered with the status {error.code}"
    if error.code not in _TEMPORARY:
        return _Failed(reason, -1)
    return _Failed(reason, _delay(error.headers.get("Retry-After", "")))


def _delay(text: str) -> float | None:
    """Return the seconds of a Retry-After header; None if it has none."""
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None


def _is_done(received: bytes) -> bool:
    return b"data: [DONE]" in received[-64:]


def _reply(kind: str, received: bytes) -> Reply:
    """Return the reply in a response.

    Raises:
        _Failed: the response has not the form of the OpenAI chat completions.
    """
    text = received.decode("utf-8", "replace")
    if kind == _EVENTS:
        return replace(_from_events(text), **_tokens(_events(text)))
    if kind == _JSON:
        return replace(_from_choice(_choice(text, "message"), "message"), **_tokens([text]))
    raise _Failed(f"the endpoint answered with {kind}")


def _tokens(documents: list[str]) -> dict[str, Any]:
    """Return the tokens that the last document with a usage states; without any, nothing."""
    for text in reversed(documents):
        if '"usage"' not in text:
            continue
        try:
            usage = json.loads(text)["usage"]
            tokens = usage["prompt_tokens"], usage["completion_tokens"]
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
        if all(type(number) is int and number >= 0 for number in tokens):
            return {"tokens_in": tokens[0], "tokens_out": tokens[1]}
    return {}


def _choice(text: str, member: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
        choice = document["choices"][0] if document.get("choices") else {}
        if "error" in document and not choice:
            raise _Failed("the endpoint answered with an error")
        if not isinstance(choice, dict) or not isinstance(choice.get(member) or {}, dict):
            raise ValueError(member)
        return choice
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise _Failed("the endpoint answered with invalid JSON") from None


def _from_choice(choice: dict[str, Any], member: str) -> Reply:
    message = choice.get(member) or {}
    finish = _text(choice.get("finish_reason"))
    if message.get("tool_calls") and not _text(message.get("content")):
        finish = "tool_calls"
    thoughts = _text(message.get("reasoning_content")) or _text(message.get("reasoning"))
    content, refusal = _content(message.get("content")), _text(message.get("refusal"))
    return Reply(content, finish, refusal, thoughts=thoughts)


def _from_events(text: str) -> Reply:
    """Join the parts of a streamed reply."""
    parts = [_from_choice(choice, "delta") for choice in _event_choices(text)]
    if not parts:
        raise _Failed("the endpoint sent no reply")
    finish = next((part.finish for part in reversed(parts) if part.finish), "")
    if not finish and "data: [DONE]" not in text:
        raise _Failed("the stream ended before the reply was complete")
    content = "".join(part.text for part in parts)
    refusal = "".join(part.refusal for part in parts)
    thoughts = "".join(part.thoughts for part in parts)
    return Reply(content, finish, refusal, thoughts=thoughts)


def _event_choices(text: str) -> Iterator[dict[str, Any]]:
    for event in _events(text):
        yield _choice(event, "delta")


def _events(text: str) -> list[str]:
    """Return the data of the events of a stream."""
    lines = (line.partition(":") for line in text.splitlines())
    return [
        value for name, _, value in lines if name == "data" and value.strip() not in ("", "[DONE]")
    ]


def _content(content: Any) -> str:
    """Return a content, which is a text or a list of parts with texts."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return _text(content)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
