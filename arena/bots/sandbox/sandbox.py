"""What one bot has of its own while it lives: a user, a control group, a private directory."""

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

# User ids of their own for bots, as long as they live.
#
# Only root can give them away. An id is taken by binding an abstract socket of its name, and by a
# lock in a file of the machine, for such names are those of one network: the kernel lets one
# process at a time do so, and gives both back when that process is gone, however it went. So no two
# live bots of a machine have one id, whichever workers they belong to, and whatever networks these
# are in.


FIRST = 58_000
"""Above the users of a system, below what is reserved for services that are made as they start."""
COUNT = 1_000
LOCKS = "/run/pokearena-uids"
"""One byte of it is locked for each id. Only root can write there."""


class Uid:
    """A user and group id that nobody else has; ``number`` is None where we are not root."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.name: _socket.socket | None = None
        self.locks: int | None = None
        if os.geteuid() == 0:
            self.take()

    def take(self) -> None:
        """Takes an id that is free.

        Raises:
            OSError: none is.
        """
        # Where nothing can be written, as in some containers, the names have to do.
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
        """Kills whatever runs under this id."""
        if self.number is None:
            return
        pid = os.fork()
        if pid == 0:
            try:
                become(self.number)
                # All at once: who is being killed cannot fork any more.
                os.kill(-1, signal.SIGKILL)
            finally:
                os._exit(0)
        os.waitpid(pid, 0)


def become(number: int) -> None:
    """Makes this process one of that user and group, for good."""
    os.setgroups([])
    os.setresgid(number, number, number)
    os.setresuid(number, number, number)


# The command line of bubblewrap: what a bot sees, and as whom it runs (bwrap(1)).


TYPE_CHECKING = False
if TYPE_CHECKING:
    from arena.bots.sandbox.memory_disk import Disk
    from arena.bots.sandbox.start_command import Order

SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Folders of programs and libraries, which are links into /usr on most systems."""
SETTINGS = (
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives"),
    *("/etc/localtime", "/etc/ssl/openssl.cnf", "/etc/nsswitch.conf"),
)
"""What runtimes read of the system's settings; nothing that says who and where this is."""
NETWORK = (
    *("/etc/resolv.conf", "/etc/hosts", "/etc/ssl", "/etc/pki", "/etc/ca-certificates"),
    "/etc/ca-certificates.conf",
)
"""What it takes besides to fetch something."""
BUILDS = ("/etc/maven",)
"""What it takes besides to build something."""
SCRATCH = "/tmp"
SETPRIV = "/usr/bin/setpriv"
SHM = 16 * 1024 * 1024
"""Bytes of /dev/shm."""


def command(order: Order, uid: int | None, files: str, disk: Disk | None) -> list[str]:
    """The command that runs the bot in a sandbox; ``files`` are its own, or a copy of them.

    What it says in detail goes through a pipe, so that it does not show in the sandbox as the
    command line of its first process. The pipes are inherited by bubblewrap, which closes them.
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
    """The folders above them, highest first: bubblewrap makes them for itself alone."""
    found: set[str] = set()
    for path in paths:
        while (path := os.path.dirname(path)) not in ("/", SCRATCH):
            found.add(path)
    return sorted(found)


def settings() -> list[str]:
    """The settings of the system that are there; a JVM keeps its own in a folder of its version."""
    javas = [f"/etc/{name}" for name in os.listdir("/etc") if name.startswith("java")]
    return [path for path in (*SETTINGS, *javas) if os.path.exists(path)]


def _piped(data: bytes) -> int:
    """The end of a pipe at which the data can be read, open in what is executed next."""
    reading, writing = os.pipe()
    os.set_inheritable(reading, True)
    os.write(writing, data)
    os.close(writing)
    return reading


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
            return command(order, self.uid, self.files, self.disk)
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
        readable = ["/usr", *SYSTEM, *settings(), *order.read, self.files]
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
        """Return which limit the bot exceeds: a key of ``arena.bots.exit_report.EXCESS``, or
        nothing."""
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
                room = memory_disk.room(order.limits["scratch"])
                size, files = linux.filled(bot, SCRATCH, room)
        for path in named:
            more_size, more_files = file_tree.measure(path, order.limits["files"])
            size, files = size + more_size, files + more_files
        if named:
            size += memory_disk.nameless_bytes(linux.descendants(os.getpid()), named)
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
        memory_disk.remove_places(self.order.directory)
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
    """Return the limit that a tree exceeds, as a key of ``arena.bots.exit_report.EXCESS``."""
    return "depth" if error.bound == "depth" else "files"
