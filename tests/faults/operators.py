"""Start `operator_program.py` once, and run operations in its forks."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

PROGRAM = Path(__file__).with_name("operator_program.py")


class Operators:
    """Runs operations of organisers during a `with` block, each in a process of its own."""

    def __enter__(self) -> Self:
        self._program = subprocess.Popen(
            [sys.executable, "-P", str(PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *exception: object) -> None:
        self._program.communicate(timeout=60)

    def run(self, words: Sequence[str], environment: Mapping[str, str]) -> int:
        """Run an operation; return the exit status of its process."""
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        print(json.dumps([words, environment]), file=self._program.stdin, flush=True)
        return int(self._program.stdout.readline())
