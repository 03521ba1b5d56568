"""The one who ordered a table: it hears of finished games and tells what became of its bots."""

import asyncio
from collections.abc import AsyncIterator

from pokearena.v1 import referee_pb2

REPORT_SECONDS = 3.0
"""How long a report is waited for; a caller without processes need not send any."""


class TableStream:
    """Both directions of a ``RunTable`` stream."""

    def __init__(self) -> None:
        self._events: asyncio.Queue[referee_pb2.RunTableResponse | None] = asyncio.Queue()
        self._inquiries: dict[int, asyncio.Future[referee_pb2.BotReport]] = {}
        self._asked = 0

    def tell(self, event: referee_pb2.RunTableResponse) -> None:
        """Sends an event to the caller."""
        self._events.put_nowait(event)

    def close(self) -> None:
        """Ends the events."""
        self._events.put_nowait(None)

    async def events(self) -> AsyncIterator[referee_pb2.RunTableResponse]:
        """What the caller is to hear, until the end."""
        while (event := await self._events.get()) is not None:
            yield event

    async def report(self, seat: int, restart: bool) -> referee_pb2.BotReport | None:
        """Asks what became of a bot; None if the caller does not say."""
        self._asked += 1
        inquiry = self._asked
        future: asyncio.Future[referee_pb2.BotReport] = asyncio.get_running_loop().create_future()
        self._inquiries[inquiry] = future
        self.tell(
            referee_pb2.RunTableResponse(
                faulted=referee_pb2.BotFaulted(seat=seat, inquiry=inquiry, restart=restart)
            )
        )
        try:
            async with asyncio.timeout(REPORT_SECONDS):
                return await future
        except TimeoutError:
            return None
        finally:
            del self._inquiries[inquiry]

    def answered(self, report: referee_pb2.BotReport) -> None:
        """Hands over a report that was asked for."""
        future = self._inquiries.get(report.inquiry)
        if future is not None and not future.done():
            future.set_result(report)
