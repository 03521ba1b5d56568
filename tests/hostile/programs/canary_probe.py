"""Tries to read, write, list and stat files of others, and looks for a text about the arena.

Its folder holds targets.json: the paths of the files in hexadecimal digits, and the texts of the
canaries in two halves, so that its own files do not contain what it looks for.
"""

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator

MOST = 1 << 20
"""Bytes that are read of each file: some files of /proc have no end."""
SELF = ("environ", "cmdline", "maps", "smaps", "mountinfo", "mounts", "mountstats", "cgroup")
LINKS = ("cwd", "exe", "root")
MARK = "written-by-a-hostile-bot"


def report(name: str, act: str, got: object) -> None:
    print(json.dumps({"canary": name, "act": act, "got": repr(got)[:200]}), flush=True)


def tried(name: str, act: str, way: Callable[[], object]) -> None:
    """Report the result of a way; an error or an empty result means that it is closed."""
    with contextlib.suppress(OSError, ValueError):
        result = way()
        if result:
            report(name, act, result)


def read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        return os.read(descriptor, MOST)
    finally:
        os.close(descriptor)


def text_of(path: str) -> bytes:
    data = b""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with contextlib.suppress(OSError):
            while len(data) < MOST and (piece := os.read(descriptor, 65536)):
                data += piece
        os.close(descriptor)
    return data


def append(path: str) -> str:
    os.close(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK))
    return "opened for writing"


def create(folder: str) -> str:
    """Create a file that stays: the tester looks whether it is in a folder of the machine."""
    os.close(os.open(f"{folder}/{MARK}", os.O_WRONLY | os.O_CREAT))
    return ""


def listed(path: str) -> bool:
    return os.path.basename(path) in os.listdir(os.path.dirname(path))


def processes() -> Iterator[str]:
    try:
        yield from filter(str.isdigit, os.listdir("/proc"))
    except OSError:
        yield from map(str, range(1, 1000))


def search_processes(canaries: list[str], arena: list[int]) -> None:
    """Look into the environments and command lines of all visible processes and the arena's."""
    for pid in {*processes(), *map(str, arena)}:
        for file in ("environ", "cmdline"):
            data = text_of(f"/proc/{pid}/{file}")
            for canary in canaries:
                if canary.encode() in data:
                    report(f"{file} of process", "read", pid)


def search_itself(name: str) -> None:
    """Look for the name of the data folder in what it can read about itself."""
    found = {
        "environment": str(dict(os.environ)),
        "arguments": str(sys.argv) + str(sys.orig_argv) + __file__,
        "cwd": os.getcwd(),
        "sys": f"{sys.path} {sys.prefix} {sys.executable}",
    }
    for file in SELF:
        found[f"/proc/self/{file}"] = text_of(f"/proc/self/{file}").decode(errors="replace")
    for link in LINKS:
        with contextlib.suppress(OSError):
            found[f"/proc/self/{link}"] = os.readlink(f"/proc/self/{link}")
    with contextlib.suppress(OSError):
        for number in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):
                found[f"/proc/self/fd/{number}"] = os.readlink(f"/proc/self/fd/{number}")
    for place, text in found.items():
        if name in text:
            start = max(0, text.index(name) - 60)
            report("name of the data folder", place, text[start : start + 150])


def main() -> None:
    with open(f"{os.path.dirname(os.path.abspath(__file__))}/targets.json") as file:
        targets = json.load(file)
    paths = {name: bytes.fromhex(path).decode() for name, path in targets["paths"].items()}
    search_itself("".join(targets["data_name"]))
    search_processes(["".join(halves) for halves in targets["processes"]], targets["arena"])
    for name, path in paths.items():
        folder = os.path.dirname(path)
        tried(name, "read", lambda path=path: read(path))
        tried(name, "read by magic", lambda path=path: read(f"/proc/self/root{path}"))
        tried(name, "read by init", lambda path=path: read(f"/proc/1/root{path}"))
        tried(name, "write", lambda path=path: append(path))
        tried(name, "create", lambda folder=folder: create(folder))
        tried(name, "list", lambda path=path: listed(path))
        tried(name, "stat", lambda path=path: os.lstat(path))
        tried(name, "access", lambda path=path: os.access(path, os.F_OK))
        tried(name, "statfs", lambda path=path: os.statvfs(path))
        tried(name, "path", lambda path=path: os.open(path, os.O_PATH) > 0)
    print(json.dumps({"tried": len(paths)}), flush=True)


main()
