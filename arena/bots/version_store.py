"""Version store: folders of hosted bots, named by content hash; the cache of fetched ones.

The content of a bot is the sorted relative paths of its files, with their bytes and their
executable bit. Excluded are:

- leftovers of tools: caches, virtual environments, version control;
- files that macOS and Windows add to folders and archives, also in the case of Windows
  (`Desktop.ini`);
- for a bot with build commands, folders that package managers fetch again.

If another file of the folder is the manifest, its text replaces the bot.toml.
"""

from __future__ import annotations

import contextlib
import fnmatch
import hashlib
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from arena.bots import manifest
from arena.bots.bot import Bot
from arena.bots.build import BUILD_SECONDS, Report, build
from arena.bots.resolver import fetched, from_folder, strangers
from arena.bots.sandbox.runtimes import check_program
from arena.errors import BotError
from arena.system import file_tree, private_files
from arena.system.beneath import read_beneath
from arena.system.file_tree import Entry, TreeTooLarge

MIB: Final = 1024 * 1024
MOST_BYTES: Final = 100 * MIB
MOST_FILES: Final = 5000
IGNORED: Final = frozenset(
    {
        "__pycache__",
        ".git",
        ".hg",
        ".svn",
        ".venv",
        "venv",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
        ".hypothesis",
        ".idea",
        ".vscode",
        ".pokearena",
        ".DS_Store",
    }
)
SYSTEM_FILES: Final = ("._*", "__macosx", "thumbs.db", "desktop.ini")
"""Patterns of files that systems add, in lower case.

They were content before; `is_content_of` still accepts stored versions with them.
"""
_NEW: Final = ".new-"
_STALE_SECONDS: Final = 86_400.0
FETCHED: Final = frozenset({"node_modules", "target"})
"""Folders that a build creates again."""


@dataclass(frozen=True, slots=True)
class File:
    """A file of a bot: its path in the folder, and its content or the folder that holds it."""

    path: str
    executable: bool
    source: Path | bytes

    @property
    def data(self) -> bytes:
        """The content. A file that a link has replaced since the walk is not read.

        Raises:
            BotError: the file cannot be read.
        """
        if isinstance(self.source, bytes):
            return self.source
        try:
            return read_beneath(self.source, self.path, MOST_BYTES)
        except OSError as error:
            raise BotError(
                f"{self.source / self.path} cannot be read: {error.strerror}.", code="unreadable"
            ) from None


def content_hash(bot: Bot) -> str:
    """Return the content hash of a hosted bot, 64 hexadecimal digits; empty for a remote one.

    Raises:
        BotError: a file is unreadable or not allowed, or the files are too many or too large.
    """
    if bot.manifest is None or bot.folder is None:
        return ""
    return bot.content or _hash(files_of(bot))


def is_content_of(folder: Path, digest: str) -> bool:
    """Return whether a folder has this content hash, also if files of systems are part of it.

    Raises:
        BotError: as `content_hash`.
    """
    bot = from_folder(folder)
    hashes = (_hash(files_of(bot, system_files=included)) for included in (False, True))
    return any(each == digest for each in hashes)


def is_system_file(name: str) -> bool:
    """Return whether macOS or Windows adds files and folders of this name."""
    return any(fnmatch.fnmatchcase(name.lower(), pattern) for pattern in SYSTEM_FILES)


def admit(
    bot: Bot,
    versions: Path,
    report: Report = lambda line: None,
    build_seconds: float = BUILD_SECONDS,
) -> Bot:
    """Copy a hosted bot into `versions`/HASH, build it there and return the copy as a bot.

    The folder appears atomically, complete and built. An existing content is neither copied nor
    built again. A version that only untrusted owners have sent gets a marker file beside its
    folder. `report` receives the progress of a trusted bot's build; `build_seconds` limits the
    build of an untrusted one.

    Raises:
        BotError: the bot cannot be stored, or its build failed.
    """
    if bot.manifest is None or bot.folder is None:
        raise BotError(f"{bot.label} is a remote bot; it has no files to keep.", code="remote-bot")
    check_program(bot)
    files = files_of(bot)
    digest = _hash(files)
    if not (versions / digest).is_dir():
        with fresh(versions) as copy:
            _copy(files, copy)
            # Hash the copy: the original folder may have changed meanwhile.
            copied = replace(bot, folder=copy, file=None, manifest_file=manifest.FILE)
            digest = _hash(files_of(copied))
            _open_up(copy)
            bot_manifest = manifest.read(copy)
            build(bot_manifest, copy, bot.trusted, report, build_seconds)
            _check_manifest(copy, bot_manifest.name, files)
            check_program(from_folder(copy, bot.label))
            if not bot.trusted:
                private_files.create_file(strangers(versions / digest))
            settle(copy, versions / digest)
    folder = versions / digest
    # A version added on this machine is never evicted from the cache.
    fetched(folder).unlink(missing_ok=True)
    if bot.trusted:
        strangers(folder).unlink(missing_ok=True)
    return from_folder(folder, bot.label, digest)


def _check_manifest(folder: Path, name: str, files: list[File]) -> None:
    """Check that a build has not changed the manifest: the content hash covers the old one."""
    old = next(file.data for file in files if file.path == manifest.FILE)
    try:
        is_same = read_beneath(folder, manifest.FILE, len(old)) == old
    except OSError:
        is_same = False
    if not is_same:
        raise BotError(
            f"{name} could not be built: the build changed {manifest.FILE}; let it write other "
            "files, and keep this one as it was added.",
            code="build-failed",
        )


def _open_up(folder: Path) -> None:
    """Let every user read the files: a sandboxed bot runs as a separate user."""
    try:
        file_tree.let_all_read(folder)
    except TreeTooLarge as error:
        raise BotError(f"the build left files that cannot be kept: {error}.") from None


def tidy(versions: Path) -> None:
    """Remove copies older than a day, left by processes that were killed during a copy or build.

    Raises:
        OSError: a copy cannot be removed.
    """
    for copy in versions.glob(f"{_NEW}*"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - copy.stat().st_mtime > _STALE_SECONDS:
                file_tree.remove(copy)


@contextlib.contextmanager
def fresh(versions: Path) -> Iterator[Path]:
    """Create a temporary folder to assemble a version; remove it at the end if it still exists.

    Raises:
        OSError: the folder cannot be created or removed.
    """
    private_files.create_folder(versions)
    copy = Path(tempfile.mkdtemp(prefix=_NEW, dir=versions))
    try:
        yield copy
    finally:
        file_tree.remove(copy)


def settle(copy: Path, place: Path) -> None:
    """Make an assembled version readable to every user and rename it to its final place.

    Raises:
        BotError: it has too many files, or folders that are nested too deeply.
        OSError: it cannot be renamed.
    """
    _open_up(copy)
    try:
        copy.rename(place)
    except OSError:
        # Another process may have stored the same content meanwhile.
        if not place.is_dir():
            raise


def files_of(bot: Bot, *, system_files: bool = False) -> list[File]:
    """Return the files in the content of a hosted bot, sorted by path.

    Args:
        bot: the bot.
        system_files: whether files that macOS and Windows add are content, as they were once.

    Raises:
        BotError: a file is unreadable or not allowed, or the files are too many or too large.
    """
    bot_manifest, folder = bot.manifest, bot.folder
    assert bot_manifest is not None
    assert folder is not None
    if bot.file is not None:
        text = manifest.render(bot_manifest).encode()
        files = [_file(folder, bot.file), File(manifest.FILE, False, text)]
    else:
        ignored = IGNORED | FETCHED if bot_manifest.build else IGNORED
        files = list(_walk(folder, ignored, system_files))
    if bot.manifest_file != manifest.FILE:
        files = [file for file in files if file.path != manifest.FILE]
        text = read_beneath(folder, bot.manifest_file, manifest.MOST_BYTES, links=True)
        files.append(File(manifest.FILE, False, text))
    return sorted(files, key=lambda file: file.path)


def _walk(folder: Path, ignored: frozenset[str], system_files: bool) -> Iterator[File]:
    def is_content(entry: Entry) -> bool:
        return entry.name not in ignored and (system_files or not is_system_file(entry.name))

    count, size = 0, 0
    try:
        for entry in file_tree.walk(folder, enter=is_content):
            if entry.is_folder or not is_content(entry) or entry.name.endswith(".pyc"):
                continue
            count, size = count + 1, size + entry.stat.st_size
            _check_bounds(folder, count, size)
            yield _file(folder, entry.path)
    except TreeTooLarge as error:
        raise BotError(f"{folder} cannot be a bot: {error}.") from None
    except OSError as error:
        raise BotError(f"{folder} cannot be read: {error.strerror}.") from None


def _check_bounds(root: Path, count: int, size: int) -> None:
    if count > MOST_FILES:
        raise BotError(
            f"{root} has more than {MOST_FILES} files; a bot has {MOST_FILES} at the most, so "
            "move what it does not need to play elsewhere.",
            code="too-many-files",
        )
    if size > MOST_BYTES:
        raise BotError(
            f"{root} is larger than {MOST_BYTES // MIB} MiB; a bot has {MOST_BYTES // MIB} MiB at "
            "the most, so move what it does not need to play elsewhere.",
            code="too-large",
        )


def _file(folder: Path, name: str) -> File:
    path = folder / name
    if path.is_symlink():
        raise BotError(
            f"{path} is a link; a bot is made of plain files, so put the file there.", code="link"
        )
    if not path.is_file():
        raise BotError(
            f"{path} is not a plain file; a bot is made of plain files.", code="not-a-plain-file"
        )
    if not os.access(path, os.R_OK):
        raise BotError(f"{path} cannot be read; give yourself the right to read it.")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise BotError(f"{path!r} has a name that is not UTF-8; rename it.") from None
    return File(name, bool(path.stat().st_mode & 0o100), folder)


def _hash(files: list[File]) -> str:
    total = hashlib.sha256()
    for file in files:
        data = file.data
        # The lengths precede the contents, so different lists cannot produce the same bytes.
        kind = "x" if file.executable else "-"
        total.update(f"{kind} {len(file.path.encode())} {len(data)}\n{file.path}\n".encode())
        total.update(data)
    return total.hexdigest()


def _copy(files: list[File], folder: Path) -> None:
    for file in files:
        target = folder / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.data)
        target.chmod(0o755 if file.executable else 0o644)
