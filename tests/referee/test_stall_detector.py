"""A referee that was stopped ends its table before a bot is charged for it."""

import asyncio
import time

import pytest

from referee.tables import stall_detector
from referee.tables.stall_detector import ProcessStalled, StallDetector


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the interval of the detector, and what it tolerates."""
    monkeypatch.setattr(stall_detector, "BEAT_SECONDS", 0.02)
    monkeypatch.setattr(stall_detector, "STILL_SECONDS", 0.1)


def test_the_detector_runs_without_a_stall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stall_detector, "STILL_SECONDS", 60.0)

    async def beat() -> None:
        detector = StallDetector()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(detector.beat(), 0.2)
        detector.check()

    asyncio.run(beat())


def test_a_late_heartbeat_is_a_stall() -> None:
    async def stand_still() -> None:
        beating = asyncio.create_task(StallDetector().beat())
        await asyncio.sleep(0)
        time.sleep(0.2)
        await beating

    with pytest.raises(ProcessStalled, match=r"the referee process stalled for \d+\.\d s"):
        asyncio.run(stand_still())


def test_a_check_reports_a_stall_before_the_heartbeat() -> None:
    async def ask() -> None:
        detector = StallDetector()
        beating = asyncio.create_task(detector.beat())
        await asyncio.sleep(0)
        time.sleep(0.2)
        try:
            detector.check()
        finally:
            beating.cancel()

    with pytest.raises(ProcessStalled):
        asyncio.run(ask())
