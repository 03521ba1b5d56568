"""Trace of the messages between the referee and bots.

A client with a trace is a wrapper of the client without: where nothing is traced, nothing is
slower. While a match is played the trace file holds messages as bytes, because formatting them
would take time on the bots' clocks. The caller of the referee formats them after the match.
"""

from __future__ import annotations

import base64
import json
import time
from asyncio import CancelledError
from pathlib import Path
from typing import Any

from referee.rpc.call import Call, CallFailed, Status
from referee.rpc.channel import Channel
from referee.rpc.work_budget import BudgetExceeded

SENT = "sent"
RECEIVED = "received"


class TraceFile:
    """The file of a trace: JSON lines with the messages in base 64."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # Unbuffered: the process may be killed after any message.
        self._file = path.open("ab", buffering=0)
        self._is_complete = True

    def write(self, line: dict[str, Any]) -> None:
        """Append a line. After an error, delete the file: a trace is complete or missing."""
        if not self._is_complete:
            return
        data = json.dumps(line).encode() + b"\n"
        try:
            while data:
                data = data[self._file.write(data) or 0 :]
        except OSError:
            self._is_complete = False
            self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class SeatTrace:
    """Writes the messages of one seat at one table."""

    def __init__(self, file: TraceFile, table: int | None, seat: int) -> None:
        self._file = file
        self._where = {"table": table, "seat": seat}

    def write(
        self, direction: str, rpc: str, message: bytes | None = None, error: str = ""
    ) -> None:
        """Write a message, or the error that replaces one.

        Args:
            direction: "sent" to the bot or "received" from it.
            rpc: the name of the method.
            message: the message.
            error: why a call ended without a message.
        """
        line: dict[str, Any] = {
            "time": time.time(),
            "clock": time.monotonic(),
            **self._where,
            "direction": direction,
            "rpc": rpc,
        }
        if message is not None:
            line["data"] = base64.b64encode(message).decode()
        if error:
            line["error"] = error
        self._file.write(line)

    def fail(self, rpc: str, failure: BaseException) -> None:
        """Write why a call ended without a message."""
        if isinstance(failure, CallFailed):
            self.write(RECEIVED, rpc, error=_clause(failure.status))
        elif isinstance(failure, BudgetExceeded):
            self.write(RECEIVED, rpc, error=str(failure))
        else:
            self.write(RECEIVED, rpc, error="the referee ended the call before an answer arrived")


class TracedClient:
    """A `Channel` that traces its messages."""

    def __init__(self, client: Channel, trace: SeatTrace) -> None:
        self._client = client
        self._trace = trace

    @property
    def listening(self) -> bool:
        """Return whether an HTTP/2 server responded at the address."""
        return self._client.listening

    async def unary(self, method: str, message: bytes, wait: bool = False) -> bytes:
        """Call a method with one message and return its answer; see `Channel`."""
        self._trace.write(SENT, method, message)
        try:
            answer = await self._client.unary(method, message, wait)
        except (CallFailed, BudgetExceeded, CancelledError) as failure:
            self._trace.fail(method, failure)
            raise
        self._trace.write(RECEIVED, method, answer)
        return answer

    async def begin(self, method: str, wait: bool = False) -> TracedStream:
        """Begin a call with any number of messages; see `Channel`."""
        try:
            return TracedStream(await self._client.begin(method, wait), method, self._trace)
        except CallFailed as failure:
            self._trace.fail(method, failure)
            raise

    async def close(self) -> None:
        """End all calls and connections."""
        await self._client.close()


class TracedStream:
    """A `Call` that traces its messages."""

    def __init__(self, stream: Call, method: str, trace: SeatTrace) -> None:
        self._stream = stream
        self._method = method
        self._trace = trace

    @property
    def status(self) -> Status | None:
        """Its final status; None while it is open."""
        return self._stream.status

    async def send(self, message: bytes) -> None:
        """Send a message; see `Call`."""
        self._trace.write(SENT, self._method, message)
        try:
            await self._stream.send(message)
        except CallFailed as failure:
            self._trace.fail(self._method, failure)
            raise

    async def receive(self) -> bytes | None:
        """Return the next message; None after the last one; see `Call`."""
        try:
            message = await self._stream.receive()
        except (CallFailed, BudgetExceeded, CancelledError) as failure:
            self._trace.fail(self._method, failure)
            raise
        if message is not None:
            self._trace.write(RECEIVED, self._method, message)
        elif self.status is not None:
            self._trace.write(RECEIVED, self._method, error=_clause(self.status))
        return message

    def finish(self) -> None:
        """End the messages of this side."""
        self._stream.finish()

    def cancel(self) -> None:
        """End the call."""
        self._stream.cancel()


def _clause(status: Status) -> str:
    return f"status {status.code.name}{': ' * bool(status.details)}{status.details}"
