"""A file system in memory for one bot: the folder of its socket and its scratch space.

Its size bounds what the bot stores, whether or not the files have names: files made with
``O_TMPFILE``, or removed while they are open, take room in it like all others. It is mounted in a
mount namespace of the bot's guard, so the kernel removes it with the last process of the
namespace, however that process ends. Other processes of the arena reach the socket through
``/proc/PID/root`` of the guard; a link in place of the socket folder leads there.
"""

from __future__ import annotations

import contextlib
import ctypes
import os

from arena.system import file_tree

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
MS_NOSUID, MS_NODEV = 2, 4
MS_REC, MS_SLAVE = 1 << 14, 1 << 19
MNT_DETACH = 2
SPARE_BYTES = 8 << 20
"""Bytes above the limit, so that the guard can see that a bot exceeds its limit."""
SPARE_FILES = 4
"""Times the limit on files and folders that there is room for, for the same reason."""
PAGE = 65536
"""Bytes; a multiple of the size of a page on every machine."""
MOUNT_POINT = ".disk"
"""Suffix of the mount point: its name begins with the name of the socket folder."""

_libc = ctypes.CDLL(None, use_errno=True)


class Disk:
    """The file system of one bot.

    Attributes:
        socket: the folder of the bot's socket, as this process and the bot's other processes
            outside of a sandbox see it.
        scratch: the scratch space.
    """

    def __init__(self, directory: str, size: int, files: int) -> None:
        """Prepare to mount.

        Args:
            directory: the socket folder as the rest of the arena knows it; an empty folder.
            size: bytes that the bot may store.
            files: files and folders it may have.
        """
        self._directory = directory
        self._size = size
        self._files = files
        self._root = mount_point(directory)
        self._base_files = 0
        self.socket = f"{self._root}/socket"
        self.scratch = f"{self._root}/tmp"

    def mount(self, uid: int | None) -> bool:
        """Mount it for a user, and put a link in place of the socket folder.

        Args:
            uid: the user that the bot runs as; None if it runs as ours.

        Returns:
            Whether that was possible; if not, nothing has changed but this process's namespaces.
        """
        try:
            _unshare_mounts()
            os.mkdir(self._root, 0o700)
            try:
                options = f"size={room(self._size)},nr_inodes={self._files * SPARE_FILES},mode=0711"
                _mount("tmpfs", self._root, "tmpfs", MS_NOSUID | MS_NODEV, options)
            except OSError:
                os.rmdir(self._root)
                raise
        except OSError:
            return False
        os.mkdir(self.socket, 0o700)
        os.mkdir(self.scratch)
        os.chmod(self.scratch, 0o1777)
        if uid is not None:
            os.chown(self.socket, uid, uid)
        self._base_files = self.used()[1]
        os.rmdir(self._directory)
        os.symlink(f"/proc/{os.getpid()}/root{self.socket}", self._directory)
        return True

    def used(self) -> tuple[int, int]:
        """Return the bytes and the number of files in use, those without names included."""
        status = os.statvfs(self._root)
        size = (status.f_blocks - status.f_bfree) * status.f_frsize
        return size, status.f_files - status.f_ffree - self._base_files

    def unmount(self) -> None:
        """Take it away when no process uses it any more."""
        _libc.umount2(os.fsencode(self._root), MNT_DETACH)
        remove_places(self._directory)


def room(size: int) -> int:
    """Return the size of a file system on which a bot may store `size` bytes, with the spare."""
    return (size + SPARE_BYTES) // PAGE * PAGE


def mount_point(directory: str) -> str:
    """Return where the file system of the bot with this socket folder is mounted."""
    return directory + MOUNT_POINT


def remove_places(directory: str) -> None:
    """Remove the socket folder, or the link in its place, and the mount point."""
    file_tree.remove(directory)
    file_tree.remove(mount_point(directory))


def _unshare_mounts() -> None:
    """Move this process into a mount namespace, for which users other than root need one for users.

    Raises:
        OSError: the kernel refuses it.
    """
    uid, gid = os.geteuid(), os.getegid()
    if uid == 0:
        _checked(_libc.unshare(CLONE_NEWNS), "unshare")
    else:
        _checked(_libc.unshare(CLONE_NEWUSER | CLONE_NEWNS), "unshare")
        for file, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{uid} {uid} 1"),
            ("gid_map", f"{gid} {gid} 1"),
        ):
            with open(f"/proc/self/{file}", "w") as target:
                target.write(text)
    # Mounts made here are invisible outside; mounts removed outside are removed here too.
    _mount(None, "/", None, MS_REC | MS_SLAVE, None)


def _mount(
    source: str | None, target: str, kind: str | None, flags: int, options: str | None
) -> None:
    words = [None if word is None else word.encode() for word in (source, kind, options)]
    result = _libc.mount(words[0], os.fsencode(target), words[1], ctypes.c_ulong(flags), words[2])
    _checked(result, "mount")


def _checked(result: int, call: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")


def nameless_bytes(processes: list[int], folders: list[str]) -> int:
    """Return the bytes of files without names that processes keep open on the disks of folders.

    Where a bot writes to a folder of the machine, as a build does, nothing else counts them.
    """
    devices = set()
    for folder in folders:
        with contextlib.suppress(OSError):
            devices.add(os.stat(folder).st_dev)
    sizes: dict[tuple[int, int], int] = {}
    for pid in processes:
        with contextlib.suppress(OSError):
            for number in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    status = os.stat(f"/proc/{pid}/fd/{number}")
                    if status.st_nlink == 0 and status.st_dev in devices:
                        sizes[status.st_dev, status.st_ino] = status.st_blocks * 512
    return sum(sizes.values())
