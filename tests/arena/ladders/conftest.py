"""Fixtures of ladder tests, which run with SQLite and with PostgreSQL."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine

from arena.system import failpoint
from tests.arena.store.conftest import empty, server, store, url

__all__ = ["empty", "server", "store", "url"]

_RATE = """
import sys
from arena.ladders import rater
from arena.store import database
rater.advance(database.open(sys.argv[1]))
"""


@pytest.fixture
def rate_and_die(store: Engine, tmp_path: Path) -> Callable[[str], None]:
    """Rate in a process that is killed at a fault point, if it gets there."""
    address = store.url.render_as_string(hide_password=False)
    armed = tmp_path / "armed"
    armed.mkdir()

    def rate(point: str) -> None:
        (armed / point).touch()
        done = subprocess.run(
            [sys.executable, "-c", _RATE, address],
            env={**os.environ, failpoint.VARIABLE: str(armed)},
            check=False,
        )
        assert done.returncode in (0, -signal.SIGKILL)

    return rate
