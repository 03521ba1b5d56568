"""Tries to reach files through links, descriptors of folders, devices and mounts."""

import json
import os
import socket
import stat
import sys
from collections.abc import Callable
from pathlib import Path

from honest import attempt, once, play

targets = json.loads(Path("targets.json").read_text())["files"]
SCRATCH = os.environ["TMPDIR"]
SOCKET_FOLDER = os.path.dirname(os.environ["POKEARENA_ADDRESS"].removeprefix("unix:"))
SECRET = targets["secret"]


def linked(source: str, folder: str) -> Callable[[], object]:
    def way() -> object:
        os.link(source, f"{folder}/linked-{os.path.basename(source)}")
        return f"linked {source}"

    return way


def renamed() -> object:
    with open(f"{SCRATCH}/new", "w") as file:
        file.write("new")
    os.rename(f"{SCRATCH}/new", "bot.py")
    return "replaced its program"


def linked_symbolically() -> object:
    os.symlink(SECRET, "link")
    return "a link in its own folder"


def followed(target: str) -> Callable[[], object]:
    """Read through a link in the scratch space."""

    def way() -> object:
        link = f"{SCRATCH}/to-{abs(hash(target))}"
        os.symlink(target, link)
        with open(link, "rb") as file:
            return file.read(50)

    return way


def handle() -> object:
    """Open without rights, then again through the descriptor."""
    with open(f"/proc/self/fd/{os.open(SECRET, os.O_PATH)}", "rb") as file:
        return file.read(50)


def above_the_root() -> object:
    with open("/.." * 20 + SECRET, "rb") as file:
        return file.read(50)


def by_folder_handles() -> object:
    """Climb from a descriptor of its own folder."""
    folder = os.open(".", os.O_RDONLY)
    for _ in range(20):
        folder = os.open("..", os.O_PATH, dir_fd=folder)
    return os.read(os.open(SECRET.lstrip("/"), os.O_RDONLY, dir_fd=folder), 50)


def device(kind: int, major: int, minor: int) -> Callable[[], object]:
    def way() -> object:
        path = f"{SCRATCH}/device-{major}-{minor}"
        os.mknod(path, kind | 0o666, os.makedev(major, minor))
        with open(path, "rb") as file:
            return file.read(10)

    return way


def set_user_id() -> object:
    """Make a program of its own that changes the user."""
    with open(sys.executable, "rb") as program, open(f"{SCRATCH}/suid", "wb") as copy:
        copy.write(program.read(100))
    os.chown(f"{SCRATCH}/suid", 0, 0)
    os.chmod(f"{SCRATCH}/suid", 0o4755)
    return "owned by root"


def descriptors_left_open() -> object:
    """Look for descriptors that the arena left open."""
    left = {}
    for number in range(3, 1024):
        try:
            target = os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            continue
        if not target.startswith(("anon_inode:", "socket:", "pipe:", "/dev/null")):
            left[number] = target
    own = (os.getcwd(), sys.prefix, sys.base_prefix, SOCKET_FOLDER, SCRATCH, "/dev", "/proc")
    left = {number: path for number, path in left.items() if not path.startswith(own)}
    if not left:
        raise PermissionError("none")
    return left


def other_roots() -> object:
    for pid in [*filter(str.isdigit, os.listdir("/proc")), "1", str(os.getppid())]:
        for part in ("root", "cwd"):
            try:
                with open(f"/proc/{pid}/{part}/{SECRET}", "rb") as file:
                    return file.read(50)
            except OSError:
                continue
    raise PermissionError("no process leads there")


def attribute(path: str, call: Callable[[str], object]) -> Callable[[], object]:
    def way() -> object:
        call(path)
        return f"changed {path}"

    return way


def executed_from_memory() -> object:
    """Execute a program in memory that reads the secret: the rules must hold for it too."""
    descriptor = os.memfd_create("program")
    with open("/bin/cat", "rb") as program:
        os.write(descriptor, program.read())
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(writing, 1)
        os.execve(descriptor, ["cat", SECRET], {})
    os.close(writing)
    os.waitpid(pid, 0)
    data = os.read(reading, 100)
    if not data:
        raise PermissionError("it reads nothing")
    return data


def passed_descriptor() -> object:
    """Send a descriptor through a socket in its folder, and look for one of another process."""
    names = os.listdir(os.path.dirname(SOCKET_FOLDER))
    for name in names:
        path = f"{os.path.dirname(SOCKET_FOLDER)}/{name}/bot"
        if name.startswith("pokearena-bot-") and not path.startswith(SOCKET_FOLDER):
            with socket.socket(socket.AF_UNIX) as channel:
                channel.connect(path)
                socket.send_fds(channel, [b"x"], [os.open(".", os.O_RDONLY)])
                return f"sent to {path}"
    raise PermissionError("no socket of another bot")


def act() -> None:
    Path(f"{SCRATCH}/one").write_text("one")
    attempt(
        # First, because the other ways leave descriptors open.
        descriptors_left_open=descriptors_left_open,
        link_of_its_program_to_scratch=linked("bot.py", SCRATCH),
        link_of_the_runtime_to_scratch=linked(os.path.realpath(sys.executable), SCRATCH),
        link_of_its_program_beside_its_socket=linked("bot.py", SOCKET_FOLDER),
        link_of_the_secret=linked(SECRET, SCRATCH),
        link_of_scratch_to_its_folder=linked(f"{SCRATCH}/one", "."),
        rename_over_its_program=renamed,
        symbolic_link_in_its_folder=linked_symbolically,
        symbolic_link_to_the_secret=followed(SECRET),
        symbolic_link_by_magic=followed(f"/proc/self/root{SECRET}"),
        symbolic_link_by_thread=followed(f"/proc/thread-self/root{SECRET}"),
        symbolic_link_by_init=followed(f"/proc/1/root{SECRET}"),
        handle_without_rights=handle,
        above_the_root=above_the_root,
        by_folder_handles=by_folder_handles,
        block_device=device(stat.S_IFBLK, 254, 0),
        memory_device=device(stat.S_IFCHR, 1, 1),
        zero_device=device(stat.S_IFCHR, 1, 5),
        fuse_device=device(stat.S_IFCHR, 10, 229),
        set_user_id=set_user_id,
        roots_of_other_processes=other_roots,
        attributes_of_its_program=attribute(
            "bot.py", lambda path: os.setxattr(path, "user.mark", b"x")
        ),
        times_of_its_program=attribute("bot.py", lambda path: os.utime(path, (1, 1))),
        times_of_the_runtime=attribute(sys.executable, lambda path: os.utime(path, (1, 1))),
        mode_of_its_folder=attribute(".", lambda path: os.chmod(path, 0o777)),
        owner_of_its_folder=attribute(".", lambda path: os.chown(path, 0, 0)),
        shortened_program=attribute("bot.py", lambda path: os.truncate(path, 0)),
        executed_from_memory=executed_from_memory,
        passed_descriptor=passed_descriptor,
    )


play(once(act))
