"""Logs of a supervisor and its processes: files of bounded size, or standard output.

Files are in a folder of the host, because machines can share a data folder. A second supervisor of
the host uses a folder of its own. The lock (flock) on a folder ends with its supervisor.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from io import TextIOWrapper
from itertools import count
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from arena.config import Folder, SettingError
from arena.system import private_files
from arena.system.process_log import LOG_BYTES, ProcessLog
from referee import logs


class _PrivateRotatingHandler(RotatingFileHandler):
    """A handler whose files only this user can read, whatever the umask is."""

    def _open(self) -> TextIOWrapper[Any]:
        return open(self.baseFilename, "a", encoding="utf-8", opener=private_files.opener)


class ServiceLogs:
    """The logs of one supervisor.

    Args:
        folder: the folder of the log files; None: standard output.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    @property
    def shown(self) -> str:
        """Name of the place of the logs, for messages."""
        return "standard output" if self.folder is None else str(self.folder)

    def of(self, name: str) -> ProcessLog:
        return ProcessLog(None if self.folder is None else self.folder / f"{name}.log")

    def handler(self, name: str, environment: Mapping[str, str]) -> logging.Handler:
        """Return a handler for the messages of this process itself.

        Args:
            environment: selects the format (`referee.logs`).

        Raises:
            OSError: the file cannot be opened.
        """
        handler: logging.Handler = logging.StreamHandler(sys.stdout)
        if self.folder is not None:
            private_files.create_folder(self.folder)
            handler = _PrivateRotatingHandler(self.of(name).path, maxBytes=LOG_BYTES, backupCount=1)
        handler.setFormatter(logs.formatter(environment))
        return handler


@contextlib.contextmanager
def claimed_logs(data_folder: Folder, environment: Mapping[str, str]) -> Iterator[ServiceLogs]:
    """Provide the logs of a supervisor; others do not write the same files in the meantime.

    Raises:
        SettingError: a setting of the log is not valid.
        OSError: no folder can be created.
    """
    if sentence := logs.setting_error(environment):
        raise SettingError(sentence, code="not-a-log")
    if environment.get(logs.TARGET) == logs.STDOUT:
        yield ServiceLogs(None)
        return
    folder, lock = _claim(data_folder.service_logs)
    try:
        yield ServiceLogs(folder)
    finally:
        os.close(lock)


def _claim(first: Path) -> tuple[Path, int]:
    """Create and lock the first folder that no other supervisor of this host uses."""
    import fcntl

    for number in count(1):
        folder = first if number == 1 else first.with_name(f"{first.name}-{number}")
        private_files.create_folder(folder)
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
        except OSError:
            # The file system has no locks; the host's first supervisor is then the usual one.
            return folder, lock
        else:
            return folder, lock
    raise AssertionError("numbers do not end")
