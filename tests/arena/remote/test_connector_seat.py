"""A seat of a connected bot."""

import asyncio
import sys
from pathlib import Path

from pokearena.v1 import relay_pb2

from arena.remote.connector_process import Command
from arena.remote.connector_seat import ConnectorSeat


def test_a_closed_seat_says_nothing_about_the_end_of_its_process(tmp_path: Path) -> None:
    """Its number may be that of another seat by then, at a relay that was started again."""

    async def close() -> list[relay_pb2.ConnectRequest]:
        sent: list[relay_pb2.ConnectRequest] = []
        words = (sys.executable, "-c", "import time; time.sleep(600)")
        seat = ConnectorSeat(1, Command(words, tmp_path), sent.append)
        await seat._process.start()
        await seat.close()
        assert seat._process.clause == "was killed by SIGTERM"
        return sent

    assert asyncio.run(close()) == []
