"""Connection of a connector to the relay, with reconnection, and the seats of its bot."""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Final

import grpc
import grpc.aio
from pokearena.v1 import relay_pb2, relay_pb2_grpc

from arena.bots.socket_probe import ANSWER_BYTES
from arena.remote.connector_process import Command
from arena.remote.connector_seat import ConnectorSeat
from arena.remote.relay_url import RelayTarget
from arena.system.connection_errors import is_loopback, via_grpc_proxy

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

_MAX_REASON_CHARACTERS: Final = 200
"""Longest part of an error of gRPC that is shown."""

OnEvent = Callable[[str, dict[str, Any]], None]
"""Receives events for the user: a keyword and its details."""


class RefusedByRelay(Exception):
    """The relay refused the connection. The exception's text is the relay's sentence."""


class RelayUnreachable(Exception):
    """The first connection never succeeded. The exception's text is a sentence."""


def _shortened(details: str) -> str:
    """Return the end of gRPC's description of an error, which contains the cause."""
    if len(details) <= _MAX_REASON_CHARACTERS:
        return details
    return "…" + details[-_MAX_REASON_CHARACTERS:].partition(" ")[2]


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
                        f"no relay answers at {self._target.address}: {self._reason}"
                        f"{via_grpc_proxy(self._target.host)}; {self._remedy()}."
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
        self._reason = _shortened(" ".join(details.split())).rstrip(".")
        if self._was_here:
            self._on_event("lost", {"reason": self._reason})
        return False

    def _remedy(self) -> str:
        """Return what the author can do about the first failed connections."""
        if "CERTIFICATE_VERIFY_FAILED" in self._reason:
            return "--ca FILE names the certificate to trust"
        if not self._target.tls and "Socket closed" in self._reason:
            return "a relay with a certificate needs an address that begins with grpcs://"
        if self._target.tls and "WRONG_VERSION_NUMBER" in self._reason:
            return "a relay without a certificate needs an address that begins with grpc://"
        return (
            "the organiser's `pokearena serve` prints the address of the relay, and the address of "
            "its pages (http:// or https://) works as well"
        )

    def _is_to_be_tried_again(self, code: grpc.StatusCode) -> bool:
        """Whether the refusal may be due to this connector's own lost connection."""
        recent = time.monotonic() < self._was_here + REPLACED_SECONDS
        return code is grpc.StatusCode.ALREADY_EXISTS and bool(self._version) and recent

    def _channel(self) -> grpc.aio.Channel:
        options = list(_OPTIONS)
        if is_loopback(self._target.host):
            # A proxy would connect to itself instead of this machine.
            options.append(("grpc.enable_http_proxy", 0))
        if not self._target.tls:
            return grpc.aio.insecure_channel(self._target.address, options=options)
        roots = self._authority.read_bytes() if self._authority is not None else None
        trusted = grpc.ssl_channel_credentials(roots)
        return grpc.aio.secure_channel(self._target.address, trusted, options=options)

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

    def _receive(self, message: relay_pb2.ConnectResponse) -> None:
        self._was_here = time.monotonic()
        kind = message.WhichOneof("message")
        if kind == "welcome":
            self._welcome(message.welcome)
        elif kind == "ask":
            self._handle_ask(message.ask)
        elif kind == "drop":
            seat = self._seats.get(message.drop.seat)
            if seat is not None:
                seat.drop(message.drop.number)
        elif kind == "close":
            self._end(message.close.seat)
        elif kind == "outcome":
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
