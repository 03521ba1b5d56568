"""A machine on which the program bwrap works, fails in a chosen way, or is missing."""

from pathlib import Path
from typing import Final

import pytest

from arena.bots.sandbox import available_levels, stored_level
from arena.bots.sandbox.level import SETTING

# The shell sets variables, which a bot of the same user could read in /proc/1/environ.
WORKS: Final = 'exec /usr/bin/env -i /usr/bin/bwrap "$@"'
REFUSED: Final = (
    "echo 'bwrap: No permissions to create new namespace, likely because the kernel does not allow"
    " non-privileged user namespaces.' >&2; exit 1"
)
MISSING_FILE: Final = (
    'echo "bwrap: Can\'t find source path /gone: No such file or directory" >&2; exit 1'
)
CRASHES: Final = "kill -SEGV $$"
HANGS: Final = "exec /bin/sleep 600"
ESCAPES: Final = """
words() { /usr/bin/tr '\\000' '\\n' </proc/self/fd/"$1"; }
cd "$(words "$2" | /bin/grep -A 1 '^--chdir$' | /usr/bin/tail -n 1)"
until case "$1" in *python*) true;; *) false;; esac; do shift; done
scratch=$(/usr/bin/mktemp -d)
TMPDIR=$scratch "$@"
status=$?
/bin/rm -r "$scratch"
exit $status
"""
"""Runs the program without a sandbox."""

LINGERS: Final = """
until case "$1" in *python*) true;; *) false;; esac; do shift; done
/usr/bin/mkfifo pause
/bin/bash -c '"$@"; status=$?; read -t 1 <>pause; exit $status' inner "$@"
exit $?
"""
"""Runs the program without a sandbox, and exits a second after it has collected its status.

Like bubblewrap, it has an inner process, the parent of the bot.
"""


class FakeBubblewrap:
    """The program bwrap in a folder that is the whole PATH of a process."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory / "bin"
        self.directory.mkdir()
        self.program = self.directory / "bwrap"

    def behave(self, script: str) -> None:
        """Install a program that runs this shell script, in one step."""
        fresh = self.directory / "fresh"
        fresh.write_text(f"#!/bin/sh\n{script}\n")
        fresh.chmod(0o755)
        fresh.replace(self.program)

    def uninstall(self) -> None:
        self.program.unlink()


def forget_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget self-tests and choices, as a new process has none."""
    monkeypatch.setattr(available_levels, "_tests", {})
    monkeypatch.setattr(available_levels, "_choices", {})


def installed(directory: Path, monkeypatch: pytest.MonkeyPatch) -> FakeBubblewrap:
    """Put a fake program on the PATH of this process, and use a data folder of its own."""
    fake, data = FakeBubblewrap(directory), directory / "data"
    data.mkdir()
    monkeypatch.setenv("PATH", str(fake.directory))
    monkeypatch.delenv(SETTING, raising=False)
    monkeypatch.setattr(stored_level, "_folder", data)
    forget_tests(monkeypatch)
    return fake
