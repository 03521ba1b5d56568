"""Landlock: files, ports and processes of others closed to a process by itself (landlock(7)).

It needs no privilege and no namespace, and holds for all that the process starts.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import struct

from arena.bots.sandbox import linux, seccomp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

CREATE, ADD, RESTRICT = 444, 445, 446
"""The numbers of its system calls, the same on every machine."""
VERSION = 1
BENEATH = 1
"""A rule about a file, or a folder and all in it."""

EXECUTE, WRITE, READ, LIST = 1 << 0, 1 << 1, 1 << 2, 1 << 3
TRUNCATE, IOCTL = 1 << 14, 1 << 15
OF_FILES = EXECUTE | WRITE | READ | TRUNCATE | IOCTL
"""What can be allowed for a single file; the rest is about folders."""
RIGHTS = {1: (1 << 13) - 1, 2: 1 << 13, 3: TRUNCATE, 5: IOCTL}
"""The rights to files that each version of Landlock has added."""
PORTS = 0b11
"""To bind and to connect by TCP: closed since version 4."""
OTHERS = 0b11
"""Abstract sockets and signals: closed since version 6."""

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
MACHINE = (
    *("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/version"),
    *("/proc/filesystems", "/proc/uptime", "/proc/sys", "/sys/devices/system/cpu"),
    "/sys/kernel/mm/transparent_hugepage",
)
"""What runtimes read about themselves and the machine. Other processes are not among it."""

PR_SET_SECCOMP, FILTER = 22, 2
PR_CAPBSET_DROP, PR_CAP_AMBIENT, CLEAR_ALL = 24, 47, 4
CAPABILITIES = 64
CAPABILITY_VERSION = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """Which version of Landlock the kernel has; 0 if none."""
    return max(0, int(_libc.syscall(CREATE, None, ctypes.c_size_t(0), VERSION)))


class Enclosure:
    """A set of rules: everything is closed but what is opened here."""

    def __init__(self) -> None:
        has = version()
        self.handled = sum(rights for since, rights in RIGHTS.items() if since <= has)
        words = [self.handled]
        if has >= 4:
            words.append(PORTS)
        if has >= 6:
            words.append(OTHERS)
        attributes = struct.pack(f"={len(words)}Q", *words)
        size = ctypes.c_size_t(len(attributes))
        self.rules = _checked(_libc.syscall(CREATE, attributes, size, 0), "landlock")

    def open(self, paths: Iterable[str], rights: int) -> None:
        """Opens those of the paths that are there."""
        for path in paths:
            with contextlib.suppress(FileNotFoundError):
                self.open_one(path, rights)

    def open_one(self, path: str, rights: int) -> None:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
                rights &= OF_FILES
            rule = struct.pack("=Qi", rights & self.handled, descriptor)
            _checked(_libc.syscall(ADD, self.rules, BENEATH, rule, 0), path)
        finally:
            os.close(descriptor)

    def close_behind(self) -> None:
        """Locks this process in, for good."""
        _checked(_libc.syscall(RESTRICT, self.rules, 0), "landlock")
        os.close(self.rules)


def enclosure(readable: Iterable[str], listed: Iterable[str], writable: Iterable[str]) -> Enclosure:
    """The rules for a bot that may read and write these paths besides the devices everybody has,
    and learn the names in some folders."""
    found = Enclosure()
    found.open(listed, LIST)
    found.open(readable, EXECUTE | READ | LIST)
    found.open(MACHINE, READ | LIST)
    found.open(DEVICES, READ | WRITE)
    found.open(writable, found.handled & ~IOCTL)
    return found


def filter_calls(*, locks: bool) -> None:
    """Has the kernel refuse system calls from now on."""
    program = seccomp.program(namespaces=False, locks=locks)
    kept = ctypes.create_string_buffer(program, len(program))
    whole = struct.pack("@HP", len(program) // 8, ctypes.addressof(kept))
    where = ctypes.c_char_p(whole)
    _checked(_libc.prctl(PR_SET_SECCOMP, FILTER, where, 0, 0), "seccomp")


def drop_capabilities() -> None:
    """Leaves nothing of what makes root more than a user, now and after what is executed next."""
    for capability in range(CAPABILITIES):
        with contextlib.suppress(OSError):
            linux.prctl(PR_CAPBSET_DROP, capability)
    with contextlib.suppress(OSError):
        linux.prctl(PR_CAP_AMBIENT, CLEAR_ALL)
    header = struct.pack("=Ii", CAPABILITY_VERSION, 0)
    _checked(_libc.capset(header, bytes(24)), "capset")


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result
