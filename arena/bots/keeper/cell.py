"""What one bot has of its own while it lives: a user, a control group, a private directory."""

from __future__ import annotations

import os
import resource
import signal

from arena.bots import file_tree
from arena.bots.keeper import bubblewrap, disk, landlock, linux
from arena.bots.keeper.cgroup import Cgroup
from arena.bots.keeper.disk import Disk
from arena.bots.keeper.order import Order
from arena.bots.keeper.uids import Uid, become

UNSANDBOXED = "unsandboxed"
BUBBLEWRAP = "bubblewrap"
SOME = 16
"""Processes that the sandbox itself takes."""


def copy_of(directory: str) -> str:
    """Where the files of a bot are copied to whose user could not read them."""
    return f"{directory}-files"


class Cell:
    """Prepares what an order says the bot is to be locked into, and takes it away again."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.locked = order.level != UNSANDBOXED
        self.uid: int | None = None
        self.owner: Uid | None = None
        self.cgroup: Cgroup | None = None
        self.disk: Disk | None = None
        self.files = order.own
        """Where the bot's own files are: those in the order, or a copy."""
        self.peak = 0
        """Bytes of memory; 0 if nobody counts them together."""
        self.out_of_memory = False
        self.left_too_much = ""
        """The limit that the files left by an ended build exceed; values as of :meth:`excess`."""

    def prepare(self) -> None:
        """Raises OSError if something cannot be had."""
        if not self.locked:
            return
        limits = self.order.limits
        self.cgroup = Cgroup(limits["memory"], limits["processes"] + SOME)
        if self.order.level == BUBBLEWRAP or all(map(linux.is_reachable, self.order.read)):
            self.owner = Uid()
            self.uid = self.owner.number
        self.mount_disk()
        if self.uid is not None:
            written = () if self.disk is not None else (self.order.directory,)
            for path in (*written, *self.order.write):
                file_tree.give(path, self.uid)
            if self.files not in ("", *self.order.write) and not self.can_read_its_own():
                name = os.path.basename(self.order.own)
                self.files = f"{copy_of(self.order.directory)}/{name}"
                # Readable to all, but in a folder that the bot alone can enter.
                os.mkdir(copy_of(self.order.directory), 0o700)
                file_tree.copy(self.order.own, self.files)
                os.chown(copy_of(self.order.directory), self.uid, self.uid)

    def mount_disk(self) -> None:
        """Give the bot a file system of its own, where this machine allows it."""
        order = self.order
        if order.level != BUBBLEWRAP and self.uid is None:
            return
        own_disk = Disk(order.directory, order.limits["scratch"], order.limits["files"])
        if not own_disk.mount(self.uid):
            return
        self.disk = own_disk
        if order.level != BUBBLEWRAP:
            # Bubblewrap shows the folder at its usual path; here the bot needs the real one.
            for name in ("POKEARENA_ADDRESS", "HOME", "TMPDIR"):
                order.env[name] = order.env[name].replace(order.directory, own_disk.socket, 1)

    def lock_in(self) -> list[str]:
        """Locks this process in as far as that goes here; gives back the command that is then to
        be executed and does the rest."""
        order = self.order
        if not self.locked:
            return order.argv
        if self.cgroup is not None:
            self.cgroup.enter()
        others = 0 if self.uid is not None else linux.tasks()
        linux.lower(resource.RLIMIT_NPROC, others + order.limits["processes"])
        if order.level == BUBBLEWRAP:
            return bubblewrap.command(order, self.uid, self.files, self.disk)
        self.enclose()
        return order.argv

    def can_read_its_own(self) -> bool:
        """Whether the bot's user can read its files where they are."""
        if self.order.level != BUBBLEWRAP and not linux.is_reachable(self.files):
            return False
        return file_tree.is_readable_to_all(self.files)

    def enclose(self) -> None:
        """Locks this process in without bubblewrap."""
        order = self.order
        self.move_to_copy()
        readable = ["/usr", *bubblewrap.SYSTEM, *bubblewrap.settings(), *order.read, self.files]
        socket = order.directory if self.disk is None else self.disk.socket
        rules = landlock.enclosure(readable, order.listed, [socket, *order.write])
        if self.uid is not None:
            become(self.uid)
            # Whoever becomes somebody else loses it.
            linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        elif os.geteuid() == 0:
            landlock.drop_capabilities()
        rules.close_behind()
        landlock.filter_calls(locks=order.builds)

    def move_to_copy(self) -> None:
        """Has the bot run where its files are, if they had to be copied."""
        order = self.order
        if self.files == order.own:
            return
        is_folder = os.path.isdir(self.files)
        os.chdir(self.files if is_folder else os.path.dirname(self.files))
        program = order.argv[0]
        if program.startswith(f"{order.cwd}/"):
            order.argv[0] = f"{os.getcwd()}{program.removeprefix(order.cwd)}"

    def excess(self, bot: int) -> str:
        """Return which limit the bot exceeds: a key of ``arena.bots.report.EXCESS``, or nothing."""
        if not self.locked:
            return ""
        if self.cgroup is not None and self.cgroup.out_of_memory():
            # The kernel may have chosen a process without which the rest goes on.
            return "memory"
        limits = self.order.limits
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
            TreeTooLarge: there are too many, or folders are nested too deeply.
            PermissionError: the bot has taken away the right to read a folder.
        """
        order = self.order
        size = files = 0
        named = list(order.write)
        if self.disk is not None:
            size, files = self.disk.used()
        else:
            named.append(order.directory)
            if order.level == BUBBLEWRAP:
                room = disk.room(order.limits["scratch"])
                size, files = linux.filled(bot, bubblewrap.SCRATCH, room)
        for path in named:
            more_size, more_files = file_tree.measure(path, order.limits["files"])
            size, files = size + more_size, files + more_files
        if named:
            size += disk.nameless_bytes(linux.descendants(os.getpid()), named)
        return size, files

    def ask_to_end(self, bot: int) -> list[int]:
        """The process groups to which a request to end is to go."""
        # Bubblewrap would die of it itself, and take the bot along at once.
        return linux.children(bot) if self.order.level == BUBBLEWRAP else [bot]

    def take_away(self) -> None:
        """When no process of the bot is left: reads what it used, and removes everything."""
        if self.owner is not None:
            self.owner.purge()
        if self.cgroup is not None:
            self.peak = self.cgroup.peak()
            self.out_of_memory = self.cgroup.out_of_memory()
            self.cgroup.drop_page_cache()
            self.cgroup.remove()
        if self.owner is not None:
            self.owner.release()
        if self.uid is not None:
            for path in self.order.write:
                try:
                    file_tree.give(path, os.geteuid())
                except file_tree.TreeTooLarge as error:
                    self.left_too_much = _exceeded(error)
        if self.disk is not None:
            self.disk.unmount()
        disk.remove_places(self.order.directory)
        file_tree.remove(copy_of(self.order.directory))

    def was_killed(self, status: int | None) -> bool:
        """Return whether the sandbox itself was killed, which no process inside can do.

        The bot is in a process namespace of its own below bubblewrap. When a signal ends the bot,
        bubblewrap exits with a status; a signal that ends bubblewrap came from outside.
        """
        return status is not None and self.order.level == BUBBLEWRAP and os.WIFSIGNALED(status)

    def status(self, status: int) -> int:
        """The wait status of the bot, from that of the process we started."""
        code = os.waitstatus_to_exitcode(status)
        if self.order.level == BUBBLEWRAP and code > 128:
            # What bubblewrap makes of a signal.
            return code - 128
        return status


def _exceeded(error: file_tree.TreeTooLarge) -> str:
    """Return the limit that a tree exceeds, as a key of ``arena.bots.report.EXCESS``."""
    return "depth" if error.bound == "depth" else "files"
