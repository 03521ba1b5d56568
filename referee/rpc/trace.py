"""Trace of the messages between the referee and bots.

While a match is played the trace file holds messages as bytes, because formatting them
would take time on the bots' clocks. The caller of the referee formats them after the match.
"""

from __future__ import annotations

import base64
import json
import time
from asyncio import CancelledError
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from referee.rpc.call import CallFailed, Status
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
        """Write a message, or the error that replaces one."""
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

    @contextmanager
    def attempt(self, rpc: str, sent: bytes | None) -> Iterator[None]:
        """Write a message to send, if any, and why the block ended without success."""
        if sent is not None:
            self.write(SENT, rpc, sent)
        try:
            yield
        except CallFailed as failure:
            self.write(RECEIVED, rpc, error=clause_of(failure.status))
            raise
        except BudgetExceeded as failure:
            self.write(RECEIVED, rpc, error=str(failure))
            raise
        except CancelledError:
            self.write(RECEIVED, rpc, error="the referee ended the call before an answer arrived")
            raise


def clause_of(status: Status) -> str:
    """Return the status of a call as a clause."""
    return f"status {status.code.name}{': ' * bool(status.details)}{status.details}"
