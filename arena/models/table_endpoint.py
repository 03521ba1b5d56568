"""Serve models to one bot at one table: a Unix socket with an HTTP server behind it.

The bot sends requests in the OpenAI chat form. It has its own budget and rate. Apart from the time
of a reply, nothing that it receives depends on other tables.
"""

from __future__ import annotations

import http.server
import json
import logging
import os
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Mapping
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena.models.chat_form import (
    ChatReply,
    ChatRequest,
    InvalidReply,
    InvalidRequest,
    error_document,
    read_reply,
    read_request,
    reply_document,
    reply_events,
)
from arena.models.endpoint_client import CallFailed, EndpointClient, RequestRefused
from arena.models.excused_time import ExcusedTime, TimedCall, TimeReport
from arena.models.models_file import ModelLimits
from arena.models.transcripts import RecordedReplies, TranscriptEntry, TranscriptWriter
from arena.ratings.call_figures import CallFigures
from arena.store.matches.model_calls import CallPlace
from arena.system.token_buckets import Buckets

SOCKET: Final = "models"
_PATH: Final = "/chat/completions"
_MOST_BODY: Final = 1 << 20
_CONNECTIONS: Final = 8
_READ_SECONDS: Final = 30.0
_REQUESTS_PER_SECOND: Final = 20
"""Requests and connections of a bot, valid or not, beyond which they wait."""
_REQUEST_BURST: Final = 100
_REFUSAL_PAUSE_SECONDS: Final = 0.01
_FIRST_PAUSE_SECONDS: Final = 0.5
_LONGEST_PAUSE_SECONDS: Final = 8.0
_ANYBODY: Final = 0o666
_BURST: Final = 10
_SHORT_REQUEST: Final = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 1}

log = logging.getLogger("arena.worker")


class ModelUnavailable(Exception):
    """A model does not answer, and the match pauses; the text is a sentence for public pages."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """How the calls of a bot are stored.

    Attributes:
        reserve: stores a call for a decision with its worst case and returns its id; raises
            ModelUnavailable.
        settle: replaces the worst case.
    """

    reserve: Callable[[CallPlace, str, CallFigures], str]
    settle: Callable[[str, CallFigures], None]


@dataclass(frozen=True, slots=True)
class Seat:
    """The place of a bot: the attempt, the table and the number of the seat."""

    attempt: int
    table: int
    seat: int


class TableEndpoint:
    """The endpoint of one bot at one table.

    Args:
        folder: a private folder for the socket.
        seat: the bot's place.
        clients: the models that the bot may use, by the names in `models.toml`.
        limits: the limits.
        budget: the tokens that the bot may use at this table.
        ledger: stores the calls.
        transcript: stores requests and replies; None if they are replayed.
        recorded: answers calls in place of the endpoints; None to call these.
        on_lost: called once with a sentence, from another thread, if a model does not answer.
        cache_key: random text that separates the prompt caches of tables at the endpoints.
        on_time: sends a report on the time of calls to the referee.
    """

    def __init__(
        self,
        folder: Path,
        seat: Seat,
        clients: Mapping[str, EndpointClient],
        limits: ModelLimits,
        budget: int,
        ledger: Ledger,
        transcript: TranscriptWriter | None,
        recorded: RecordedReplies | None,
        on_lost: Callable[[str], None],
        cache_key: str,
        on_time: Callable[[TimeReport], None],
    ) -> None:
        self.path = folder / f"{SOCKET}-{seat.seat}"
        self._seat = seat
        self._clients = clients
        self._limits = limits
        self._left = budget
        self._ledger = ledger
        self._transcript = transcript
        self._recorded = recorded
        self._on_lost = on_lost
        self._cache_key = cache_key
        self._excused = ExcusedTime(limits.longest_call_seconds, on_time)
        self._rate = Buckets(limits.calls_per_minute / 60, min(_BURST, limits.calls_per_minute))
        self._lock = threading.Lock()
        self._is_lost = False
        self._place = CallPlace(seat.seat)
        """The decision of the bot that calls now belong to."""
        self._server = _Server(self.path, self, 2 * limits.calls_per_minute / 60)
        # The bot is a user of its own; only the arena can enter the folder.
        os.chmod(self.path, _ANYBODY)
        self._thread = threading.Thread(
            target=copy_context().run,
            args=(self._server.serve_forever, 0.05),
            name="models",
            daemon=True,
        )
        self._thread.start()

    def close(self) -> None:
        """End the endpoint; a call that is being answered is abandoned."""
        with self._lock:
            self._is_lost = True
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def note_questions(self, question: tuple[int, int] | None) -> None:
        """Note the game and the decision to which the next calls belong; None for several."""
        self._place = CallPlace(self._seat.seat, *(question or ()))

    def respond(self, body: bytes) -> tuple[int, str, bytes]:
        """Return the status, the media type and the body of the response to a request."""
        try:
            request = read_request(body, self._limits.output_tokens)
            client = self._client(request)
        except InvalidRequest as error:
            return _error(400, "invalid_request", str(error))
        if self._is_lost:
            return _error(503, "unavailable", "the table is closed.")
        worst = self._worst(request, client)
        if refusal := self._refusal(worst):
            return refusal
        try:
            reply, figures = self._complete(request, client, worst)
        except RequestRefused:
            self._give_back(worst.tokens)
            return _error(400, "invalid_request", "the model's endpoint refused the request.")
        except ModelUnavailable as error:
            self._lose(str(error))
            return _error(503, "unavailable", "the match pauses.")
        self._give_back(worst.tokens - figures.tokens)
        document = reply_document(request.model, reply, figures)
        if request.stream:
            return 200, "text/event-stream", reply_events(document)
        return 200, "application/json", json.dumps(document).encode()

    def clock_document(self) -> dict[str, Any]:
        """Return how long the clock of the bot has stood at this table, for `GET /clock`."""
        return {"excused_ms": self._excused.milliseconds()}

    def models_document(self) -> dict[str, Any]:
        """Return the list of the models, as `GET /models` does."""
        models = [{"id": name, "object": "model"} for name in self._clients]
        return {"object": "list", "data": models}

    def _client(self, request: ChatRequest) -> EndpointClient:
        if request.model not in self._clients:
            names = ", ".join(self._clients)
            raise InvalidRequest(f'"model" must be one of {names}.')
        return self._clients[request.model]

    def _worst(self, request: ChatRequest, client: EndpointClient) -> CallFigures:
        tokens = (request.worst_input_tokens, request.output_tokens)
        return CallFigures(*tokens, client.model.cost(*tokens))

    def _refusal(self, worst: CallFigures) -> tuple[int, str, bytes] | None:
        """Reserve the tokens of a call in the table's budget, or return why it is refused."""
        if worst.tokens > self._limits.call_tokens:
            sentence = f"a call may use {self._limits.call_tokens} tokens, a byte counts as one."
            return _error(400, "call_too_large", sentence)
        with self._lock:
            if worst.tokens > self._left:
                sentence = (
                    f"{max(0, self._left)} tokens are left at this table; the call may need more."
                )
                return _error(403, "table_budget", sentence)
            if wait := self._rate.take("", time.monotonic()):
                sentence = f"the table may make {self._limits.calls_per_minute} calls a minute."
                return _error(429, "table_rate", f"{sentence} Wait for {wait} s.")
            self._left -= worst.tokens
        return None

    def _give_back(self, tokens: int) -> None:
        with self._lock:
            self._left += tokens

    def _charge_failures(self, tokens: int) -> None:
        """Take from the table what failures of the bot's own request cost the owner's day.

        Otherwise a bot could use up the day, and pause its matches, by requests that fail.
        """
        self._give_back(-tokens)

    def _complete(
        self, request: ChatRequest, client: EndpointClient, worst: CallFigures
    ) -> tuple[ChatReply, CallFigures]:
        """Return a reply and its figures; repeat the call while the endpoint fails.

        Raises:
            ModelUnavailable: the endpoint does not answer, or the arena may not call it.
            RequestRefused: the endpoint refuses the content of the request, or fails because of it.
        """
        if self._recorded is not None:
            reply = self._recorded_reply(request, self._recorded)
            return reply, _figures(reply, client, worst)
        with self._excused.call() as timed:
            try:
                return self._repeat(request, client, worst, timed)
            except ModelUnavailable as error:
                # Before the hold of the bot's clock ends, or it would fault in a match that pauses.
                self._lose(str(error))
                raise

    def _repeat(
        self, request: ChatRequest, client: EndpointClient, worst: CallFigures, timed: TimedCall
    ) -> tuple[ChatReply, CallFigures]:
        until = timed.began + self._limits.repeat_seconds
        pause = _FIRST_PAUSE_SECONDS
        is_last = False
        sent = 0
        while True:
            timed.last_try = time.monotonic()
            try:
                reply, figures = self._call(request, client, worst)
            except CallFailed as error:
                failed = error
                sent += failed.is_sent
            except RequestRefused:
                self._charge_failures(sent * worst.tokens)
                raise
            else:
                self._record(request, reply)
                return reply, figures
            timed.has_failed = True
            log.warning("the model %s failed: %s", request.model, failed)
            if is_last:
                self._charge_failures(sent * worst.tokens)
                raise RequestRefused
            is_early = failed.is_temporary and time.monotonic() + failed.delay < until
            if is_early and not self._is_lost:
                time.sleep(max(pause, failed.delay))
                pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
            elif not self._is_lost and self._answers(request.model):
                # Either the endpoint has recovered, or this request makes it fail.
                is_last = True
            else:
                raise ModelUnavailable(f'The model "{request.model}" does not answer: {failed}.')

    def _call(
        self, request: ChatRequest, client: EndpointClient, worst: CallFigures
    ) -> tuple[ChatReply, CallFigures]:
        """Send one call.

        Raises:
            CallFailed: the endpoint does not answer.
            ModelUnavailable: the arena may not call it.
            RequestRefused: the endpoint refuses the content of the request.
        """
        members = dict(request.members)
        if client.model.cache_field:
            members[client.model.cache_field] = self._cache_key
        call = self._ledger.reserve(self._place, request.model, worst)
        try:
            reply = read_reply(client.call(members))
        except InvalidReply:
            raise CallFailed("an invalid response", is_temporary=True, is_sent=True) from None
        except RequestRefused:
            self._ledger.settle(call, CallFigures())
            raise
        except CallFailed as failed:
            if not failed.is_sent:
                self._ledger.settle(call, CallFigures())
            raise
        figures = _figures(reply, client, worst)
        if reply.figures is not None:
            self._ledger.settle(call, figures)
        return reply, figures

    def _answers(self, model: str) -> bool:
        """Return whether an endpoint answers a short request of the arena.

        Raises:
            ModelUnavailable: the arena may not call it.
        """
        request, client = ChatRequest(model, _SHORT_REQUEST, stream=False), self._clients[model]
        try:
            self._call(request, client, self._worst(request, client))
        except RequestRefused:
            return True
        except CallFailed:
            return False
        return True

    def _recorded_reply(self, request: ChatRequest, recorded: RecordedReplies) -> ChatReply:
        entry = recorded.take(self._seat.table, self._seat.seat, request.model, request.members)
        if entry is None:
            raise ModelUnavailable("The transcript has no reply to a request.")
        return ChatReply(entry.text, entry.refusal, entry.finish, entry.tokens)

    def _record(self, request: ChatRequest, reply: ChatReply) -> None:
        if self._transcript is None:
            return
        place = (self._seat.attempt, self._seat.table, self._seat.seat)
        texts = (reply.text, reply.refusal, reply.finish)
        entry = TranscriptEntry(*place, request.model, request.members, *texts, reply.figures)
        try:
            self._transcript.add(entry)
        except OSError as error:
            log.warning("a transcript cannot be written: %s", error.strerror)

    def _lose(self, sentence: str) -> None:
        with self._lock:
            was_lost, self._is_lost = self._is_lost, True
        if not was_lost:
            self._on_lost(sentence)


def _figures(reply: ChatReply, client: EndpointClient, worst: CallFigures) -> CallFigures:
    """Return the figures of a reply; the worst case if the endpoint sent none."""
    if reply.figures is None:
        return worst
    return CallFigures(*reply.figures, client.model.cost(*reply.figures))


def _error(status: int, code: str, sentence: str) -> tuple[int, str, bytes]:
    return status, "application/json", json.dumps(error_document(code, sentence)).encode()


class _Pace:
    """Delays what exceeds a rate, so that a bot does not occupy the processor of the arena."""

    def __init__(self, rate: float, burst: int) -> None:
        self._step, self._ahead = 1 / rate, burst / rate
        self._next = 0.0
        self._lock = threading.Lock()

    def wait(self) -> None:
        with self._lock:
            now = time.monotonic()
            self._next = max(self._next, now - self._ahead) + self._step
            delay = self._next - now
        if delay > 0:
            time.sleep(delay)


class _Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """An HTTP server at a Unix socket with a limit of connections."""

    # Windows has none, but imports this module.
    address_family = getattr(socket, "AF_UNIX", socket.AF_UNSPEC)
    daemon_threads = True
    block_on_close = False

    def __init__(self, path: Path, endpoint: TableEndpoint, calls_per_second: float) -> None:
        self.endpoint = endpoint
        self.pace = _Pace(max(_REQUESTS_PER_SECOND, calls_per_second), _REQUEST_BURST)
        self._connections = threading.BoundedSemaphore(_CONNECTIONS)
        super().__init__(str(path), _Handler)  # type: ignore[arg-type]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a thread for a connection; close it if there are too many."""
        if self._connections.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)
            time.sleep(_REFUSAL_PAUSE_SECONDS)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._connections.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        log.debug("a connection of a bot to its models failed", exc_info=True)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _READ_SECONDS
    server: _Server

    def handle_one_request(self) -> None:
        """Serve a request when it is its turn."""
        self.server.pace.wait()
        super().handle_one_request()

    def do_POST(self) -> None:
        size = self.headers.get("Content-Length", "")
        if not (size.isascii() and size.isdigit()) or int(size) > _MOST_BODY:
            self.close_connection = True
            self._send(*_error(413, "invalid_request", f"send at most {_MOST_BODY} bytes."))
            return
        body = self.rfile.read(int(size))
        if self._has_path(_PATH):
            self._send(*self.server.endpoint.respond(body))

    def do_GET(self) -> None:
        if self._has_path("/models", "/clock"):
            endpoint = self.server.endpoint
            is_clock = self.path.endswith("/clock")
            document = endpoint.clock_document() if is_clock else endpoint.models_document()
            self._send(200, "application/json", json.dumps(document).encode())

    def _has_path(self, *paths: str) -> bool:
        """Return whether the request has such a path, also below `/v1`; send an error if not."""
        has_path = self.path.removeprefix("/v1") in paths
        if not has_path:
            self._send(*_error(404, "not_found", f"the paths are {_PATH}, /models and /clock."))
        return has_path

    def _send(self, status: int, kind: str, body: bytes) -> None:
        # The headers of the library would contain the time.
        self.send_response_only(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Send an error of the HTTP server without the headers of the library."""
        self.close_connection = True
        self._send(*_error(code, "invalid_request", "the request is not valid HTTP."))

    def log_message(self, *_: Any) -> None:
        """Log nothing."""
