"""Isolation levels of bots."""

import os
import shutil
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

INSTALL: Final = "apt install bubblewrap"
SETTING: Final = "POKEARENA_SANDBOX"
"""Environment variable that selects the level."""
TABLES_SHARE_COUNTERS: Final = (
    "the sandbox level landlock does not keep the tables of a match apart: a bot can leave data for"
    " its other tables in counters of the machine"
)
"""Describes, as a clause, a level that does not keep tables apart."""


class Level(StrEnum):
    """An isolation level, best first (docs/explanation/containment.md lists the guarantees)."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"
    UNSANDBOXED = "unsandboxed"

    @property
    def keeps_tables_apart(self) -> bool:
        """Whether bots at different tables of a match share no memory, not even a counter."""
        return self is Level.BUBBLEWRAP

    def is_below(self, other: "Level") -> bool:
        """Return whether this level guarantees less than another one."""
        levels = list(Level)
        return levels.index(self) > levels.index(other)


def is_explicit(level: Level, environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether the organiser has chosen this level (:data:`SETTING`)."""
    return environment.get(SETTING) == level


def refusal(label: str, trusted: bool, level: Level) -> str:
    """Return why a bot must not run at this level, as a sentence; empty if it may.

    Args:
        label: the bot, as shown to people.
        trusted: whether the organiser provided the bot; False for a pushed version.
        level: the level.
    """
    if trusted or level.keeps_tables_apart:
        return ""
    if level is Level.UNSANDBOXED:
        return (
            f"{label} came from somebody who is not trusted, and is not run unsandboxed; give this "
            f"machine a sandbox: {INSTALL}."
        )
    if is_explicit(level):
        return ""
    return (
        f"{label} came from somebody who is not trusted, and {TABLES_SHARE_COUNTERS}. The organiser"
        f" can install bubblewrap ({INSTALL}), or accept this level: {SETTING}={level}."
    )


def bubblewrap() -> str | None:
    """Return the path of the program bwrap, if it is installed."""
    return shutil.which("bwrap")
