"""Imitate another operating system for the code of the project, in this process and its children.

Python imports this module at start if its folder is on PYTHONPATH. POKEARENA_TEST_SYSTEM names the
system: "darwin" or "win32". The standard library keeps working as on Linux, because it is imported
before. The project's code does not find what the system lacks.
"""

import asyncio
import asyncio.unix_events
import importlib
import os
import signal
import socket
import subprocess
import sys
import sysconfig
import types
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[4]
FOLDERS = tuple(f"{ROOT / name}{os.sep}" for name in ("arena", "referee", "sample_bots"))
LOADED_BEFORE = (
    *(
        "concurrent.futures.thread",
        "ctypes",
        "ctypes.util",
        "email",
        "getpass",
        "http.client",
        "http.server",
    ),
    *("importlib.metadata", "importlib.resources", "logging.handlers", "mimetypes"),
    *("multiprocessing.connection", "multiprocessing.pool", "multiprocessing.popen_fork"),
    *("multiprocessing.popen_forkserver", "multiprocessing.popen_spawn_posix", "pathlib"),
    *("platform", "secrets", "selectors", "shutil", "sqlite3", "ssl", "tarfile", "tempfile"),
    *("tomllib", "urllib.request", "uuid", "webbrowser", "zipfile"),
    *("click._compat", "rich.console", "rich.live", "rich_click"),
    *("google.protobuf.json_format", "grpc.aio", "numpy", "sqlalchemy.dialects.sqlite"),
)

LINUX_ONLY = {"O_PATH", "sched_getaffinity", "pidfd_open", "memfd_create", "prctl", "SO_PEERCRED"}
UNIX_ONLY = {
    *("fork", "geteuid", "getegid", "getuid", "getgid", "killpg", "getpgid", "setsid", "getpgrp"),
    *("chown", "fchown", "lchown", "fchmod", "mkfifo", "statvfs", "pread", "pwrite", "uname"),
    *("O_NOFOLLOW", "O_DIRECTORY", "O_CLOEXEC", "O_NONBLOCK", "waitid", "wait3", "wait4"),
    *("SIGKILL", "SIGHUP", "SIGXFSZ", "SIGPIPE", "SIGUSR1", "SIGSTOP", "SIGCONT", "SIGCHLD"),
    *("SIGALRM", "pthread_sigmask", "setitimer", "AF_UNIX", "getloadavg", "nice", "sysconf"),
}
UNIX_MODULES = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "curses"}


class Lacking(types.ModuleType):
    """A module some names of which the project's code does not find."""

    lacking: frozenset[str] = frozenset()

    def __getattribute__(self, name: str) -> object:
        if name in Lacking.lacking:
            caller = sys._getframe(1).f_code.co_filename
            if caller.startswith(FOLDERS):
                raise AttributeError(f"module has no attribute {name!r} (imitated system)")
        return super().__getattribute__(name)


class WithoutModules(MetaPathFinder):
    """Finder that hides the modules of Unix."""

    def find_spec(self, name: str, path: object, target: object = None) -> None:
        if name in UNIX_MODULES:
            raise ModuleNotFoundError(f"No module named {name!r} (imitated system)", name=name)


def _refuse_handler(*arguments: object) -> None:
    raise NotImplementedError


def imitate(system: str) -> None:
    """Imitate a system from now on."""
    for module in LOADED_BEFORE:
        try:
            importlib.import_module(module)
        except ImportError:
            continue
    sysconfig.get_config_vars()
    lacking = LINUX_ONLY
    if system == "win32":
        lacking = LINUX_ONLY | UNIX_ONLY
        for hidden in UNIX_MODULES:
            sys.modules.pop(hidden, None)
        sys.meta_path.insert(0, WithoutModules())
        os.supports_dir_fd = set()
        loop: Any = asyncio.unix_events._UnixSelectorEventLoop
        loop.add_signal_handler = _refuse_handler
        _imitate_taskkill()
    Lacking.lacking = frozenset(lacking)
    for lacking_module in (os, signal, socket):
        lacking_module.__class__ = Lacking
    sys.platform = system


def _imitate_taskkill() -> None:
    run: Any = subprocess.run

    def replacement(command: Any, *arguments: Any, **options: Any) -> Any:
        if command[0] == "taskkill":
            os.killpg(int(command[-1]), signal.SIGKILL)
            return None
        return run(command, *arguments, **options)

    subprocess.run = replacement  # type: ignore[assignment]


if os.environ.get("POKEARENA_TEST_SYSTEM"):
    imitate(os.environ["POKEARENA_TEST_SYSTEM"])
