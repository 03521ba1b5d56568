"""Convert what a browser sends, a zip archive or the files of a folder, to an upload archive.

Only the container changes: names, kinds and modes are passed on as they are, and
`arena.bots.upload_archive.unpack` checks them like those of any other upload. Left out are folders,
and files that are never content of a bot (`arena.bots.version_store`). If all files are in one
folder that has the bot.toml, its name is removed.
"""

from __future__ import annotations

import gzip
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import IO, Final, cast

from arena.bots import manifest
from arena.bots.version_store import IGNORED, MIB, MOST_BYTES, MOST_FILES, is_system_file
from arena.errors import BotError

_LEVEL: Final = 6
_DIRECTORY_BYTES: Final = 4 * MIB
"""Maximum size of the directory of a zip archive, which zipfile reads as a whole."""
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED: Final = 1
_MAGIC: Final = (b"#!", b"\x7fELF")
"""Beginnings of programs, which get the executable bit if the browser sends no modes."""
_BROKEN: Final = (
    *(zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError),
    *(ValueError, OverflowError),
)


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file as a browser sends it.

    Args:
        name: its path.
        size: its size in bytes.
        mode: its type and permissions (stat(2)); 0: unknown.
        open: opens its content.
    """

    name: str
    size: int
    mode: int
    open: Callable[[], AbstractContextManager[IO[bytes]]]


def pack_zip(archive: IO[bytes], output: IO[bytes]) -> None:
    """Write the files of a zip archive as an upload archive.

    Raises:
        BotError: it is not a zip archive, uses encryption or a rare compression, or is too large.
    """
    try:
        bounded = cast("IO[bytes]", _BoundedReads(archive))
        with zipfile.ZipFile(bounded) as zipped:
            pack_files(list(map(_file_of(zipped), zipped.infolist())), output)
    except _BROKEN as error:
        raise BotError(
            f"this is not a complete zip archive ({str(error).rstrip('.')}).",
            code="invalid-archive",
        ) from None


def pack_files(files: Sequence[SentFile], output: IO[bytes]) -> None:
    """Write files as an upload archive.

    Raises:
        BotError: they are too many or too large.
        OSError: a file is shorter than announced.
    """
    content = [file for file in files if _is_content(file)]
    if len(content) > MOST_FILES:
        raise BotError(
            f"the upload has {len(content)} files; at most {MOST_FILES} are allowed.",
            code="too-many-files",
        )
    if sum(file.size for file in content) > MOST_BYTES:
        raise BotError(
            f"the files in the upload are larger than {MOST_BYTES // MIB} MiB, the limit of a bot.",
            code="too-large",
        )
    prefix = _common_folder([file.name for file in content])
    with (
        gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=output, mtime=0) as raw,
        tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for file in content:
            member = tarfile.TarInfo(file.name.removeprefix(prefix))
            member.size, member.type = file.size, _type(file.mode)
            # Before the file is opened: those of a form have one position.
            member.mode = stat.S_IMODE(file.mode) or _mode(file)
            with file.open() as source:
                tar.addfile(member, source if member.isreg() else None)


def _file_of(zipped: zipfile.ZipFile) -> Callable[[zipfile.ZipInfo], SentFile]:
    def file(entry: zipfile.ZipInfo) -> SentFile:
        if entry.flag_bits & _ENCRYPTED or entry.compress_type not in _METHODS:
            raise BotError(
                "the zip archive is encrypted or uses a rare compression; pack it with Deflate.",
                code="zip-method",
            )
        mode = entry.external_attr >> 16
        return SentFile(entry.filename, entry.file_size, mode, lambda: zipped.open(entry))

    return file


def _is_content(file: SentFile) -> bool:
    """Return whether a file is not a folder, and may be content of a bot."""
    if file.name.endswith("/") or stat.S_ISDIR(file.mode):
        return False
    parts = file.name.split("/")
    return not any(part in IGNORED or is_system_file(part) for part in parts)


def _common_folder(names: Iterable[str]) -> str:
    """Return "NAME/" if all files are in this folder, which has the manifest; otherwise empty."""
    known = set(names)
    firsts = {name.partition("/")[0] for name in known}
    if manifest.FILE in known or len(firsts) != 1:
        return ""
    (first,) = firsts
    is_plain = first not in ("", ".", "..")
    return f"{first}/" if is_plain and f"{first}/{manifest.FILE}" in known else ""


def _type(mode: int) -> bytes:
    """Return the type of a tar member: only plain files pass the checks of an upload."""
    kind = stat.S_IFMT(mode)
    if kind in (0, stat.S_IFREG):
        return tarfile.REGTYPE
    return tarfile.SYMTYPE if kind == stat.S_IFLNK else tarfile.FIFOTYPE


def _mode(file: SentFile) -> int:
    """Return the permissions of a file without a mode: programs are executable."""
    with file.open() as source:
        return 0o755 if source.read(4).startswith(_MAGIC) else 0o644


class _BoundedReads:
    """A file whose single reads are limited, so that a directory cannot fill the memory."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        if size > _DIRECTORY_BYTES:
            raise BotError("the zip archive has too many entries.", code="too-many-entries")
        # A file without a size is read up to the limit only.
        return self._file.read(min(size, _DIRECTORY_BYTES) if size >= 0 else _DIRECTORY_BYTES)
