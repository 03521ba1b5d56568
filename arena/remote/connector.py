"""Connection of a connector to the relay, with reconnection, and the seats of its bot."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import re
import secrets
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import grpc
import grpc.aio
from google.protobuf.message import DecodeError
from pokearena.v1 import bot_pb2, relay_pb2, relay_pb2_grpc

from arena.bots.socket_probe import ANSWER_BYTES, OPTIONS, authority
from arena.remote.connector_process import BotProcess, Command

# One seat of the bot: its process and the open requests to it.

DYING_SECONDS: Final = 0.3
"""Seconds to wait for the exit of a bot whose connection broke."""
_SERVICE: Final = bot_pb2.DESCRIPTOR.services_by_name["BotService"].full_name
_NAMES: Final = {
    relay_pb2.METHOD_START: "Start",
    relay_pb2.METHOD_ACT: "Act",
    relay_pb2.METHOD_END: "End",
}

Send = Callable[[relay_pb2.ConnectRequest], None]
"""Sends a message to the relay; it is discarded while disconnected."""


@dataclass(slots=True)
class _PendingRequest:
    """A request and its answers so far, kept to resend them if the connection is lost."""

    task: asyncio.Task[None] | None = None
    answers: list[relay_pb2.Answer] = field(default_factory=list)


class ConnectorSeat:
    """Plays one seat.

    Args:
        number: the seat's number at the relay.
        command: the command that starts the bot.
        send: sends a message to the relay.
    """

    def __init__(self, number: int, command: Command, send: Send) -> None:
        self.number = number
        self._send = send
        self._process = BotProcess(command, self._gone)
        self._asked: dict[int, _PendingRequest] = {}
        self._ready: asyncio.Task[None] | None = None
        self._stream: Any = None
        self._channel = grpc.aio.insecure_channel(
            self._process.address, options=OPTIONS + authority(self._process.address)
        )
        # Messages pass through as bytes, because the referee validates the bot's answers.
        self._play: Any = self._channel.stream_stream(f"/{_SERVICE}/Play")

    def ask(self, ask: relay_pb2.Ask) -> None:
        """Forward a request to the bot.

        If it is a repeated one, resend the answers that the relay lacks.
        """
        known = self._asked.get(ask.number)
        if known is not None:
            for answer in known.answers[ask.answered :]:
                self._send(relay_pb2.ConnectRequest(answer=answer))
            return
        # A seat has one request at a time. Any older one was dropped while the connection was lost.
        before = [old.task for old in self._asked.values() if old.task and not old.task.done()]
        for number in list(self._asked):
            self.drop(number)
        pending = self._asked[ask.number] = _PendingRequest()
        pending.task = asyncio.create_task(self._answer(ask, pending, before))

    def drop(self, number: int) -> None:
        """Cancel a request whose answer is no longer needed."""
        pending = self._asked.pop(number, None)
        if pending is not None and pending.task is not None and not pending.task.done():
            pending.task.cancel()

    def remind(self) -> None:
        """Repeat, after a reconnection, that the process has ended."""
        if self._process.clause:
            self._gone(self._process.clause)

    async def close(self) -> None:
        """Cancel all requests and end the process."""
        for number in list(self._asked):
            self.drop(number)
        with contextlib.suppress(grpc.aio.AioRpcError, asyncio.CancelledError):
            await self._channel.close()
        await self._process.close()

    def _gone(self, clause: str) -> None:
        gone = relay_pb2.Gone(seat=self.number, ended=clause)
        self._send(relay_pb2.ConnectRequest(gone=gone))

    async def _answer(
        self, ask: relay_pb2.Ask, pending: _PendingRequest, before: list[asyncio.Task[None]]
    ) -> None:
        def emit(**what: Any) -> None:
            part = len(pending.answers) + 1
            answer = relay_pb2.Answer(seat=self.number, number=ask.number, part=part, **what)
            pending.answers.append(answer)
            self._send(relay_pb2.ConnectRequest(answer=answer))

        try:
            if before:
                await asyncio.wait(before)
            await self._begin(ask)
            if ask.method == relay_pb2.METHOD_PLAY:
                await self._ask_by_stream(ask.request, emit)
            else:
                response = await self._ask_once(ask.method, ask.request)
                emit(response=response, done=True)
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.UNAVAILABLE:
                # The relay must learn of the process's exit before it receives the failed answer.
                await self._process.settled(DYING_SECONDS)
            emit(done=True, code=error.code().value[0], details=(error.details() or "")[:500])

    async def _begin(self, ask: relay_pb2.Ask) -> None:
        """Start the process if necessary.

        If the match began before the process, send the bot the stored Start request first.
        """
        if self._ready is None:
            self._ready = asyncio.create_task(self._start(ask.start))
        # Dropping the request must not cancel the start of the process.
        await asyncio.shield(self._ready)

    async def _start(self, opening: bytes) -> None:
        await self._process.start()
        if opening:
            with contextlib.suppress(grpc.aio.AioRpcError):
                await self._ask_once(relay_pb2.METHOD_START, opening)

    async def _ask_once(self, method: relay_pb2.Method, request: bytes) -> bytes:
        is_end = method == relay_pb2.METHOD_END
        if is_end and self._stream is not None:
            with contextlib.suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
                await self._stream.done_writing()
        call: Any = self._channel.unary_unary(f"/{_SERVICE}/{_NAMES[method]}")
        response: bytes = await call(request, wait_for_ready=method == relay_pb2.METHOD_START)
        return response

    async def _ask_by_stream(self, request: bytes, emit: Callable[..., None]) -> None:
        stream = self._stream = self._stream or self._play()
        try:
            await self._write_and_read(stream, request, emit)
        except BaseException:
            stream.cancel()
            self._stream = None
            raise

    async def _write_and_read(self, stream: Any, request: bytes, emit: Callable[..., None]) -> None:
        with contextlib.suppress(asyncio.InvalidStateError, grpc.aio.AioRpcError):
            await stream.write(request)
        questions = bot_pb2.PlayRequest.FromString(request).questions
        waiting = {(question.game, question.decision) for question in questions}
        while waiting:
            response = await stream.read()
            if response is grpc.aio.EOF:
                self._stream = None
                code = await stream.code()
                if code is grpc.StatusCode.UNAVAILABLE:
                    await self._process.settled(DYING_SECONDS)
                details = (await stream.details() or "")[:500]
                emit(done=True, closed=True, code=code.value[0], details=details)
                return
            with contextlib.suppress(DecodeError):
                for answer in bot_pb2.PlayResponse.FromString(response).answers:
                    waiting.discard((answer.game, answer.decision))
            emit(response=response, done=not waiting)


# Resolution of the URL argument of `pokearena bot connect` to the relay's address.


FORMS: Final = "grpc://HOST:PORT, grpcs://HOST:PORT, or http(s)://HOST[:PORT] of the arena's pages"
PATH: Final = "/relay.json"
"""Path on the arena's web site that returns the relay's address as JSON."""
_SECONDS: Final = 10.0
_BYTES: Final = 64 << 10
_LOOPBACK: Final = re.compile(r"localhost|127\.\d+\.\d+\.\d+|\[?::1\]?")


class InvalidRelayUrl(ValueError):
    """The URL is invalid. The exception's text is a sentence."""


class RelayNotFound(Exception):
    """The web site cannot be reached or names no relay. The exception's text is a sentence."""


@dataclass(frozen=True, slots=True)
class RelayTarget:
    """Address (HOST:PORT) of a relay, and whether it uses TLS."""

    address: str
    tls: bool

    @property
    def exposed(self) -> bool:
        """Whether traffic, including the token, crosses the network unencrypted."""
        host = self.address.rpartition(":")[0]
        return not self.tls and not _LOOPBACK.fullmatch(host)


def find(url: str, authority: Path | None = None) -> RelayTarget:
    """Resolve `url` to a relay. For an http(s) URL, request the address from the arena's web site.

    Args:
        url: a URL in one of FORMS.
        authority: a PEM file of CA certificates that replaces the system's; only used for https.

    Raises:
        InvalidRelayUrl: the URL is invalid.
        RelayNotFound: the web site cannot be reached or does not name a relay.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise InvalidRelayUrl(f'"{url}" is not a valid address; write {FORMS}.') from None
    if parts.scheme not in ("grpc", "grpcs", "http", "https") or not parts.hostname:
        raise InvalidRelayUrl(f'"{url}" is not the address of a relay; write {FORMS}.')
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    if parts.scheme.startswith("http"):
        return _relay_of(
            url, _fetch_reply(f"{parts.scheme}://{parts.netloc}{PATH}", authority), host
        )
    if port is None:
        raise InvalidRelayUrl(f'"{url}" has no port; write {parts.scheme}://{host}:PORT.')
    return RelayTarget(f"{host}:{port}", parts.scheme == "grpcs")


def _fetch_reply(address: str, authority: Path | None) -> dict[str, Any]:
    trust = None
    if address.startswith("https:"):
        trust = ssl.create_default_context(cafile=str(authority) if authority else None)
    try:
        with urllib.request.urlopen(address, timeout=_SECONDS, context=trust) as answer:
            reply = json.loads(answer.read(_BYTES))
    except urllib.error.HTTPError as error:
        raise RelayNotFound(
            f"{address} answers {error.code}; are these an arena's pages?"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise RelayNotFound(f"{address} cannot be asked where the relay is: {reason}.") from None
    return reply if isinstance(reply, dict) else {}


def _relay_of(url: str, reply: dict[str, Any], host: str) -> RelayTarget:
    port = reply.get("port")
    if not isinstance(port, int):
        raise RelayNotFound(
            f"the arena at {url} has no relay; its organiser starts one with "
            "`pokearena serve --relay HOST:PORT`."
        )
    return RelayTarget(f"{reply.get('host') or host}:{port}", bool(reply.get("tls")))


FIRST_SECONDS: Final = 10.0
"""Seconds within which the first connection to the relay must succeed."""
FIRST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 5.0
REPLACED_SECONDS: Final = 60.0
"""Seconds during which a reconnecting bot is retried after ALREADY_EXISTS.

A restarted relay may still count the bot as connected to the previous relay process.
"""
_OPTIONS: Final[list[tuple[str, Any]]] = [
    ("grpc.max_receive_message_length", 4 << 20),
    ("grpc.max_send_message_length", ANSWER_BYTES + 4096),
    ("grpc.max_metadata_size", 16 << 10),
    ("grpc.absolute_max_metadata_size", 16 << 10),
    # A broken network path causes no error. Pings detect it, and the connector reconnects.
    ("grpc.keepalive_time_ms", 2_000),
    ("grpc.keepalive_timeout_ms", 2_000),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 1_000),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_retries", 0),
]
_REFUSALS: Final = (
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.ALREADY_EXISTS,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.UNIMPLEMENTED,
    grpc.StatusCode.ABORTED,
)

OnEvent = Callable[[str, dict[str, Any]], None]
"""Receives events for the user: a keyword and its details."""


class RefusedByRelay(Exception):
    """The relay refused the connection. The exception's text is the relay's sentence."""


class RelayUnreachable(Exception):
    """The first connection never succeeded. The exception's text is a sentence."""


class Connector:
    """Connects a bot to a relay and answers requests until the bot has left.

    Args:
        target: the relay.
        token: the bot's secret token.
        command: the command that starts the bot.
        tables: the maximum number of simultaneous tables; each seat has its own process.
        on_event: called with each event for the user.
        authority: a PEM file of CA certificates that replaces the system's.
    """

    def __init__(
        self,
        target: RelayTarget,
        token: str,
        command: Command,
        tables: int,
        on_event: OnEvent,
        authority: Path | None = None,
    ) -> None:
        self._target = target
        self._command = command
        self._on_event = on_event
        self._authority = authority
        instance = secrets.token_hex(16)
        self._hello = relay_pb2.Hello(token=token, instance=instance, tables=tables)
        self._seats: dict[int, ConnectorSeat] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._out: asyncio.Queue[relay_pb2.ConnectRequest] | None = None
        self._leaving = False
        self._version = ""
        self._was_here = 0.0
        self._reason = ""

    def leave(self) -> None:
        """Accept no more tables. `run` returns when the current tables are finished."""
        self._leaving = True
        self._send(relay_pb2.ConnectRequest(leaving=relay_pb2.Leaving()))

    async def run(self) -> None:
        """Serve the bot's seats until the bot has left, and reconnect after failures.

        Cancellation closes all seats immediately.

        Raises:
            RefusedByRelay: the relay refused the connection.
            RelayUnreachable: the first connection did not succeed within FIRST_SECONDS.
        """
        began, pause = time.monotonic(), FIRST_PAUSE
        try:
            while not await self._connected():
                if self._leaving and not self._seats:
                    return
                if not self._version and time.monotonic() > began + FIRST_SECONDS:
                    raise RelayUnreachable(
                        f"no relay answers at {self._target.address}: {self._reason}."
                    )
                # The random factor spreads the reconnections of many connectors after a relay
                # restarts.
                await asyncio.sleep(pause * random.uniform(0.5, 1.0))
                recent = time.monotonic() < self._was_here + LONGEST_PAUSE
                pause = FIRST_PAUSE if recent else min(2 * pause, LONGEST_PAUSE)
        finally:
            await asyncio.shield(asyncio.gather(*(p.close() for p in self._seats.values())))
            await asyncio.gather(*self._ending)

    async def _connected(self) -> bool:
        """Serve one connection until it ends. Return True if the bot has left."""
        lost = grpc.StatusCode.UNAVAILABLE, "the connection was lost"
        async with self._channel() as channel:
            out = self._out = asyncio.Queue()
            call = relay_pb2_grpc.RelayServiceStub(channel).Connect(self._outgoing(out))
            try:
                async for message in call:
                    self._receive(message)
                lost = await call.code(), await call.details() or ""
            except grpc.aio.AioRpcError as error:
                lost = error.code(), error.details() or ""
            finally:
                self._out = None
                call.cancel()
        code, details = lost
        if code is grpc.StatusCode.OK:
            return True
        if code in _REFUSALS and not self._is_to_be_tried_again(code):
            raise RefusedByRelay(details)
        self._reason = " ".join(details.split())[-200:].rstrip(".")
        if self._was_here:
            self._on_event("lost", {"reason": self._reason})
        return False

    def _is_to_be_tried_again(self, code: grpc.StatusCode) -> bool:
        """Whether the refusal may be due to this connector's own lost connection."""
        recent = time.monotonic() < self._was_here + REPLACED_SECONDS
        return code is grpc.StatusCode.ALREADY_EXISTS and bool(self._version) and recent

    def _channel(self) -> grpc.aio.Channel:
        if not self._target.tls:
            return grpc.aio.insecure_channel(self._target.address, options=_OPTIONS)
        roots = self._authority.read_bytes() if self._authority is not None else None
        trusted = grpc.ssl_channel_credentials(roots)
        return grpc.aio.secure_channel(self._target.address, trusted, options=_OPTIONS)

    async def _outgoing(
        self, out: asyncio.Queue[relay_pb2.ConnectRequest]
    ) -> AsyncIterator[relay_pb2.ConnectRequest]:
        """Yield the messages for the relay on one connection; the first is Hello."""
        yield relay_pb2.ConnectRequest(hello=self._hello)
        while True:
            yield await out.get()

    def _send(self, message: relay_pb2.ConnectRequest) -> None:
        if self._out is not None:
            self._out.put_nowait(message)

    # --- messages from the relay --------------------------------------------------------

    def _receive(self, message: relay_pb2.ConnectResponse) -> None:
        self._was_here = time.monotonic()
        what = message.WhichOneof("message")
        if what == "welcome":
            self._welcome(message.welcome)
        elif what == "ask":
            self._handle_ask(message.ask)
        elif what == "drop":
            seat = self._seats.get(message.drop.seat)
            if seat is not None:
                seat.drop(message.drop.number)
        elif what == "close":
            self._end(message.close.seat)
        elif what == "outcome":
            self._on_event("outcome", {"outcome": message.outcome})

    def _welcome(self, welcome: relay_pb2.Welcome) -> None:
        word = "again" if self._version else "connected"
        self._version = welcome.version
        for number in self._seats.keys() - set(welcome.seats):
            self._end(number)
        for seat in self._seats.values():
            seat.remind()
        self._on_event(word, {"version": welcome.version, "tables": max(1, self._hello.tables)})
        if self._leaving:
            self.leave()

    def _handle_ask(self, ask: relay_pb2.Ask) -> None:
        seat = self._seats.get(ask.seat)
        if seat is None:
            seat = self._seats[ask.seat] = ConnectorSeat(ask.seat, self._command, self._send)
            self._on_event("table", {"start": ask.request if not ask.start else ask.start})
        seat.ask(ask)

    def _end(self, number: int) -> None:
        seat = self._seats.pop(number, None)
        if seat is not None:
            task = asyncio.create_task(seat.close())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)
