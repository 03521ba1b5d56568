"""How well a bot is locked in."""

from enum import StrEnum
from typing import Final


class Level(StrEnum):
    """A kind of sandbox; docs/containment.md says what each promises. The best comes first."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"
    UNSANDBOXED = "unsandboxed"


SETTING: Final = "POKEARENA_SANDBOX"
"""The environment variable that names the level to be used."""
