"""Tries the system calls that can escape from a sandbox."""

import ctypes
import os
import socket
import time

from honest import attempt, once, play, syscall

PTRACE, UNSHARE, SETNS, KEYCTL, BPF, PERF = 101, 272, 308, 250, 321, 298
MOUNT, PIVOT, USERFAULTFD, IO_URING, CLONE = 165, 155, 323, 425, 56
CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWNET = 0x10000000, 0x00020000, 0x40000000
PTRACE_ATTACH = 16


def text(words: bytes) -> int:
    buffer = ctypes.create_string_buffer(words)
    kept.append(buffer)
    return ctypes.addressof(buffer)


kept: list[object] = []


def become_root() -> object:
    if os.getuid() == 0:
        # With a root arena but without user ids for bots, the bot runs as root without
        # capabilities.
        with open("/proc/self/status") as file:
            rights = next(line.split()[1] for line in file if line.startswith("CapEff"))
        return int(rights, 16) or refused()
    os.setuid(0)
    return os.geteuid()


def refused() -> object:
    raise PermissionError("root without any of its rights")


def act() -> None:
    parent = os.getppid()
    attempt(
        ptrace=lambda: syscall(PTRACE, PTRACE_ATTACH, parent, 0, 0),
        memory_of_parent=lambda: syscall(310, parent, 0, 0, 0, 0, 0) and "read",
        mount=lambda: syscall(MOUNT, text(b"none"), text(b"/tmp"), text(b"tmpfs"), 0, 0),
        pivot_root=lambda: syscall(PIVOT, text(b"/tmp"), text(b"/tmp")),
        chroot=lambda: os.chroot("/tmp"),
        unshare_user=lambda: syscall(UNSHARE, CLONE_NEWUSER),
        unshare_mount=lambda: syscall(UNSHARE, CLONE_NEWNS),
        unshare_net=lambda: syscall(UNSHARE, CLONE_NEWNET),
        clone_user=lambda: syscall(CLONE, CLONE_NEWUSER | 17, 0, 0, 0, 0) or os._exit(0),
        setns=lambda: syscall(SETNS, os.open("/proc/1/ns/net", os.O_RDONLY), 0),
        setuid=become_root,
        setgroups=lambda: os.setgroups([0]),
        keyring=lambda: syscall(KEYCTL, 0, -3, 1),
        bpf=lambda: syscall(BPF, 0, 0, 0),
        perf=lambda: syscall(PERF, 0, 0, -1, -1, 0),
        userfaultfd=lambda: syscall(USERFAULTFD, 0),
        io_uring=lambda: syscall(IO_URING, 8, text(bytes(120))),
        kernel_log=lambda: syscall(103, 3, text(bytes(100)), 100),
        # Set the current time, so that the clock stays correct even if this call succeeds.
        clock=lambda: time.clock_settime(time.CLOCK_REALTIME, time.time()),
        hostname=lambda: socket.sethostname(socket.gethostname()),
        nice=lambda: os.nice(-5),
    )


play(once(act))
