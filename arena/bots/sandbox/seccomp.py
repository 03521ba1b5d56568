"""Generate a system call filter, the program that the kernel runs before each call (seccomp(2)).

The program is classic BPF, generated here because the existing packages require a system library.
:mod:`.system_calls` decides each call; this module adds the tests of arguments and compiles both.

The program is a binary search for the call's number. The leaves are ranges of numbers with the same
result, so a call costs about ten instructions.
"""

from __future__ import annotations

import errno
import os
import struct
from itertools import chain

from arena.bots.sandbox import system_calls as table

LOAD = 0x20
"""Load the 32-bit word at an offset of the call's seccomp_data."""
SKIP = 0x05
EQUAL = 0x15
AT_LEAST = 0x35
ANY_OF = 0x45
RETURN = 0x06
LONGEST_SKIP = 255
"""Number of instructions that a conditional jump can skip."""

NUMBER = 0
ARCHITECTURE = 4
FIRST_ARGUMENT = 16

ALLOW = 0x7FFF0000
KILL = 0x80000000
FAIL = 0x00050000

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

AF_UNIX, AF_INET, AF_INET6 = 1, 2, 10
DATAGRAM = 2
"""Bit set in the types of datagram and raw sockets, but not of stream and seqpacket sockets."""
NEW_NAMESPACES = 0x7E020000
"""Flags of clone that create a namespace of any kind."""
LOCKS = (5, 6, 7, 36, 37, 38, 1024, 1025, 1026, 1039, 1040)
"""fcntl: POSIX and open-file-description locks, leases, directory notifications and delegations."""
WRITE_HINTS = (1036, 1038)
"""fcntl: values that the kernel stores with a file, even if the file is open only for reading."""
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
FILE_ATTRIBUTES = (
    *(0x40086602, 0x40046602, 0x401C5820),
    *(0x40087602, 0x40047602, 0x40086604, 0x40046604),
    *(0x800C6613, 0x40806685, 0xC0189436),
)
"""ioctl: changes of a file that is open for reading.

FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR; FS_IOC_SETVERSION and its older number in ext4;
FS_IOC_SET_ENCRYPTION_POLICY, FS_IOC_ENABLE_VERITY, FIDEDUPERANGE. The numbers with 0x4004 are those
of 32-bit programs.
"""
NETWORK_DEVICES = range(0x8910, 0x8A00)
"""ioctl: queries of network devices and their counters. Unix sockets accept them too."""
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Outcome = tuple[bytes, ...]
    """Instructions that decide a call, perhaps by its arguments."""


def program(
    *,
    namespaces: bool,
    locks: bool = False,
    own_files: bool = False,
    internet: bool = False,
    machine: str = "",
) -> bytes:
    """Return the filter program for a process.

    Args:
        namespaces: whether the process has PID, IPC and network namespaces.
        locks: whether it may lock files; other readers of the files could detect this.
        own_files: whether it may change the mode, owner, times and attributes of files. The caller
            must protect the files of others by a separate user or by read-only mounts.
        internet: whether it may create internet sockets.
        machine: the architecture; default: that of this machine.

    Raises:
        OSError: the architecture is not supported.
    """
    machine = machine or os.uname().machine
    if machine not in ARCHITECTURES:
        raise OSError(errno.ENOSYS, f"there is no filter of system calls for {machine}")
    allowed, refused = _result(ALLOW), _result(FAIL | errno.EPERM)
    fixed = {
        table.ALLOWED: allowed,
        table.EPERM: refused,
        table.ENOSYS: _result(FAIL | errno.ENOSYS),
        table.NAMESPACES: allowed if namespaces else refused,
        table.OWN_FILES: allowed if own_files else refused,
        table.LOCKS: allowed if locks else _result(FAIL | errno.ENOLCK),
    }
    by_argument = argument_tests(
        namespaces=namespaces, locks=locks, own_files=own_files, internet=internet
    )
    outcomes: dict[int, Outcome] = {}
    for name, x86_64, aarch64, decision in table.SYSTEM_CALLS:
        number = x86_64 if machine == "x86_64" else aarch64
        if number is not None:
            outcomes[number] = fixed.get(decision) or by_argument[name]
    return b"".join([*_guard(machine), *_search(_ranges(outcomes))])


def argument_tests(
    *, namespaces: bool, locks: bool, own_files: bool, internet: bool
) -> dict[str, Outcome]:
    """Return the instructions that decide the calls ``BY_ARGUMENT``, by name.

    The filter tests the lower 32 bits of an argument; the kernel ignores the others here.

    The tests of `preadv2`, `pwritev2`, `madvise` and `mmap` refuse the calls that show or change
    which pages of a file the page cache holds. A process could leave data there for a later one.
    Advice of allocators on their own memory (DONTNEED, FREE, HUGEPAGE and others) stays allowed.
    """
    families = (AF_UNIX, AF_INET, AF_INET6) if internet else (AF_UNIX,)
    fcntl = [_refuse_if(1, WRITE_HINTS, errno.EINVAL)]
    ioctl = [_refuse_if(1, (TIOCSTI, TIOCLINUX), errno.EPERM)]
    socket = [_refuse_unless(0, families, errno.EAFNOSUPPORT)]
    socketpair = [_refuse_unless(0, (AF_UNIX,), errno.EAFNOSUPPORT)]
    prlimit64: list[list[bytes]] = []
    if not locks:
        fcntl.append(_refuse_if(1, LOCKS, errno.ENOLCK))
    if not own_files:
        ioctl.append(_refuse_if(1, FILE_ATTRIBUTES, errno.EPERM))
    if not internet:
        ioctl.append(_refuse_range(1, NETWORK_DEVICES, errno.ENOTTY))
    if not namespaces:
        # Datagram sockets can send to any socket with a path, without a connection.
        socket.append(_refuse_bits(1, DATAGRAM, errno.EPERM))
        socketpair.append(_refuse_bits(1, DATAGRAM, errno.EPERM))
        # Pid 0 is the caller: a process can set the limits of other processes with the same uid.
        prlimit64.append(_refuse_unless(0, (0,), errno.EPERM))
    tests = {
        "fcntl": fcntl,
        "ioctl": ioctl,
        "socket": socket,
        "socketpair": socketpair,
        "prlimit64": prlimit64,
        "clone": [_refuse_bits(0, NEW_NAMESPACES, errno.EPERM)],
        "personality": [_refuse_unless(0, (QUERY, 0), errno.EPERM)],
        "preadv2": [_refuse_unless(5, (0,), errno.EOPNOTSUPP)],
        "pwritev2": [_refuse_unless(5, (0,), errno.EOPNOTSUPP)],
        "madvise": [_refuse_if(2, (*PAGE_CACHE_ADVICE, MERGEABLE), errno.EINVAL)],
        "mmap": [_refuse_bits(3, MAP_NONBLOCK, errno.EINVAL)],
    }
    return {name: (*chain(*parts), *_result(ALLOW)) for name, parts in tests.items()}


_pack: Callable[[int, int, int, int], bytes] = struct.Struct("=HBBI").pack


def _instruction(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    """Encode an instruction; ``yes`` and ``no`` are the numbers of instructions to skip."""
    return _pack(code, yes, no, value)


def _result(value: int) -> Outcome:
    return (_instruction(RETURN, value),)


def _refuse_if(argument: int, values: Iterable[int], why: int) -> list[bytes]:
    return [*_any_value(argument, values, yes=0, no=1), _instruction(RETURN, FAIL | why)]


def _refuse_unless(argument: int, values: Iterable[int], why: int) -> list[bytes]:
    return [*_any_value(argument, values, yes=1, no=0), _instruction(RETURN, FAIL | why)]


def _any_value(argument: int, values: Iterable[int], yes: int, no: int) -> list[bytes]:
    """Compare an argument; skip ``yes`` instructions after these if equal to a value, else ``no``.

    Exactly one of ``yes`` and ``no`` must be 0.
    """
    compared = list(values)
    code = [_instruction(LOAD, FIRST_ARGUMENT + 8 * argument)]
    for left, value in zip(range(len(compared) - 1, 0, -1), compared, strict=False):
        code.append(_instruction(EQUAL, value, yes=left + yes))
    return [*code, _instruction(EQUAL, compared[-1], yes=yes, no=no)]


def _refuse_bits(argument: int, bits: int, why: int) -> list[bytes]:
    return [
        _instruction(LOAD, FIRST_ARGUMENT + 8 * argument),
        _instruction(ANY_OF, bits, no=1),
        _instruction(RETURN, FAIL | why),
    ]


def _refuse_range(argument: int, values: range, why: int) -> list[bytes]:
    return [
        _instruction(LOAD, FIRST_ARGUMENT + 8 * argument),
        _instruction(AT_LEAST, values.start, no=2),
        _instruction(AT_LEAST, values.stop, yes=1),
        _instruction(RETURN, FAIL | why),
    ]


def _guard(machine: str) -> list[bytes]:
    """Kill a process that uses another ABI, where the numbers have other meanings; load the number.

    The numbers of x32 are larger than those in the table, so these calls fail with ENOSYS.
    """
    return [
        _instruction(LOAD, ARCHITECTURE),
        _instruction(EQUAL, ARCHITECTURES[machine], yes=1),
        _instruction(RETURN, KILL),
        _instruction(LOAD, NUMBER),
    ]


def _ranges(outcomes: dict[int, Outcome]) -> list[tuple[int, Outcome]]:
    """Return the first number and the outcome of each range; other numbers fail with ENOSYS."""
    absent = _result(FAIL | errno.ENOSYS)
    ranges = [(0, outcomes.get(0, absent))]
    for number in range(1, max(outcomes) + 2):
        outcome = outcomes.get(number, absent)
        if outcome != ranges[-1][1]:
            ranges.append((number, outcome))
    return ranges


def _search(ranges: list[tuple[int, Outcome]]) -> list[bytes]:
    """Return the instructions of a binary search; every path ends with a result."""
    backwards: list[bytes] = []
    _append_search(ranges, 0, len(ranges), backwards)
    return backwards[::-1]


def _append_search(
    ranges: list[tuple[int, Outcome]], start: int, stop: int, backwards: list[bytes]
) -> None:
    """Append the search in ``ranges[start:stop]``, last instruction first.

    A jump skips the lower half, so its length must be known before the jump is encoded.
    """
    if stop - start == 1:
        backwards.extend(reversed(ranges[start][1]))
        return
    middle = (start + stop) // 2
    _append_search(ranges, middle, stop, backwards)
    before = len(backwards)
    _append_search(ranges, start, middle, backwards)
    length = len(backwards) - before
    first = ranges[middle][0]
    if length <= LONGEST_SKIP:
        backwards.append(_instruction(AT_LEAST, first, yes=length))
    else:
        backwards.append(_instruction(SKIP, length))
        backwards.append(_instruction(AT_LEAST, first, no=1))
