"""Upload archives: pack the files of a bot as a tar.gz, and unpack untrusted ones safely.

Upload archives may be malicious:

- Only plain files are extracted, to relative paths of plain names in a new folder. Names that
  Windows treats specially are refused on every system, when packing too.
- The size of the output is limited during extraction.
- tarfile parses headers before they can be checked. Their bytes per entry and the number of global
  header values are therefore limited as well.
"""

from __future__ import annotations

import gzip
import io
import tarfile
import unicodedata
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, cast

from arena.bots.bot import Bot
from arena.bots.version_store import MIB, MOST_BYTES, MOST_FILES, files_of
from arena.errors import BotError
from referee.sanitizing import HIDDEN, quote

MOST_RATIO: Final = 200
"""Maximum ratio of unpacked to packed size; the first MiB is exempt."""
_LEVEL: Final = 6
_PIECE: Final = 64 * 1024
_HEAD: Final = 64 * 1024
"""Maximum size of one header of a member in bytes, far above the longest usual path."""
_HEADERS: Final = 2 * _HEAD
"""Maximum size of all headers of one member in bytes.

Without this limit a chain of headers causes a RecursionError, and a sparse file's list of holes
takes unlimited memory and time.
"""
_MOST_GLOBALS: Final = 100
"""Maximum number of global header values; tarfile copies them to each member with a header."""
_KINDS: Final = {
    "link": "a link",
    "device": "a device or a pipe",
    "unknown-type": "of an unknown type",
}
"""The entries that are not plain files, by the code of their error."""
_PRIVILEGES: Final = 0o6000
"""The setuid and setgid bits."""
_TAR_BYTES: Final = MOST_BYTES + MOST_FILES * 2048 + MIB
"""Maximum size of the tar file in bytes: the largest bot with headers and padding."""
_MOST_MEMBERS: Final = 4 * MOST_FILES
_PATH_BYTES: Final = 1024
_NAME_BYTES: Final = 255
_DEEPEST: Final = 40
_WINDOWS_CHARACTERS: Final = frozenset('<>:"|?*\\')
_DIGITS: Final = "123456789\u00b9\u00b2\u00b3"
_WINDOWS_DEVICES: Final = frozenset(
    {
        *("CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"),
        *(f"{device}{digit}" for device in ("COM", "LPT") for digit in _DIGITS),
    }
)
"""Names that Windows opens as devices in every folder, with any extension
(https://learn.microsoft.com/windows/win32/fileio/naming-a-file)."""
_BROKEN: Final = (
    *(EOFError, zlib.error, gzip.BadGzipFile, tarfile.TarError),
    # Raised by tarfile for headers that are not valid.
    *(ValueError, OverflowError),
)


@dataclass(frozen=True, slots=True)
class Contents:
    """Number of packed or unpacked files, and their total bytes."""

    files: int
    bytes: int


def pack(bot: Bot, output: IO[bytes]) -> Contents:
    """Write the files of a hosted bot as a tar.gz; the same content yields the same bytes.

    Raises:
        BotError: the bot cannot be stored (arena.bots.version_store).
    """
    files = files_of(bot)
    names = _Names()
    size = 0
    with (
        gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=output, mtime=0) as raw,
        tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for file in files:
            names.add(file.path)
            data = file.data
            member = tarfile.TarInfo(file.path)
            member.size, member.mode = len(data), 0o755 if file.executable else 0o644
            tar.addfile(member, io.BytesIO(data))
            size += len(data)
    return Contents(len(files), size)


def unpack(upload: Path, folder: Path) -> Contents:
    """Extract an upload archive into an empty folder.

    Raises:
        BotError: the archive is not valid, has entries that are not allowed, or is too large. Files
            extracted by then remain in the folder.
    """
    try:
        with upload.open("rb") as packed, _Bounded(packed, upload.stat().st_size) as raw:
            return _unpacked(raw, folder)
    except _BROKEN as error:
        raise BotError(
            f"this is not a complete tar.gz ({_reason(error)}); `pokearena bot push` creates one.",
            code="invalid-archive",
        ) from None


def _unpacked(raw: _Bounded, folder: Path) -> Contents:
    files = size = 0
    folders: set[Path] = set()
    names = _Names()
    # _Bounded is not a complete file object, but has all methods that tarfile uses.
    with tarfile.TarFile(
        fileobj=cast(IO[bytes], raw), mode="r", encoding="utf-8", errors="surrogateescape"
    ) as tar:
        for member in _members(tar, raw):
            path = _place(folder, member)
            if path != folder:
                names.add(path.relative_to(folder).as_posix())
            if member.isdir():
                continue
            files, size = files + 1, size + member.size
            folders.update(path.parents)
            if max(files, len(folders)) > MOST_FILES:
                raise BotError(
                    "the upload has too many files or folders; at most "
                    f"{MOST_FILES} of each are allowed.",
                    code="too-many-files",
                )
            if member.size < 0 or size > MOST_BYTES:
                raise BotError(_too_large(), code="too-large")
            _write(tar, member, path)
    _check_end(raw)
    return Contents(files, size)


def _check_end(raw: _Bounded) -> None:
    """Read up to the checksum, and check that the archive is not truncated.

    tarfile takes a truncated or invalid header for the end of an archive, unless it is the first
    one.
    """
    if raw.latest != bytes(tarfile.BLOCKSIZE):
        raise EOFError("its end mark is missing")
    while piece := raw.read(_PIECE):
        if piece.strip(b"\0"):
            raise BotError(
                "the upload has data after its end; pack it again.", code="data-after-end"
            )


def _members(tar: tarfile.TarFile, raw: _Bounded) -> Iterator[tarfile.TarInfo]:
    count = 0
    while (member := raw.header(tar)) is not None:
        count += 1
        if len(tar.pax_headers) > _MOST_GLOBALS:
            raise BotError(
                f"the upload has more than {_MOST_GLOBALS} values for all entries.",
                code="too-many-headers",
            )
        if count > _MOST_MEMBERS:
            raise BotError(
                f"the upload has more than {_MOST_MEMBERS} entries.", code="too-many-entries"
            )
        # tarfile keeps a list of all members, which is not needed.
        tar.members.clear()  # type: ignore[attr-defined]
        yield member


def _place(folder: Path, member: tarfile.TarInfo) -> Path:
    """Return the target path of a member."""
    name = member.name
    shown = f'"{quote(name, 100)}"'
    if member.issparse() or member.type not in (
        tarfile.REGTYPE,
        tarfile.AREGTYPE,
        tarfile.DIRTYPE,
    ):
        kind = _kind(member)
        raise BotError(
            f"{shown} in the upload is {_KINDS[kind]}; a bot is made of plain files, so put the "
            "file there.",
            code=kind,
        )
    parts = name.removeprefix("./").rstrip("/").split("/")
    if member.isdir() and name.strip("./") == "" and not name.startswith(("/", "..")):
        return folder
    try:
        encoded = [part.encode() for part in parts]
    except UnicodeEncodeError:
        raise BotError(
            f"{shown} in the upload is a name that is not UTF-8; rename it.", code="name-encoding"
        ) from None
    if (
        any(part in ("", ".", "..") or not _is_visible(part) for part in parts)
        or any(len(part) > _NAME_BYTES for part in encoded)
        or len(name.encode()) > _PATH_BYTES
        or len(parts) > _DEEPEST
    ):
        raise BotError(
            f"{shown} in the upload is not a path within the bot's folder; paths must be relative, "
            "short and of plain names.",
            code="unsafe-path",
        )
    if member.mode & _PRIVILEGES and not member.isdir():
        raise BotError(
            f"{shown} in the upload has the setuid or setgid bit; remove it with chmod ug-s.",
            code="privileged-mode",
        )
    return folder.joinpath(*parts)


def _is_visible(part: str) -> bool:
    return part.isprintable() and HIDDEN.isdisjoint(part)


class _Names:
    """Paths of an archive, to reject those that other systems treat differently.

    Windows reserves names and characters. macOS and Windows treat names that differ only by case
    or Unicode form as the same file.
    """

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def add(self, path: str) -> None:
        """Register a path and its parent folders.

        Raises:
            BotError: Windows treats one of the names specially, or one of them differs from an
                earlier one only by case or Unicode form.
        """
        parts = path.split("/")
        for count in range(1, len(parts) + 1):
            name = "/".join(parts[:count])
            _check_for_windows(parts[count - 1])
            same = self._known.setdefault(_folded(name), name)
            if same != name:
                raise BotError(
                    f'"{quote(same, 100)}" and "{quote(name, 100)}" differ only by case or '
                    "Unicode form, and are one file on some machines; rename one of them.",
                    code="similar-names",
                )


def _check_for_windows(part: str) -> None:
    """Check that a name means the same on Windows as elsewhere."""
    shown = f'the name "{quote(part, 100)}"'
    if not _is_visible(part):
        raise BotError(
            f"{shown} has control or invisible characters; rename the file.", code="hidden-name"
        )
    if special := sorted(_WINDOWS_CHARACTERS.intersection(part)):
        raise BotError(
            f"{shown} has {' '.join(special)}, which Windows does not allow or reads as a folder, "
            "a pattern or a stream of a file; rename the file.",
            code="reserved-character",
        )
    if part.endswith((".", " ")):
        raise BotError(
            f"{shown} ends with a dot or a space, which Windows removes; rename the file.",
            code="trailing-character",
        )
    device = part.partition(".")[0].rstrip(" ").upper()
    if device in _WINDOWS_DEVICES:
        raise BotError(
            f"{shown} means the device {device} on Windows; rename the file.", code="device-name"
        )


def _folded(name: str) -> str:
    """Return a key for the caseless comparison of names.

    It is that of a compatibility caseless match (Unicode, definition D146).
    """
    folded = unicodedata.normalize("NFD", name).casefold()
    return unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", folded).casefold())


def _kind(member: tarfile.TarInfo) -> str:
    if member.issym() or member.islnk():
        return "link"
    return "device" if member.isdev() else "unknown-type"


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    source = tar.extractfile(member)
    assert source is not None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Mode "x" never overwrites, so it does not write through links or earlier entries either.
        with path.open("xb") as target:
            left = member.size
            while left:
                piece = source.read(min(_PIECE, left))
                if not piece:
                    raise EOFError("it ends within a file")
                left -= target.write(piece)
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        raise BotError(
            f'"{quote(member.name, 100)}" is in the upload twice, or is a folder too.',
            code="path-taken",
        ) from None
    path.chmod(0o755 if member.mode & 0o100 else 0o644)


class _Bounded:
    """Forward-only reader of a gzip file with a limit on the unpacked size."""

    def __init__(self, packed: IO[bytes], size: int) -> None:
        self._raw = gzip.GzipFile(fileobj=packed, mode="rb")
        self._most = min(_TAR_BYTES, max(MIB, MOST_RATIO * size))
        self._header_bytes: int | None = None
        self.latest = b""
        """Result of the last read."""

    def __enter__(self) -> _Bounded:
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()

    def header(self, tar: tarfile.TarFile) -> tarfile.TarInfo | None:
        """Read the next member of an archive, with a limit on the size of all its headers."""
        self._header_bytes = _HEADERS
        try:
            return tar.next()
        finally:
            self._header_bytes = None

    def tell(self) -> int:
        return self._raw.tell()

    def seek(self, place: int) -> int:
        if place < self._raw.tell():
            raise BotError(
                "the upload has a header with a negative size; pack it again.",
                code="backward-header",
            )
        self._check(place)
        return self._raw.seek(place)

    def read(self, size: int) -> bytes:
        if not 0 <= size <= _HEAD:
            raise BotError(
                f"the upload has a header of more than {_HEAD // 1024} KiB.",
                code="header-too-large",
            )
        if self._header_bytes is not None:
            self._header_bytes -= size
            if self._header_bytes < 0:
                raise BotError(
                    f"the upload has an entry with {_HEADERS // 1024} KiB of headers.",
                    code="header-too-large",
                )
        self._check(self._raw.tell())
        self.latest = self._raw.read(size)
        return self.latest

    def _check(self, place: int) -> None:
        if place <= self._most:
            return
        if self._most == _TAR_BYTES:
            raise BotError(_too_large(), code="too-large")
        raise BotError(
            f"the unpacked upload would exceed {MOST_RATIO} times the packed size; generate such "
            "files during the build.",
            code="compression-ratio",
        )


def _too_large() -> str:
    most = MOST_BYTES // MIB
    return f"the files in the upload are larger than {most} MiB, the limit of a bot."


def _reason(error: Exception) -> str:
    if isinstance(error, (ValueError, OverflowError)):
        # The messages of Python's parsers do not help an author.
        return "a header is not valid"
    return str(error).rstrip(".") or type(error).__name__
