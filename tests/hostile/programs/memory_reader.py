"""Prints every number that a bot can read, as one line of JSON: files, metadata, system calls."""

import contextlib
import ctypes
import hashlib
import json
import os
import re
import select
import socket
import stat
import sys
import time
from collections.abc import Callable, Iterator

libc = ctypes.CDLL(None, use_errno=True)
MOST = 1 << 18
"""Bytes read of each file."""
FILES = 40_000
"""Files whose content is read."""
SAMPLES = 1500
"""Files of each granted folder whose metadata is read."""
SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 8.0
"""Time for the files."""
CONTENT = ("/proc", "/sys", "/dev", "/etc")
NUMBER = re.compile(r"-?\d+")
HEXADECIMAL = re.compile(r"(?:0x)?[0-9a-f]{6,16}")
SKIPPED = re.compile(r"/proc/(self/(task|map_files|root|cwd|exe)|thread-self|\d+|kcore|kmsg|kpage)")
found: dict[str, int | str] = {}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:12]


def value(name: str, way: Callable[[], object]) -> None:
    """Store the result of a call; the name of the error if it fails."""
    try:
        result = way()
    except (OSError, ValueError, AttributeError) as error:
        result = f"{type(error).__name__} {getattr(error, 'errno', '')}"
    if isinstance(result, (list, tuple)):
        for index, part in enumerate(result):
            value(f"{name}[{index}]", lambda part=part: part)
    elif isinstance(result, (int, float)):
        found[name] = int(result)
    else:
        found[name] = digest(str(result))


def syscall(number: int, *arguments: object) -> int:
    result: int = libc.syscall(ctypes.c_long(number), *arguments)
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def files(top: str) -> Iterator[str]:
    pending = [top]
    while pending:
        folder = pending.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            path = entry.path
            if SKIPPED.match(path):
                continue
            try:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(path)
                elif entry.is_file(follow_symlinks=False):
                    yield path
                elif entry.is_symlink():
                    value(f"{path} link", lambda path=path: os.readlink(path))
            except OSError:
                continue


def read(path: str) -> None:
    """Store each number of a file by its line's first word and its position."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return
        text = os.read(descriptor, MOST).decode(errors="replace")
    finally:
        os.close(descriptor)
    rest = []
    for number, line in enumerate(text.splitlines()[:4000]):
        words = line.replace(":", " : ").split()
        label = words[0] if words and not words[0][0].isdigit() else f"line {number}"
        for position, word in enumerate(words):
            if NUMBER.fullmatch(word):
                key = f"{path} {label} {position}"
                found[f"{key} {number}" if key in found else key] = int(word)
            else:
                rest.append(word)
    found[f"{path} text"] = digest(" ".join(rest))


def contents(until: float) -> None:
    count = 0
    for top in CONTENT:
        for path in files(top):
            if time.monotonic() > until or count > FILES:
                return
            count += 1
            with contextlib.suppress(OSError, ValueError):
                read(path)
    # These are links or below folders that cannot be listed.
    for path in ("/proc/vmstat", "/proc/stat", "/proc/meminfo", "/proc/sys/fs/file-nr"):
        with contextlib.suppress(OSError, ValueError):
            read(path)


def metadata(until: float) -> None:
    own = os.getcwd()
    for top in dict.fromkeys([own, sys.prefix, sys.base_prefix, "/usr", "/etc", "/", "/dev"]):
        value(f"statfs {top if top != own else 'own'}", lambda top=top: tuple(os.statvfs(top)))
        for count, path in enumerate(files(top)):
            if count > SAMPLES or time.monotonic() > until:
                break
            with contextlib.suppress(OSError):
                status = os.lstat(path)
                name = path.replace(own, "own", 1)
                found[f"{name} inode"] = status.st_ino
                found[f"{name} size"] = status.st_size
                found[f"{name} links"] = status.st_nlink
                found[f"{name} atime"] = status.st_atime_ns
                found[f"{name} mtime"] = status.st_mtime_ns
                found[f"{name} ctime"] = status.st_ctime_ns
                found[f"{name} mode"] = status.st_mode
            with contextlib.suppress(OSError):
                found[f"{name} xattr"] = digest(
                    str([(key, os.getxattr(path, key)) for key in os.listxattr(path)])
                )
    for path in (os.environ["TMPDIR"], "/dev/shm", "/tmp", "/var/tmp"):
        value(f"names in {path}", lambda path=path: len(os.listdir(path)))
        value(f"statfs {path}", lambda path=path: tuple(os.statvfs(path))[2:8])
        value(f"device of {path}", lambda path=path: os.stat(path).st_dev)


def inode(descriptor: int) -> int:
    return os.fstat(descriptor).st_ino


def described(name: str, descriptor: int) -> None:
    """Store what the kernel shows about a fresh descriptor."""
    value(f"inode of a fresh {name}", lambda: inode(descriptor))
    with contextlib.suppress(OSError), open(f"/proc/self/fdinfo/{descriptor}") as info:
        for line in info.read().splitlines():
            key, _, text = line.partition(":")
            for position, word in enumerate(text.split()):
                known = NUMBER.fullmatch(word)
                found[f"fdinfo of a fresh {name} {key} {position}"] = (
                    int(word) if known else digest(word)
                )


def cookie(kind: int) -> int:
    with socket.socketpair(socket.AF_UNIX, kind)[0] as one:
        return int.from_bytes(one.getsockopt(socket.SOL_SOCKET, 57, 8), sys.byteorder)


def autobound() -> str:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("")
        return str(one.getsockname())


def statx(path: str) -> list[int]:
    """Return the numbers of statx, with the unique id of the mount."""
    buffer = ctypes.create_string_buffer(256)
    syscall(332, -100, path.encode(), 0, 0xFFFF, buffer)
    return [int.from_bytes(buffer.raw[at : at + 8], sys.byteorder) for at in (144, 152, 160)]


def structure(number: int, size: int, *before: object) -> list[int]:
    """Return the words of a structure that a call fills."""
    buffer = ctypes.create_string_buffer(size)
    syscall(number, *before, buffer)
    return [
        int.from_bytes(buffer.raw[at : at + 8], sys.byteorder, signed=True)
        for at in range(0, size - size % 8, 8)
    ]


def child() -> int:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return pid


def per_processor(name: str, way: Callable[[], int]) -> None:
    """Store the smallest and the largest of several results: counters have parts per processor."""
    results = []
    with contextlib.suppress(OSError, ValueError):
        for _ in range(64):
            results.append(way())
            time.sleep(0)
    if results:
        found[f"smallest {name}"], found[f"largest {name}"] = min(results), max(results)


def pipe_inode() -> int:
    ends = os.pipe()
    number = inode(ends[0])
    for end in ends:
        os.close(end)
    return number


def closed(descriptor: int) -> int:
    number = inode(descriptor)
    os.close(descriptor)
    return number


def calls() -> None:
    with contextlib.suppress(OSError):
        described("pipe", os.pipe()[0])
    for name, way in {
        "eventfd": lambda: os.eventfd(0),
        "memfd": lambda: os.memfd_create("x"),
        "epoll": lambda: select.epoll().fileno(),
        "pidfd": lambda: os.pidfd_open(os.getpid()),
        "timerfd": lambda: syscall(283, 1, 0),
        "signalfd": lambda: syscall(289, -1, (ctypes.c_uint64 * 1)(0), 8, 0),
        "inotify": lambda: syscall(294, 0),
        "fanotify": lambda: syscall(300, 0, 0),
        "file without a name": lambda: os.open(os.environ["TMPDIR"], os.O_TMPFILE | os.O_RDWR),
        "stream": lambda: socket.socketpair()[0].detach(),
        "internet socket": lambda: socket.socket(socket.AF_INET).detach(),
        "packet socket": lambda: socket.socket(17, socket.SOCK_RAW).detach(),
        "netlink socket": lambda: socket.socket(16, socket.SOCK_RAW).detach(),
        "vsock": lambda: socket.socket(40, socket.SOCK_STREAM).detach(),
        "crypto socket": lambda: socket.socket(38, socket.SOCK_SEQPACKET).detach(),
        "message queue": lambda: syscall(240, b"reader", 0o102, 0o600, None),
        "landlock rules": lambda: syscall(444, (ctypes.c_uint64 * 1)(1), 8, 0),
        "secret memory": lambda: syscall(447, 0),
        "userfaultfd": lambda: syscall(323, 1),
        "io_uring": lambda: syscall(425, 8, ctypes.create_string_buffer(120)),
        "performance event": lambda: syscall(298, ctypes.create_string_buffer(128), 0, -1, -1, 0),
    }.items():
        try:
            described(name, way())
        except OSError as error:
            found[f"error of a fresh {name}"] = error.errno or 0
    for kind, number in {"stream": 1, "datagram": 2, "seqpacket": 5}.items():
        per_processor(f"cookie of a {kind} socket", lambda number=number: cookie(number))
    per_processor("inode of a pipe", pipe_inode)
    per_processor("inode of a memfd", lambda: closed(os.memfd_create("x")))
    per_processor("inode of a socket", lambda: closed(socket.socketpair()[0].detach()))
    per_processor("inode of a pidfd", lambda: closed(os.pidfd_open(os.getpid())))
    scratch = os.environ["TMPDIR"]
    per_processor("inode of a file", lambda: closed(os.open(scratch, os.O_TMPFILE | os.O_RDWR)))
    for name, way in {
        "pid": os.getpid,
        "parent": os.getppid,
        "pid of a child": child,
        "group": os.getpgrp,
        "session": lambda: os.getsid(0),
        "user": os.getresuid,
        "user group": os.getresgid,
        "groups": os.getgroups,
        "umask": lambda: os.umask(0o022),
        "uname": lambda: tuple(map(str, os.uname())),
        "load": os.getloadavg,
        "sysinfo": lambda: structure(99, 112),
        "times": os.times,
        "affinity": lambda: sorted(os.sched_getaffinity(0)),
        "scheduler": lambda: os.sched_getscheduler(0),
        "priority": lambda: os.getpriority(os.PRIO_PROCESS, 0),
        "priority of the user": lambda: os.getpriority(os.PRIO_USER, 0),
        "processor": lambda: structure(309, 16),
        "resource usage": lambda: structure(98, 144, 0),
        "sched_attr": lambda: [syscall(315, 0, ctypes.create_string_buffer(56), 56, 0)],
        "round robin": lambda: structure(148, 16, 0),
        "io priority": lambda: syscall(252, 1, 0),
        "clock resolution": lambda: [
            int(time.clock_getres(clock) * 1e9) for clock in (0, 1, 2, 3, 4, 5, 6, 7, 11)
        ],
        "clock adjustments": lambda: structure(305, 208, 0),
        "timer": lambda: structure(222, 8, 1, None),
        "interval timer": lambda: structure(36, 32, 0),
        "shared memory limits": lambda: structure(31, 112, 0, 3),
        "shared memory state": lambda: structure(31, 112, 0, 14),
        "semaphores": lambda: syscall(66, 0, 0, 19, ctypes.create_string_buffer(64)),
        "queues": lambda: structure(71, 64, 0, 12),
        "fresh segment": lambda: syscall(29, 0, 4096, 0o1600),
        "fresh semaphore": lambda: syscall(64, 0, 1, 0o1600),
        "fresh queue": lambda: syscall(68, 0, 0o1600),
        "session keyring": lambda: syscall(250, 0, -3, 0),
        "user keyring": lambda: syscall(250, 0, -4, 1),
        "persistent keyring": lambda: syscall(250, 22, -1, -2),
        "personality": lambda: syscall(135, 0xFFFFFFFF),
        "membarrier": lambda: syscall(324, 0, 0, 0),
        "keys of landlock": lambda: syscall(444, None, ctypes.c_size_t(0), 1),
        "memory policy": lambda: structure(239, 16),
        "autobound name": autobound,
        "statx of the root": lambda: statx("/"),
        "statx of its scratch": lambda: statx(scratch),
        "statx of its folder": lambda: statx("."),
        "statx of /proc": lambda: statx("/proc"),
        "thread area": lambda: structure(158, 8, 0x1003),
        "random state": lambda: os.path.exists("/dev/hwrng"),
        "file system types": lambda: syscall(139, 3),
        "listmount": lambda: structure(458, 64, (ctypes.c_uint64 * 4)(32, 2**64 - 1, 0, 0)),
    }.items():
        value(name, way)
    for number in range(1, 80):
        value(f"prctl {number}", lambda number=number: libc.prctl(number, 0, 0, 0, 0)) if (
            number in QUERIES
        ) else None
    for number in range(16):
        value(f"limit {number}", lambda number=number: structure(97, 16, number))
    for number in (3, 4, 7, 8, 15, 16, 28, 29, 30, 31, 36, 38, 39, 42, 45, 49, 55, 56, 61, 73):
        with socket.socketpair()[0] as one:
            value(
                f"socket option {number}",
                lambda one=one, number=number: list(one.getsockopt(1, number, 64)),
            )


QUERIES = (3, 7, 11, 13, 14, 21, 23, 25, 27, 30, 37, 39, 42, 46, 52, 56, 64, 68, 70, 73)
"""Numbers of prctl that only return a value."""

if __name__ == "__main__":
    began = time.monotonic()
    calls()
    contents(began + SECONDS * 0.6)
    metadata(began + SECONDS)
    found["seconds in ms"] = int(1000 * (time.monotonic() - began))
    folder = os.path.dirname(os.environ["POKEARENA_ADDRESS"].removeprefix("unix:"))
    with open(f"{folder}/found.json", "w") as file:
        json.dump(found, file)
    print("done", flush=True)
    time.sleep(600)
