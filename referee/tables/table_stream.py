"""Table stream: send events of a table to the caller of ``RunTable`` and receive bot reports."""

import asyncio
from collections.abc import AsyncIterator

from pokearena.v1 import referee_pb2

REPORT_SECONDS = 3.0
"""Time limit in seconds for a report. A caller that does not run processes need not send any."""


class TableStream:
    """Both directions of a ``RunTable`` stream."""

    def __init__(self) -> None:
        self._events: asyncio.Queue[referee_pb2.RunTableResponse | None] = asyncio.Queue()
        self._inquiries: dict[int, asyncio.Future[referee_pb2.BotReport]] = {}
        self._last_inquiry = 0

    def send(self, event: referee_pb2.RunTableResponse) -> None:
        """Queue an event for the caller."""
        self._events.put_nowait(event)

    def close(self) -> None:
        """End the stream of events."""
        self._events.put_nowait(None)

    async def events(self) -> AsyncIterator[referee_pb2.RunTableResponse]:
        """Yield the events for the caller until the stream is closed."""
        while (event := await self._events.get()) is not None:
            yield event

    async def report(self, seat: int, restart: bool) -> referee_pb2.BotReport | None:
        """Request a report on a bot's process from the caller.

        Returns:
            The report; None if the caller does not send it within ``REPORT_SECONDS``.
        """
        self._last_inquiry += 1
        inquiry = self._last_inquiry
        future: asyncio.Future[referee_pb2.BotReport] = asyncio.get_running_loop().create_future()
        self._inquiries[inquiry] = future
        self.send(
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

    def deliver_report(self, report: referee_pb2.BotReport) -> None:
        """Deliver a requested report to the task that waits for it."""
        future = self._inquiries.get(report.inquiry)
        if future is not None and not future.done():
            future.set_result(report)
