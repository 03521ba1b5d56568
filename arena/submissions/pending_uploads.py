"""The directory of pending uploads, and its lock.

<data>/submissions/lock            locked by the process that handles submissions
<data>/submissions/.ID.part        incomplete upload
<data>/submissions/ID.tar.gz       complete upload archive
<data>/submissions/ID/             unpacked archive during the processing
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.system import file_tree, private_files

_PRIVATE: Final = 0o700
_STALE_SECONDS: Final = 3600.0
_KNOCK_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True)
class PendingUploads:
    """The directory of submissions."""

    root: Path

    def create(self) -> PendingUploads:
        """Create the directory if it is missing, and return this object."""
        self.root.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        return self

    def part(self, submission: str) -> Path:
        return self.root / f".{submission}.part"

    def archive(self, submission: str) -> Path:
        return self.root / f"{submission}.tar.gz"

    def working_directory(self, submission: str) -> Path:
        return self.root / submission

    def settle(self, submission: str) -> None:
        """Rename an upload to its final name after a sync; the file then survives a crash."""
        with self.part(submission).open("rb") as arrived:
            os.fsync(arrived.fileno())
        self.part(submission).rename(self.archive(submission))
        folder = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def clear(self, submission: str) -> None:
        """Delete all files of a submission."""
        file_tree.remove(self.working_directory(submission))
        for file in (self.archive(submission), self.part(submission)):
            file.unlink(missing_ok=True)

    def tidy(self, undecided: Collection[str]) -> None:
        """Delete files that killed processes left, except those of undecided submissions."""
        for path in self.root.iterdir():
            name = path.name.removeprefix(".").partition(".")[0]
            if path.name == self._lock.name or name in undecided:
                continue
            with contextlib.suppress(OSError):
                # A running upload is not a submission yet; keep recent files.
                if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                    self.clear(name)

    @property
    def _lock(self) -> Path:
        return self.root / "lock"

    @contextlib.contextmanager
    def attended(self) -> Iterator[None]:
        """Hold the lock for the duration of the block; wait until it is free."""
        with open(self._lock, "ab", opener=private_files.opener) as lock:
            while not _locked(lock.fileno(), alone=True):
                time.sleep(_KNOCK_SECONDS)
            yield

    @property
    def is_attended(self) -> bool:
        """Whether a process holds the lock."""
        try:
            with self._lock.open("rb") as lock:
                return not _locked(lock.fileno(), alone=False)
        except FileNotFoundError:
            return False


def _locked(descriptor: int, *, alone: bool) -> bool:
    import fcntl  # Windows does not have it; uploads are handled on Linux only.

    try:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
