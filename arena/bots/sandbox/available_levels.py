"""Choose the isolation level of bots on this machine (docs/explanation/containment.md).

Only successes of the self-test are remembered, in this process and its forks, so a worker tests its
level once. A failure is tested again at the next use after a pause, or at once when the machine
changes.
"""

import logging
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.bots.sandbox import kernel_refusals, landlock, linux, runtimes, stored_level
from arena.bots.sandbox.level import (
    INSTALL,
    SETTING,
    TABLES_SHARE_COUNTERS,
    Level,
    bubblewrap,
)
from arena.bots.sandbox.self_test import SELF_TEST_SECONDS, Outcome, SelfTest, run_self_test
from arena.errors import InfrastructureError
from arena.system.backoff import Backoff
from arena.system.temporary_folder import PREFIX, temporary_folder

NOT_OFFERED: Final = "level-not-offered"
BUSY: Final = "self-test-busy"
FAILED: Final = "self-test-failed"
GONE: Final = "level-gone"
UNKNOWN_LEVEL: Final = "unknown-level"
NOT_AVAILABLE: Final = "level-not-available"
WRONG_SETTING: Final = frozenset((UNKNOWN_LEVEL, NOT_AVAILABLE))
"""Codes of errors that only another setting or another machine corrects."""
_FIRST_PAUSE_SECONDS: Final = 1.0
_LONGEST_PAUSE_SECONDS: Final = 60.0
_SETPRIV: Final = "/usr/bin/setpriv"
_SEPARATES_PROCESSES: Final = 6
"""Version of Landlock that restricts signals and abstract sockets (Linux 6.12)."""

log = logging.getLogger("arena.worker")


@dataclass(frozen=True, slots=True)
class Offer:
    """Availability of a level on this machine.

    Attributes:
        level: the level.
        why_not: why it is not available, as a clause; empty if it is.
        fix: a remedy, if one is known.
        code: why it is not available: `NOT_OFFERED` (a definite reason: not installed, or refused
            by the kernel), `BUSY` or `FAILED`.
    """

    level: Level
    why_not: str = ""
    fix: str = ""
    code: str = ""

    @property
    def holds(self) -> bool:
        """Return whether the level is available and passed the self-test."""
        return not self.why_not

    @property
    def is_definite(self) -> bool:
        """Return whether the level is missing for a reason that permits a lower level."""
        return self.code == NOT_OFFERED


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen level, with the reason as a clause.

    Attributes:
        level: the level.
        reason: why it was chosen.
        missing: the better levels that are not available.
    """

    level: Level
    reason: str
    missing: tuple[Offer, ...] = ()

    @property
    def is_lowered(self) -> bool:
        """Return whether a better level is not available."""
        return bool(self.missing)

    def sentence(self) -> str:
        """Return the level, the reason and what the level lacks."""
        lacks = f". Note: {TABLES_SHARE_COUNTERS}" if self.level is Level.LANDLOCK else ""
        return f"{self.level}: {self.reason}{lacks}"


@dataclass(slots=True)
class _LastTest:
    """The last self-test of a level in this process.

    Attributes:
        facts: what the result depends on.
        offer: the result.
        retry_at: when a failed test may be repeated, on the clock `time.monotonic`.
        backoff: the pauses after failures.
    """

    facts: Sequence[object]
    offer: Offer
    retry_at: float
    backoff: Backoff

    def is_valid(self, facts: Sequence[object]) -> bool:
        is_due = not self.offer.holds and time.monotonic() >= self.retry_at
        return facts == self.facts and not is_due


_tests: dict[Level, _LastTest] = {}
_can_mount: list[bool] = []
"""Not empty after this machine has allowed mounts."""
_choices: dict[str, Choice] = {}
"""The choice by the value of the setting; the level of a process changes only with it."""


def offer(level: Level, seconds: float = SELF_TEST_SECONDS) -> Offer:
    """Return whether a level is available; the first test takes some tenths of a second."""
    if level is Level.UNSANDBOXED:
        return Offer(level)
    if missing := _missing(level):
        return missing
    facts, last = _facts(level), _tests.get(level)
    if last is not None and last.is_valid(facts):
        return last.offer
    tested = _tested(level, seconds)
    if last is None or facts != last.facts or tested.holds:
        backoff = Backoff(_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)
    else:
        backoff = last.backoff
    retry_at = time.monotonic() + backoff.after()
    _tests[level] = _LastTest(facts, tested, retry_at, backoff)
    return tested


def _missing(level: Level) -> Offer | None:
    """Return why a level cannot work here, if that is known without a self-test."""
    if sys.platform != "linux":
        return Offer(level, "there are sandboxes on Linux only", "use Linux", NOT_OFFERED)
    if level is Level.BUBBLEWRAP:
        if bubblewrap() is None:
            return Offer(level, "bubblewrap is not installed", INSTALL, NOT_OFFERED)
        if os.geteuid() == 0 and not os.path.exists(_SETPRIV):
            fix = "apt install util-linux"
            return Offer(level, "setpriv is not installed", fix, NOT_OFFERED)
        return None
    version = landlock.version()
    newer = "use Linux 6.12 or later"
    if version == 0:
        return Offer(level, "the kernel has no Landlock", newer, NOT_OFFERED)
    if version < _SEPARATES_PROCESSES and os.geteuid() != 0:
        why_not = "the kernel's Landlock restricts signals only for bots of root"
        return Offer(level, why_not, newer, NOT_OFFERED)
    if os.geteuid() == 0 and not has_disk(level):
        return _unreachable(level)
    return None


def _unreachable(level: Level) -> Offer | None:
    """Return the offer if the users of bots cannot enter the folders of the arena's Python."""
    for path in runtimes.python_paths():
        if not linux.is_reachable(path):
            why_not = f"other users may not enter a folder above {path}, and mounts are refused"
            fix = "install Python elsewhere, or run the arena as an ordinary user"
            return Offer(level, why_not, fix, NOT_OFFERED)
    return None


def _facts(level: Level) -> tuple[object, ...]:
    """Return what the result of a self-test depends on; a change makes it invalid.

    This is read at every use of the level, so it takes no more than some file accesses.
    """
    common = (os.geteuid(), stored_level.last_failure())
    if level is Level.LANDLOCK:
        return (*common, landlock.version())
    program = bubblewrap() or ""
    settings = map(kernel_refusals.setting, kernel_refusals.SETTINGS)
    return (*common, program, _identity(program), _identity(_SETPRIV), *settings)


def _identity(path: str) -> tuple[int, ...]:
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)


def _tested(level: Level, seconds: float) -> Offer:
    try:
        result = run_self_test(level, seconds)
    except InfrastructureError as error:
        return Offer(level, str(error).rstrip("."), code=FAILED)
    if result.outcome is Outcome.PASSED:
        return Offer(level)
    if result.outcome is Outcome.BUSY:
        why_not = f"the self-test of the sandbox did not finish within {seconds:g} s"
        return Offer(level, f"{why_not}; the machine is busy", code=BUSY)
    return _refused(level, result) or Offer(level, result.why_not, code=FAILED)


def _refused(level: Level, result: SelfTest) -> Offer | None:
    """Return the offer if the kernel refuses the namespaces of a level."""
    if level is not Level.BUBBLEWRAP or result.outcome is not Outcome.NOT_STARTED:
        return None
    why_not = kernel_refusals.kernel_refusal(result.output)
    return Offer(level, why_not, kernel_refusals.remedy(), NOT_OFFERED) if why_not else None


def has_disk(level: Level) -> bool:
    """Return whether bots of a level get file systems of their own.

    These are one for the data that they write, and their view of the machine. Without the former,
    only files with names count towards the limit (docs/explanation/containment.md). The test mounts
    in a child process, so the mounts end with it; only a success is remembered.
    """
    return level is not Level.UNSANDBOXED and (bool(_can_mount) or _mounts())


def _mounts() -> bool:
    from arena.bots.sandbox import memory_disk

    with temporary_folder(Path(tempfile.gettempdir()), PREFIX) as name:
        directory = os.path.join(name, "socket")
        os.mkdir(directory)
        pid = os.fork()
        if pid == 0:
            try:
                os._exit(0 if memory_disk.Disk(directory, memory_disk.PAGE, 16).mount(None) else 1)
            finally:
                os._exit(1)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        memory_disk.remove_places(directory)
    if status == 0:
        _can_mount.append(True)
    return status == 0


def explicit_level(environment: Mapping[str, str] = os.environ) -> Level | None:
    """Return the level that the environment selects; None if it selects none.

    Raises:
        InfrastructureError: the value is not a level.
    """
    name = environment.get(SETTING)
    if not name:
        return None
    try:
        return Level(name)
    except ValueError:
        raise InfrastructureError(
            f'{SETTING} is "{name}"; it must be one of {", ".join(Level)}.', code=UNKNOWN_LEVEL
        ) from None


def best_level() -> Level:
    """Return the level at which this process runs bots (`chosen_level`)."""
    return chosen_level().level


def chosen_level() -> Choice:
    """Choose the level of this process, or check that the chosen one still holds.

    The best level is chosen unless the environment selects one. A better level is skipped only for
    a definite reason, and never if it has held on this machine before.

    Raises:
        InfrastructureError: bots cannot be run now; the text gives the reason and a remedy. The
            next call tries again.
    """
    explicit = explicit_level()
    key = explicit or ""
    before = _choices.get(key)
    if before is not None and offer(before.level).holds:
        return before
    if explicit is not None:
        choice = _explicit_choice(explicit)
    else:
        choice = _automatic_choice(None if before is None else before.level)
    if explicit is not Level.UNSANDBOXED:
        stored_level.store_level(choice.level, choice.reason)
    if choice.is_lowered and choice != before:
        log.warning("sandbox level of bots: %s", choice.sentence())
    _choices[key] = choice
    return choice


def _explicit_choice(level: Level) -> Choice:
    offered = offer(level)
    if offered.holds:
        return Choice(level, f"set by {SETTING} or --sandbox")
    if not offered.is_definite:
        raise _failed(offered)
    raise InfrastructureError(
        f"{SETTING} is {level}, which this machine does not offer: {_with_fix(offered)}.",
        code=NOT_AVAILABLE,
    )


def _automatic_choice(before: Level | None) -> Choice:
    has_held = {before, stored_level.stored_level()}
    missing: list[Offer] = []
    for level in Level:
        offered = offer(level)
        if offered.holds:
            break
        if not offered.is_definite:
            raise _failed(offered)
        if level in has_held:
            raise _gone(offered)
        missing.append(offered)
    reason = "; ".join(f"{each.level} is not available: {_with_fix(each)}" for each in missing)
    return Choice(level, reason or "the best level", tuple(missing))


def _failed(offered: Offer) -> InfrastructureError:
    if offered.code == BUSY:
        return InfrastructureError(f"{offered.why_not}.", code=BUSY)
    return InfrastructureError(
        f"the self-test of the sandbox level {offered.level} failed: {offered.why_not}. Nothing is"
        " played until it passes; it is repeated at the next use.",
        code=FAILED,
    )


def _gone(offered: Offer) -> InfrastructureError:
    """Return the error after a level was lost that has held on this machine."""
    lower = list(Level)[list(Level).index(offered.level) + 1]
    return InfrastructureError(
        f"the sandbox level {offered.level}, which held on this machine before, is gone:"
        f" {_with_fix(offered)}. Nothing is played until it is back. To accept a lower level, set"
        f" {SETTING}={lower}, or start serve and worker with --sandbox {lower}.",
        code=GONE,
    )


def _with_fix(offered: Offer) -> str:
    return offered.why_not + (f" ({offered.fix})" if offered.fix else "")


def current_level() -> Level | None:
    """Return the chosen level if its last self-test still counts; None otherwise. Runs no test."""
    choice = _choices.get(os.environ.get(SETTING) or "")
    if choice is None:
        return None
    level = choice.level
    if level is Level.UNSANDBOXED:
        return level
    last = _tests.get(level)
    holds = last is not None and last.offer.holds and last.is_valid(_facts(level))
    return level if holds and _missing(level) is None else None


def doubt_level() -> None:
    """Let all processes of this machine test their level again, after a sandbox has failed."""
    _tests.clear()
    stored_level.note_failure()
