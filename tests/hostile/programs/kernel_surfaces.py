"""Tries parts of the kernel that have led out of sandboxes, one line for each."""

import ctypes
import fcntl
import os
import resource
import signal
import socket
import subprocess
from collections.abc import Callable

from honest import attempt, once, play, syscall

kept: list[object] = []
HERE = -100
FAMILIES = {
    **{"vsock": 40, "crypto": 38, "netlink": 16, "packet": 17, "xdp": 44, "key": 15, "can": 29},
    **{"bluetooth": 31, "tipc": 30, "smc": 43, "rds": 21, "qipcrtr": 42, "kcm": 41, "alg": 38},
    **{"x25": 9, "appletalk": 5, "llc": 26, "phonet": 35, "ieee802154": 36, "nfc": 39, "mctp": 45},
}
CLONES = {"new user": 0x10000000, "new mounts": 0x20000, "new network": 0x40000000}
CLONES |= {"new processes": 0x20000000, "new messages": 0x8000000, "new time": 0x80}
SETTINGS = {
    "core pattern": "/proc/sys/kernel/core_pattern",
    "module loader": "/proc/sys/kernel/modprobe",
    "magic keys": "/proc/sysrq-trigger",
    "hot plugging": "/sys/kernel/uevent_helper",
    "memory of its parent": f"/proc/{os.getppid()}/mem",
    "memory of the first process": "/proc/1/mem",
    "kernel memory": "/dev/mem",
    "ports": "/dev/port",
    "kernel messages": "/dev/kmsg",
    "user faults": "/dev/userfaultfd",
    "fuse": "/dev/fuse",
    "tunnels": "/dev/net/tun",
    "virtual machines": "/dev/kvm",
    "loop devices": "/dev/loop-control",
    "its terminal": "/dev/tty",
    "device mapper": "/dev/mapper/control",
    "disk": "/dev/vda",
    "timers": "/dev/rtc0",
    "input": "/dev/uinput",
}
SETUID = {
    "su": ("su", "-c", "id", "root"),
    "sudo": ("sudo", "-n", "id"),
    "mount": ("mount", "-t", "tmpfs", "none", "/tmp"),
    "umount": ("umount", "/proc"),
    "fusermount": ("fusermount", "-u", "/tmp"),
    "pkexec": ("pkexec", "id"),
}


def buffer(data: bytes, size: int = 0) -> int:
    kept.append(ctypes.create_string_buffer(data, max(size, len(data) + 1)))
    return ctypes.addressof(kept[-1])  # type: ignore[arg-type]


def opened(family: int) -> object:
    for kind in (socket.SOCK_RAW, socket.SOCK_DGRAM, socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
        try:
            socket.socket(family, kind).close()
        except OSError:
            continue
        return f"a socket of kind {kind}"
    raise PermissionError("no kind of socket")


def written(path: str) -> object:
    os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
    return "opened for writing"


def cloned(flags: int) -> object:
    pid = syscall(56, flags | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return "a child in it"


def ran(words: tuple[str, ...]) -> object:
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, timeout=5, check=False
    )
    if done.returncode != 0 or (
        words[0] in ("su", "sudo", "pkexec") and b"uid=0" not in done.stdout
    ):
        raise PermissionError(f"{words[0]} failed")
    return done.stdout


def traced_child() -> object:
    """Trace an own child, and let it make a call that the filter refuses."""
    pid = os.fork()
    if pid == 0:
        try:
            syscall(101, 0, 0, 0, 0)
            os.kill(os.getpid(), signal.SIGSTOP)
        finally:
            os._exit(7)
    status = os.waitpid(pid, os.WUNTRACED)[1]
    if os.WIFEXITED(status):
        raise PermissionError("it was not traced")
    os.kill(pid, signal.SIGKILL)
    return "traced its child"


def pushed_input() -> object:
    for descriptor in range(3):
        try:
            fcntl.ioctl(descriptor, 0x5412, b"x")
        except OSError:
            continue
        return f"typed into descriptor {descriptor}"
    raise PermissionError("no terminal")


def less_likely_to_be_killed() -> object:
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("-1000")
    return "done"


def parents_limits() -> object:
    resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (1, 1))
    return "done"


def signalled_parent() -> object:
    if os.getppid() in (0, 1):
        raise PermissionError("its parent is in its own namespace")
    signal.pidfd_send_signal(os.pidfd_open(os.getppid()), signal.SIGURG)
    return "sent a signal"


def mapped_user() -> object:
    with open("/proc/self/uid_map", "w") as file:
        file.write("0 0 1")
    return "mapped a user"


def raised_limits() -> object:
    for kind in (resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE, resource.RLIMIT_DATA):
        resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return "done"


def real_time() -> object:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    return "done"


def locked_memory() -> object:
    """Lock more memory than a bot may have."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    size = 1 << 31
    area = libc.mmap(None, ctypes.c_size_t(size), 3, 0x22, -1, ctypes.c_long(0))
    if area in (None, ctypes.c_void_p(-1).value):
        raise PermissionError("no memory")
    if libc.mlock(ctypes.c_void_p(area), ctypes.c_size_t(size)) != 0:
        raise PermissionError("not locked")
    return "locked 2 GiB"


def calls() -> dict[str, Callable[[], object]]:
    parent, zeros = os.getppid(), buffer(bytes(256), 256)
    here = buffer(b".")
    return {
        "process_vm_readv": lambda: syscall(310, parent, zeros, 1, zeros, 1, 0),
        "process_vm_writev": lambda: syscall(311, parent, zeros, 1, zeros, 1, 0),
        "pidfd_getfd": lambda: syscall(438, os.pidfd_open(parent or 1), 1, 0),
        "kcmp": lambda: syscall(312, parent, os.getpid(), 0, 0, 0),
        "process_madvise": lambda: syscall(440, os.pidfd_open(parent or 1), zeros, 1, 4, 0),
        "process_mrelease": lambda: syscall(448, os.pidfd_open(parent or 1), 0),
        "name_to_handle_at": lambda: syscall(303, HERE, here, buffer(b"\x80", 256), zeros, 0),
        "open_by_handle_at": lambda: syscall(304, HERE, buffer(b"\x80", 256), 0),
        "open_tree": lambda: syscall(428, HERE, here, 1),
        "open_tree_attr": lambda: syscall(467, HERE, here, 1, 0, 0),
        "fsopen": lambda: syscall(430, buffer(b"tmpfs"), 0),
        "fspick": lambda: syscall(433, HERE, here, 0),
        "mount_setattr": lambda: syscall(442, HERE, here, 0, zeros, 32),
        "move_mount": lambda: syscall(429, HERE, here, HERE, buffer(b"/tmp"), 0),
        "statmount": lambda: syscall(457, zeros, zeros, 256, 0),
        "listmount": lambda: syscall(458, zeros, zeros, 8, 0),
        "add_key": lambda: syscall(248, buffer(b"user"), buffer(b"x"), zeros, 1, -2),
        "request_key": lambda: syscall(249, buffer(b"user"), buffer(b"x"), 0, 0),
        "keyctl": lambda: syscall(250, 1, 0),
        "userfaultfd": lambda: syscall(323, 1),
        "io_uring": lambda: syscall(425, 8, zeros),
        "bpf": lambda: syscall(321, 5, zeros, 72),
        "perf_event_open": lambda: syscall(298, zeros, 0, -1, -1, 0),
        "memfd_secret": lambda: syscall(447, 0),
        "fanotify_init": lambda: syscall(300, 0, 0),
        "inotify_init1": lambda: syscall(294, 0),
        "quotactl": lambda: syscall(179, 0x800007 << 8, 0, 0, zeros),
        "quotactl_fd": lambda: syscall(443, os.open(".", os.O_RDONLY), 0x800007 << 8, 0, zeros),
        "acct": lambda: syscall(163, buffer(b"/tmp/acct")),
        "swapon": lambda: syscall(167, buffer(b"/tmp/swap"), 0),
        "iopl": lambda: syscall(172, 3),
        "ioperm": lambda: syscall(173, 0, 1, 1),
        "modify_ldt": lambda: syscall(154, 1, zeros, 16),
        "kexec_load": lambda: syscall(246, 0, 0, 0, 0),
        "finit_module": lambda: syscall(313, 0, here, 0),
        "syslog": lambda: syscall(103, 2, zeros, 10),
        "mbind": lambda: syscall(237, zeros & ~4095, 4096, 3, buffer(b"\x01", 8), 64, 0),
        "set_mempolicy": lambda: syscall(238, 3, buffer(b"\x01", 8), 64),
        "set_mempolicy_home_node": lambda: syscall(450, zeros & ~4095, 4096, 0, 0),
        "migrate_pages": lambda: syscall(256, 0, 64, buffer(b"\x01", 8), buffer(b"\x01", 8)),
        "move_pages": lambda: syscall(279, 0, 1, zeros, 0, zeros, 2),
        "prctl of its memory map": lambda: syscall(157, 35, 8, 0x10000, 0, 0),
        "lsm_set_self_attr": lambda: syscall(460, 100, zeros, 64, 0),
        "setns": lambda: syscall(308, os.pidfd_open(parent or 1), 0x20000),
        "cachestat": lambda: syscall(451, os.open("bot.py", os.O_RDONLY), zeros, zeros, 0),
        "mincore": lambda: syscall(27, zeros & ~4095, 4096, zeros),
        "clock_adjtime": lambda: syscall(305, 0, buffer(b"\x01\x00", 256)),
        "vhangup": lambda: syscall(153),
    }


def act() -> None:
    ways = calls()
    ways |= {
        f"socket {name}": lambda number=number: opened(number) for name, number in FAMILIES.items()
    }
    ways |= {name: lambda flags=flags: cloned(flags) for name, flags in CLONES.items()}
    ways |= {f"write {name}": lambda path=path: written(path) for name, path in SETTINGS.items()}
    ways |= {f"program {name}": lambda words=words: ran(words) for name, words in SETUID.items()}
    ways |= {
        "trace its child": traced_child,
        "type into a terminal": pushed_input,
        "survive out of memory": less_likely_to_be_killed,
        "limits of its parent": parents_limits,
        "signal its parent": signalled_parent,
        "map a user": mapped_user,
        "raise its limits": raised_limits,
        "real time": real_time,
        "lock memory": locked_memory,
    }
    attempt(**ways)


play(once(act))
