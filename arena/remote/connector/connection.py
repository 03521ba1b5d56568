"""The connection to the relay: made, kept, made again; and the seats of the bot."""

from __future__ import annotations

import asyncio
import json
import random
import re
import secrets
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import grpc
import grpc.aio
from pokearena.v1 import relay_pb2, relay_pb2_grpc

from arena.bots.socket_probe import ANSWER_BYTES
from arena.remote.connector.bot_process import Command
from arena.remote.connector.seat import Player

# Where the relay is: what may be written as URL of `pokearena bot connect`.


FORMS: Final = "grpc://HOST:PORT, grpcs://HOST:PORT, or http(s)://HOST[:PORT] of the arena's pages"
PATH: Final = "/relay.json"
"""Where the pages tell it."""
_SECONDS: Final = 10.0
_BYTES: Final = 64 << 10
_LOOPBACK: Final = re.compile(r"localhost|127\.\d+\.\d+\.\d+|\[?::1\]?")


class BadTarget(ValueError):
    """Nothing can be reached by what was written. The text is a sentence."""


class NoTarget(Exception):
    """The pages cannot be reached, or tell of no relay. The text is a sentence."""


@dataclass(frozen=True, slots=True)
class Target:
    """A relay: host and port, and whether it speaks TLS."""

    address: str
    tls: bool

    @property
    def exposed(self) -> bool:
        """Whether what is said, the token too, can be read on the way."""
        host = self.address.rpartition(":")[0]
        return not self.tls and not _LOOPBACK.fullmatch(host)


def find(url: str, authority: Path | None = None) -> Target:
    """The relay that `url` means; pages are asked where theirs is.

    authority: a file of certificates (PEM) to be believed instead of the usual ones.

    Raises BadTarget or NoTarget.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BadTarget(f'"{url}" is no address; write {FORMS}.') from None
    if parts.scheme not in ("grpc", "grpcs", "http", "https") or not parts.hostname:
        raise BadTarget(f'"{url}" is no address of a relay; write {FORMS}.')
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    if parts.scheme.startswith("http"):
        return _told(url, _ask(f"{parts.scheme}://{parts.netloc}{PATH}", authority), host)
    if port is None:
        raise BadTarget(f'"{url}" has no port; write {parts.scheme}://{host}:PORT.')
    return Target(f"{host}:{port}", parts.scheme == "grpcs")


def _ask(address: str, authority: Path | None) -> dict[str, Any]:
    trust = None
    if address.startswith("https:"):
        trust = ssl.create_default_context(cafile=str(authority) if authority else None)
    try:
        with urllib.request.urlopen(address, timeout=_SECONDS, context=trust) as answer:
            told = json.loads(answer.read(_BYTES))
    except urllib.error.HTTPError as error:
        raise NoTarget(f"{address} answers {error.code}; are these an arena's pages?") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise NoTarget(f"{address} cannot be asked where the relay is: {reason}.") from None
    return told if isinstance(told, dict) else {}


def _told(url: str, told: dict[str, Any], host: str) -> Target:
    port = told.get("port")
    if not isinstance(port, int):
        raise NoTarget(
            f"the arena at {url} has no relay; its organiser starts one with "
            "`pokearena serve --relay HOST:PORT`."
        )
    return Target(f"{told.get('host') or host}:{port}", bool(told.get("tls")))


FIRST_SECONDS: Final = 10.0
"""Within this time the relay must be reached for the first time."""
FIRST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 5.0
REPLACED_SECONDS: Final = 60.0
"""How long a relay that was started anew may take the bot for connected to the old one."""
_OPTIONS: Final[list[tuple[str, Any]]] = [
    ("grpc.max_receive_message_length", 4 << 20),
    ("grpc.max_send_message_length", ANSWER_BYTES + 4096),
    ("grpc.max_metadata_size", 16 << 10),
    ("grpc.absolute_max_metadata_size", 16 << 10),
    # A cable that is cut says nothing: after so long the connection is made anew.
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

Tell = Callable[[str, dict[str, Any]], None]
"""Hears what happens: a word for it, and what belongs to it."""


class Refused(Exception):
    """The relay does not let the bot in. The text is its sentence."""


class OutOfReach(Exception):
    """The relay was never reached. The text is a sentence."""


class Connector:
    """Connects a bot to a relay and answers for it until it has left.

    tables: at how many tables it sits at a time, each with a process of its own.
    authority: certificates (PEM) to be believed instead of the usual ones.
    """

    def __init__(
        self,
        target: Target,
        token: str,
        command: Command,
        tables: int,
        tell: Tell,
        authority: Path | None = None,
    ) -> None:
        self._target = target
        self._command = command
        self._tell = tell
        self._authority = authority
        instance = secrets.token_hex(16)
        self._hello = relay_pb2.Hello(token=token, instance=instance, tables=tables)
        self._players: dict[int, Player] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._out: asyncio.Queue[relay_pb2.ConnectRequest] | None = None
        self._leaving = False
        self._version = ""
        self._was_here = 0.0
        self._reason = ""

    def leave(self) -> None:
        """Takes no more tables; when those at hand are over, `run` returns."""
        self._leaving = True
        self._send(relay_pb2.ConnectRequest(leaving=relay_pb2.Leaving()))

    async def run(self) -> None:
        """Answers for the bot until it has left.

        Raises Refused or OutOfReach. Cancelled, it leaves at once.
        """
        began, pause = time.monotonic(), FIRST_PAUSE
        try:
            while not await self._connected():
                if self._leaving and not self._players:
                    return
                if not self._version and time.monotonic() > began + FIRST_SECONDS:
                    raise OutOfReach(f"no relay answers at {self._target.address}: {self._reason}.")
                # Not all at the same moment when a relay is back.
                await asyncio.sleep(pause * random.uniform(0.5, 1.0))
                recent = time.monotonic() < self._was_here + LONGEST_PAUSE
                pause = FIRST_PAUSE if recent else min(2 * pause, LONGEST_PAUSE)
        finally:
            await asyncio.shield(asyncio.gather(*(p.close() for p in self._players.values())))
            await asyncio.gather(*self._ending)

    async def _connected(self) -> bool:
        """One connection from its beginning to its end; True if the bot has left by it."""
        lost = grpc.StatusCode.UNAVAILABLE, "the connection was lost"
        async with self._channel() as channel:
            out = self._out = asyncio.Queue()
            call = relay_pb2_grpc.RelayServiceStub(channel).Connect(self._say(out))
            try:
                async for message in call:
                    self._hear(message)
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
            raise Refused(details)
        self._reason = " ".join(details.split())[-200:].rstrip(".")
        if self._was_here:
            self._tell("lost", {"reason": self._reason})
        return False

    def _is_to_be_tried_again(self, code: grpc.StatusCode) -> bool:
        """Whether a refusal may be about a connection of our own that was lost."""
        recent = time.monotonic() < self._was_here + REPLACED_SECONDS
        return code is grpc.StatusCode.ALREADY_EXISTS and bool(self._version) and recent

    def _channel(self) -> grpc.aio.Channel:
        if not self._target.tls:
            return grpc.aio.insecure_channel(self._target.address, options=_OPTIONS)
        roots = self._authority.read_bytes() if self._authority is not None else None
        trusted = grpc.ssl_channel_credentials(roots)
        return grpc.aio.secure_channel(self._target.address, trusted, options=_OPTIONS)

    async def _say(
        self, out: asyncio.Queue[relay_pb2.ConnectRequest]
    ) -> AsyncIterator[relay_pb2.ConnectRequest]:
        """What the relay is told over one connection."""
        yield relay_pb2.ConnectRequest(hello=self._hello)
        while True:
            yield await out.get()

    def _send(self, message: relay_pb2.ConnectRequest) -> None:
        if self._out is not None:
            self._out.put_nowait(message)

    # --- what the relay says -----------------------------------------------------------

    def _hear(self, message: relay_pb2.ConnectResponse) -> None:
        self._was_here = time.monotonic()
        what = message.WhichOneof("message")
        if what == "welcome":
            self._welcome(message.welcome)
        elif what == "ask":
            self._ask(message.ask)
        elif what == "drop":
            player = self._players.get(message.drop.seat)
            if player is not None:
                player.drop(message.drop.number)
        elif what == "close":
            self._end(message.close.seat)
        elif what == "outcome":
            self._tell("outcome", {"outcome": message.outcome})

    def _welcome(self, welcome: relay_pb2.Welcome) -> None:
        word = "again" if self._version else "connected"
        self._version = welcome.version
        for number in self._players.keys() - set(welcome.seats):
            self._end(number)
        for player in self._players.values():
            player.remind()
        self._tell(word, {"version": welcome.version, "tables": max(1, self._hello.tables)})
        if self._leaving:
            self.leave()

    def _ask(self, ask: relay_pb2.Ask) -> None:
        player = self._players.get(ask.seat)
        if player is None:
            player = self._players[ask.seat] = Player(ask.seat, self._command, self._send)
            self._tell("table", {"start": ask.request if not ask.start else ask.start})
        player.ask(ask)

    def _end(self, number: int) -> None:
        player = self._players.pop(number, None)
        if player is not None:
            task = asyncio.create_task(player.close())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)
