"""Test that text of a connector is sanitized before it reaches a record, a log or a terminal."""

import asyncio
from pathlib import Path

import pytest
from pokearena.v1 import relay_pb2

from arena.remote.relay.relay_seat import RelaySeat
from arena.remote.relay.relay_session import RelaySession


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("killed\n\x1b[2J\u202eevil\u200b\x9b\u3164", r"killed\n\x1b[2J\u202eevil\u200b\x9b\u3164"),
        ("x" * 1000, "x" * 197 + "..."),
        ("", "ended"),
    ],
)
def test_the_exit_text_of_a_remote_process_is_escaped_and_truncated(
    tmp_path: Path, sent: str, shown: str
) -> None:
    async def request_text() -> str:
        guest = RelaySession("mybot@1", "owner", "\u202einstance", "token", 1)
        seat = guest.seats[1] = RelaySeat(
            1, "m-1", tmp_path / "s", lambda message: None, lambda size: None
        )
        guest.receive(relay_pb2.ConnectRequest(gone=relay_pb2.Gone(seat=1, ended=sent)))
        return await seat.ended

    assert asyncio.run(request_text()) == shown
