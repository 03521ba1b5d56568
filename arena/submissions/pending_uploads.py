"""Where what was sent lies until it is decided, and whether somebody works on it.

<data>/submissions/lock            held by who works on submissions, as long as it lives
<data>/submissions/.ID.part        what is arriving
<data>/submissions/ID.tar.gz       what has arrived
<data>/submissions/ID/             the same while it is worked on
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.system import file_tree

_PRIVATE: Final = 0o700
_STALE_SECONDS: Final = 3600.0
_KNOCK_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True)
class PendingUploads:
    """The directory of submissions."""

    root: Path

    def create(self) -> PendingUploads:
        """Makes it where it is missing."""
        self.root.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        return self

    def part(self, submission: str) -> Path:
        """The file of what is arriving."""
        return self.root / f".{submission}.part"

    def parcel(self, submission: str) -> Path:
        """The file of what has arrived."""
        return self.root / f"{submission}.tar.gz"

    def bench(self, submission: str) -> Path:
        """The folder in which it is worked on."""
        return self.root / submission

    def settle(self, submission: str) -> None:
        """Makes what was arriving what has arrived, whatever happens from now on."""
        with self.part(submission).open("rb") as arrived:
            os.fsync(arrived.fileno())
        self.part(submission).rename(self.parcel(submission))
        folder = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def clear(self, submission: str) -> None:
        """Removes all of it."""
        file_tree.remove(self.bench(submission))
        for file in (self.parcel(submission), self.part(submission)):
            file.unlink(missing_ok=True)

    def tidy(self, undecided: Collection[str]) -> None:
        """Removes what was left behind by processes that were killed."""
        for path in self.root.iterdir():
            name = path.name.removeprefix(".").partition(".")[0]
            if path.name == self._lock.name or name in undecided:
                continue
            with contextlib.suppress(OSError):
                # What is arriving now is no submission yet.
                if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                    self.clear(name)

    @property
    def _lock(self) -> Path:
        return self.root / "lock"

    @contextlib.contextmanager
    def attended(self) -> Iterator[None]:
        """Is the one that works here for as long as the block lasts; waits for its turn."""
        with self._lock.open("ab") as lock:
            while not _locked(lock.fileno(), fcntl.LOCK_EX):
                time.sleep(_KNOCK_SECONDS)
            yield

    @property
    def is_attended(self) -> bool:
        """Whether somebody works here now."""
        try:
            with self._lock.open("rb") as lock:
                return not _locked(lock.fileno(), fcntl.LOCK_SH)
        except FileNotFoundError:
            return False


def _locked(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
