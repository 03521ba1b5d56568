"""What tests see of a command line that has run."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

POKEARENA = Path(sys.executable).with_name("pokearena")


@dataclass(frozen=True)
class Said:
    """What a command line printed, and how it ended."""

    status: int
    out: str
    err: str

    @property
    def last(self) -> str:
        """The last line on standard error: what to type next."""
        return self.err.rstrip().splitlines()[-1]


Cli = Callable[..., Said]
Write = Callable[[str, str], str]


def in_own_process(
    folder: Path, words: Sequence[object], environment: Mapping[str, str] | None = None
) -> Said:
    """Runs a command line in a folder, in a process of its own."""
    done = subprocess.run(
        [POKEARENA, *map(str, words)],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    return Said(done.returncode, done.stdout, done.stderr)
