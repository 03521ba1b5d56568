"""Isolation levels of bots."""

import shutil
from enum import StrEnum
from typing import Final

INSTALL: Final = "apt install bubblewrap"
SETTING: Final = "POKEARENA_SANDBOX"
"""Environment variable that selects the level."""


class Level(StrEnum):
    """An isolation level, best first (docs/explanation/containment.md lists the guarantees)."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"
    UNSANDBOXED = "unsandboxed"


def refusal(label: str, trusted: bool, level: Level) -> str:
    """Return why a bot must not run at this level, as a sentence; empty if it may."""
    if trusted or level is not Level.UNSANDBOXED:
        return ""
    return (
        f"{label} came from somebody who is not trusted, and is not run unsandboxed; give this "
        f"machine a sandbox: {INSTALL}."
    )


def bubblewrap() -> str | None:
    """Return the path of the program bwrap, if it is installed."""
    return shutil.which("bwrap")
