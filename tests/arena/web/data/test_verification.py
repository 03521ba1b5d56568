"""Verification of records in the background, by a thread or by another process."""

import json

import pytest

from arena.web.data import verification
from arena.web.data.verification import Verifications
from referee.game_checks.recorded_matches import match_record
from referee.record import RecordError
from tests.arena.web.closed_matches import table

SEED = bytes(range(32))
RECORD = match_record(table("saint_poker-2"), SEED, 1)


def forged(record: str) -> str:
    """Return the record with another seed in its last line."""
    *lines, _ = record.splitlines(keepends=True)
    return "".join(lines) + json.dumps({"type": "seed", "seed": bytes(32).hex()}) + "\n"


@pytest.fixture(params=["thread", pytest.param("process", marks=pytest.mark.long)])
def verifications(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Verifications:
    if request.param == "process":
        monkeypatch.setattr(verification, "_LONG_CHARACTERS", 0)
    return Verifications()


def test_a_record_is_verified(verifications: Verifications) -> None:
    assert verifications.complete("m-1", lambda: RECORD).problems == ()


def test_a_forged_seed_is_a_problem(verifications: Verifications) -> None:
    assert len(verifications.complete("m-1", lambda: forged(RECORD)).problems) == 1


def test_a_text_that_is_no_record_is_an_error(verifications: Verifications) -> None:
    with pytest.raises(RecordError):
        verifications.complete("m-1", lambda: "no record")


def test_a_record_is_read_once(verifications: Verifications) -> None:
    reads: list[str] = []

    def read() -> str:
        reads.append(RECORD)
        return RECORD

    first = verifications.complete("m-1", read)
    assert verifications.of("m-1", read) == verifications.known("m-1") == first
    assert len(reads) == 1
