"""Run the fuzzing corpus against the referee's HTTP/2 client; scripts/fuzz extends the corpus."""

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.rpc.call import Call
from referee.rpc.connection import Connection
from referee.rpc.http2 import FrameReader, HeaderReader
from tests.fuzz.http2_target import decoded, drive, encoded

ROOT = Path(__file__).parents[2]
CORPUS = Path(__file__).with_name("corpus") / "http2"
INPUTS = sorted(CORPUS.iterdir())
RUNS = 1000


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


@pytest.mark.long
def test_a_fuzzing_run_guided_by_coverage_finds_nothing(tmp_path: Path) -> None:
    if importlib.util.find_spec("atheris") is None:
        pytest.skip("atheris is not installed: uv run --group fuzz pytest -m long tests/fuzz")
    command = [sys.executable, "-m", "tests.fuzz.http2_fuzzer", str(tmp_path), str(CORPUS)]
    options = [f"-runs={RUNS}", "-seed=1"]
    run = subprocess.run(
        [*command, *options, f"-artifact_prefix={tmp_path}/"],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "0"},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        errors="replace",
        timeout=240,
    )
    assert run.returncode == 0, run.stderr[-4000:]
    done = re.search(r"Done (\d+) runs", run.stderr)
    assert done, run.stderr[-4000:]
    assert int(done[1]) > len(INPUTS)
