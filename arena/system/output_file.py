"""Write a file completely or not at all; every error names the file."""

from __future__ import annotations

import contextlib
import errno
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from arena.system import private_files
from arena.system.temporary_folder import temporary_folder

_PROBE_BYTES: Final = 64 << 10
"""Size of the file that `check_writable` writes: on a full disk an empty file can be created."""


@contextlib.contextmanager
def complete(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield a path to write to; after the block, rename it to `path`.

    After an error, `path` is as it was before. A device or a pipe is written directly, a link is
    followed, and a file that is replaced keeps its mode. A `private` file, as in the data folder,
    can be accessed only by this user, whatever its mode was.

    Raises:
        OSError: the file cannot be written; its `filename` is `path`.
    """
    try:
        # Renaming would replace a link or a device such as /dev/null by a regular file.
        target = path.resolve()
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
        if mode is not None and not target.is_file():
            yield target
            return
        with temporary_folder(target.parent) as folder:
            part = folder / "part"
            if private:
                private_files.create_file(part)
                mode = None
            yield part
            if mode is not None:
                part.chmod(mode)
            part.replace(target)
    except OSError as error:
        raise named(error, path) from None


def write_text(path: Path, text: str, *, private: bool = False) -> None:
    """Write text as UTF-8, without translating line ends; `private` as for `complete`.

    Raises:
        OSError: the file cannot be written; its `filename` is `path`, which is as it was before.
    """
    with complete(path, private=private) as part:
        part.write_text(text, encoding="utf-8", newline="")


def check_writable(path: Path) -> None:
    """Check that `write_text` can write some text to `path`; nothing is left behind.

    Raises:
        OSError: the file cannot be written; its `filename` is `path`.
    """
    try:
        target = path.resolve()
        if target.exists() and not target.is_file():
            with target.open("ab"):
                return
        with temporary_folder(target.parent) as folder:
            (folder / "part").write_bytes(bytes(_PROBE_BYTES))
    except OSError as error:
        raise named(error, path) from None


def named(error: OSError, path: Path) -> OSError:
    """Return the error with the path that the user gave instead of that of a temporary file."""
    if error.errno is None:
        return OSError(errno.EIO, str(error), str(path))
    return OSError(error.errno, error.strerror, str(path))
