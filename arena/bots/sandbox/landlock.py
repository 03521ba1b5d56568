"""Landlock: a process restricts its own access to files, ports and other processes (landlock(7)).

It needs neither privileges nor namespaces, and child processes inherit the restrictions.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import struct

from arena.bots.sandbox import linux, seccomp
from arena.system.beneath import open_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

CREATE, ADD, RESTRICT = 444, 445, 446
"""System call numbers of Landlock, the same on every machine."""
VERSION = 1
BENEATH = 1
"""Type of a rule for a file, or for a folder and its content."""

EXECUTE, WRITE, READ, LIST = 1 << 0, 1 << 1, 1 << 2, 1 << 3
TRUNCATE, IOCTL = 1 << 14, 1 << 15
OF_FILES = EXECUTE | WRITE | READ | TRUNCATE | IOCTL
"""Rights that can be granted for a single file; the others apply to folders."""
RIGHTS = {1: (1 << 13) - 1, 2: 1 << 13, 3: TRUNCATE, 5: IOCTL}
"""File rights added by each version of Landlock."""
PORTS = 0b11
"""Binding and connecting by TCP: restricted since version 4."""
OTHERS = 0b11
"""Abstract sockets and signals: restricted since version 6."""

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

PR_SET_SECCOMP, FILTER = 22, 2
PR_CAPBSET_DROP, PR_CAP_AMBIENT, CLEAR_ALL = 24, 47, 4
CAPABILITIES = 64
CAPABILITY_VERSION = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """Return the kernel's version of Landlock; 0 if it is not available."""
    return max(0, int(_libc.syscall(CREATE, None, ctypes.c_size_t(0), VERSION)))


class Enclosure:
    """A set of rules that grant access; all other access is denied."""

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
        self.rules = linux.checked(_libc.syscall(CREATE, attributes, size, 0), "landlock")

    def open(self, paths: Iterable[str], rights: int) -> None:
        """Grant rights to those paths that exist."""
        for path in paths:
            with contextlib.suppress(FileNotFoundError):
                self.open_one(path, rights)

    def open_one(self, path: str, rights: int) -> None:
        descriptor = open_path(path)
        try:
            if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
                rights &= OF_FILES
            rule = struct.pack("=Qi", rights & self.handled, descriptor)
            linux.checked(_libc.syscall(ADD, self.rules, BENEATH, rule, 0), path)
        finally:
            os.close(descriptor)

    def close_behind(self) -> None:
        """Apply the rules to this process permanently."""
        linux.checked(_libc.syscall(RESTRICT, self.rules, 0), "landlock")
        os.close(self.rules)


def enclosure(
    readable: Iterable[str], live: Iterable[str], listed: Iterable[str], writable: Iterable[str]
) -> Enclosure:
    """Build the rules of a bot. The common devices are always accessible.

    Args:
        readable: paths that it may read and execute.
        live: files of the kernel that it may read.
        listed: folders whose names it may list.
        writable: paths that it may read and write.
    """
    enclosure_rules = Enclosure()
    enclosure_rules.open(listed, LIST)
    enclosure_rules.open(readable, EXECUTE | READ | LIST)
    enclosure_rules.open(live, READ | LIST)
    enclosure_rules.open(DEVICES, READ | WRITE)
    enclosure_rules.open(writable, enclosure_rules.handled & ~IOCTL)
    return enclosure_rules


def filter_calls(*, locks: bool, own_files: bool) -> None:
    """Install the system call filter in this process; see :func:`seccomp.program`."""
    program = seccomp.program(namespaces=False, locks=locks, own_files=own_files)
    kept = ctypes.create_string_buffer(program, len(program))
    whole = struct.pack("@HP", len(program) // 8, ctypes.addressof(kept))
    where = ctypes.c_char_p(whole)
    linux.checked(_libc.prctl(PR_SET_SECCOMP, FILTER, where, 0, 0), "seccomp")


def drop_capabilities() -> None:
    """Drop all capabilities, for this process and the programs it executes."""
    for capability in range(CAPABILITIES):
        with contextlib.suppress(OSError):
            linux.prctl(PR_CAPBSET_DROP, capability)
    with contextlib.suppress(OSError):
        linux.prctl(PR_CAP_AMBIENT, CLEAR_ALL)
    header = struct.pack("=Ii", CAPABILITY_VERSION, 0)
    linux.checked(_libc.capset(header, bytes(24)), "capset")
