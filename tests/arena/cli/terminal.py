"""Run the command line in a process of its own or in a terminal."""

import codecs
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tests.guarded_process import GuardedProcess

POKEARENA = Path(sys.executable).with_name("pokearena")


@contextmanager
def running(*words: object) -> Iterator[tuple[GuardedProcess[str], IO[str], IO[str]]]:
    """Start a command line; yield its process, its standard output and its standard error."""
    line = [str(POKEARENA), *map(str, words)]
    with GuardedProcess(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        yield process, process.stdout, process.stderr


@dataclass(frozen=True)
class CommandResult:
    """The output and exit status of a command line."""

    status: int
    out: str
    err: str
    error: BaseException | None = None
    """The error that ended the command; None for a command in a process of its own."""

    @property
    def code(self) -> str:
        """Return the code of the error, or the name of its class; empty without an error."""
        if self.error is None:
            return ""
        return getattr(self.error, "code", "") or type(self.error).__name__

    @property
    def json(self) -> Any:
        """Return the document on standard output."""
        return json.loads(self.out)

    @property
    def documents(self) -> list[Any]:
        """Return the documents on standard output, one per line."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def last(self) -> str:
        """Return the last line on standard error, which suggests the next command."""
        return self.err.rstrip().splitlines()[-1]


Cli = Callable[..., CommandResult]
Write = Callable[[str, str], str]


def in_own_process(
    folder: Path, words: Sequence[object], environment: Mapping[str, str] | None = None
) -> CommandResult:
    """Run a command line in a folder, in a process of its own."""
    done = subprocess.run(
        [POKEARENA, *map(str, words)],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    return CommandResult(done.returncode, done.stdout, done.stderr)


PATIENCE = 240.0
"""Seconds after which a test fails with the text of the terminal, before pytest's limit."""


class Terminal:
    """A command in a terminal of its own: send keys and wait for text."""

    def __init__(self, process: subprocess.Popen[bytes], descriptor: int) -> None:
        self._process = process
        self._descriptor = descriptor
        self.text = ""
        self.transcript = ""
        """The complete output without escape sequences."""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self.on_output: Callable[[bytes], object] = len
        """Receives all output, with its escape sequences."""
        self._begun = ""
        """The beginning of an escape sequence whose end has not been received."""

    def press(self, keys: str) -> None:
        """Send keys and clear the text received before."""
        self.text = ""
        os.write(self._descriptor, keys.encode())

    def sees(self, words: str) -> None:
        """Wait until the terminal shows these words."""
        self.matches(re.escape(words))

    def matches(self, pattern: str) -> re.Match[str]:
        """Wait until this regular expression matches a part of the screen."""
        until = time.monotonic() + PATIENCE
        while (match := re.search(pattern, self.text, re.DOTALL)) is None:
            assert time.monotonic() < until, f"no {pattern!r} in {self.text[-3000:]!r}"
            if select.select([self._descriptor], [], [], 0.2)[0]:
                self._receive(os.read(self._descriptor, 65536))
        return match

    def _receive(self, data: bytes) -> None:
        """Append output; an escape sequence may arrive in parts."""
        self.on_output(data)
        text = self._begun + self._decoder.decode(data)
        begun = re.search(r"\x1b(\[[0-9;?]*)?$", text)
        self._begun = begun[0] if begun else ""
        plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text.removesuffix(self._begun))
        self.text += plain
        self.transcript += plain

    def interrupt(self) -> None:
        """Send the signal of Ctrl-C."""
        self._process.send_signal(signal.SIGINT)

    @property
    def echoes(self) -> bool:
        """Return whether the terminal shows what is typed."""
        return bool(termios.tcgetattr(self._descriptor)[3] & termios.ECHO)

    def ends(self) -> int:
        """Wait for the command to end and return its exit status."""
        return self._process.wait(PATIENCE)


@contextmanager
def in_a_terminal(
    folder: Path,
    *words: object,
    program: str | Path = POKEARENA,
    columns: int = 110,
    lines: int = 40,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Terminal]:
    """Run a program in a folder, in a terminal of this size."""
    terminal_end, command_end = pty.openpty()
    termios.tcsetwinsize(command_end, (lines, columns))
    process = subprocess.Popen(
        [program, *map(str, words)],
        cwd=folder,
        stdin=command_end,
        stdout=command_end,
        stderr=command_end,
        env={**_without_size(os.environ), **(environment or {}), "TERM": "xterm"},
    )
    os.close(command_end)
    try:
        yield Terminal(process, terminal_end)
    finally:
        process.kill()
        process.wait()
        os.close(terminal_end)


def _without_size(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name not in ("COLUMNS", "LINES")}
