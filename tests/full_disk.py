"""A full disk, as the processes of a test see it."""

import resource
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let writes fail beyond this size, as on a full disk: Python ignores SIGXFSZ.

    Meanwhile no bytecode is written: Python 3.11 would keep what it could write of a file.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "dont_write_bytecode", True)
            patch.setenv("PYTHONDONTWRITEBYTECODE", "1")
            yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def full_disk_beside(database: Path) -> Iterator[None]:
    """Let writes fail beyond 100 bytes, while the database can still be read.

    An open connection keeps its shared memory file, which could not be created on a full disk.
    """
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        with largest_file(100):
            yield
