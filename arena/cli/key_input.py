"""Read single keys from a terminal."""

from __future__ import annotations

import os
import re
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}
_PAGES = {"5~": "page up", "6~": "page down"}
_SEQUENCE = re.compile(r"\x1b[\[O][0-9;]*[A-Za-z~]")
_CUT_SEQUENCE = re.compile(r"\x1b(?:[\[O][0-9;]*)?$")
_REST_SECONDS = 0.02
"""Time within which the rest of a sequence arrives; without it, the user has pressed Esc."""


def has_keys() -> bool:
    """Return whether standard input is a keyboard."""
    return sys.stdin.isatty() and sys.platform != "win32"


@contextmanager
def unbuffered() -> Iterator[int]:
    """Yield the descriptor of standard input, whose keys can be read at once meanwhile."""
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        yield descriptor
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


@contextmanager
def keyboard() -> Iterator[Callable[[], str]]:
    """Yield a function that waits for the next key; arrows have names, end of input is "q"."""
    with unbuffered() as descriptor:
        keys = keys_from(descriptor)
        yield lambda: next(keys, "q")


def read_keys(descriptor: int) -> str:
    """Return the characters that wait, which end with a complete key; "" at the end of the input.

    A burst of arrow keys can arrive in pieces that divide a sequence.
    """
    text = os.read(descriptor, 4096).decode(errors="replace")
    while _CUT_SEQUENCE.search(text) and select.select([descriptor], [], [], _REST_SECONDS)[0]:
        more = os.read(descriptor, 4096).decode(errors="replace")
        if not more:
            break
        text += more
    return text


def keys_from(descriptor: int) -> Iterator[str]:
    """Yield the names of the keys from a terminal until the input ends; skip keys without one.

    Keys that arrive together are yielded one after the other.
    """
    while text := read_keys(descriptor):
        yield from split_keys(text)


def named(pressed: str) -> str:
    """Return the name of the key for these characters: itself, "up", "escape" and so on."""
    if pressed.startswith(("\x1b[", "\x1bO")):
        return _ARROWS.get(pressed[2:3], "") or _PAGES.get(pressed[2:], "")
    return "escape" if pressed == "\x1b" else pressed[:1]


def split_keys(text: str) -> Iterator[str]:
    """Yield the names of the keys in the characters read from a terminal at once."""
    at = 0
    while at < len(text):
        sequence = _SEQUENCE.match(text, at)
        pressed = sequence[0] if sequence else text[at]
        at += len(pressed)
        if key := named(pressed):
            yield key
