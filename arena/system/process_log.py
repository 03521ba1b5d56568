"""The log of a process: a file of bounded size that its parent opens, or standard output."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from arena.system import private_files

LOG_BYTES: Final = 8 << 20
"""Size in bytes at which the content of a log moves to `NAME.log.1` and replaces that."""
_TAIL_BYTES: Final = 2000
_STDOUT_PATH: Final = Path("/dev/stdout")


class ProcessLog:
    """The log of one process, which its supervisor opens for it.

    Args:
        path: the log file; None: standard output of this process.
    """

    def __init__(self, path: Path | None) -> None:
        self._file = path
        self._begin = 0

    @property
    def path(self) -> Path:
        """Path of the log, for messages."""
        return self._file or _STDOUT_PATH

    @contextlib.contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Provide the log to append the output of a process that starts.

        Raises:
            OSError: the file or its folder cannot be created.
        """
        if self._file is None:
            with open(os.dup(1), "ab", buffering=0) as output:
                yield output
            return
        private_files.create_folder(self._file.parent)
        self.limit_size()
        with open(self._file, "ab", opener=private_files.opener) as output:
            self._begin = output.seek(0, os.SEEK_END)
            yield output

    def last_line(self) -> str:
        """Return the last line since `open`; "none" without one or on standard output."""
        if self._file is None:
            return "none"
        with contextlib.suppress(OSError), self._file.open("rb") as log_file:
            end = log_file.seek(0, os.SEEK_END)
            log_file.seek(max(self._begin, end - _TAIL_BYTES))
            lines = log_file.read().decode(errors="replace").strip().splitlines()
            return lines[-1] if lines else "none"
        return "none"

    def limit_size(self) -> None:
        """Move the content to `NAME.log.1` if the file is larger than `LOG_BYTES`.

        The process keeps the file open, so the content is copied and the file truncated; the
        process appends to it. Lines that it writes in this moment can be lost.
        """
        if self._file is None:
            return
        with contextlib.suppress(OSError):
            if self._file.stat().st_size <= LOG_BYTES:
                return
            older = self._file.with_suffix(".log.1")
            # First, because the disk may be full.
            older.unlink(missing_ok=True)
            private_files.create_file(older)
            shutil.copyfile(self._file, older)
            os.truncate(self._file, 0)
            self._begin = 0
