"""The best sandbox level that has held on this machine, stored in the data folder.

    <data>/sandbox-HOST.json    {"level": "bubblewrap", "reason": "..."}, mode 0600
    <data>/sandbox-HOST.failed  its modification time is that of the last failure of a sandbox

There are files for each host, because machines can share a data folder. Without a data folder
nothing is stored.
"""

import contextlib
import json
import logging
import os
import secrets
import time
from pathlib import Path

from arena import config
from arena.bots.sandbox.level import Level
from arena.errors import InfrastructureError

log = logging.getLogger("arena.worker")

_folder: Path | None = None


def use_folder(root: Path) -> None:
    """Store the level in this data folder; by default it is the one of the environment."""
    global _folder
    _folder = root


def level_file() -> Path:
    """Return the path of the file with the level of this machine."""
    host = config.host_name()
    root = _folder if _folder is not None else config.locate().root
    return root / f"sandbox-{host}.json"


def stored_level() -> Level | None:
    """Return the stored level of this machine; None if no level was stored.

    Raises:
        InfrastructureError: the file cannot be read.
    """
    file = level_file()
    try:
        return Level(json.loads(file.read_text(encoding="utf-8"))["level"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = getattr(error, "strerror", None) or "it is damaged"
        raise InfrastructureError(
            f"the stored sandbox level cannot be read: {reason}.\n"
            f"Delete {file} to choose the level again.",
            code="stored-level",
        ) from None


def store_level(level: Level, reason: str) -> None:
    """Store a level that holds on this machine, unless a better or equal one is stored.

    Raises:
        InfrastructureError: the stored level cannot be read.
    """
    before, file = stored_level(), level_file()
    if (before is not None and not before.is_below(level)) or not file.parent.is_dir():
        return
    fresh = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
    try:
        with open(fresh, "x", encoding="utf-8", opener=_private) as output:
            output.write(json.dumps({"level": str(level), "reason": reason}, indent=1) + "\n")
        fresh.replace(file)
    except OSError as error:
        # For example a folder that can only be read.
        log.warning("the sandbox level cannot be stored in %s: %s", file, error.strerror)
        with contextlib.suppress(OSError):
            fresh.unlink(missing_ok=True)


def note_failure() -> None:
    """Record that a sandbox failed, so that all processes of this machine test it again."""
    with contextlib.suppress(OSError):
        os.close(_private(str(_failure_file()), os.O_WRONLY | os.O_CREAT))
        now = time.time_ns()
        os.utime(_failure_file(), ns=(now, now))


def last_failure() -> int:
    """Return the time of the last failure in nanoseconds since the epoch; 0 without one."""
    try:
        return _failure_file().stat().st_mtime_ns
    except OSError:
        return 0


def _failure_file() -> Path:
    return level_file().with_suffix(".failed")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)
