"""Generate a system call filter, the program that the kernel runs before each call (seccomp(2)).

The program is classic BPF, generated here because the existing packages require a system library.
It allows all calls except those listed below. A bot may be any program in any language, so an allow
list would only contain the calls of today's runtimes.
"""

from __future__ import annotations

import errno
import os
import struct

# Refused system calls by name, with their numbers.
#
# The numbers are those of x86-64 and aarch64; None if the machine does not have the call.


Numbers = dict[str, tuple[int, int | None]]

MACHINES = ("x86_64", "aarch64")
"""Machine of each number."""

BOTH: Numbers = {
    # Access to other processes: their memory, descriptors and pages.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    # Mounts, namespaces, and handles that bypass them.
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # All processes of a user share keyrings, across namespaces.
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # Large parts of the kernel that bots do not need.
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "memfd_secret": (447, 447),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "lookup_dcookie": (212, 18),
    "modify_ldt": (154, None),
    "uselib": (134, None),
    "nfsservctl": (180, 42),
    # The machine: its clock, names, disks and I/O ports.
    "iopl": (172, None),
    "ioperm": (173, None),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "syslog": (103, 116),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "vhangup": (153, 58),
    # Two bots read the same system files: watching or locking them would be a covert channel.
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
}
"""Refused at every level, with EPERM."""

SHARED: Numbers = {
    # Messages, semaphores and memory of System V and POSIX, which namespaces would separate.
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    # Landlock does not restrict sockets with a path. A bot is a server and need not connect.
    "connect": (42, 203),
    # Landlock does not restrict the metadata of files either.
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "lchown": (94, None),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    # Scheduling: it affects the processor time of other processes.
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
}
"""Also refused without namespaces."""

ABSENT: Numbers = {
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    # These show or change the content of the page cache. Programs run without them, because a
    # kernel may be built without them.
    "fadvise64": (221, 223),
    "readahead": (187, 213),
    "cachestat": (451, 451),
    "mincore": (27, 232),
    "remap_file_pages": (216, 234),
    "process_madvise": (440, 440),
    "userfaultfd": (323, 282),
    "io_setup": (206, 0),
    "io_submit": (209, 2),
    "io_pgetevents": (333, 292),
    # Its flags are in memory, which a filter cannot read. Programs fall back to clone.
    "clone3": (435, 435),
}
"""Refused with ENOSYS: programs that try these fall back to other calls."""

ASKED: Numbers = {
    "fcntl": (72, 25),
    "flock": (73, 32),
    "clone": (56, 220),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "ioctl": (16, 29),
    "personality": (135, 92),
    "prlimit64": (302, 261),
    "preadv2": (327, 286),
    "pwritev2": (328, 287),
    "madvise": (28, 233),
    "mmap": (9, 222),
}
"""Calls that are refused depending on their arguments."""


TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

LOAD = 0x20
"""Load the 32-bit word at an offset of the call's seccomp_data."""
EQUAL = 0x15
AT_LEAST = 0x35
ANY_OF = 0x45
RETURN = 0x06

NUMBER = 0
ARCHITECTURE = 4
FIRST_ARGUMENT = 16

ALLOW = 0x7FFF0000
KILL = 0x80000000
FAIL = 0x00050000

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32 = 0x40000000
"""First number of the x32 ABI on x86-64."""

AF_UNIX, AF_INET, AF_INET6 = 1, 2, 10
DATAGRAM = 2
"""Bit set in the types of datagram and raw sockets, but not of stream and seqpacket sockets."""
NEW_NAMESPACES = 0x7E020000
"""Flags of clone that create a namespace of any kind."""
LOCKS = (5, 6, 7, 36, 37, 38, 1024, 1025, 1026)
"""fcntl: POSIX and open-file-description locks, leases and directory notifications."""
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
PAGE_CACHE_ADVICE = (3, 20, 21, 22, 25, 100, 101)
"""madvise: values that move pages of files into or out of the page cache.

WILLNEED, COLD, PAGEOUT, POPULATE_READ, COLLAPSE, HWPOISON and SOFT_OFFLINE. MERGEABLE below reveals
equal pages.
"""
MERGEABLE = 12
MAP_NONBLOCK = 0x10000
"""mmap: map only pages that are in the page cache."""
QUERY = 0xFFFFFFFF
"""personality: query the current value."""


def program(
    *, namespaces: bool, locks: bool = False, own_files: bool = False, machine: str = ""
) -> bytes:
    """Return the filter program for a machine.

    With namespaces, a bot may use internet sockets, because they connect only to itself.

    Args:
        namespaces: whether the bot has namespaces.
        locks: whether it may lock files; other readers of the files could detect this.
        machine: the architecture; default: that of this machine.

    Raises:
        OSError: the architecture is not supported.
    """
    machine = machine or os.uname().machine
    if machine not in ARCHITECTURES:
        raise OSError(errno.ENOSYS, f"there is no filter of system calls for {machine}")
    return _Program(machine).all(namespaces, locks, own_files)


class _Program:
    def __init__(self, machine: str) -> None:
        self.machine = machine
        self.which = MACHINES.index(machine)
        self.code: list[bytes] = []

    def all(self, namespaces: bool, locks: bool, own_files: bool) -> bytes:
        self.guard()
        refused = dict(BOTH) if namespaces else {**BOTH, **SHARED}
        if own_files:
            for name in list(refused):
                if "attr" in name or "chmod" in name or "chown" in name or "utim" in name:
                    refused.pop(name)
        self.refuse(refused, errno.EPERM)
        self.refuse(ABSENT, errno.ENOSYS)
        if not locks:
            self.refuse({"flock": ASKED["flock"]}, errno.ENOLCK)
            self.refuse_if("fcntl", 1, EQUAL, LOCKS, errno.ENOLCK)
        self.refuse_page_cache()
        self.refuse_if("ioctl", 1, EQUAL, (TIOCSTI, TIOCLINUX), errno.EPERM)
        self.refuse_if("clone", 0, ANY_OF, (NEW_NAMESPACES,), errno.EPERM)
        families = (AF_UNIX, AF_INET, AF_INET6) if namespaces else (AF_UNIX,)
        self.refuse_unless("socket", 0, families, errno.EAFNOSUPPORT)
        self.refuse_unless("socketpair", 0, (AF_UNIX,), errno.EAFNOSUPPORT)
        self.refuse_unless("personality", 0, (QUERY, 0), errno.EPERM)
        if not namespaces:
            # Datagram sockets can send to any socket with a path, without a connection.
            self.refuse_if("socket", 1, ANY_OF, (DATAGRAM,), errno.EPERM)
            self.refuse_if("socketpair", 1, ANY_OF, (DATAGRAM,), errno.EPERM)
            # Pid 0 is the caller: a process can set the limits of other processes with the same
            # uid.
            self.refuse_unless("prlimit64", 0, (0,), errno.EPERM)
        self.add(RETURN, ALLOW)
        return b"".join(self.code)

    def refuse_page_cache(self) -> None:
        """Refuse the calls that show or change which pages of a file the page cache holds.

        A process could leave data there for a later one. Advice of allocators on their own memory
        (DONTNEED, FREE, HUGEPAGE and others) stays allowed.
        """
        self.refuse_unless("preadv2", 5, (0,), errno.EOPNOTSUPP)
        self.refuse_unless("pwritev2", 5, (0,), errno.EOPNOTSUPP)
        self.refuse_if("madvise", 2, EQUAL, (*PAGE_CACHE_ADVICE, MERGEABLE), errno.EINVAL)
        self.refuse_if("mmap", 3, ANY_OF, (MAP_NONBLOCK,), errno.EINVAL)

    def add(self, code: int, value: int, yes: int = 0, no: int = 0) -> None:
        """Append an instruction; ``yes`` and ``no`` are the numbers of instructions to skip."""
        self.code.append(struct.pack("=HBBI", code, yes, no, value))

    def guard(self) -> None:
        """Kill a process that uses another ABI, where the numbers have other meanings.

        For x32, calls fail with ENOSYS instead.
        """
        self.add(LOAD, ARCHITECTURE)
        self.add(EQUAL, ARCHITECTURES[self.machine], yes=1)
        self.add(RETURN, KILL)
        self.add(LOAD, NUMBER)
        if self.machine == "x86_64":
            self.add(AT_LEAST, X32, no=1)
            self.add(RETURN, FAIL | errno.ENOSYS)

    def refuse(self, named: dict[str, tuple[int, int | None]], why: int) -> None:
        for numbers in named.values():
            number = numbers[self.which]
            if number is not None:
                self.add(EQUAL, number, no=1)
                self.add(RETURN, FAIL | why)

    def refuse_if(
        self, name: str, argument: int, test: int, values: Iterable[int], why: int
    ) -> None:
        """Refuse a call if an argument passes the test with any of the values."""
        tests = list(values)
        self.asked(name, argument, 2 * len(tests))
        for value in tests:
            self.add(test, value, no=1)
            self.add(RETURN, FAIL | why)
        self.add(LOAD, NUMBER)

    def refuse_unless(self, name: str, argument: int, values: Iterable[int], why: int) -> None:
        """Refuse a call unless an argument is one of the values."""
        allowed = list(values)
        self.asked(name, argument, len(allowed) + 1)
        for left, value in zip(range(len(allowed), 0, -1), allowed, strict=True):
            self.add(EQUAL, value, yes=left)
        self.add(RETURN, FAIL | why)
        self.add(LOAD, NUMBER)

    def asked(self, name: str, argument: int, length: int) -> None:
        """Load the argument of this call; for other calls, skip the next `length` instructions."""
        number = ASKED[name][self.which]
        assert number is not None
        self.add(EQUAL, number, no=length + 2)
        self.add(LOAD, FIRST_ARGUMENT + 8 * argument)
