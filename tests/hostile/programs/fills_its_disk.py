"""Writes files until its disk is full, and then continues."""

import contextlib
import itertools
import os
import tempfile

from honest import once, play


def act() -> None:
    folder = tempfile.mkdtemp()
    for number in itertools.count():
        with (
            contextlib.suppress(OSError),
            open(os.path.join(folder, str(number)), "wb", buffering=0) as file,
        ):
            file.write(bytes(1 << 20))


play(once(act))
