"""Build archives: pack the folder of a built version as a tar.gz for other machines of the arena.

An upload archive (arena.bots.upload_archive) holds the author's files. A build archive also holds
the output of the build, so the receiving machine needs no compilers. Cargo's intermediate files are
not packed: they are many times larger than the program, which does not need them.
"""

from __future__ import annotations

import errno
import gzip
import os
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from tarfile import TarError
from typing import IO, Final

from arena.bots import version_store
from arena.bots.version_store import MIB
from arena.errors import BotError
from arena.system import file_tree
from arena.system.beneath import open_beneath
from arena.system.file_tree import Entry, TreeTooLarge
from referee.sanitizing import quote

MOST_BYTES: Final = 1024 * MIB
"""Maximum size of a built version in bytes, unpacked."""
MOST_PACKED: Final = 256 * MIB
MOST_ENTRIES: Final = 100_000
_LEVEL: Final = 6
_CARGO: Final = ".cargo-lock"
_WRONG_PLACE: Final = frozenset(
    {errno.EXDEV, errno.ELOOP, errno.EEXIST, errno.ENOENT, errno.ENOTDIR, errno.EINVAL}
)
"""Errors that follow from the name of an entry, and not from the disk."""
_REBUILDING: Final = frozenset({"deps", "build", "incremental", ".fingerprint", _CARGO})


def pack(folder: Path, output: IO[bytes]) -> None:
    """Write the folder of a built version as a tar.gz.

    Raises:
        BotError: it is too large.
        OSError: a file cannot be read.
    """
    size = 0
    with (
        gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=output, mtime=0) as raw,
        tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for count, entry in enumerate(_walk(folder)):
            member = _member(entry)
            size += member.size
            _check(count + 1, size)
            if member.isreg():
                with os.fdopen(entry.open(), "rb") as source:
                    tar.addfile(member, source)
            else:
                tar.addfile(member)
    if output.tell() > MOST_PACKED:
        raise BotError(_too_large(f"{MOST_PACKED // MIB} MiB packed"), code="build-too-large")


def unpack(archive: IO[bytes], versions: Path, content: str) -> None:
    """Unpack a build archive into `versions`, as the folder named by its content hash.

    The folder appears atomically. Concurrent calls for the same content are safe.

    Raises:
        BotError: the archive is corrupt, or does not match the hash.
        OSError: the folder cannot be written.
    """
    with version_store.fresh(versions) as copy:
        try:
            with tarfile.open(fileobj=archive, mode="r:gz", errorlevel=1) as tar:
                size = 0
                for count, member in enumerate(tar):
                    size += member.size
                    _check(count + 1, size)
                    _place(tar, member, copy)
        except (TarError, EOFError, gzip.BadGzipFile) as error:
            raise BotError(
                f"the stored files of {content[:12]}… are broken: {error}.", code="invalid-archive"
            ) from None
        if not version_store.is_content_of(copy, content):
            raise BotError(
                f"the stored files of {content[:12]}… do not match their hash.",
                code="hash-mismatch",
            )
        version_store.settle(copy, versions / content)


def _walk(folder: Path) -> Iterator[Entry]:
    """Yield the entries to pack in a fixed order, every folder before its content.

    Raises:
        BotError: there are too many entries, or folders are nested too deeply.
    """
    try:
        for entry in file_tree.walk(folder, entries=MOST_ENTRIES, enter=_is_packed):
            # Bots do not need sockets, pipes and devices, and these cannot be packed.
            if (entry.is_folder or entry.is_link or entry.is_file) and _is_packed(entry):
                yield entry
    except TreeTooLarge as error:
        raise BotError(f"the built bot cannot be sent to other machines: {error}.") from None


def _is_packed(entry: Entry) -> bool:
    """Return whether to pack an entry: cargo and Python create the others again."""
    if entry.name == "__pycache__":
        return False
    return entry.name not in _REBUILDING or not file_tree.exists_in(entry.parent, _CARGO)


def _member(entry: Entry) -> tarfile.TarInfo:
    member = tarfile.TarInfo(entry.path)
    member.mode = 0o755 if entry.stat.st_mode & 0o100 else 0o644
    if entry.is_link:
        member.type = tarfile.SYMTYPE
        member.linkname = os.readlink(entry.name, dir_fd=entry.parent)
    elif entry.is_folder:
        member.type = tarfile.DIRTYPE
    else:
        member.size = entry.stat.st_size
    return member


def _place(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Create a file, folder or link below a folder, through no link that leads out of it.

    The target of a link is not checked: that of a virtual environment is the machine's Python, and
    the sandbox does not expose further files through it. The filters of tarfile would refuse it,
    and Python 3.11.0 to 3.11.3 lack them.

    Raises:
        TarError: it is something else, has a place outside of the folder, or exists.
        OSError: it cannot be written.
    """
    inside, name = os.path.split(member.name)
    try:
        parent = open_beneath(folder, inside or ".", os.O_RDONLY | os.O_DIRECTORY)
        try:
            if member.isdir():
                os.mkdir(name, dir_fd=parent)
            elif member.issym():
                os.symlink(member.linkname, name, dir_fd=parent)
            elif (content := archive.extractfile(member)) is not None and member.isreg():
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
                with os.fdopen(os.open(name, flags, 0o600, dir_fd=parent), "wb") as target:
                    shutil.copyfileobj(content, target)
                    os.fchmod(target.fileno(), member.mode & 0o755)
                    os.utime(target.fileno(), (member.mtime, member.mtime))
            else:
                raise TarError(f"{quote(member.name)} is neither a file nor a folder nor a link")
        finally:
            os.close(parent)
    except OSError as error:
        if error.errno not in _WRONG_PLACE:
            raise
        raise TarError(f"{quote(member.name)} has no place in the folder") from None


def _check(count: int, size: int) -> None:
    if count > MOST_ENTRIES:
        raise BotError(_too_large(f"{MOST_ENTRIES} files"), code="build-too-large")
    if size > MOST_BYTES:
        raise BotError(_too_large(f"{MOST_BYTES // MIB} MiB"), code="build-too-large")


def _too_large(most: str) -> str:
    return (
        f"the bot with all that building it left is larger than {most}, and has to be sent to other"
        " machines; let its build remove what is not needed to play."
    )
