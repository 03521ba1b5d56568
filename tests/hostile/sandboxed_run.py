"""Run one program as an untrusted bot in the sandbox, and return its report."""

import os
import threading
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest

from arena.bots.bot import Bot
from arena.bots.exit_report import Limits, Report
from arena.bots.manifest import Manifest
from arena.bots.processes import BuildRights, Processes
from arena.bots.sandbox.available_levels import offer
from arena.bots.sandbox.level import SETTING, Level
from arena.errors import BotError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE = 60.0
"""Seconds that a program may run; a busy machine needs several for the start alone."""
ALL_LEVELS = os.environ.get("POKEARENA_HOSTILE", "all") == "all"
"""Whether every case is tried at every level; otherwise most only at the best one."""
EACH = 12
"""Every n-th case is tried at every level in any case."""


def is_tried(number: int, level: Level) -> bool:
    """Return whether the case with this number is tried at a level."""
    return ALL_LEVELS or level is Level.BUBBLEWRAP or number % EACH == 0


def need(level: Level) -> None:
    """Skip the test on a machine that does not offer the level; in CI, fail instead."""
    offered = offer(level)
    if not offered.holds:
        if os.environ.get("CI"):
            pytest.fail(f"{offered.why_not}, and in CI nothing is skipped")
        pytest.skip(offered.why_not)


def offered_levels() -> list[Level]:
    return [level for level in (Level.BUBBLEWRAP, Level.LANDLOCK) if offer(level).holds]


def untrusted(folder: Path, run: Sequence[str], file: str | None = None) -> Bot:
    return Bot("bot", Manifest("bot", tuple(run)), folder, file=file, trusted=False)


def run_to_end(bot: Bot, level: Level, *, builds: bool = False) -> Report:
    """Start a bot, wait until its program has ended, and return its report.

    A program that is still running after PATIENCE seconds is stopped.

    Args:
        bot: the bot.
        level: the level of its sandbox.
        builds: whether it has the rights of a build command.
    """
    ended = threading.Event()
    with (
        selected(level),
        Processes(
            lambda report: ended.set(),
            lambda sentence: ended.set(),
            Limits(),
            level=level,
            build_rights=BuildRights() if builds else None,
        ) as processes,
    ):
        try:
            processes.start(0, bot)
        except BotError as error:
            return Report(0, f"could not be started: {error}")
        ended.wait(PATIENCE)
        processes.stop(0)
        return processes.ends(0)[0]


@contextmanager
def best_level_is(level: Level) -> "Iterator[None]":
    with (
        selected(level),
        patch("arena.bots.sandbox.available_levels.best_level", lambda: level),
    ):
        yield


@contextmanager
def selected(level: Level) -> "Iterator[None]":
    """Select this level explicitly, as bots of others require with Landlock alone."""
    with patch.dict(os.environ, {SETTING: level}):
        yield
