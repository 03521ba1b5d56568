"""Sandbox of one bot: its control group, user id, private directory and isolation."""

from __future__ import annotations

import errno
import os
import resource
import signal

from arena.bots.sandbox import landlock, linux, machine_files, memory_disk, private_root, view
from arena.bots.sandbox.bubblewrap import bubblewrap_command
from arena.bots.sandbox.cgroup import Cgroup
from arena.bots.sandbox.memory_disk import Disk
from arena.bots.sandbox.start_command import BUBBLEWRAP, UNSANDBOXED, StartCommand
from arena.bots.sandbox.system_files import SYSTEM, settings
from arena.bots.sandbox.user_ids import UserId, become
from arena.system import file_tree

OWN_PROCESSES = 16
"""Number of processes of the sandbox itself."""


def copy_of(directory: str) -> str:
    """Return the folder for a copy of a bot's files, used if its user cannot read the originals."""
    return f"{directory}-files"


def check_reachable(path: str) -> None:
    """Check that other users may enter the folders of a path that a bot must read.

    Raises:
        PermissionError: they may not; the text gives the remedy.
    """
    if not linux.is_reachable(path):
        raise PermissionError(
            errno.EACCES,
            f"other users may not enter a folder above {path}, and this machine does not allow "
            "mount namespaces; install Python and the arena outside of private folders, or run the "
            "arena as an ordinary user",
        )


class Sandbox:
    """Creates the isolation that a start command requests, and removes it at the end."""

    def __init__(self, start: StartCommand) -> None:
        self.start = start
        self.is_isolated = start.level != UNSANDBOXED
        self.uid: int | None = None
        self.user_id: UserId | None = None
        self.cgroup: Cgroup | None = None
        self.disk: Disk | None = None
        self.files = start.own
        """The bot's files: those of the start command, or a copy."""
        self.peak = 0
        """Peak memory in bytes; 0 if it is not counted for all processes together."""
        self.out_of_memory = False
        self.build_excess = ""
        """The limit that the files of an ended build exceed; values as of :meth:`excess`."""

    @property
    def has_view(self) -> bool:
        """Return whether the bot has its own view of the file system, in namespaces of its own."""
        return self.start.level == BUBBLEWRAP or self.disk is not None

    def prepare(self) -> None:
        """Create the control group, user id, file system and copy of the files.

        Raises:
            OSError: one of them cannot be created.
        """
        if not self.is_isolated:
            return
        limits = self.start.limits
        self.cgroup = Cgroup(limits["memory"], limits["processes"] + OWN_PROCESSES)
        self.user_id = UserId()
        self.uid = self.user_id.number
        self.mount_disk()
        if self.uid is not None:
            self.hand_over(self.uid)
        is_stored = self.start.place != self.start.own and not self.start.builds
        if self.disk is not None and is_stored:
            self.files = self.disk.nameless(self.files)

    def mount_disk(self) -> None:
        """Give the bot a separate file system, if this machine allows it."""
        start = self.start
        disk = Disk(start.directory, start.limits["scratch"], start.limits["files"])
        if disk.mount(self.uid):
            self.disk = disk
        elif start.level == BUBBLEWRAP:
            memory_disk.write_copies(start.directory)

    def hand_over(self, uid: int) -> None:
        """Give the bot's user its files, and make sure that it can reach all that it reads.

        Raises:
            OSError: it cannot, because other users may not enter a folder of the arena's Python.
        """
        start = self.start
        writable = () if self.disk is not None else (start.directory,)
        for path in (*writable, *start.write):
            file_tree.set_owner(path, uid)
        if not self.has_view:
            for path in start.read:
                check_reachable(path)
        if self.files not in ("", *start.write) and not self.can_read_files():
            self.files = f"{copy_of(start.directory)}/{os.path.basename(start.own)}"
            # All users can read the copy, but only the bot can enter its folder.
            os.mkdir(copy_of(start.directory), 0o700)
            file_tree.copy(start.own, self.files)
            os.chown(copy_of(start.directory), uid, uid)

    def enter(self) -> list[str]:
        """Sandbox this process and return the command to execute.

        With bubblewrap, that command completes the isolation.
        """
        start = self.start
        if not self.is_isolated:
            return start.argv
        if self.cgroup is not None:
            self.cgroup.enter()
        other_tasks = 0 if self.uid is not None else linux.tasks()
        linux.lower_limit(resource.RLIMIT_NPROC, other_tasks + start.limits["processes"])
        start.move(start.place if self.has_view else self.files)
        if self.has_view:
            start.env |= {"HOME": view.SCRATCH, "TMPDIR": view.SCRATCH}
        if start.level == BUBBLEWRAP:
            return bubblewrap_command(start, self.uid, self.entries())
        self.isolate()
        return start.argv

    def entries(self) -> list[view.Entry]:
        """Return what the bot sees of the file system."""
        copies = memory_disk.copies(self.start.directory)
        return view.entries(self.start, self.files, self.disk, copies)

    def can_read_files(self) -> bool:
        """Return whether the bot's user can read its files in place."""
        if not self.has_view and not linux.is_reachable(self.files):
            return False
        return file_tree.is_readable_to_all(self.files)

    def isolate(self) -> None:
        """Sandbox this process with its own root if possible, with Landlock and with seccomp."""
        start = self.start
        if self.has_view:
            root = memory_disk.view_root(start.directory)
            entries = self.entries()
            copies = os.listdir(memory_disk.copies(start.directory))
            private_root.enter(root, entries, network=start.network)
            # The /proc of root's bots hides the processes of other users.
            own_files = ["/proc/self", *(f"/proc/{name}" for name in copies)]
            live = ["/proc"] if self.uid is not None else own_files
            files = start.place
            writable = [view.SCRATCH, start.directory, view.SHARED_MEMORY]
            listed = [entry.path for entry in entries if entry.kind == view.FOLDER]
        else:
            live, listed, files = list(machine_files.LIVE), start.listed, self.files
            writable = [start.directory]
        os.chdir(start.cwd)
        visible = settings(builds=start.builds, network=start.network)
        readable = [*start.system, *SYSTEM, *visible, *start.read, files]
        if start.builds:
            writable.append(files)
        rules = landlock.enclosure(readable, live, listed, writable)
        if self.uid is not None:
            become(self.uid)
            # A change of the user clears the parent-death signal.
            linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        else:
            landlock.drop_capabilities()
        rules.close_behind()
        landlock.filter_calls(locks=start.builds, own_files=self.uid is not None or self.has_view)

    def excess(self, bot: int) -> str:
        """Return the limit that the bot exceeds; empty if none.

        The value is a key of ``arena.bots.exit_report.EXCESS``.
        """
        if not self.is_isolated:
            return ""
        if self.cgroup is not None and self.cgroup.out_of_memory():
            # The kernel may have killed only a process without which the others continue.
            return "memory"
        limits = self.start.limits
        try:
            size, files = self.stored(bot)
        except file_tree.TreeTooLarge as error:
            return _exceeded(error)
        except PermissionError:
            return "hidden"
        if size > limits["scratch"]:
            return "scratch"
        return "files" if files > limits["files"] else ""

    def stored(self, bot: int) -> tuple[int, int]:
        """Return the bytes and the number of the files that the bot has written.

        Raises:
            TreeTooLarge: there are too many files, or folders are nested too deeply.
            PermissionError: the bot has removed the read permission of a folder.
        """
        start = self.start
        size = files = 0
        folders = list(start.write)
        if self.disk is not None:
            size, files = self.disk.used()
        else:
            folders.append(start.directory)
            if start.level == BUBBLEWRAP:
                capacity = memory_disk.room(start.limits["scratch"])
                size, files = linux.used_on_mount(bot, view.SCRATCH, capacity)
        for path in folders:
            more_size, more_files = file_tree.measure(path, start.limits["files"])
            size, files = size + more_size, files + more_files
        if folders:
            size += memory_disk.nameless_bytes(linux.descendants(os.getpid()), folders)
        return size, files

    def groups_to_stop(self, bot: int) -> list[int]:
        """Return the process groups to send SIGTERM to."""
        # SIGTERM would end bubblewrap itself, and with it the bot at once.
        return linux.children(bot) if self.start.level == BUBBLEWRAP else [bot]

    def remove(self) -> None:
        """Read the resource usage and remove everything, after the bot's processes have ended."""
        if self.user_id is not None:
            self.user_id.kill_processes()
        if self.cgroup is not None:
            self.peak = self.cgroup.peak()
            self.out_of_memory = self.cgroup.out_of_memory()
            self.cgroup.drop_page_cache()
            self.cgroup.remove()
        if self.user_id is not None:
            self.user_id.release()
        if self.uid is not None:
            for path in self.start.write:
                try:
                    file_tree.set_owner(path, os.geteuid())
                except file_tree.TreeTooLarge as error:
                    self.build_excess = _exceeded(error)
        if self.disk is not None:
            self.disk.unmount()
        memory_disk.remove_places(self.start.directory)
        file_tree.remove(copy_of(self.start.directory))

    def was_killed(self, status: int | None) -> bool:
        """Return whether the sandbox itself was killed, which a process inside cannot do.

        The bot is in a separate process namespace below bubblewrap. When a signal ends the bot,
        bubblewrap exits with a status. A signal that ends bubblewrap came from outside.
        """
        return status is not None and self.start.level == BUBBLEWRAP and os.WIFSIGNALED(status)

    def bot_status(self, status: int) -> int:
        """Convert the wait status of the started process to that of the bot."""
        code = os.waitstatus_to_exitcode(status)
        if self.start.level == BUBBLEWRAP and code > 128:
            # Bubblewrap reports a signal as 128 + its number.
            return code - 128
        return status


def _exceeded(error: file_tree.TreeTooLarge) -> str:
    """Return the limit that a tree exceeds, as a key of ``arena.bots.exit_report.EXCESS``."""
    return "depth" if error.bound == "depth" else "files"
