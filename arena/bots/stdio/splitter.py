"""What a program writes, cut into lines."""

from collections.abc import Iterator
from typing import Final

LONGEST: Final = 1 << 20
"""Bytes of a line; what is longer is handed on in pieces."""


class Splitter:
    """Cuts bytes into lines, and holds the line that is not complete yet."""

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._size = 0
        self._is_rest = False

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bool]]:
        """The lines that are complete now, each with whether it is the rest of a longer one."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            yield self._take(line), self._is_rest
            self._is_rest = False
        if rest:
            self._held.append(rest)
            self._size += len(rest)
        if self._size > LONGEST:
            yield self._take(b""), self._is_rest
            self._is_rest = True

    def rest(self) -> bytes:
        """What stands behind the last line."""
        return self._take(b"")

    def _take(self, end: bytes) -> bytes:
        line = b"".join((*self._held, end))
        self._held.clear()
        self._size = 0
        return line
