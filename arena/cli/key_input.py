"""Read single keys from a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}


def has_keys() -> bool:
    """Return whether standard input is a keyboard."""
    return sys.stdin.isatty() and sys.platform != "win32"


@contextmanager
def keyboard() -> Iterator[Callable[[], str]]:
    """Yield a function that waits for the next key; arrows have names, end of input is "q"."""
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        yield lambda: _key(descriptor)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _key(descriptor: int) -> str:
    # A terminal sends an arrow key as three characters at once.
    pressed = os.read(descriptor, 3).decode(errors="replace")
    return named(pressed) or ("" if pressed else "q")


def named(pressed: str) -> str:
    """Return the name of the key for these characters: itself, "up", "escape" and so on."""
    if pressed.startswith(("\x1b[", "\x1bO")):
        return _ARROWS.get(pressed[2:3], "")
    return "escape" if pressed == "\x1b" else pressed[:1]
