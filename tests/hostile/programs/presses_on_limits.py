"""Uses up what the kernel limits per user or machine, and then plays honestly."""

import contextlib
import ctypes
import fcntl
import mmap
import os
import select
import signal
import socket
import threading

from honest import once, play, syscall

kept: list[object] = []


def pipes() -> None:
    for _ in range(150):
        reading, writing = os.pipe()
        kept.append((reading, writing))
        with contextlib.suppress(OSError):
            fcntl.fcntl(writing, 1031, 1 << 20)
        os.set_blocking(writing, False)
        with contextlib.suppress(OSError):
            while True:
                os.write(writing, bytes(65536))


def descriptors_in_flight() -> None:
    for _ in range(100):
        one, other = socket.socketpair()
        for _ in range(10):
            socket.send_fds(one, [b"x"], [one.fileno(), other.fileno()])


def timers() -> None:
    identifier = ctypes.c_int()
    while True:
        syscall(222, 1, 0, ctypes.addressof(identifier))


def signals() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN + 5])
    for _ in range(100_000):
        signal.pthread_kill(threading.get_ident(), signal.SIGRTMIN + 5)


def watches() -> None:
    epolls = [select.epoll() for _ in range(50)]
    ends = [os.eventfd(0) for _ in range(100)]
    for one in epolls:
        for end in ends:
            one.register(end)
    kept.append((epolls, ends))


def shared_memory() -> None:
    with open("/dev/shm/full", "wb") as file:
        while True:
            file.write(bytes(1 << 20))


def segments() -> None:
    for key in range(1, 5000):
        syscall(29, key, 1 << 20, 0o1666)


def mappings() -> None:
    kept.extend(mmap.mmap(-1, 4096) for _ in range(30_000))


def act() -> None:
    ways = (pipes, descriptors_in_flight, timers, watches, shared_memory, segments, mappings)
    for way in (*ways, signals):
        try:
            way()
        except (OSError, ValueError) as error:
            print(f"{way.__name__} ended: {type(error).__name__}", flush=True)
    print("pressed on all limits", flush=True)


play(once(act))
