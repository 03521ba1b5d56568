"""Does one kind of thing as strongely as it can, so that a later reader may notice it.

The arguments are the name of the kind, and the amount as a factor.
"""

import contextlib
import ctypes
import fcntl
import mmap
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator

libc = ctypes.CDLL(None, use_errno=True)
SCRATCH = os.environ["TMPDIR"]
COUNT = 12_000
"""Number of objects of each kind and unit of the amount."""
IPC_CREAT = 0o1000


def syscall(number: int, *arguments: object) -> int:
    result: int = libc.syscall(ctypes.c_long(number), *arguments)
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def readable() -> Iterator[str]:
    """Yield the files of all granted folders."""
    for top in dict.fromkeys([os.getcwd(), sys.base_prefix, sys.prefix, "/usr/lib", "/etc"]):
        for folder, _, names in os.walk(top):
            for name in names:
                yield os.path.join(folder, name)


def sockets(n: int) -> None:
    for _ in range(COUNT * n):
        for one in socket.socketpair():
            one.close()


def cookies(n: int) -> None:
    for _ in range(COUNT * n):
        first, second = socket.socketpair()
        with first, second:
            first.getsockopt(1, 57, 8)
            second.getsockopt(1, 57, 8)


def pipes(n: int) -> None:
    for _ in range(COUNT * n):
        for end in os.pipe():
            os.close(end)


def held_descriptors(n: int) -> None:
    kept: list[int] = []
    with contextlib.suppress(OSError):
        for _ in range(400 * n):
            kept += os.pipe()
    for end in kept:
        os.close(end)


def memfds(n: int) -> None:
    for _ in range(COUNT * n):
        os.close(os.memfd_create("x"))


def eventfds(n: int) -> None:
    for _ in range(COUNT * n):
        os.close(os.eventfd(0))


def epolls(n: int) -> None:
    for _ in range(COUNT * n):
        select.epoll().close()


def pidfds(n: int) -> None:
    for _ in range(COUNT * n):
        os.close(os.pidfd_open(os.getpid()))


def inotifies(n: int) -> None:
    for _ in range(COUNT * n):
        os.close(syscall(294, 0))


def timers(n: int) -> None:
    for _ in range(COUNT * n):
        os.close(syscall(283, 1, 0))
    identifier = ctypes.c_int()
    for _ in range(200 * n):
        syscall(222, 1, None, ctypes.byref(identifier))


def forks(n: int) -> None:
    for _ in range(400 * n):
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)


def executions(n: int) -> None:
    for _ in range(50 * n):
        pid = os.fork()
        if pid == 0:
            os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", "pass"], {})
        os.waitpid(pid, 0)


def memory(n: int) -> None:
    with mmap.mmap(-1, 128 * n << 20) as area:
        for at in range(0, len(area), 4096):
            area[at] = 1


def bound_memory(n: int) -> None:
    """Interleave pages over the nodes of memory, and bind them to a node."""
    size = 64 * n << 20
    for mode in (3, 2, 1, 5, 6):
        area = libc_mmap(size)
        mask = ctypes.c_ulong(1)
        with contextlib.suppress(OSError):
            syscall(
                237, ctypes.c_void_p(area), ctypes.c_ulong(size), mode, ctypes.byref(mask), 64, 0
            )
        with contextlib.suppress(OSError):
            syscall(238, mode, ctypes.byref(mask), 64)
        ctypes.memset(area, 1, size)
        libc.munmap(ctypes.c_void_p(area), ctypes.c_size_t(size))


def libc_mmap(size: int) -> int:
    libc.mmap.restype = ctypes.c_void_p
    return int(libc.mmap(None, ctypes.c_size_t(size), 3, 0x22, -1, ctypes.c_long(0)))


def huge_pages(n: int) -> None:
    for _ in range(8 * n):
        with mmap.mmap(-1, 32 << 20) as area:
            area.madvise(14)
            for at in range(0, len(area), 4096):
                area[at] = 1
            with contextlib.suppress(OSError):
                area.madvise(12)


def reads_files(n: int) -> None:
    left = 60 * n << 20
    for path in readable():
        with contextlib.suppress(OSError), open(path, "rb") as file:
            left -= len(file.read())
        if left < 0:
            return


def touches_names(n: int) -> None:
    """Look up names that exist and names that do not, which stay in the cache of names."""
    for number in range(20_000 * n):
        for folder in ("/usr/lib", sys.prefix, os.getcwd(), "/etc", SCRATCH):
            with contextlib.suppress(OSError):
                os.stat(f"{folder}/missing-{n}-{number}")


def fills_scratch(n: int) -> None:
    for number in range(700 * n):
        with open(f"{SCRATCH}/file-{number}", "wb") as file:
            file.write(bytes(15_000))
    for number in range(500 * n):
        os.mkdir(f"{SCRATCH}/folder-{number}")


def nameless_files(n: int) -> None:
    for _ in range(COUNT * n):
        os.close(os.open(SCRATCH, os.O_TMPFILE | os.O_RDWR))


def links(n: int) -> None:
    for path in list(readable())[: 2000 * n]:
        with contextlib.suppress(OSError):
            os.link(path, f"{SCRATCH}/link")
        with contextlib.suppress(OSError):
            os.symlink(path, f"{SCRATCH}/symlink")
            os.unlink(f"{SCRATCH}/symlink")


def attributes(n: int) -> None:
    """Change the metadata of all files that it reaches, by every call for it."""
    numbers = {"chmod": 90, "chown": 92, "utimensat": 280, "setxattr": 188, "lsetxattr": 189}
    own = [f"{os.getcwd()}/{name}" for name in os.listdir(".")]
    for path in [*own, *list(readable())[: 500 * n]]:
        name = path.encode()
        with contextlib.suppress(OSError):
            os.chmod(path, 0o777)
        with contextlib.suppress(OSError):
            os.utime(path, (n, n))
        with contextlib.suppress(OSError):
            syscall(numbers["setxattr"], name, b"user.mark", b"x" * n, n, 0)
        arguments = (ctypes.c_uint64 * 2)(ctypes.cast(b"x" * n, ctypes.c_void_p).value or 0, n)
        with contextlib.suppress(OSError):
            syscall(463, -100, name, 0, b"user.mark", ctypes.byref(arguments), 16)
        with contextlib.suppress(OSError):
            syscall(469, -100, name, ctypes.create_string_buffer(24), 24, 0)


def locks(n: int) -> None:
    for path in list(readable())[: 1000 * n]:
        with contextlib.suppress(OSError), open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)


def signals(n: int) -> None:
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    for _ in range(COUNT * n):
        os.kill(os.getpid(), signal.SIGUSR1)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
    for _ in range(500 * n):
        os.kill(os.getpid(), signal.SIGRTMIN)


def scheduling(n: int) -> None:
    for _ in range(COUNT * n):
        os.sched_yield()
    for priority in range(n, 20):
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, priority)
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, {0})


def processor(n: int) -> None:
    until = time.process_time() + 0.7 * n
    while time.process_time() < until:
        pass


def switches(n: int) -> None:
    """Switch between two processes, which counts context switches."""
    here, there = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        for _ in range(4000 * n):
            there.send(there.recv(1))
        os._exit(0)
    for _ in range(4000 * n):
        here.send(b"x")
        here.recv(1)
    os.waitpid(pid, 0)


def packets(n: int) -> None:
    """Send packets over loopback, where internet sockets are allowed."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        for _ in range(COUNT * n):
            one.sendto(b"x", one.getsockname())
            one.recv(10)
    for _ in range(300 * n):
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(server.getsockname()).close()


def shared_objects(n: int) -> None:
    for number in range(50 * n):
        for call, arguments in (
            (29, (number + 1, 65536, IPC_CREAT | 0o666)),
            (64, (number + 1, 10, IPC_CREAT | 0o666)),
            (68, (number + 1, IPC_CREAT | 0o666)),
            (240, (f"queue{number}".encode(), 0o102, 0o666, None)),
        ):
            with contextlib.suppress(OSError):
                syscall(call, *arguments)
    with contextlib.suppress(OSError), open(f"/dev/shm/mark-{n}", "w") as file:
        file.write("here")


def keys(n: int) -> None:
    for number in range(50 * n):
        with contextlib.suppress(OSError):
            syscall(248, b"user", f"mark{number}".encode(), b"x", 1, -4)


def queries(n: int) -> None:
    """Change every attribute of a process, each in a child, because some of them end it."""
    for number in (*range(1, 80), 0x59616D61):
        pid = os.fork()
        if pid == 0:
            libc.prctl(number, n, 0, 0, 0)
            os._exit(0)
        os.waitpid(pid, 0)


def names_of_sockets(n: int) -> None:
    kept = []
    for number in range(400 * n):
        one = socket.socket(socket.AF_UNIX)
        kept.append(one)
        with contextlib.suppress(OSError):
            one.bind(f"\0mark-{number}")


def rules(n: int) -> None:
    """Create domains of Landlock, which have ids of their own."""
    for _ in range(COUNT * n):
        os.close(syscall(444, (ctypes.c_uint64 * 1)(1), 8, 0))


def faults(n: int) -> None:
    for _ in range(200 * n):
        pid = os.fork()
        if pid == 0:
            ctypes.string_at(0)
        os.waitpid(pid, 0)


def descriptors_in_messages(n: int) -> None:
    """Leave descriptors in messages of sockets that nobody receives, in a cycle."""
    for _ in range(300 * n):
        one, other = socket.socketpair()
        with one, other:
            socket.send_fds(one, [b"x"], [one.fileno(), other.fileno()])


def output(n: int) -> None:
    print("x" * (1 << 20) * n, flush=True)


KINDS: dict[str, Callable[[int], None]] = {
    way.__name__: way
    for way in (
        sockets,
        cookies,
        pipes,
        held_descriptors,
        memfds,
        eventfds,
        epolls,
        pidfds,
        inotifies,
        timers,
        forks,
        executions,
        memory,
        bound_memory,
        huge_pages,
        reads_files,
        touches_names,
        fills_scratch,
        nameless_files,
        links,
        attributes,
        locks,
        signals,
        scheduling,
        processor,
        switches,
        packets,
        shared_objects,
        keys,
        queries,
        names_of_sockets,
        rules,
        faults,
        descriptors_in_messages,
        output,
    )
}


def main() -> None:
    kind, amount = sys.argv[1], int(sys.argv[2])
    kinds = list(KINDS) if kind == "all" else [kind]
    for name in kinds:
        if name == "nothing":
            time.sleep(0.5 * amount)
            continue
        try:
            KINDS[name](amount)
        except (OSError, ValueError, AttributeError) as error:
            print(f"{name} ended with {type(error).__name__}: {error}"[:200], flush=True)
    print("\ndone", flush=True)
    time.sleep(600)


if __name__ == "__main__":
    main()
