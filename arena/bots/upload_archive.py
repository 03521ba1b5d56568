"""Bots in parcels: the files that are a bot as one tar.gz, and defensively out of it again.

What arrives may be made by an enemy. Of it only plain files are taken, each under a relative path
of plain names into a folder that is new; how much comes out is bounded while it comes out. So are
the headers, which tarfile parses before anything of them can be checked: their bytes per entry, and
the values that hold for all entries.
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
"""So many times its own size a parcel may become; the first MiB is free."""
_LEVEL: Final = 6
_PIECE: Final = 64 * 1024
_HEAD: Final = 64 * 1024
"""No header of a member is larger than this: nobody's paths are."""
_HEADERS: Final = 2 * _HEAD
"""Bytes of all headers of one member. Without this bound a chain of headers ends in a
RecursionError, and a sparse file's list of holes takes memory and time without limit."""
_MOST_GLOBALS: Final = 100
"""Values of headers for all members; each extended header of a member copies them."""
_PRIVILEGES: Final = 0o6000
"""The setuid and setgid bits."""
_TAR_BYTES: Final = MOST_BYTES + MOST_FILES * 2048 + MIB
"""What the largest bot comes to with headers and padding."""
_MOST_MEMBERS: Final = 4 * MOST_FILES
_PATH_BYTES: Final = 1024
_NAME_BYTES: Final = 255
_DEEPEST: Final = 40
_BROKEN: Final = (
    *(EOFError, zlib.error, gzip.BadGzipFile, tarfile.TarError),
    # What headers of nonsense end in.
    *(ValueError, OverflowError),
)


@dataclass(frozen=True, slots=True)
class Contents:
    """What has been packed: how many files, and their bytes together."""

    files: int
    bytes: int


def pack(bot: Bot, output: IO[bytes]) -> Contents:
    """Writes the files that are a hosted bot as a tar.gz, the same bytes for the same content.

    Raises:
        BotError: it cannot be part of an archive (arena.bots.version_store).
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


def unpack(parcel: Path, folder: Path) -> Contents:
    """Puts what is in a parcel into a folder that is empty.

    Raises:
        BotError: it is no parcel, holds what is no part of a bot, or too much of it. What has come
            out by then lies in the folder.
    """
    try:
        with parcel.open("rb") as packed, _Bounded(packed, parcel.stat().st_size) as raw:
            return _unpacked(raw, folder)
    except _BROKEN as error:
        raise BotError(
            f"this is no whole tar.gz ({_reason(error)}); `pokearena bot push` makes one."
        ) from None


def _unpacked(raw: _Bounded, folder: Path) -> Contents:
    files = size = 0
    folders: set[Path] = set()
    names = _Names()
    # What it reads of is not a whole file object, but has all that is used of one.
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
                    f"the parcel has more than {MOST_FILES} files or folders; that is the most."
                )
            if member.size < 0 or size > MOST_BYTES:
                raise BotError(_too_large())
            _write(tar, member, path)
    _check_end(raw)
    return Contents(files, size)


def _check_end(raw: _Bounded) -> None:
    """Read up to the checksum, and see that the archive ended where it says.

    For tarfile a header that is cut off or broken is the end of an archive, unless it is the first.
    """
    if raw.latest != bytes(tarfile.BLOCKSIZE):
        raise EOFError("it ends without an end mark")
    while piece := raw.read(_PIECE):
        if piece.strip(b"\0"):
            raise BotError("the parcel has data behind its end; pack it again.")


def _members(tar: tarfile.TarFile, raw: _Bounded) -> Iterator[tarfile.TarInfo]:
    count = 0
    while (member := raw.header(tar)) is not None:
        count += 1
        if len(tar.pax_headers) > _MOST_GLOBALS:
            raise BotError(f"the parcel has more than {_MOST_GLOBALS} values for all entries.")
        if count > _MOST_MEMBERS:
            raise BotError(f"the parcel has more than {_MOST_MEMBERS} entries.")
        # It remembers all members, which nobody needs.
        tar.members.clear()  # type: ignore[attr-defined]
        yield member


def _place(folder: Path, member: tarfile.TarInfo) -> Path:
    """Where a member comes to lie, if it may."""
    name = member.name
    shown = f'"{quote(name, 100)}"'
    if member.issparse() or member.type not in (
        tarfile.REGTYPE,
        tarfile.AREGTYPE,
        tarfile.DIRTYPE,
    ):
        raise BotError(
            f"{shown} in the parcel is {_kind(member)}; a bot is made of plain files, so put the "
            "file there."
        )
    parts = name.removeprefix("./").rstrip("/").split("/")
    if member.isdir() and name.strip("./") == "" and not name.startswith(("/", "..")):
        return folder
    try:
        encoded = [part.encode() for part in parts]
    except UnicodeEncodeError:
        raise BotError(f"{shown} in the parcel is a name that is not UTF-8; rename it.") from None
    if (
        any(part in ("", ".", "..") or not _is_visible(part) for part in parts)
        or any(len(part) > _NAME_BYTES for part in encoded)
        or len(name.encode()) > _PATH_BYTES
        or len(parts) > _DEEPEST
    ):
        raise BotError(
            f"{shown} in the parcel is no place within a bot's folder; paths are relative, of "
            "plain names, and not very long."
        )
    if member.mode & _PRIVILEGES and not member.isdir():
        raise BotError(
            f"{shown} in the parcel has the setuid or setgid bit; take it away with chmod ug-s."
        )
    return folder.joinpath(*parts)


def _is_visible(part: str) -> bool:
    return part.isprintable() and HIDDEN.isdisjoint(part)


class _Names:
    """The paths of an archive, to refuse two that are one on some file system.

    Those of macOS and Windows take names that differ only by case or Unicode form for the same.
    """

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def add(self, path: str) -> None:
        """Take a path and the folders it lies in.

        Raises:
            BotError: one of them differs from an earlier one by case or Unicode form alone.
        """
        parts = path.split("/")
        for count in range(1, len(parts) + 1):
            name = "/".join(parts[:count])
            same = self._known.setdefault(_folded(name), name)
            if same != name:
                raise BotError(
                    f'"{quote(same, 100)}" and "{quote(name, 100)}" differ only by case or '
                    "Unicode form, and are one file on some machines; rename one of them."
                )


def _folded(name: str) -> str:
    """Return the key under which Unicode matches names without regard to case (D146)."""
    decomposed = unicodedata.normalize("NFD", name)
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKD", decomposed.casefold()))


def _kind(member: tarfile.TarInfo) -> str:
    if member.issym() or member.islnk():
        return "a link"
    if member.isdev():
        return "a device or a pipe"
    return "of a kind that is not known here"


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    source = tar.extractfile(member)
    assert source is not None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Nothing is written twice: so nothing is written through anything either.
        with path.open("xb") as target:
            left = member.size
            while left:
                piece = source.read(min(_PIECE, left))
                if not piece:
                    raise EOFError("it ends within a file")
                left -= target.write(piece)
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        raise BotError(
            f'"{quote(member.name, 100)}" is in the parcel twice, or is a folder too.'
        ) from None
    path.chmod(0o755 if member.mode & 0o100 else 0o644)


class _Bounded:
    """What comes out of a gzip file, read forward only, and no more of it than is allowed."""

    def __init__(self, packed: IO[bytes], size: int) -> None:
        self._raw = gzip.GzipFile(fileobj=packed, mode="rb")
        self._most = min(_TAR_BYTES, max(MIB, MOST_RATIO * size))
        self._header_bytes: int | None = None
        self.latest = b""
        """What was read last."""

    def __enter__(self) -> _Bounded:
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()

    def header(self, tar: tarfile.TarFile) -> tarfile.TarInfo | None:
        """Read the next member of an archive; all its headers together are bounded."""
        self._header_bytes = _HEADERS
        try:
            return tar.next()
        finally:
            self._header_bytes = None

    def tell(self) -> int:
        return self._raw.tell()

    def seek(self, place: int) -> int:
        if place < self._raw.tell():
            raise BotError("the parcel has a header that leads backwards.")
        self._check(place)
        return self._raw.seek(place)

    def read(self, size: int) -> bytes:
        if not 0 <= size <= _HEAD:
            raise BotError(f"the parcel has a header of more than {_HEAD // 1024} KiB.")
        if self._header_bytes is not None:
            self._header_bytes -= size
            if self._header_bytes < 0:
                raise BotError(f"the parcel has an entry with {_HEADERS // 1024} KiB of headers.")
        self._check(self._raw.tell())
        self.latest = self._raw.read(size)
        return self.latest

    def _check(self, place: int) -> None:
        if place <= self._most:
            return
        if self._most == _TAR_BYTES:
            raise BotError(_too_large())
        raise BotError(
            f"the parcel would become more than {MOST_RATIO} times its size; files that compress "
            "so well are better made by the bot itself."
        )


def _too_large() -> str:
    most = MOST_BYTES // MIB
    return f"what is in the parcel is larger than {most} MiB; a bot has {most} MiB at the most."


def _reason(error: Exception) -> str:
    if isinstance(error, (ValueError, OverflowError)):
        # Python's own words for what a parser stumbled over mean nothing to an author.
        return "a header is not valid"
    return str(error).rstrip(".") or type(error).__name__
