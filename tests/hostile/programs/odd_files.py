"""Leaves unreadable folders, link loops, pipes, sparse files and names that are not valid text."""

import os
import tempfile

from honest import once, play


def act() -> None:
    address = os.environ["POKEARENA_ADDRESS"].removeprefix("unix:")
    for folder in {os.path.dirname(address), tempfile.gettempdir()}:
        os.makedirs(os.path.join(folder, "closed", "inner"))
        os.mkdir(os.path.join(folder, "unreadable"), 0)
        os.mkdir(os.fsencode(folder) + b"/line\nbreak \xff\x1b[2J")
        os.symlink(".", os.path.join(folder, "loop"))
        os.symlink("/etc", os.path.join(folder, "outside"))
        os.mkfifo(os.path.join(folder, "pipe"))
        with open(os.path.join(folder, "sparse"), "wb") as file:
            file.truncate(60 << 20)


play(once(act))
