"""The records of local matches in the data folder, newest first."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

from arena.config import Folder
from arena.system import output_file, private_files

DEFAULT_KEPT_MATCHES: Final = 100
"""Default number of local matches that are kept."""


def records(folder: Folder) -> list[Path]:
    """Return the files of the local matches, the newest first."""
    times: list[tuple[int, str, Path]] = []
    for path in folder.plays.glob("m-*.jsonl"):
        # Another `play` may delete an old record meanwhile.
        with contextlib.suppress(FileNotFoundError):
            times.append((path.stat().st_mtime_ns, path.name, path))
    return [path for _, _, path in sorted(times, reverse=True)]


def path_of(folder: Folder, match: str, suffix: str = ".jsonl") -> Path:
    """Return the file of a local match; create its folder.

    Raises:
        OSError: the folder cannot be created.
    """
    try:
        folder.create()
        private_files.create_folder(folder.plays)
    except OSError as error:
        raise output_file.named(error, folder.root) from None
    return folder.plays / f"{match}{suffix}"


def delete_oldest(folder: Folder, kept: int) -> None:
    """Delete the oldest local matches until `kept` remain, with their pages and bots' output.

    Files that cannot be deleted stay; another `play` may delete the same ones.
    """
    for path in records(folder)[kept:]:
        with contextlib.suppress(OSError):
            path.unlink()
            path.with_suffix(".html").unlink(missing_ok=True)
            _delete_output(folder, path.stem)


def _delete_output(folder: Folder, match: str) -> None:
    outputs = folder.outputs / match
    for log in outputs.glob("*.log"):
        log.unlink()
    if outputs.is_dir():
        outputs.rmdir()
