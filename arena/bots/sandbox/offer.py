"""Which levels this machine offers: each is tried out with a program that tries to get out.

What was found holds for this process and those forked from it, so a worker looks once.
"""

import os
import shutil
import sys
from dataclasses import dataclass
from functools import cache
from typing import Final

from arena.bots.errors import InfrastructureError
from arena.bots.keeper import landlock
from arena.bots.sandbox.level import SETTING, Level

INSTALL: Final = "apt install bubblewrap"


@dataclass(frozen=True, slots=True)
class Offer:
    """Whether a level can be had here; if not, why, and what would help."""

    level: Level
    why_not: str = ""
    fix: str = ""

    @property
    def holds(self) -> bool:
        """Whether the level can be had and has held against the program that tried to get out."""
        return not self.why_not


@cache
def offer(level: Level) -> Offer:
    """Tries a level out; takes some tenths of a second for the first time."""
    from arena.bots.sandbox.selftest import escapes

    if level is Level.UNSANDBOXED:
        return Offer(level)
    if sys.platform != "linux":
        return Offer(level, "there are sandboxes on Linux only", "use Linux")
    if level is Level.BUBBLEWRAP:
        if bubblewrap() is None:
            return Offer(level, "bubblewrap is not installed", INSTALL)
        if os.geteuid() == 0 and not os.path.exists("/usr/bin/setpriv"):
            return Offer(level, "setpriv is not installed", "apt install util-linux")
    if level is Level.LANDLOCK and landlock.version() == 0:
        return Offer(level, "the kernel has no Landlock", "use Linux 6.12 or later")
    try:
        escaped = escapes(level)
    except InfrastructureError as error:
        return Offer(level, str(error))
    return Offer(level, escaped)


@cache
def has_disk(level: Level) -> bool:
    """Return whether bots of a level get a file system of their own for what they write.

    Without one, only files that have names count towards their limit (docs/containment.md). It is
    tried in a process of its own, whose mounts end with it.
    """
    import tempfile

    from arena.bots.keeper import disk

    if level is Level.UNSANDBOXED or (level is Level.LANDLOCK and os.geteuid() != 0):
        return False
    with tempfile.TemporaryDirectory(prefix="pokearena-try-") as name:
        directory = os.path.join(name, "socket")
        os.mkdir(directory)
        pid = os.fork()
        if pid == 0:
            try:
                os._exit(0 if disk.Disk(directory, disk.PAGE, 16).mount(None) else 1)
            finally:
                os._exit(1)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        disk.remove_places(directory)
    return status == 0


def bubblewrap() -> str | None:
    """The path of bubblewrap's program, if it is installed."""
    return shutil.which("bwrap")


@cache
def best() -> Level:
    """The best level that this machine offers, or the one that is named in the environment.

    Raises:
        InfrastructureError: the level that is named cannot be had; the text says why.
    """
    named = os.environ.get(SETTING)
    if named is None:
        return next(level for level in Level if offer(level).holds)
    try:
        level = Level(named)
    except ValueError:
        raise InfrastructureError(
            f'{SETTING} is "{named}", which is no sandbox; write one of {", ".join(Level)}.'
        ) from None
    found = offer(level)
    if not found.holds:
        hint = f" ({found.fix})" if found.fix else ""
        raise InfrastructureError(
            f"{SETTING} asks for {level}, which this machine does not offer: {found.why_not}{hint}."
        )
    return level


def refusal(label: str, trusted: bool, level: Level) -> str:
    """Why a bot may not be run at this level, in a sentence; empty if it may."""
    if trusted or level is not Level.UNSANDBOXED:
        return ""
    return (
        f"{label} came from somebody who is not trusted, and is not run unsandboxed; give this "
        f"machine a sandbox: {INSTALL}."
    )
