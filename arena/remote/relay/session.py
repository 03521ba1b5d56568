"""A bot in the lobby: its connection, while it has one, and its seats at tables."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from pokearena.v1 import relay_pb2

from arena.remote.relay.seat import Seat
from referee.sanitizing import quote

MOST_TABLES: Final = 64
"""At more tables at a time no bot sits, whatever its author says."""
UNREAD_BYTES: Final = 64 << 20
"""What may wait to be sent to a bot; beyond it the connection is ended."""
_MESSAGE_BYTES: Final = 256
"""What a waiting message takes beside its content."""


class Link:
    """A connection: what is to be sent over it, until it is ended."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[relay_pb2.ConnectResponse | None] = asyncio.Queue()
        self._waiting_bytes = 0
        self.farewell = ""
        """Why it was ended, as a sentence; empty if the bot has left."""

    def send(self, message: relay_pb2.ConnectResponse) -> None:
        """Send a message soon; end the connection if too much waits to be sent."""
        self._waiting_bytes += message.ByteSize() + _MESSAGE_BYTES
        if self._waiting_bytes > UNREAD_BYTES:
            self.end("it does not read what it is sent.")
        elif not self.farewell:
            self._queue.put_nowait(message)

    def end(self, sentence: str = "") -> None:
        """Ends it, for this reason; without one because the bot has left."""
        self.farewell = self.farewell or sentence
        self._queue.put_nowait(None)

    async def messages(self) -> AsyncIterator[relay_pb2.ConnectResponse]:
        """What is to be sent."""
        while (message := await self._queue.get()) is not None:
            self._waiting_bytes -= message.ByteSize() + _MESSAGE_BYTES
            if not self.farewell:
                yield message


class RelaySession:
    """A bot that is connected, or was and still has seats.

    version: as name@version. owner: of its work budget. instance: of the program that connects.
    token: its hash.
    """

    def __init__(self, version: str, owner: str, instance: str, token: str, tables: int) -> None:
        self.version = version
        self.owner = owner
        self.became(instance, token, tables)
        self.link: Link | None = None
        self.seats: dict[int, Seat] = {}
        self.played: set[str] = set()
        """Matches it has sat at, of which it has not been told how they ended."""
        self._idle = 0

    def became(self, instance: str, token: str, tables: int) -> None:
        """Another program connects for it."""
        self.instance = instance
        self.token = token
        self.tables = min(max(1, tables), MOST_TABLES)
        self.leaving = False

    @property
    def room(self) -> int:
        """At how many more tables it can sit."""
        if self.leaving or self.link is None:
            return 0
        return self.tables - len(self.matches)

    @property
    def matches(self) -> set[str]:
        """The matches at whose tables it sits; both seats of a partner are of one table."""
        return {seat.match for seat in self.seats.values()}

    def takes(self, match: str) -> bool:
        """Whether it sits down at a table of this match now."""
        if self.link is None:
            return False
        return self.room > 0 or match in self.matches or (self.leaving and match in self.played)

    def has_left(self) -> bool:
        """Whether it has finished what it was at when it wanted to leave.

        Asked at every tick: a match is over for it when it has not sat at it for two.
        """
        self._idle = self._idle + 1 if self.leaving and not self.seats else 0
        return self._idle > 1

    def send(self, message: relay_pb2.ConnectResponse) -> None:
        """Sends to the bot; while it is away, nothing: what is open is sent when it is back."""
        if self.link is not None:
            self.link.send(message)

    def attach(self, link: Link) -> None:
        """A connection of the bot: the one before is ended, what is open is asked again."""
        if self.link is not None:
            self.link.end("this bot has connected anew.")
        self.link = link
        welcome = relay_pb2.Welcome(version=self.version, seats=sorted(self.seats))
        link.send(relay_pb2.ConnectResponse(welcome=welcome))
        for seat in self.seats.values():
            seat.remind()

    def detach(self, link: Link) -> bool:
        """A connection is over; False if the bot has another one by now."""
        if self.link is not link:
            return False
        self.link = None
        return True

    def hear(self, message: relay_pb2.ConnectRequest) -> None:
        """Takes what the connector says."""
        what = message.WhichOneof("message")
        if what == "leaving":
            self.leaving = True
            return
        number = message.answer.seat if what == "answer" else message.gone.seat
        seat = self.seats.get(number)
        if seat is not None and what == "gone":
            seat.end(quote(message.gone.ended, 200) or "ended")
        elif seat is not None and what == "answer":
            seat.hear(message.answer)
