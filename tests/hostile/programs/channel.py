"""Tries to exchange marks with a second process over every shared resource.

Two of these run at the same time, of one version or of two. Neither may detect the other.
"""

import ctypes
import fcntl
import glob
import json
import mmap
import os
import socket
import struct
import sys
import time
from collections.abc import Callable

from honest import play, syscall

NAME = "pokearena-hostile-mark"
SHARED_FILES = ("bot.py", sys.executable, "/usr/bin/env", "/etc/passwd", "/etc", "/usr")
KEY = 0x504F4B45
kept: list[object] = []


def report(way: str, saw: object) -> None:
    print(json.dumps({"channel": way, "saw": bool(saw)}), flush=True)


def tried(way: str, look: Callable[[], object]) -> None:
    """Print whether the other process is detected; a channel that raises an error is closed."""
    try:
        report(way, look())
    except (OSError, AttributeError, ValueError):
        report(way, False)


def flock() -> bool:
    """Return whether another process locks a file that both can open."""
    seen = False
    for path in SHARED_FILES:
        try:
            file = os.open(path, os.O_RDONLY)
        except OSError:
            continue
        kept.append(file)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            seen = True
        except OSError:
            pass
    return seen


def posix_lock(command: int) -> bool:
    seen = False
    for path in SHARED_FILES:
        try:
            file = os.open(path, os.O_RDONLY)
        except OSError:
            continue
        kept.append(file)
        # A read lock needs read access only, and F_GETLK returns the locks of other processes.
        lock = struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, KEY, 1, 0)
        lock_request = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, KEY, 1, 0)
        get = fcntl.F_GETLK if command == fcntl.F_SETLK else 36
        try:
            answer = fcntl.fcntl(file, get, lock_request)
            seen |= struct.unpack("hhqqi4x", answer)[0] != fcntl.F_UNLCK
            fcntl.fcntl(file, command, lock)
        except OSError:
            pass
    return seen


def lease() -> bool:
    seen = False
    for path in SHARED_FILES:
        try:
            file = os.open(path, os.O_RDONLY)
            kept.append(file)
            seen |= fcntl.fcntl(file, 1025) != fcntl.F_UNLCK
            fcntl.fcntl(file, 1024, fcntl.F_RDLCK)
        except OSError:
            pass
    return seen


def marked(folder: str) -> Callable[[], bool]:
    def look() -> bool:
        seen = bool(glob.glob(f"{folder}/{NAME}-*"))
        with open(f"{folder}/{NAME}-{os.getpid()}-{time.monotonic_ns()}", "w") as file:
            file.write("here")
        return seen

    return look


def abstract() -> bool:
    mine = socket.socket(socket.AF_UNIX)
    kept.append(mine)
    try:
        mine.bind(f"\0{NAME}")
    except OSError:
        return True
    return False


def port() -> bool:
    mine = socket.socket()
    kept.append(mine)
    try:
        mine.bind(("127.0.0.1", 47_123))
    except PermissionError:
        return False
    except OSError:
        return True
    return False


def shared_memory() -> bool:
    """Return whether the other process has created the same System V segment."""
    try:
        syscall(29, KEY, 4096, 0o1000 | 0o2000 | 0o666)
    except FileExistsError:
        return True
    return False


def semaphore() -> bool:
    try:
        syscall(64, KEY, 1, 0o1000 | 0o2000 | 0o666)
    except FileExistsError:
        return True
    return False


def queue() -> bool:
    try:
        syscall(68, KEY, 0o1000 | 0o2000 | 0o666)
    except FileExistsError:
        return True
    return False


def posix_queue() -> bool:
    name = ctypes.create_string_buffer(NAME.encode())
    kept.append(name)
    try:
        kept.append(syscall(240, ctypes.addressof(name), 0o100 | 0o200 | 2, 0o666, 0))
    except FileExistsError:
        return True
    return False


def keyring() -> bool:
    """Look for a key in the user's keyring, which all processes of a user share."""
    words = [ctypes.create_string_buffer(word) for word in (b"user", NAME.encode(), b"x")]
    kept.extend(words)
    kind, name, value = map(ctypes.addressof, words)
    try:
        available = syscall(250, 10, -4, kind, name, 0) > 0
    except OSError:
        available = False
    syscall(248, kind, name, value, 1, -4)
    return available


def others() -> bool:
    """Return whether another process with the mark is visible in /proc."""
    mark = NAME.encode()
    return any(
        mark in open(path, "rb").read()
        for path in glob.glob("/proc/[0-9]*/cmdline")
        if f"/{os.getpid()}/" not in path
    )


def huge_page_of_a_file() -> bool:
    """Map a file that both processes can open, for writing."""
    file = os.open("bot.py", os.O_RDWR)
    kept.append(mmap.mmap(file, 0))
    return True


def meet() -> None:
    for way, look in {
        "flock": flock,
        "posix lock": lambda: posix_lock(fcntl.F_SETLK),
        "open file lock": lambda: posix_lock(37),
        "lease": lease,
        "files in /tmp": marked("/tmp"),
        "files in /var/tmp": marked("/var/tmp"),
        "files in /dev/shm": marked("/dev/shm"),
        "files in its version": marked("."),
        "files beside its socket": marked(os.environ["POKEARENA_ADDRESS"][5:].rpartition("/")[0]),
        "abstract socket": abstract,
        "port": port,
        "shared memory": shared_memory,
        "semaphore": semaphore,
        "message queue": queue,
        "posix message queue": posix_queue,
        "keyring": keyring,
        "mapped file": huge_page_of_a_file,
    }.items():
        tried(way, look)


meet()
print("met", flush=True)
play()
