"""A filter of system calls, as the program that the kernel runs before each call (seccomp(2)).

The program is classic BPF, put together here since the packages that do it need a library of the
system. It lets everything through but what is listed in `calls`: a bot may be any program in any
language, so a list of what is allowed would be a list of what today's runtimes happen to use.
"""

from __future__ import annotations

import errno
import os
import struct

# The system calls a sandboxed bot is refused, by name, with their numbers.
#
# A name maps to its number on x86-64 and on aarch64; None where the machine has no such call.


Numbers = dict[str, tuple[int, int | None]]

MACHINES = ("x86_64", "aarch64")
"""Which number is whose."""

BOTH: Numbers = {
    # Other processes: their memory, descriptors and pages.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    # Mounts, namespaces and handles that lead around them.
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
    # Keyrings are shared by all processes of a user, across namespaces.
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # Large parts of the kernel that no bot needs.
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
    # The machine: its clock, names, disks and ports.
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
    # Two bots read the same files of the system: who watches or locks one would tell the other.
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
}
"""Refused at every level, with "operation not permitted"."""

SHARED: Numbers = {
    # What namespaces keep apart: messages, semaphores and memory of System V and POSIX.
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
    # Sockets with a path are not closed by Landlock: a bot is asked, and asks nobody.
    "connect": (42, 203),
    # Nor is what is noted of a file beside its content.
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
    # How much of the processor others get.
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
}
"""Refused as well where there are no namespaces."""

ABSENT: Numbers = {
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    # These show or change the content of the page cache. A kernel may be built without them,
    # so programs do without them.
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
    # Its flags lie in memory, where a filter cannot look; who finds it absent uses clone.
    "clone3": (435, 435),
}
"""Said not to exist: programs that try these do without."""

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
"""Those whose arguments decide."""


TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

LOAD = 0x20
"""Take the 32-bit word at an offset of what is known of the call."""
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
"""Calls of the other ABI of x86-64, whose numbers begin here."""

AF_UNIX, AF_INET, AF_INET6 = 1, 2, 10
DATAGRAM = 2
"""A bit of the numbers of datagram and raw sockets that those of streams and packets lack."""
NEW_NAMESPACES = 0x7E020000
"""The flags of clone that ask for a namespace of any kind."""
LOCKS = (5, 6, 7, 36, 37, 38, 1024, 1025, 1026)
"""fcntl: POSIX and open-file-description locks, leases, and news of directories."""
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
PAGE_CACHE_ADVICE = (3, 20, 21, 22, 25, 100, 101)
"""madvise: WILLNEED, COLD, PAGEOUT, POPULATE_READ, COLLAPSE, HWPOISON and SOFT_OFFLINE, which move
pages of files into the cache or out of it; and MERGEABLE below, by which equal pages show."""
MERGEABLE = 12
MAP_NONBLOCK = 0x10000
"""mmap: map only what the page cache holds."""
QUERY = 0xFFFFFFFF
"""personality: what is it now?"""


def program(*, namespaces: bool, locks: bool = False, machine: str = "") -> bytes:
    """The filter for this machine, or another; ``namespaces``: whether the bot has its own;
    ``locks``: whether it may lock files, which others that read the same would notice.

    With namespaces of its own a bot may use internet sockets, which lead nowhere but to itself.

    Raises:
        OSError: there is no filter for this kind of machine.
    """
    machine = machine or os.uname().machine
    if machine not in ARCHITECTURES:
        raise OSError(errno.ENOSYS, f"there is no filter of system calls for {machine}")
    return _Program(machine).all(namespaces, locks)


class _Program:
    def __init__(self, machine: str) -> None:
        self.machine = machine
        self.which = MACHINES.index(machine)
        self.code: list[bytes] = []

    def all(self, namespaces: bool, locks: bool) -> bytes:
        self.guard()
        refused = dict(BOTH) if namespaces else {**BOTH, **SHARED}
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
            # With these one can write to any socket that has a path, without connecting to it.
            self.refuse_if("socket", 1, ANY_OF, (DATAGRAM,), errno.EPERM)
            self.refuse_if("socketpair", 1, ANY_OF, (DATAGRAM,), errno.EPERM)
            # Of others: limits of a process of one's own uid can be set from elsewhere.
            self.refuse_unless("prlimit64", 0, (0,), errno.EPERM)
        self.add(RETURN, ALLOW)
        return b"".join(self.code)

    def refuse_page_cache(self) -> None:
        """Refuse the calls that show or change which pages of a file the page cache holds.

        A process could leave a mark there that a later one reads. What allocators advise on their
        own memory (DONTNEED, FREE, HUGEPAGE and others) stays allowed.
        """
        self.refuse_unless("preadv2", 5, (0,), errno.EOPNOTSUPP)
        self.refuse_unless("pwritev2", 5, (0,), errno.EOPNOTSUPP)
        self.refuse_if("madvise", 2, EQUAL, (*PAGE_CACHE_ADVICE, MERGEABLE), errno.EINVAL)
        self.refuse_if("mmap", 3, ANY_OF, (MAP_NONBLOCK,), errno.EINVAL)

    def add(self, code: int, value: int, yes: int = 0, no: int = 0) -> None:
        """One instruction; ``yes`` and ``no`` say how many are skipped."""
        self.code.append(struct.pack("=HBBI", code, yes, no, value))

    def guard(self) -> None:
        """Ends whoever calls by another ABI, where the numbers mean other things."""
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
        """Refuses a call of which an argument meets the test with any of the values."""
        tests = list(values)
        self.asked(name, argument, 2 * len(tests))
        for value in tests:
            self.add(test, value, no=1)
            self.add(RETURN, FAIL | why)
        self.add(LOAD, NUMBER)

    def refuse_unless(self, name: str, argument: int, values: Iterable[int], why: int) -> None:
        """Refuses a call unless an argument is one of the values."""
        allowed = list(values)
        self.asked(name, argument, len(allowed) + 1)
        for left, value in zip(range(len(allowed), 0, -1), allowed, strict=True):
            self.add(EQUAL, value, yes=left)
        self.add(RETURN, FAIL | why)
        self.add(LOAD, NUMBER)

    def asked(self, name: str, argument: int, length: int) -> None:
        """Skips what follows for other calls, and takes the argument of this one."""
        number = ASKED[name][self.which]
        assert number is not None
        self.add(EQUAL, number, no=length + 2)
        self.add(LOAD, FIRST_ARGUMENT + 8 * argument)
