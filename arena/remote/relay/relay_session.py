"""Session of a bot at the relay: its connection, if any, and its seats at tables."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from pokearena.v1 import relay_pb2

from arena.remote.relay.relay_seat import RelaySeat
from referee.sanitizing import quote

MOST_TABLES: Final = 64
"""Upper limit of a bot's simultaneous tables; larger values in Hello are reduced to it."""
UNREAD_BYTES: Final = 64 << 20
"""Limit of the bytes waiting to be sent to a bot; beyond it the connection is closed."""
_MESSAGE_BYTES: Final = 256
"""Estimated memory overhead of a waiting message, in bytes."""


class ConnectorLink:
    """A connection's queue of outgoing messages."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[relay_pb2.ConnectResponse | None] = asyncio.Queue()
        self._waiting_bytes = 0
        self.farewell = ""
        """Reason for closing the connection, as a sentence; empty if the bot has left."""

    def send(self, message: relay_pb2.ConnectResponse) -> None:
        """Queue a message. Close the connection if more than UNREAD_BYTES wait to be sent."""
        self._waiting_bytes += message.ByteSize() + _MESSAGE_BYTES
        if self._waiting_bytes > UNREAD_BYTES:
            self.end("it does not read what it is sent.")
        elif not self.farewell:
            self._queue.put_nowait(message)

    def end(self, sentence: str = "") -> None:
        """Close the connection.

        Args:
            sentence: the reason; empty if the bot has left.
        """
        self.farewell = self.farewell or sentence
        self._queue.put_nowait(None)

    async def messages(self) -> AsyncIterator[relay_pb2.ConnectResponse]:
        """Yield the queued messages until the connection is closed."""
        while (message := await self._queue.get()) is not None:
            self._waiting_bytes -= message.ByteSize() + _MESSAGE_BYTES
            if not self.farewell:
                yield message


class RelaySession:
    """A connected bot, or a disconnected one that still has seats.

    Args:
        version: name@version.
        owner: the owner whose work budget the bot uses.
        instance: ID of the connector's process.
        token: hash of the token.
        tables: the requested number of simultaneous tables, limited to 1 to MOST_TABLES.
    """

    def __init__(self, version: str, owner: str, instance: str, token: str, tables: int) -> None:
        self.version = version
        self.owner = owner
        self.set_connector(instance, token, tables)
        self.link: ConnectorLink | None = None
        self.seats: dict[int, RelaySeat] = {}
        self.played: set[str] = set()
        """Matches the bot has played whose outcome was not yet sent to it."""
        self._idle_ticks = 0

    def set_connector(self, instance: str, token: str, tables: int) -> None:
        """Store the values of the connector that serves this bot from now on."""
        self.instance = instance
        self.token = token
        self.tables = min(max(1, tables), MOST_TABLES)
        self.leaving = False

    @property
    def free_tables(self) -> int:
        """Number of further tables the bot accepts; 0 while it is leaving or disconnected."""
        if self.leaving or self.link is None:
            return 0
        return self.tables - len(self.matches)

    @property
    def matches(self) -> set[str]:
        """Matches in which the bot has a seat. Both seats of a partnership share one table."""
        return {seat.match for seat in self.seats.values()}

    def accepts(self, match: str) -> bool:
        """Whether the bot accepts a seat in this match now."""
        if self.link is None:
            return False
        return (
            self.free_tables > 0 or match in self.matches or (self.leaving and match in self.played)
        )

    def has_left(self) -> bool:
        """Whether a leaving bot has finished its matches.

        Call it once per tick. A match counts as finished after two ticks without a seat.
        """
        self._idle_ticks = self._idle_ticks + 1 if self.leaving and not self.seats else 0
        return self._idle_ticks > 1

    def send(self, message: relay_pb2.ConnectResponse) -> None:
        """Send a message to the bot, or discard it while the bot is disconnected.

        `attach` resends the open requests.
        """
        if self.link is not None:
            self.link.send(message)

    def attach(self, link: ConnectorLink) -> None:
        """Use a new connection: close the previous one and resend the open requests."""
        if self.link is not None:
            self.link.end("this bot has connected anew.")
        self.link = link
        welcome = relay_pb2.Welcome(version=self.version, seats=sorted(self.seats))
        link.send(relay_pb2.ConnectResponse(welcome=welcome))
        for seat in self.seats.values():
            seat.remind()

    def detach(self, link: ConnectorLink) -> bool:
        """Remove a closed connection. Return False if the bot already has another one."""
        if self.link is not link:
            return False
        self.link = None
        return True

    def receive(self, message: relay_pb2.ConnectRequest) -> None:
        """Process a message from the connector."""
        kind = message.WhichOneof("message")
        if kind == "leaving":
            self.leaving = True
            return
        number = message.answer.seat if kind == "answer" else message.gone.seat
        seat = self.seats.get(number)
        if seat is not None and kind == "gone":
            seat.end(quote(message.gone.ended, 200) or "ended")
        elif seat is not None and kind == "answer":
            seat.receive(message.answer)
