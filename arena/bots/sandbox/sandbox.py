"""Sandbox of one bot: its user id, control group, private directory and isolation."""

from __future__ import annotations

import _socket
import contextlib
import errno
import fcntl
import os
import resource
import signal

from arena.bots.sandbox import landlock, linux, memory_disk, seccomp
from arena.bots.sandbox.cgroup import Cgroup
from arena.bots.sandbox.memory_disk import Disk, room
from arena.bots.sandbox.start_command import Order
from arena.system import file_tree

# User ids reserved for running bots.
#
# Only root can assign them. An id is reserved by binding an abstract socket with its name and by
# locking a byte in a file of the machine. The file is needed because abstract names are local to a
# network namespace. The kernel releases both when the process ends in any way. Therefore no two
# running bots of a machine have the same id, whatever their workers and networks.


FIRST = 58_000
"""Above the users of a system, below the range of dynamically created service users."""
COUNT = 1_000
LOCKS = "/run/pokearena-uids"
"""Lock file with one byte per id. Only root can write to it."""


class Uid:
    """A reserved user and group id; ``number`` is None if this process does not run as root."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.name: _socket.socket | None = None
        self.locks: int | None = None
        if os.geteuid() == 0:
            self.take()

    def take(self) -> None:
        """Reserve a free id.

        Raises:
            OSError: all ids are in use.
        """
        # Without a writable file system, as in some containers, only the abstract names are used.
        with contextlib.suppress(OSError):
            self.locks = os.open(LOCKS, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        start = int.from_bytes(os.urandom(4), "big")
        for step in range(COUNT):
            number = FIRST + (start + step) % COUNT
            name = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
            try:
                name.bind(f"\0pokearena-uid-{number}")
                if self.locks is not None:
                    fcntl.lockf(self.locks, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number - FIRST)
            except OSError:
                name.close()
                continue
            self.name = name
            self.number = number
            self.purge()
            return
        self.release()
        raise OSError(errno.EAGAIN, f"all {COUNT} user ids of bots are in use")

    def release(self) -> None:
        if self.name is not None:
            self.name.close()
            self.name = None
        if self.locks is not None:
            os.close(self.locks)
            self.locks = None

    def purge(self) -> None:
        """Kill all processes with this id."""
        if self.number is None:
            return
        pid = os.fork()
        if pid == 0:
            try:
                become(self.number)
                # One call reaches all of them, so they cannot fork meanwhile.
                os.kill(-1, signal.SIGKILL)
            finally:
                os._exit(0)
        os.waitpid(pid, 0)


def become(number: int) -> None:
    """Change this process permanently to that user and group."""
    os.setgroups([])
    os.setresgid(number, number, number)
    os.setresuid(number, number, number)


# The command line of bubblewrap: the visible files and the user (bwrap(1)).

SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Folders of programs and libraries; on most systems links into /usr."""
SETTINGS = (
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives"),
    *("/etc/localtime", "/etc/ssl/openssl.cnf", "/etc/nsswitch.conf"),
)
"""System settings that runtimes read; they do not identify the machine or its users."""
NETWORK = (
    *("/etc/resolv.conf", "/etc/hosts", "/etc/ssl", "/etc/pki", "/etc/ca-certificates"),
    "/etc/ca-certificates.conf",
)
"""Further settings for network access."""
BUILDS = ("/etc/maven",)
"""Further settings for builds."""
SCRATCH = "/tmp"
SETPRIV = "/usr/bin/setpriv"
SHM = 16 * 1024 * 1024
"""Size of /dev/shm in bytes."""


def command(order: Order, uid: int | None, files: str, disk: Disk | None) -> list[str]:
    """Return the command that runs the bot in a sandbox.

    Detailed arguments go through a pipe. Otherwise they would be visible in the sandbox as the
    command line of its first process. Bubblewrap inherits the pipes and closes them.

    Args:
        order: the start command.
        uid: the bot's user; None if it runs as the current user.
        files: the bot's files, or a copy of them.
        disk: the bot's file system, if it has one.
    """
    details = _piped("\0".join(_details(order, uid, files, disk)).encode())
    calls = _piped(seccomp.program(namespaces=True, locks=order.builds))
    words = [order.bwrap, "--args", str(details), "--seccomp", str(calls), "--"]
    return [*words, *_as_user(uid), *order.argv]


def _as_user(uid: int | None) -> list[str]:
    if uid is None:
        return []
    user = [f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
    return [SETPRIV, *user, "--inh-caps=-all", "--bounding-set=-all", "--"]


def _details(order: Order, uid: int | None, files: str, disk: Disk | None) -> list[str]:
    words = ["--die-with-parent", "--new-session", "--chdir", order.cwd]
    if not order.network:
        words += ["--unshare-net"]
    words += ["--unshare-pid", "--unshare-ipc", "--unshare-uts"]
    words += ["--unshare-cgroup-try", "--hostname", "bot"]
    if uid is None:
        words += ["--unshare-user"]
    else:
        words += ["--cap-drop", "ALL", *_kept("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")]
    words += _system((*(NETWORK if order.network else ()), *(BUILDS if order.builds else ())))
    if disk is not None:
        words += ["--bind", disk.scratch, SCRATCH]
    else:
        words += [
            "--size",
            str(room(order.limits["scratch"])),
            "--perms",
            "1777",
            "--tmpfs",
            SCRATCH,
        ]
    places = {**{path: path for path in (*order.read, *order.write)}, order.own: files}
    for path in _parents({*places, order.directory}):
        words += ["--perms", "0755", "--dir", path]
    for path, source in sorted(places.items()):
        words += ["--bind" if path in order.write else "--ro-bind", source, path]
    socket = order.directory if disk is None else disk.socket
    words += ["--bind", socket, order.directory, "--remount-ro", "/"]
    for name, value in order.env.items():
        words += ["--setenv", name, value]
    return words


def _kept(*capabilities: str) -> list[str]:
    return [word for name in capabilities for word in ("--cap-add", name)]


def _system(more: tuple[str, ...]) -> list[str]:
    words = ["--ro-bind", "/usr", "/usr"]
    for path in SYSTEM:
        if os.path.islink(path):
            words += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            words += ["--ro-bind", path, path]
    shown = [*settings(), *filter(os.path.exists, more)]
    for path in _parents(set(shown)):
        words += ["--perms", "0755", "--dir", path]
    for path in shown:
        words += ["--ro-bind", path, path]
    words += ["--proc", "/proc", "--dev", "/dev"]
    words += ["--size", str(SHM), "--perms", "1777", "--tmpfs", "/dev/shm"]
    return [*words, "--remount-ro", "/dev"]


def _parents(paths: set[str]) -> list[str]:
    """Return all parent folders, highest first; bubblewrap would create them without access."""
    found: set[str] = set()
    for path in paths:
        while (path := os.path.dirname(path)) not in ("/", SCRATCH):
            found.add(path)
    return sorted(found)


def settings() -> list[str]:
    """Return the system settings that exist; a JVM has a folder named by its version."""
    javas = [f"/etc/{name}" for name in os.listdir("/etc") if name.startswith("java")]
    return [path for path in (*SETTINGS, *javas) if os.path.exists(path)]


def _piped(data: bytes) -> int:
    """Return the read end of a pipe that contains the data and is inherited across exec."""
    reading, writing = os.pipe()
    os.set_inheritable(reading, True)
    os.write(writing, data)
    os.close(writing)
    return reading


UNSANDBOXED = "unsandboxed"
BUBBLEWRAP = "bubblewrap"
SOME = 16
"""Number of processes of the sandbox itself."""


def copy_of(directory: str) -> str:
    """Return the folder for a copy of a bot's files, used if its user cannot read the originals."""
    return f"{directory}-files"


class Cell:
    """Creates the isolation that a start command requests, and removes it at the end."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.locked = order.level != UNSANDBOXED
        self.uid: int | None = None
        self.owner: Uid | None = None
        self.cgroup: Cgroup | None = None
        self.disk: Disk | None = None
        self.files = order.own
        """The bot's files: those of the start command, or a copy."""
        self.peak = 0
        """Peak memory in bytes; 0 if it is not counted for all processes together."""
        self.out_of_memory = False
        self.left_too_much = ""
        """The limit that the files of an ended build exceed; values as of :meth:`excess`."""

    def prepare(self) -> None:
        """Create the control group, user id, file system and copy of the files.

        Raises:
            OSError: one of them cannot be created.
        """
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
                # All users can read the copy, but only the bot can enter its folder.
                os.mkdir(copy_of(self.order.directory), 0o700)
                file_tree.copy(self.order.own, self.files)
                os.chown(copy_of(self.order.directory), self.uid, self.uid)

    def mount_disk(self) -> None:
        """Give the bot a separate file system, if this machine allows it."""
        order = self.order
        if order.level != BUBBLEWRAP and self.uid is None:
            return
        own_disk = Disk(order.directory, order.limits["scratch"], order.limits["files"])
        if not own_disk.mount(self.uid):
            return
        self.disk = own_disk
        if order.level != BUBBLEWRAP:
            # Bubblewrap mounts the folder at its usual path; here the bot needs the real path.
            for name in ("POKEARENA_ADDRESS", "HOME", "TMPDIR"):
                order.env[name] = order.env[name].replace(order.directory, own_disk.socket, 1)

    def lock_in(self) -> list[str]:
        """Sandbox this process and return the command to execute.

        With bubblewrap, that command completes the isolation.
        """
        order = self.order
        if not self.locked:
            return order.argv
        if self.cgroup is not None:
            self.cgroup.enter()
        others = 0 if self.uid is not None else linux.tasks()
        linux.lower(resource.RLIMIT_NPROC, others + order.limits["processes"])
        if order.level == BUBBLEWRAP:
            return command(order, self.uid, self.files, self.disk)
        self.enclose()
        return order.argv

    def can_read_its_own(self) -> bool:
        """Return whether the bot's user can read its files in place."""
        if self.order.level != BUBBLEWRAP and not linux.is_reachable(self.files):
            return False
        return file_tree.is_readable_to_all(self.files)

    def enclose(self) -> None:
        """Sandbox this process with Landlock and seccomp."""
        order = self.order
        self.move_to_copy()
        readable = ["/usr", *SYSTEM, *settings(), *order.read, self.files]
        socket = order.directory if self.disk is None else self.disk.socket
        rules = landlock.enclosure(readable, order.listed, [socket, *order.write])
        if self.uid is not None:
            become(self.uid)
            # A change of the user clears the parent-death signal.
            linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        elif os.geteuid() == 0:
            landlock.drop_capabilities()
        rules.close_behind()
        landlock.filter_calls(locks=order.builds)

    def move_to_copy(self) -> None:
        """Change to the folder of the copied files, if they were copied."""
        order = self.order
        if self.files == order.own:
            return
        is_folder = os.path.isdir(self.files)
        os.chdir(self.files if is_folder else os.path.dirname(self.files))
        program = order.argv[0]
        if program.startswith(f"{order.cwd}/"):
            order.argv[0] = f"{os.getcwd()}{program.removeprefix(order.cwd)}"

    def excess(self, bot: int) -> str:
        """Return the limit that the bot exceeds; empty if none.

        The value is a key of ``arena.bots.exit_report.EXCESS``.
        """
        if not self.locked:
            return ""
        if self.cgroup is not None and self.cgroup.out_of_memory():
            # The kernel may have killed only a process without which the others continue.
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
            TreeTooLarge: there are too many files, or folders are nested too deeply.
            PermissionError: the bot has removed the read permission of a folder.
        """
        order = self.order
        size = files = 0
        named = list(order.write)
        if self.disk is not None:
            size, files = self.disk.used()
        else:
            named.append(order.directory)
            if order.level == BUBBLEWRAP:
                room = memory_disk.room(order.limits["scratch"])
                size, files = linux.filled(bot, SCRATCH, room)
        for path in named:
            more_size, more_files = file_tree.measure(path, order.limits["files"])
            size, files = size + more_size, files + more_files
        if named:
            size += memory_disk.nameless_bytes(linux.descendants(os.getpid()), named)
        return size, files

    def ask_to_end(self, bot: int) -> list[int]:
        """Return the process groups to send SIGTERM to."""
        # SIGTERM would end bubblewrap itself, and with it the bot at once.
        return linux.children(bot) if self.order.level == BUBBLEWRAP else [bot]

    def take_away(self) -> None:
        """Read the resource usage and remove everything, after the bot's processes have ended."""
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
        memory_disk.remove_places(self.order.directory)
        file_tree.remove(copy_of(self.order.directory))

    def was_killed(self, status: int | None) -> bool:
        """Return whether the sandbox itself was killed, which a process inside cannot do.

        The bot is in a separate process namespace below bubblewrap. When a signal ends the bot,
        bubblewrap exits with a status. A signal that ends bubblewrap came from outside.
        """
        return status is not None and self.order.level == BUBBLEWRAP and os.WIFSIGNALED(status)

    def status(self, status: int) -> int:
        """Convert the wait status of the started process to that of the bot."""
        code = os.waitstatus_to_exitcode(status)
        if self.order.level == BUBBLEWRAP and code > 128:
            # Bubblewrap reports a signal as 128 + its number.
            return code - 128
        return status


def _exceeded(error: file_tree.TreeTooLarge) -> str:
    """Return the limit that a tree exceeds, as a key of ``arena.bots.exit_report.EXCESS``."""
    return "depth" if error.bound == "depth" else "files"
