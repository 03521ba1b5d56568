"""In-memory file system of one bot: the folder of its socket and its scratch space.

Its size limits the data that the bot stores. Files without names count as well: those created with
``O_TMPFILE``, and those removed while they are open. It is mounted in a mount namespace of the
bot's init process. The kernel therefore removes it with the last process of the namespace. Other
processes of the arena reach the socket through ``/proc/PID/root`` of the init process; the socket
folder is replaced by a link to it.
"""

from __future__ import annotations

import contextlib
import os

from arena.bots.sandbox import linux, machine_files
from arena.system import file_tree

SPARE_BYTES = 8 << 20
"""Bytes above the limit, so that the init process can detect that a bot exceeds its limit."""
SPARE_FILES = 4
"""Factor above the limit on files and folders, for the same reason."""
PAGE = 65536
"""Rounding unit in bytes; a multiple of the page size on every machine."""
COPIES, VIEW, OVERLAY, EMPTY = "proc", "view", "files", "empty"
"""Folders of the file system: copies of files of /proc, two mount points, and an empty one."""
MOUNT_POINT = ".disk"
"""Suffix of the mount point: its name is that of the socket folder with this suffix."""


class Disk:
    """The file system of one bot.

    Attributes:
        socket: the folder of the bot's socket, as seen by this process and by the bot's processes
            outside of a sandbox.
        scratch: the scratch space.
    """

    def __init__(self, directory: str, size: int, files: int) -> None:
        """Prepare to mount.

        Args:
            directory: the socket folder as seen by the rest of the arena; an empty folder.
            size: limit in bytes on the data that the bot stores.
            files: limit on files and folders.
        """
        self._directory = directory
        self._size = size
        self._files = files
        self._root = mount_point(directory)
        self._base = (0, 0)
        self.socket = f"{self._root}/socket"
        self.scratch = f"{self._root}/tmp"

    def mount(self, uid: int | None) -> bool:
        """Mount it for a user, and put a link in place of the socket folder.

        Args:
            uid: the user that the bot runs as; None if it runs as the current user.

        Returns:
            False if the mount is not possible; then at most this process's namespaces have changed.
        """
        try:
            _unshare_mounts()
            os.mkdir(self._root, 0o700)
            try:
                options = f"size={room(self._size)},nr_inodes={self._files * SPARE_FILES},mode=0711"
                linux.mount("tmpfs", self._root, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, options)
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
        machine_files.write_copies(copies(self._directory))
        os.mkdir(view_root(self._directory))
        for name in (OVERLAY, EMPTY):
            os.mkdir(f"{self._root}/{name}", 0o755)
        self._base = self.used()
        os.rmdir(self._directory)
        os.symlink(f"/proc/{os.getpid()}/root{self.socket}", self._directory)
        return True

    def nameless(self, folder: str) -> str:
        """Return a path that shows a folder, but not where it is.

        A bot reads in ``/proc/self/mountinfo`` which folder of a file system a mount shows. An
        overlay shows its own root instead, and its layers as they were named.

        Returns:
            The mount point of the overlay; the folder itself if the kernel refuses an overlay.
        """
        target, empty = f"{self._root}/{OVERLAY}", f"{self._root}/{EMPTY}"
        before = os.getcwd()
        try:
            os.chdir(folder)
            layers = f"lowerdir=.:{empty}"
            linux.mount("overlay", target, "overlay", linux.MS_NOSUID | linux.MS_NODEV, layers)
        except OSError:
            return folder
        finally:
            os.chdir(before)
        return target

    def used(self) -> tuple[int, int]:
        """Return the bytes and the number of files in use, including files without names."""
        status = os.statvfs(self._root)
        size = (status.f_blocks - status.f_bfree) * status.f_frsize
        return size - self._base[0], status.f_files - status.f_ffree - self._base[1]

    def unmount(self) -> None:
        """Unmount it and remove the folders; processes still using it keep it alive."""
        with contextlib.suppress(OSError):
            linux.unmount(self._root)
        remove_places(self._directory)


def room(size: int) -> int:
    """Return the size of a file system on which a bot may store `size` bytes, with the spare."""
    return (size + SPARE_BYTES) // PAGE * PAGE


def mount_point(directory: str) -> str:
    """Return the mount point of the file system for this socket folder."""
    return directory + MOUNT_POINT


def copies(directory: str) -> str:
    """Return the folder of the fixed copies of files of /proc for the bot of a socket folder."""
    return f"{mount_point(directory)}/{COPIES}"


def view_root(directory: str) -> str:
    """Return the mount point of the root that the bot of a socket folder sees."""
    return f"{mount_point(directory)}/{VIEW}"


def write_copies(directory: str) -> None:
    """Write the fixed copies of files of /proc for a bot without a separate file system.

    Raises:
        OSError: they cannot be written.
    """
    os.mkdir(mount_point(directory), 0o711)
    machine_files.write_copies(copies(directory))


def remove_places(directory: str) -> None:
    """Remove the socket folder, or the link in its place, and the mount point."""
    file_tree.remove(directory)
    file_tree.remove(mount_point(directory))


def _unshare_mounts() -> None:
    """Move this process into a mount namespace.

    Users other than root need a user namespace as well.
    """
    uid, gid = os.geteuid(), os.getegid()
    if uid == 0:
        linux.unshare(linux.CLONE_NEWNS)
    else:
        linux.unshare(linux.CLONE_NEWUSER | linux.CLONE_NEWNS)
        for file, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{uid} {uid} 1"),
            ("gid_map", f"{gid} {gid} 1"),
        ):
            with open(f"/proc/self/{file}", "w") as target:
                target.write(text)
    # Mounts made here are invisible outside; mounts removed outside are removed here too.
    linux.mount(None, "/", None, linux.MS_REC | linux.MS_SLAVE, None)


def nameless_bytes(processes: list[int], folders: list[str]) -> int:
    """Return the bytes of open files without names on the file systems of folders.

    A build writes to a folder of the machine, where these files are not counted otherwise.

    Args:
        processes: ids of the processes whose open files are counted.
        folders: the folders that select the file systems.
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
