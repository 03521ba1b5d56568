"""Run the fuzzing corpus against the referee's HTTP/2 client; scripts/fuzz extends the corpus."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.rpc.call import Call
from referee.rpc.connection import Connection
from referee.rpc.http2 import FrameReader, HeaderReader
from tests.fuzz.http2_target import decoded, drive, encoded

CORPUS = Path(__file__).with_name("corpus") / "http2"
INPUTS = sorted(CORPUS.iterdir())


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.name)
def test_every_input_of_the_corpus_has_a_defined_outcome(path: Path) -> None:
    assert drive(path.read_bytes())


def test_recorded_conversations_of_honest_bots_are_answered() -> None:
    recordings = [path for path in INPUTS if path.name.startswith(("act-", "play-"))]
    assert len(recordings) >= 4
    for path in recordings:
        data = path.read_bytes()
        options, chunks = decoded(data)
        assert encoded(options, chunks) == data
        assert drive(data) == ["answered"] * (1 + len(options.shape))


def nothing(*_: Any) -> None:
    """Stand in for a method that does nothing."""


def uncaught(*_: Any) -> None:
    """Stand in for a method with an error that nothing catches."""
    raise KeyError


def forgotten(self: Connection, number: int) -> None:
    """Stand in for the end of a call, and keep the call."""


@pytest.mark.parametrize(
    ("kind", "method", "defect", "name"),
    [
        (FrameReader, "_charge", nothing, "flood-pings"),
        (HeaderReader, "read", uncaught, "malformed-headers-index"),
        (Connection, "abort", nothing, "malformed-ping"),
        (Connection, "forget", forgotten, "act-1-1-1-1-1"),
        (Connection, "_changed", nothing, "stall-and-read"),
        (Call, "_wake", nothing, "play-1-2-1"),
    ],
)
def test_the_target_detects_defects_of_the_client(
    monkeypatch: pytest.MonkeyPatch,
    kind: type,
    method: str,
    defect: Callable[..., None],
    name: str,
) -> None:
    monkeypatch.setattr(kind, method, defect)
    with pytest.raises((AssertionError, KeyError)):
        drive((CORPUS / name).read_bytes())
