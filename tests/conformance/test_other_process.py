"""The same seed and actions produce the same bytes in another process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from referee.game_checks import fingerprint
from referee.games.game_packages import BUILT_IN

ROOT = Path(__file__).parents[2]
SOME = tuple(map(fingerprint.first_table, BUILT_IN))


@pytest.mark.parametrize(
    "hash_seed", ["1", *(pytest.param(seed, marks=pytest.mark.long) for seed in ("0", "random"))]
)
def test_another_process_sends_equal_messages(hash_seed: str) -> None:
    """The process has another hash seed, and therefore another order of its sets."""
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-m", fingerprint.__name__, *BUILT_IN],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == [
        f"{table} {fingerprint.fingerprint(table)}" for table in SOME
    ]


def test_tables_send_different_messages() -> None:
    assert len({fingerprint.fingerprint(table) for table in SOME}) == len(SOME)
