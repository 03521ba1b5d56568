"""The clock of an SQLite store: one for all processes, whatever happens to the wall clock.

SQLite has no clock of its own; it asks the process that runs the statement. If the wall clock is
set, or one process sees another time than the others, leases would lapse too early or too late.
So the first process after a boot notes, beside the database, how far the wall clock was ahead of
the machine's uptime, and from then on the store's time is uptime plus that.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
_SUFFIX: Final = "-clock-"


def of(database: Path) -> Callable[[], float]:
    """The clock of the database in this file: seconds since 1970.

    Where the system does not tell its uptime it is the wall clock.
    """
    if not hasattr(time, "CLOCK_BOOTTIME") or not _BOOT_ID.exists():
        return time.time
    note = database.with_name(f"{database.name}{_SUFFIX}{_BOOT_ID.read_text().strip()}")
    ahead = _noted(note)

    def now() -> float:
        return time.clock_gettime(time.CLOCK_BOOTTIME) + ahead

    return now


def _noted(note: Path) -> float:
    """What stands in the note; it is made if there is none, by one process only."""
    with contextlib.suppress(FileNotFoundError):
        return float(note.read_text(encoding="ascii"))
    ahead = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    fresh = note.with_name(f"{note.name}.{secrets.token_hex(4)}")
    try:
        fresh.write_text(repr(ahead), encoding="ascii")
        with contextlib.suppress(FileExistsError):
            # If somebody else was first, theirs holds.
            os.link(fresh, note)
        _forget_older(note)
        return float(note.read_text(encoding="ascii"))
    except OSError:
        # The disk is full, or may not be written. The others will find much the same.
        return ahead
    finally:
        fresh.unlink(missing_ok=True)


def _forget_older(note: Path) -> None:
    boot = note.name.rpartition(_SUFFIX)[2]
    for old in note.parent.glob(f"{note.name.removesuffix(boot)}*"):
        if not old.name.startswith(note.name):
            old.unlink(missing_ok=True)
