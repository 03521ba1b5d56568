"""How well a bot is locked in."""

import shutil
from enum import StrEnum
from typing import Final

INSTALL: Final = "apt install bubblewrap"


class Level(StrEnum):
    """A kind of sandbox; docs/containment.md says what each promises. The best comes first."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"
    UNSANDBOXED = "unsandboxed"


SETTING: Final = "POKEARENA_SANDBOX"
"""The environment variable that names the level to be used."""


def refusal(label: str, trusted: bool, level: Level) -> str:
    """Why a bot may not be run at this level, in a sentence; empty if it may."""
    if trusted or level is not Level.UNSANDBOXED:
        return ""
    return (
        f"{label} came from somebody who is not trusted, and is not run unsandboxed; give this "
        f"machine a sandbox: {INSTALL}."
    )


def bubblewrap() -> str | None:
    """The path of bubblewrap's program, if it is installed."""
    return shutil.which("bwrap")
