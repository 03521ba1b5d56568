"""The same seed and actions produce the same bytes in another process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.fingerprint import SOME, fingerprint

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "hash_seed", ["1", *(pytest.param(seed, marks=pytest.mark.long) for seed in ("0", "random"))]
)
def test_another_process_sends_equal_messages(hash_seed: str) -> None:
    """The process has another hash seed, and therefore another order of its sets."""
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.conformance.fingerprint"],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == [f"{table} {fingerprint(table)}" for table in SOME]


def test_tables_send_different_messages() -> None:
    assert len({fingerprint(table) for table in SOME}) == len(SOME)
