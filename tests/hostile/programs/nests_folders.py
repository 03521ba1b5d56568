"""Creates 10,000 nested folders beside its socket."""

import os
import time

from honest import once, play


def act() -> None:
    address = os.environ["POKEARENA_ADDRESS"].removeprefix("unix:")
    folder = os.open(os.path.dirname(address), os.O_RDONLY)
    for _ in range(10_000):
        os.mkdir("d", dir_fd=folder)
        child = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = child
    time.sleep(600)


play(once(act))
