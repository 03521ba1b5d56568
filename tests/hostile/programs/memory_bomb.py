"""Allocates memory without limit, and writes to it."""

from honest import once, play


def bomb() -> None:
    held = []
    while True:
        held.append(bytearray(b"x") * (16 << 20))


play(once(bomb))
