"""Test that no process of a bot can read information of an earlier one from the page cache."""

import ctypes
import errno
import mmap
import os
from pathlib import Path

import pytest

from arena.bots.sandbox import cgroup
from arena.bots.sandbox.cgroup import Cgroup
from tests.arena.bots.sandbox.test_sandbox import SandboxedBot, sandboxed

__all__ = ["sandboxed"]

PAGE = 4096

# Calls that read or change the state of the page cache, each with the expected outcome.
REFUSED = {
    "libc.posix_fadvise(fd, 0, 0, 4)": "returned",
    "libc.readahead(fd, 0, 4096)": errno.ENOSYS,
    "libc.syscall(451, fd, buffer, buffer, 0)": errno.ENOSYS,
    "libc.mincore(address, 4096, buffer)": errno.ENOSYS,
    "libc.syscall(206, 8, buffer)": errno.ENOSYS,
    "libc.syscall(209, 0, 0, 0)": errno.ENOSYS,
    "libc.syscall(216, address, 4096, 0, 0, 0)": errno.ENOSYS,
    "libc.syscall(440, -1, 0, 0, 21, 0)": errno.ENOSYS,
    "libc.syscall(323, 0)": errno.ENOSYS,
    "libc.syscall(327, fd, vector, 1, 0, 0, 8)": errno.EOPNOTSUPP,
    "libc.syscall(328, fd, vector, 1, 0, 0, 8)": errno.EOPNOTSUPP,
    "libc.madvise(address, 4096, 3)": errno.EINVAL,
    "libc.madvise(address, 4096, 12)": errno.EINVAL,
    "libc.madvise(address, 4096, 20)": errno.EINVAL,
    "libc.madvise(address, 4096, 21)": errno.EINVAL,
    "libc.madvise(address, 4096, 22)": errno.EINVAL,
    "libc.mmap(None, 4096, 1, 2 | 0x8000 | 0x10000, fd, 0)": errno.EINVAL,
}
ALLOWED = [
    "libc.madvise(memory, 4096, 4)",
    "libc.madvise(memory, 4096, 8)",
    "libc.madvise(memory, 4096, 14)",
    "libc.madvise(memory, 4096, 15)",
    "libc.syscall(327, fd, vector, 1, 0, 0, 0)",
]
SCRIPT = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.syscall.argtypes = [ctypes.c_long] + [ctypes.c_void_p] * 6
for name in ("madvise", "mincore"):
    getattr(libc, name).argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
fd = os.open(sys.executable, os.O_RDONLY)
buffer = ctypes.create_string_buffer(8192)
vector = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 16)
address = libc.mmap(None, 4096, 1, 2, fd, 0)
memory = libc.mmap(None, 4096, 3, 0x22, -1, 0)
real = libc.syscall
libc.syscall = lambda number, *rest: real(number, *rest, *[0] * (6 - len(rest)))
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are those of x86-64")
def test_calls_that_show_or_change_the_page_cache_return_an_error(sandboxed: SandboxedBot) -> None:
    lines = [SCRIPT]
    for call in REFUSED:
        lines += ["ctypes.set_errno(0)", f"result = {call}", "print(result, ctypes.get_errno())"]
    report = sandboxed.run("\n".join(lines))
    assert report.ended == "exited with status 0", report.output
    for (call, error), line in zip(REFUSED.items(), report.output.splitlines(), strict=True):
        result, number = map(int, line.split())
        if error == "returned":
            assert result == errno.ENOSYS, call
        else:
            assert number == error, call


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are those of x86-64")
def test_madvise_on_the_memory_of_the_calling_process_is_allowed(sandboxed: SandboxedBot) -> None:
    lines = [SCRIPT]
    for call in ALLOWED:
        lines += ["ctypes.set_errno(0)", f"result = {call}", "print(ctypes.get_errno())"]
    report = sandboxed.run("\n".join(lines))
    assert report.output.split() == ["0"] * len(ALLOWED)


def resident(path: Path) -> set[int]:
    """Return the numbers of a file's pages that the page cache holds (mincore(2))."""
    size = path.stat().st_size
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    file = os.open(path, os.O_RDONLY)
    address = ctypes.c_void_p(libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, file, 0))
    states = (ctypes.c_ubyte * (size // PAGE))()
    assert libc.mincore(address, ctypes.c_size_t(size), states) == 0
    libc.munmap(address, ctypes.c_size_t(size))
    os.close(file)
    return {number for number, state in enumerate(states) if state & 1}


def test_files_read_by_a_bot_are_dropped_from_the_page_cache_at_its_end(tmp_path: Path) -> None:
    if "memory" not in cgroup.parents():
        assert "CI" not in os.environ or os.geteuid() != 0
        pytest.skip("no control groups can be made here")
    shared = tmp_path / "shared"
    shared.write_bytes(os.urandom(256 * PAGE))
    file = os.open(shared, os.O_RDONLY)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
    if resident(shared):
        pytest.skip("this file system keeps all files in memory")
    group = Cgroup(64 << 20, 8)
    if (pid := os.fork()) == 0:
        group.enter()
        os.pread(file, 1, 100 * PAGE)
        os._exit(0)
    os.waitpid(pid, 0)
    assert 100 in resident(shared)
    group.drop_page_cache()
    group.remove()
    assert not resident(shared)
    os.close(file)
