"""A filter of system calls, as the program that the kernel runs before each call (seccomp(2)).

The program is classic BPF, put together here since the packages that do it need a library of the
system. It lets everything through but what is listed in `calls`: a bot may be any program in any
language, so a list of what is allowed would be a list of what today's runtimes happen to use.
"""

from __future__ import annotations

import errno
import os
import struct

from arena.bots.keeper import calls

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
        self.which = calls.MACHINES.index(machine)
        self.code: list[bytes] = []

    def all(self, namespaces: bool, locks: bool) -> bytes:
        self.guard()
        refused = dict(calls.BOTH) if namespaces else {**calls.BOTH, **calls.SHARED}
        self.refuse(refused, errno.EPERM)
        self.refuse(calls.ABSENT, errno.ENOSYS)
        if not locks:
            self.refuse({"flock": calls.ASKED["flock"]}, errno.ENOLCK)
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
        number = calls.ASKED[name][self.which]
        assert number is not None
        self.add(EQUAL, number, no=length + 2)
        self.add(LOAD, FIRST_ARGUMENT + 8 * argument)
