"""The records of local matches in the data folder, newest first."""

from __future__ import annotations

import contextlib
import gzip
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from arena.config import Folder
from arena.models.transcripts import TRANSCRIPT
from arena.system import output_file, private_files
from referee.record import RecordError

REASONING_SUFFIX: Final = ".reasoning.gz"
"""Suffix of the file beside a record that has its reasoning: the lines, compressed with gzip."""
_MOST_BYTES: Final = 64 << 20
"""Maximum size of the lines in such a file; an arena writes far less."""


def write_reasoning(record: Path, lines: Iterable[str]) -> None:
    """Write the reasoning of a match beside its record, or delete that of an earlier match.

    Raises:
        OSError: the file cannot be written.
    """
    path = record.with_suffix(REASONING_SUFFIX)
    text = "".join(f"{line}\n" for line in lines)
    if not text:
        path.unlink(missing_ok=True)
        return
    with output_file.complete(path, private=True) as part:
        part.write_bytes(gzip.compress(text.encode(), mtime=0))


def read_reasoning(record: Path) -> tuple[str, ...]:
    """Return the lines of the reasoning beside a record; empty without any.

    Raises:
        RecordError: the file is not valid.
    """
    path = record.with_suffix(REASONING_SUFFIX)
    try:
        with gzip.open(path) as packed:
            text = packed.read(_MOST_BYTES + 1).decode()
    except FileNotFoundError:
        return ()
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise RecordError(f"{path} is not valid: {error}.") from None
    if len(text) > _MOST_BYTES:
        raise RecordError(f"{path} has more than {_MOST_BYTES} bytes.")
    return tuple(text.splitlines())


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
            path.with_suffix(REASONING_SUFFIX).unlink(missing_ok=True)
            _delete_output(folder, path.stem)


def _delete_output(folder: Folder, match: str) -> None:
    outputs = folder.outputs / match
    for file in (*outputs.glob("*.log"), *outputs.glob(f"*{TRANSCRIPT}")):
        file.unlink()
    if outputs.is_dir():
        outputs.rmdir()
