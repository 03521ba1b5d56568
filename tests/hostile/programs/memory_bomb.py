"""Takes all the memory it can get, and writes to it."""

from honest import once, play


def bomb() -> None:
    held = []
    while True:
        held.append(bytearray(b"x") * (16 << 20))


play(once(bomb))
